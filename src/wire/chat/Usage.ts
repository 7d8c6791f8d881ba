/**
 * Usage of the chat wire, both ways, with the dialects of its providers.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create
 */
import { type Dialect, plainDialect } from "../../contract/domain/Dialect.ts"
import { mergeUsage, type Usage, type UsagePatch } from "../canonical/Usage.ts"
import { readUsage, type UsageMembers } from "../canonical/UsageReading.ts"
import { isObject, type JsonObject, objectOr } from "../json/Json.ts"

const members: UsageMembers = { prompt: "prompt_tokens", completion: "completion_tokens" }

/** Token counts of a usage object of the chat wire, in the answer or chunk `body`; counts that it lacks are absent. */
export const decodeUsage = (usage: JsonObject, body: JsonObject, dialect: Dialect = plainDialect): UsagePatch =>
  readUsage(usage, members, dialect.usage, { body })

/** The usage of a response or chunk, wherever its provider puts it; undefined when there is none. */
export const findUsage = (body: JsonObject, choice: JsonObject | undefined): JsonObject | undefined => {
  if (isObject(body["usage"])) return body["usage"]
  const groq = objectOr(body["x_groq"])["usage"]
  if (isObject(groq)) return groq
  const nested = choice?.["usage"]
  return isObject(nested) ? nested : undefined
}

export const usageOf = (body: JsonObject, choice: JsonObject | undefined, dialect?: Dialect): Usage | null => {
  const usage = findUsage(body, choice)
  return usage === undefined ? null : mergeUsage(null, decodeUsage(usage, body, dialect))
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
