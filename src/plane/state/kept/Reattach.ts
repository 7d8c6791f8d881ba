/**
 * Puts back what a client's wire could not carry: an assistant turn that is known is replaced by what the model really said, with
 * the client's own ids of calls (its tool results name them). Pure.
 */
import type { Conversation, Message, Part, ToolCallPart } from "../../../wire/canonical/Conversation.ts"
import type { AnswerPart } from "../../../wire/canonical/Response.ts"

export type Recall = (parts: ReadonlyArray<Part>) => ReadonlyArray<AnswerPart> | null

/** The remembered parts in place of the client's, which keep their ids and marks. */
const restored = (remembered: ReadonlyArray<AnswerPart>, own: ReadonlyArray<Part>): ReadonlyArray<Part> => {
  const calls = own.filter((part): part is ToolCallPart => part.type === "tool_call")
  const lastMark = own
    .filter((part) => part.type === "text")
    .findLast(({ cacheControl }) => cacheControl !== undefined)?.cacheControl
  const lastText = remembered.findLastIndex((part) => part.type === "text")
  let call = 0
  return remembered.map((part, index): Part => {
    if (part.type === "text" && index === lastText && lastMark !== undefined) return { ...part, cacheControl: lastMark }
    if (part.type !== "tool_call") return part
    const mine = calls[call++]
    if (mine === undefined) return part
    const marked = mine.cacheControl === undefined ? {} : { cacheControl: mine.cacheControl }
    return { ...part, id: mine.id, ...marked }
  })
}

/** Consecutive assistant messages are one turn: some wires write every item of it by itself. */
const turnEnd = (messages: ReadonlyArray<Message>, from: number): number => {
  let end = from + 1
  while (messages[end]?.role === "assistant") end += 1
  return end
}

export const reattach = (conversation: Conversation, recall: Recall): Conversation => {
  const { messages } = conversation
  const result: Array<Message> = []
  let changed = false
  for (let index = 0; index < messages.length;) {
    const message = messages[index]
    if (message === undefined) break
    if (message.role !== "assistant") {
      result.push(message)
      index += 1
      continue
    }
    const end = turnEnd(messages, index)
    const turn = messages.slice(index, end)
    const parts = turn.flatMap((piece) => piece.parts)
    const remembered = recall(parts)
    if (remembered === null) result.push(...turn)
    else {
      changed = true
      result.push({ ...message, parts: restored(remembered, parts) })
    }
    index = end
  }
  return changed ? { ...conversation, messages: result } : conversation
}
