/** What may be shown of a secret. */

const shownTail = 4
const leastLengthToShow = 12
const scheme = /^(?:sk|gsk|pk|gw)[-_]/
const telling = /authorization|key|token|secret|cookie|password|credential/i

/** `sk-…abcd`: at most the last four characters, and nothing at all of a short secret. */
export const maskSecret = (secret: string): string =>
  secret.length < leastLengthToShow ? "…" : `${scheme.exec(secret)?.[0] ?? ""}…${secret.slice(-shownTail)}`

/** Header values whose name tells that they are secret are masked. */
export const maskHeaders = (
  headers: Readonly<Record<string, string>> | null
): Readonly<Record<string, string>> | null =>
  headers === null
    ? null
    : Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, telling.test(name) ? maskSecret(value) : value])
      )

/** Headers of a change: a value that is the mask of the stored one was only read and sent back, and stays. */
export const unmaskHeaders = (
  given: Readonly<Record<string, string>> | null,
  kept: Readonly<Record<string, string>> | null
): Readonly<Record<string, string>> | null => {
  if (given === null || kept === null) return given
  const masked = maskHeaders(kept) ?? {}
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      Object.hasOwn(kept, name) && value === masked[name] ? (kept[name] ?? value) : value
    ])
  )
}
