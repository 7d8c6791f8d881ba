/**
 * Reads the time that the upstream asks to wait, from its headers and its body. Relative, in milliseconds, always positive.
 * Absolute times are read against the clock the upstream shows in `Date`; times that are past or absurdly far away are ignored.
 */
import { bodyFields, textHint } from "./BodyHints.ts"
import type { ErrorBody } from "./ErrorBody.ts"
import { type HeaderLookup, resetHeaders, retryAfter, upstreamNow } from "./HeaderHints.ts"
import { believable, day } from "./When.ts"

export interface HintSources {
  readonly header: HeaderLookup
  readonly body: ErrorBody
  /** The wait that the wire read in the body; used where the body is not at hand. */
  readonly wireRetryMs: number | null
  /** The provider's words, already cut to a bounded length. */
  readonly text: string
  /** Words of the text that the caller did not write. Absent: all. */
  readonly isOwn?: (words: string) => boolean
  readonly nowMs: number
}

/**
 * Purpose of a hint. `retry`: a brief failure, where only a direct request to wait counts. `rate`: a short window; the most direct
 * hint counts, a header's or a field's up to a day. Text that names a longer time is about a longer window, whatever the error is
 * called: it counts up to 30 days, as the longest windows are months. `quota`: a long window; the longest wait counts, up to 31 days.
 */
export type HintPurpose = "retry" | "rate" | "quota"

const maxShortMs = day

export const readHint = (
  purpose: HintPurpose,
  { body, header, isOwn, nowMs, text, wireRetryMs }: HintSources
): number | null => {
  const upstreamNowMs = upstreamNow(header, nowMs)
  const direct = retryAfter(header, upstreamNowMs)
  const fields = (): number | null =>
    body.fields.length === 0 ? believable(wireRetryMs) : bodyFields(body, upstreamNowMs)
  if (purpose === "retry") return capped(direct ?? fields())
  const windows = (): number | null => resetHeaders(header, upstreamNowMs)
  const words = (): number | null => textHint(text, upstreamNowMs, isOwn)
  if (purpose === "rate") return capped(direct ?? fields() ?? windows()) ?? words()
  const longest = Math.max(direct ?? 0, fields() ?? 0, windows() ?? 0, words() ?? 0)
  return longest === 0 ? null : longest
}

const capped = (waitMs: number | null): number | null => (waitMs === null ? null : Math.min(waitMs, maxShortMs))
