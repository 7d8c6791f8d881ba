/**
 * Usage of the messages wire, both ways. Its `input_tokens` leaves out what was read from or written to the cache; its stream
 * reports totals that may repeat, so later members replace earlier ones and nothing is added up.
 */
import { noTokens } from "../../domain/Usage.ts"
import type { Usage } from "../canonical/Usage.ts"
import { type JsonObject, numberOr, objectOr } from "../json/Json.ts"

interface Raw {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  thinking: number
}

/** Merges usage objects of one answer and gives the sum of what is known. */
export const makeUsageReader = (): ((usage: JsonObject) => Usage) => {
  const raw: Raw = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, thinking: 0 }
  return (usage) => {
    raw.input = numberOr(usage["input_tokens"]) ?? raw.input
    raw.output = numberOr(usage["output_tokens"]) ?? raw.output
    raw.cacheRead = numberOr(usage["cache_read_input_tokens"]) ?? raw.cacheRead
    raw.cacheWrite = numberOr(usage["cache_creation_input_tokens"]) ?? raw.cacheWrite
    raw.thinking = numberOr(objectOr(usage["output_tokens_details"])["thinking_tokens"]) ?? raw.thinking
    return {
      in: raw.input + raw.cacheRead + raw.cacheWrite,
      out: raw.output,
      cacheRead: raw.cacheRead,
      cacheWrite: raw.cacheWrite,
      reasoning: raw.thinking
    }
  }
}

/** Unknown usage is written as zeros: the wire's clients need the members. */
export const encodeUsage = (known: Usage | null): JsonObject => {
  const usage = known ?? noTokens
  return {
    input_tokens: Math.max(0, usage.in - usage.cacheRead - usage.cacheWrite),
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.out,
    ...(usage.reasoning > 0 ? { output_tokens_details: { thinking_tokens: usage.reasoning } } : {})
  }
}
