/**
 * Headers of an upstream that its own clients read: what is left of its limits, when they open again, and the id its support asks for.
 * A client of the same wire gets them under their own names.
 */
import type { UpstreamHeaders } from "../../net/egress/UpstreamHeaders.ts"

/**
 * https://platform.openai.com/docs/guides/rate-limits, https://docs.anthropic.com/en/api/rate-limits,
 * https://docs.anthropic.com/en/api/errors (request ids); `x-should-retry` is what the SDKs of both ask for before they try again.
 */
const prefixes = [
  "x-ratelimit-",
  "anthropic-ratelimit-",
  "ratelimit-",
  "x-codex-",
  "x-request-id",
  "request-id",
  "x-should-retry",
  "openai-processing-ms"
] as const

const mostHeaders = 40
const mostChars = 512

const unsafe = /[^\x20-\x7e]/

const safe = (value: string): string =>
  value.length <= mostChars && !unsafe.test(value) ? value : value.slice(0, mostChars).replaceAll(/[^\x20-\x7e]/g, "?")

/** A flat name–value list. */
export const passedHeaders = (headers: UpstreamHeaders): ReadonlyArray<string> => {
  const found = headers.startingWith(prefixes)
  return found.length === 0 ? found : found.slice(0, mostHeaders * 2).map(safe)
}
