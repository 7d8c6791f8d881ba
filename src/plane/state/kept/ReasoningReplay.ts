/**
 * Chat upstreams that want the reasoning of a turn with tool calls back, although chat clients do not send it. Pure.
 */
import { isArray, isObject, type JsonObject } from "../../../wire/json/Json.ts"

/** Checks whether a chat request has a turn with tool calls and without its reasoning. */
export const lacksReasoning = ({ messages }: JsonObject): boolean =>
  isArray(messages) &&
  messages.some(
    (message) =>
      isObject(message) &&
      isArray(message["tool_calls"]) &&
      message["tool_calls"].length > 0 &&
      (message["reasoning_content"] ?? "") === ""
  )
