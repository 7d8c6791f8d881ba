/**
 * The older members for tools of this wire: `functions`, `function_call` and messages of the role `function`. They are read as tools with one call a
 * turn; a client that uses them gets `function_call` back, and an upstream of this wire gets them as they came.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create (`functions`, deprecated)
 */
import type { Conversation } from "../canonical/Conversation.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr, stringOr } from "../json/Json.ts"

/** Checks whether a request has functions and not tools. */
export const asksForFunctions = (body: Readonly<Record<string, Json | undefined>> | undefined): boolean =>
  body !== undefined && isArray(body["functions"]) && (body["tools"] ?? null) === null

/** Calls have no ids there: the n-th of a conversation has this one. */
const callId = (place: number): string => `function_call_${place}`

/** Checks whether the id is a placeholder for a missing one. */
const isPlaceId = (id: Json | undefined): boolean => typeof id === "string" && /^function_call_\d+$/.test(id)

const toolOf = (spec: Json): Json => (isObject(spec) ? { type: "function", function: spec } : spec)

const choiceOf = (choice: Json | undefined): Json | undefined =>
  isObject(choice) ? { type: "function", function: choice } : choice

/** Messages with calls and results in the members for tools. A result belongs to the call of its name before it, else to the last one. */
const messagesAsTools = (messages: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  let calls = 0
  const byName = new Map<string, string>()
  return messages.map((message): Json => {
    if (!isObject(message)) return message
    const { function_call: call, ...rest } = message
    if (message["role"] === "assistant" && isObject(call) && (message["tool_calls"] ?? null) === null) {
      const id = callId(calls)
      calls += 1
      byName.set(stringOr(call["name"]) ?? "", id)
      return { ...rest, tool_calls: [{ id, type: "function", function: call }] }
    }
    if (message["role"] !== "function") return message
    const { name, ...result } = message
    const id = byName.get(stringOr(name) ?? "")
    // The name of a result is that of its call.
    if (id !== undefined) return { ...result, role: "tool", tool_call_id: id }
    return { ...message, role: "tool", tool_call_id: callId(Math.max(0, calls - 1)) }
  })
}

/** The request in the members for tools; the same object where it has them already. */
export const asTools = (body: JsonObject): JsonObject => {
  const { functions, messages } = body
  const isAsked = asksForFunctions(body)
  const isSpoken =
    isArray(messages) &&
    messages.some((message) => {
      const { function_call: call, role } = objectOr(message)
      return role === "function" || (role === "assistant" && isObject(call))
    })
  if (!isAsked && !isSpoken) return body
  return {
    ...body,
    ...(isArray(messages) ? { messages: messagesAsTools(messages) } : {}),
    ...(isAsked && isArray(functions)
      ? { tools: functions.map(toolOf), tool_choice: choiceOf(body["function_call"]), parallel_tool_calls: false }
      : {})
  }
}

/** Members of the request that have become tools. */
export const withoutFunctions = (extras: Conversation["extras"]): Conversation["extras"] => {
  if (!isArray(extras["functions"])) return extras
  const { function_call: _call, functions: _functions, ...rest } = extras
  return rest
}

/** A message or a delta with its first call as `function_call`. */
export const asFunctionCall = (message: JsonObject): JsonObject => {
  const { tool_calls: calls, ...rest } = message
  const first = isArray(calls) ? calls[0] : undefined
  if (!isObject(first)) return message
  return (first["index"] ?? 0) === 0 ? { ...rest, function_call: objectOr(first["function"]) } : rest
}

/** The encoded messages of a request with functions, as they came. */
export const messagesAsFunctions = (messages: ReadonlyArray<JsonObject>): ReadonlyArray<JsonObject> => {
  const names = new Map<string, string>()
  return messages.map((message) => {
    const calls = message["tool_calls"]
    const first = isArray(calls) ? objectOr(calls[0]) : {}
    if (isPlaceId(first["id"])) {
      names.set(String(first["id"]), stringOr(objectOr(first["function"])["name"]) ?? "")
      return asFunctionCall(message)
    }
    const { tool_call_id: id, ...rest } = message
    if (message["role"] !== "tool" || !isPlaceId(id)) return message
    return { ...rest, role: "function", name: stringOr(rest["name"]) ?? names.get(String(id)) ?? "" }
  })
}
