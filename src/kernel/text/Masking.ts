/** Masks a secret for people. */
import * as Redacted from "effect/Redacted"

const shownTail = 4
const leastLengthToShow = 12
const scheme = /^(?:sk|gsk|pk|gw[rs]?)[-_]/
const telling = /authorization|key|token|secret|cookie|password|credential/i

/** `sk-…abcd`: at most the last four characters, and nothing at all of a short secret. */
export const maskSecret = (secret: string): string =>
  secret.length < leastLengthToShow ? "…" : `${scheme.exec(secret)?.[0] ?? ""}…${secret.slice(-shownTail)}`

/** Checks whether a value looks like a key: one long word with a digit in it. */
const looksLikeKey = (value: string): boolean => /^[\w+/=.~-]{20,}$/.test(value) && /\d/.test(value)

/** Checks whether a header holds a secret, judged by its name and by the form of its value. */
export const isSecretHeader = (name: string, value: string): boolean =>
  telling.test(name) || looksLikeKey(value) || /^(?:basic|bearer) /i.test(value)

type Headers = Readonly<Record<string, Redacted.Redacted>>

/** Headers as they may be shown: the values of secret ones masked. */
export const maskHeaders = (headers: Headers | null): Readonly<Record<string, string>> | null =>
  headers === null
    ? null
    : Object.fromEntries(
        Object.entries(headers).map(([name, redacted]) => {
          const value = Redacted.value(redacted)
          return [name, isSecretHeader(name, value) ? maskSecret(value) : value]
        })
      )

/** The headers to store: a value equal to the mask of the stored one was read and sent back unchanged, and so is kept. */
export const unmaskHeaders = (given: Headers | null, kept: Headers | null): Headers | null => {
  if (given === null || kept === null) return given
  const masked = maskHeaders(kept) ?? {}
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      Object.hasOwn(kept, name) && Redacted.value(value) === masked[name] ? (kept[name] ?? value) : value
    ])
  )
}
