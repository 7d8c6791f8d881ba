/**
 * Pictures, sound and files that the assistant has made in earlier turns, for wires whose assistant speaks in texts only: they are shown by the user
 * right after. Pure.
 */
import type { WireName } from "../../contract/domain/Wire.ts"
import type { AudioPart, Conversation, FilePart, ImagePart, Message, Part } from "./Conversation.ts"
import { makeDropLog } from "./DropLog.ts"

/** Wires whose assistant's turns hold no media. */
const textOnly: ReadonlySet<WireName> = new Set(["chat", "messages", "responses"])

type Media = AudioPart | FilePart | ImagePart

const isMedia = (part: Part): part is Media => part.type === "image" || part.type === "file" || part.type === "audio"

const speaks = ({ parts, role }: Message): boolean => role === "assistant" && parts.some(isMedia)

/** The conversation with the assistant's media in the user's turns; the same object where there are none. */
export const mediaFromUser = (conversation: Conversation, target: WireName): Conversation => {
  if (!textOnly.has(target) || !conversation.messages.some(speaks)) return conversation
  const messages: Array<Message> = []
  let shown: ReadonlyArray<Media> = []
  const show = (): void => {
    if (shown.length > 0) messages.push({ role: "user", parts: shown })
    shown = []
  }
  for (const message of conversation.messages) {
    // Results come right after their calls.
    if (message.role === "user") {
      messages.push(shown.length === 0 ? message : { ...message, parts: [...shown, ...message.parts] })
      shown = []
      continue
    }
    if (message.role !== "tool") show()
    if (!speaks(message)) messages.push(message)
    else {
      shown = message.parts.filter(isMedia)
      const parts = message.parts.filter((part) => !isMedia(part))
      if (parts.length > 0) messages.push({ ...message, parts })
    }
  }
  show()
  const log = makeDropLog(conversation.wire)
  log.mapField("messages.content")
  return { ...conversation, messages, bent: [...(conversation.bent ?? []), ...log.mapped] }
}
