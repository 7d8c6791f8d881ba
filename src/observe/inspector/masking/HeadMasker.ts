/**
 * Masks headers and paths of records. Most are the same in every exchange: those without a secret are remembered, so that each is searched
 * once. A text with a secret is never kept.
 */
import type { RecordHeaders } from "../../../contract/domain/TrafficRecord.ts"
import { maskHeader, maskText, maskUrl } from "./Masking.ts"
import { isSecretHeaderName } from "./SecretNames.ts"

/** Texts that are remembered; then it begins anew. */
const maxRemembered = 2_048
const maxRememberedChars = 256

export interface HeadMasker {
  readonly maskedHeaders: (headers: RecordHeaders) => RecordHeaders
  readonly maskedUrl: (url: string) => string
}

const maxPathChars = 65_536
const maxErrorChars = 2_000

/** Parts of an exchange that may hold secrets, with them or without. */
export interface Shown {
  readonly path: string
  readonly error: string | null
  readonly requestHeaders: RecordHeaders
  readonly responseHeaders: RecordHeaders
}

/** Masks the parts of an exchange that may hold secrets. Errors are masked regardless of the setting. */
export const shownOf = (
  { maskedHeaders, maskedUrl }: HeadMasker,
  isMasked: boolean,
  { error, path, requestHeaders, responseHeaders }: Shown
): Shown => {
  const beginning = path.slice(0, maxPathChars)
  return {
    path: isMasked ? maskedUrl(beginning).slice(0, maxPathChars) : beginning,
    error: error === null ? null : maskText(error.slice(0, maxErrorChars)),
    requestHeaders: isMasked ? maskedHeaders(requestHeaders) : requestHeaders,
    responseHeaders: isMasked ? maskedHeaders(responseHeaders) : responseHeaders
  }
}

export const makeHeadMasker = (): HeadMasker => {
  /** Clean values by name of the header; paths have none. */
  const clean = new Map<string, Set<string>>()
  let count = 0

  const remember = (name: string, text: string): void => {
    if (text.length > maxRememberedChars || name.length > maxRememberedChars) return
    if (count === maxRemembered) {
      clean.clear()
      count = 0
    }
    const texts = clean.get(name) ?? new Set()
    clean.set(name, texts.add(text))
    count += 1
  }

  const masked = (name: string, text: string, mask: () => string): string => {
    if (clean.get(name)?.has(text) === true) return text
    const shown = mask()
    if (shown === text && !isSecretHeaderName(name)) remember(name, text)
    return shown
  }

  return {
    maskedHeaders: (headers) =>
      Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, masked(name, value, () => maskHeader(name, value))])
      ),
    maskedUrl: (url) => masked("", url, () => maskUrl(url))
  }
}
