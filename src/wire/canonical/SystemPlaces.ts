/**
 * System messages between turns. Moved to the front they would change the beginning of the prompt, and with it the prompt cache of the
 * provider, with every new one. So they stay in place, as marked user text where the target has no such role.
 */
import type { Message } from "./Conversation.ts"

export const isSystem = ({ role }: Message): boolean => role === "system" || role === "developer"

/** The messages before the first turn, which make the system prompt, and all others. */
export const splitSystem = (
  messages: ReadonlyArray<Message>
): { readonly head: ReadonlyArray<Message>; readonly rest: ReadonlyArray<Message> } => {
  const first = messages.findIndex((message) => !isSystem(message))
  const at = first === -1 ? messages.length : first
  return { head: messages.slice(0, at), rest: messages.slice(at) }
}

const open = "<system-reminder>"
const close = "</system-reminder>"

/** A system text as a part of a user's turn. */
export const markedText = (text: string): string => `${open}\n${text}\n${close}`

/** The message as a user message with every text marked. */
export const asMarkedUser = (message: Message): Message => ({
  ...message,
  role: "user",
  parts: message.parts.map((part) =>
    part.type === "text" && part.text !== "" ? { ...part, text: markedText(part.text) } : part
  )
})
