/** Parts of a chat request that some servers of the wire refuse with 400. */
import type { Dialect } from "../../contract/domain/Dialect.ts"
import { nineLettersOrDigits } from "../canonical/Aliases.ts"
import { isArray, isObject, type Json, type JsonObject } from "../json/Json.ts"

const isText = (value: Json | undefined): boolean => typeof value === "string" && value !== ""

const carriesReasoning = (message: JsonObject): boolean =>
  message["reasoning_content"] !== undefined || message["reasoning"] !== undefined

const isOddId = (id: Json | undefined): boolean => isText(id) && !nineLettersOrDigits.pattern.test(String(id))

const hasOddIds = (message: JsonObject): boolean => {
  const calls = message["tool_calls"]
  return (
    isOddId(message["tool_call_id"]) || (isArray(calls) && calls.some((call) => isObject(call) && isOddId(call["id"])))
  )
}

/**
 * Checks whether a request holds something its endpoint is known to refuse, so that its bytes cannot be relayed.
 * O(messages).
 */
export const isRefusedBy = ({ callIds, reasoningHistory }: Dialect, { messages }: JsonObject): boolean => {
  const refusesReasoning = reasoningHistory?.is === "refused"
  if ((!refusesReasoning && callIds === null) || !isArray(messages)) return false
  return messages.some(
    (message) =>
      isObject(message) && ((refusesReasoning && carriesReasoning(message)) || (callIds !== null && hasOddIds(message)))
  )
}
