/** Converts the position of tool results: canonically, the results for one assistant message are one message. Pure. */
import { type JsonObject, optional } from "../../json/Json.ts"
import type { Message, Part } from "../Conversation.ts"

/** Joins consecutive tool messages, for wires that write one message per result. */
export const joinToolMessages = (messages: ReadonlyArray<Message>): ReadonlyArray<Message> => {
  const joined: Array<Message> = []
  let results: Array<Part> | null = null
  for (const message of messages) {
    if (message.role === "tool" && results !== null) {
      for (const part of message.parts) results.push(part)
      const before = joined.at(-1)
      if (before !== undefined && message.extras !== undefined)
        joined[joined.length - 1] = { ...before, extras: { ...before.extras, ...message.extras } }
      continue
    }
    results = message.role === "tool" ? [...message.parts] : null
    joined.push(results === null ? message : { ...message, parts: results })
  }
  return joined
}

/** Splits results from the user's turn, for wires that write them there: they become a message before it. */
export const splitToolResults = (
  parts: ReadonlyArray<Part>,
  extras: JsonObject | undefined
): ReadonlyArray<Message> => {
  const results = parts.filter((part) => part.type === "tool_result")
  const rest = parts.filter((part) => part.type !== "tool_result")
  const own = optional("extras", extras)
  const user: Message = { role: "user", parts: rest, ...own }
  if (results.length === 0) return [user]
  return rest.length === 0 ? [{ role: "tool", parts: results, ...own }] : [{ role: "tool", parts: results }, user]
}
