/** A decoded chat request as the other wires know it: with marks, proofs and wishes to reason in the places that all wires have. Idempotent. */
import type { Conversation, Message, Part } from "../canonical/Conversation.ts"
import { citationsIn } from "../canonical/Links.ts"
import { isObject, stringOr } from "../json/Json.ts"
import { markedMessage, markedTool } from "./ClientMarks.ts"
import { withProofs } from "./ClientProofs.ts"
import { withoutReasoningWords } from "./ClientReasoning.ts"
import { withoutFunctions } from "./LegacyFunctions.ts"

/** An earlier answer in sound: its words, or the id under which its maker keeps it. */
const withAudio = (message: Message): Message => {
  const { audio, ...rest } = message.extras ?? {}
  if (message.role !== "assistant" || !isObject(audio)) return message
  const transcript = stringOr(audio["transcript"]) ?? ""
  const part: Part =
    transcript === ""
      ? { type: "opaque", wire: "chat", kind: "audio", value: audio }
      : { type: "text", text: transcript }
  const hasText = message.parts.some(({ type }) => type === "text")
  const { extras: _extras, ...bare } = message
  return {
    ...bare,
    parts: hasText ? message.parts : [...message.parts, part],
    ...(Object.keys(rest).length === 0 ? {} : { extras: rest })
  }
}

/** Links of an earlier answer belong to its text. */
const withAnnotations = (message: Message): Message => {
  const { annotations, ...rest } = message.extras ?? {}
  const { citations } = message.role === "assistant" ? citationsIn("chat", annotations, null) : {}
  const last = message.parts.findLastIndex(({ type }) => type === "text")
  const part = message.parts[last]
  if (citations === undefined || part?.type !== "text") return message
  const { extras: _extras, ...bare } = message
  return {
    ...bare,
    parts: message.parts.with(last, { ...part, citations }),
    ...(Object.keys(rest).length === 0 ? {} : { extras: rest })
  }
}

export const forOthers = (conversation: Conversation): Conversation => {
  const { extras, messages, reasoning, tools } = conversation
  return {
    ...conversation,
    messages: messages.map((message) => markedMessage(withAnnotations(withAudio(withProofs(message))))),
    tools: tools.map(markedTool),
    extras: withoutFunctions(reasoning?.inOwnWords !== undefined ? withoutReasoningWords(extras) : extras)
  }
}
