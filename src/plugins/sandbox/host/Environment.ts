/** Which variables a plugin with the permission `env` sees: none of the gateway's own, no provider's key, nothing that is named like a secret. */
import { isSecretHeaderName, isSecretParameter } from "../../../inspector/masking/SecretNames.ts"
import { registry } from "../../../providers/Registry.ts"

const providerNames = (): ReadonlySet<string> => new Set([...registry.values()].flatMap(({ env }) => env))

const telling =
  /KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH|HEADERS|COOKIE|PRIVATE|CERT|_PAT$|_DSN$|DATABASE_URL|CONNECTION/i
/** A URL with a user and a password in it, whatever the variable is called. */
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
    name !== "__proto__"
  return Object.fromEntries([...environment].filter(([name, value]) => isVisible(name, value)))
}
