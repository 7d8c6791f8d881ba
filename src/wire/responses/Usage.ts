/** Usage of the responses wire, both ways. */
import { noTokens } from "../../domain/Usage.ts"
import { countOr, mergeUsage, type Usage } from "../canonical/Usage.ts"
import { isObject, type JsonObject, objectOr, optional } from "../json/Json.ts"

/** The usage of a response object; null when it tells none. */
export const usageOf = (response: JsonObject): Usage | null => {
  const usage = response["usage"]
  if (!isObject(usage)) return null
  const input = objectOr(usage["input_tokens_details"])
  return mergeUsage(null, {
    ...optional("in", countOr(usage["input_tokens"])),
    ...optional("out", countOr(usage["output_tokens"])),
    ...optional("cacheRead", countOr(input["cached_tokens"])),
    ...optional("cacheWrite", countOr(input["cache_write_tokens"])),
    ...optional("reasoning", countOr(objectOr(usage["output_tokens_details"])["reasoning_tokens"]))
  })
}

/** Unknown usage is written as zeros: the wire's clients need the members. */
export const encodeUsage = (known: Usage | null): JsonObject => {
  const usage = known ?? noTokens
  return {
    input_tokens: usage.in,
    input_tokens_details: {
      cached_tokens: usage.cacheRead,
      ...(usage.cacheWrite > 0 ? { cache_write_tokens: usage.cacheWrite } : {})
    },
    output_tokens: usage.out,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.in + usage.out
  }
}
