/** Pictures under the type that their first bytes prove: some makers refuse a picture that says another one. Pure. */
import type { Conversation, Message, Part } from "../Conversation.ts"
import { imageTypeOf } from "../ImageType.ts"

const trueType = <P extends Part>(part: P): P => {
  if (part.type !== "image" || part.source.kind !== "base64") return part
  const mediaType = imageTypeOf(part.source.data)
  return mediaType === null || mediaType === part.source.mediaType
    ? part
    : { ...part, source: { ...part.source, mediaType } }
}

const isImage = (part: Part): boolean =>
  part.type === "image" || (part.type === "tool_result" && part.content.some(({ type }) => type === "image"))

const inPart = (part: Part): Part =>
  part.type === "tool_result" ? { ...part, content: part.content.map((item) => trueType(item)) } : trueType(part)

/** The conversation with its pictures so; the same object where there are none. */
export const withTrueTypes = (conversation: Conversation): Conversation =>
  conversation.messages.some(({ parts }) => parts.some(isImage))
    ? {
        ...conversation,
        messages: conversation.messages.map((message): Message => ({
          ...message,
          parts: message.parts.map((part) => inPart(part))
        }))
      }
    : conversation
