/**
 * Usage of the messages wire, both ways. Its `input_tokens` leaves out what was read from or written to the cache; its stream
 * reports totals that may repeat, so nothing is added up.
 *
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 */
import type { Dialect } from "../../contract/domain/Dialect.ts"
import { type BillingFacts, noTokens } from "../../contract/domain/Usage.ts"
import { billingOf } from "../canonical/BillingReading.ts"
import { countOr, mergeBilling, type Usage, withBilling } from "../canonical/Usage.ts"
import { type JsonObject, objectOr } from "../json/Json.ts"

interface Raw {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  cacheWrite5m: number
  cacheWrite1h: number
  thinking: number
}

const promptOf = ({ cacheRead, cacheWrite, cacheWrite1h, cacheWrite5m, input }: Raw): number =>
  input + cacheRead + Math.max(cacheWrite, cacheWrite5m + cacheWrite1h)

/**
 * Merges the usage objects of one answer; null while none had a number. Counts never fall: a zero takes nothing back, and a later report moves
 * tokens between the parts of the prompt only where the whole of it stays. The output reported at the start is a placeholder, so a zero at the end
 * of an answer that has no content (`isEmpty`) is what it took.
 */
export const makeUsageReader = (dialect?: Dialect): ((usage: JsonObject, isEmpty?: boolean) => Usage | null) => {
  let raw: Raw = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite5m: 0, cacheWrite1h: 0, thinking: 0 }
  let billing: BillingFacts | undefined
  let isReported = false
  return (usage, isEmpty = false) => {
    const later = { ...raw }
    const note = (word: keyof Raw, value: unknown): void => {
      const count = countOr(value)
      if (count === null) return
      if (count > 0) later[word] = count
      isReported = true
    }
    note("input", usage["input_tokens"])
    note("output", usage["output_tokens"])
    note("cacheRead", usage["cache_read_input_tokens"])
    note("cacheWrite", usage["cache_creation_input_tokens"])
    const written = objectOr(usage["cache_creation"])
    note("cacheWrite5m", written["ephemeral_5m_input_tokens"])
    note("cacheWrite1h", written["ephemeral_1h_input_tokens"])
    note("thinking", objectOr(usage["output_tokens_details"])["thinking_tokens"])
    billing = mergeBilling(billing, billingOf(usage, usage, dialect?.usage.charge ?? null))
    const output = isEmpty && usage["output_tokens"] === 0 ? 0 : Math.max(raw.output, later.output)
    const thinking = Math.max(raw.thinking, later.thinking)
    raw = { ...(promptOf(later) < promptOf(raw) ? raw : later), output, thinking }
    if (!isReported) return null
    // The total is the sum of the parts; whichever says more counts, should a relay leave one out.
    const cacheWrite = Math.max(raw.cacheWrite, raw.cacheWrite5m + raw.cacheWrite1h)
    return {
      in: raw.input + raw.cacheRead + cacheWrite,
      out: raw.output,
      cacheRead: raw.cacheRead,
      cacheWrite,
      ...(raw.cacheWrite1h > 0 ? { cacheWrite1h: raw.cacheWrite1h } : {}),
      reasoning: raw.thinking,
      ...withBilling(billing)
    }
  }
}

/** Unknown usage is written as zeros, because the wire's clients need the members. */
export const encodeUsage = (known: Usage | null): JsonObject => {
  const usage = known ?? noTokens
  const searches = usage.billing?.tools?.webSearches ?? 0
  return {
    input_tokens: Math.max(0, usage.in - usage.cacheRead - usage.cacheWrite),
    cache_creation_input_tokens: usage.cacheWrite,
    ...(usage.cacheWrite1h === undefined
      ? {}
      : {
          cache_creation: {
            ephemeral_5m_input_tokens: Math.max(0, usage.cacheWrite - usage.cacheWrite1h),
            ephemeral_1h_input_tokens: usage.cacheWrite1h
          }
        }),
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.out,
    ...(searches > 0 ? { server_tool_use: { web_search_requests: searches } } : {}),
    ...(usage.reasoning > 0 ? { output_tokens_details: { thinking_tokens: usage.reasoning } } : {})
  }
}
