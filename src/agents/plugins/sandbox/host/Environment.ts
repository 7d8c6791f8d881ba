/**
 * Selects the variables that a plugin with the permission `env` sees: none of the gateway's own, no provider's key,
 * none with a name like a secret's.
 */
import { isSecretHeaderName, isSecretParameter } from "../../../../observe/inspector/masking/SecretNames.ts"
import { withoutKeys } from "../../../../kernel/secrets/KeyShapes.ts"
import { registry } from "../../../../plane/providers/Registry.ts"

const providerNames = (): ReadonlySet<string> => new Set([...registry.values()].flatMap(({ env }) => env))

const telling =
  /KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH|HEADERS|COOKIE|PRIVATE|CERT|_PAT$|_DSN$|DATABASE_URL|CONNECTION/i
const leastKeyChars = 20
const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
const oneWord = /^[\w.~+/=:-]+$/
const mixed = /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[\w+=-][\w+/=-]{31,}$/

/** One word, long, of letters and digits that no word is made of. Paths, addresses, versions and names in words are none. */
const looksRandom = (value: string): boolean => {
  if (uuid.test(value) || mixed.test(value)) return true
  if (value.length < leastKeyChars || !oneWord.test(value)) return false
  return value.split(/[/:.=_-]/).some((part) => part.length >= 16 && /\d/.test(part) && /[a-zA-Z]/.test(part))
}

const privateKey = /-----BEGIN [A-Z ]{0,40}KEY-----/
/** `Password=…` in a text, and a secret in the query of an address. */
const namedSecret = /(?:password|passwd|pwd|secret|token|api[_-]?key|access[_-]?key|sig)\s{0,4}[=:]\s{0,4}[^\s;,&]/i

/** A value that looks like a key, whatever the variable is called. */
const looksLikeKey = (value: string): boolean => {
  const seen = value.slice(0, maxSeenChars)
  return withoutKeys(seen) !== seen || privateKey.test(seen) || namedSecret.test(seen) || looksRandom(seen.trim())
}

/** A URL with a user and a password in it, whatever the variable is called. */
const maxSeenChars = 65_536
const withCredentials = /^[a-z][a-z0-9+.-]*:\/\/[^/\s@]*:[^/\s@]*@/i

export const visibleEnvironment = (environment: ReadonlyMap<string, string>): Readonly<Record<string, string>> => {
  const ofProviders = providerNames()
  const isVisible = (name: string, value: string): boolean =>
    !/^GATEWAY_/i.test(name) &&
    !ofProviders.has(name) &&
    !telling.test(name) &&
    !isSecretHeaderName(name) &&
    !isSecretParameter(name) &&
    !withCredentials.test(value) &&
    !looksLikeKey(value) &&
    name !== "__proto__"
  return Object.fromEntries([...environment].filter(([name, value]) => isVisible(name, value)))
}
