/** Usage of the chat wire, both ways, with the dialects of its providers. */
import { countOr, mergeUsage, type Usage, type UsagePatch } from "../canonical/Usage.ts"
import { isObject, type JsonObject, objectOr, optional } from "../json/Json.ts"

/** What a usage object tells. Null members tell nothing. */
export const decodeUsage = (usage: JsonObject): UsagePatch => {
  const input = objectOr(usage["prompt_tokens_details"])
  const output = objectOr(usage["completion_tokens_details"])
  return {
    ...optional("in", countOr(usage["prompt_tokens"])),
    ...optional("out", countOr(usage["completion_tokens"])),
    ...optional(
      "cacheRead",
      countOr(input["cached_tokens"]) ?? countOr(usage["prompt_cache_hit_tokens"]) ?? countOr(usage["cached_tokens"])
    ),
    ...optional("cacheWrite", countOr(input["cache_write_tokens"])),
    ...optional("reasoning", countOr(output["reasoning_tokens"]))
  }
}

/** The usage of a response or chunk, wherever its provider puts it; undefined when it tells none. */
export const findUsage = (body: JsonObject, choice: JsonObject | undefined): JsonObject | undefined => {
  if (isObject(body["usage"])) return body["usage"]
  const groq = objectOr(body["x_groq"])["usage"]
  if (isObject(groq)) return groq
  const nested = choice?.["usage"]
  return isObject(nested) ? nested : undefined
}

export const usageOf = (body: JsonObject, choice: JsonObject | undefined): Usage | null => {
  const usage = findUsage(body, choice)
  return usage === undefined ? null : mergeUsage(null, decodeUsage(usage))
}

export const encodeUsage = (usage: Usage): JsonObject => ({
  prompt_tokens: usage.in,
  completion_tokens: usage.out,
  total_tokens: usage.in + usage.out,
  prompt_tokens_details: {
    cached_tokens: usage.cacheRead,
    ...(usage.cacheWrite > 0 ? { cache_write_tokens: usage.cacheWrite } : {})
  },
  completion_tokens_details: { reasoning_tokens: usage.reasoning }
})
