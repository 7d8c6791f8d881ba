/** Makes the request to a target that continues an answer another one has begun. Pure. */
import type { WireName } from "../../../contract/domain/Wire.ts"
import type { Conversation, Message, TextPart } from "../../../wire/canonical/Conversation.ts"
import { claudeVersionOf } from "../../../wire/canonical/ModelFamily.ts"
import { estimateTokens } from "../../../observe/usage/Cost.ts"

/** Instruction for targets that take a last assistant message for a turn that is over. */
export const instruction =
  "The connection broke in the middle of your last message, and the reader has everything in it up to its last character. " +
  "Write only what comes next, so that both parts read as one text: begin with the very next character (a space, if one belongs " +
  "there), repeat nothing, and say nothing about the interruption."

/** The first Claude models that refuse a conversation which ends with their own words. */
const claudeWithoutPrefill = 4.6

/** A last assistant message is the begin of the answer there. */
export const takesPrefill = (wire: WireName, model: string): boolean =>
  wire === "gemini" || (wire === "messages" && (claudeVersionOf(model) ?? 0) < claudeWithoutPrefill)

const textPart = (text: string): TextPart => ({ type: "text", text })

/** The text as the last assistant message; the client may have begun one itself. */
const withAnswer = (messages: ReadonlyArray<Message>, text: string): ReadonlyArray<Message> => {
  const last = messages.at(-1)
  if (last?.role !== "assistant") return [...messages, { role: "assistant", parts: [textPart(text)] }]
  const end = last.parts.at(-1)
  const parts =
    end?.type === "text"
      ? [...last.parts.slice(0, -1), { ...end, text: end.text + text }]
      : [...last.parts, textPart(text)]
  return [...messages.slice(0, -1), { ...last, parts }]
}

/**
 * The conversation up to the cut. Reasoning is not asked for again: a prefill excludes it, and the client would not see it. What was
 * written counts toward the client's limit. Without a text (only reasoning was sent) the question is the same once more.
 */
export const continuationOf = (conversation: Conversation, sent: string, prefill: boolean): Conversation => {
  const limit = conversation.maxOutputTokens
  const rest = {
    ...conversation,
    reasoning: null,
    maxOutputTokens: limit === null ? null : Math.max(1, limit - estimateTokens(sent.length))
  }
  if (sent === "") return rest
  const messages = withAnswer(conversation.messages, sent)
  return {
    ...rest,
    messages: prefill ? messages : [...messages, { role: "user", parts: [textPart(instruction)] }]
  }
}
