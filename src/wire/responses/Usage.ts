/**
 * Usage of the responses wire, both ways.
 *
 * https://developers.openai.com/api/reference/resources/responses/methods/create
 */
import { type Dialect, plainUsage } from "../../contract/domain/Dialect.ts"
import { noTokens } from "../../contract/domain/Usage.ts"
import { toolsOfResponse } from "../canonical/BillingReading.ts"
import { mergeUsage, type Usage } from "../canonical/Usage.ts"
import { readUsage, type UsageMembers } from "../canonical/UsageReading.ts"
import { isObject, type JsonObject } from "../json/Json.ts"

const members: UsageMembers = { prompt: "input_tokens", completion: "output_tokens" }

/** The usage of a response object; null when there is none. */
export const usageOf = (response: JsonObject, dialect?: Dialect): Usage | null => {
  const usage = response["usage"]
  if (!isObject(usage)) return null
  const around = { body: response, tools: toolsOfResponse(response, usage) }
  return mergeUsage(null, readUsage(usage, members, { ...plainUsage, charge: dialect?.usage.charge ?? null }, around))
}

/** Unknown usage is written as zeros, because the wire's clients need the members. */
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
