/** A decoded messages request as the other wires know it: what is said of a document is before it as text. Idempotent. */
import { plainText } from "../canonical/ForeignContent.ts"
import type { Conversation, Message, Part } from "../canonical/Conversation.ts"
import { stringOr } from "../json/Json.ts"

const contextOf = (part: Part): string | null => (part.type === "file" ? stringOr(part.extras?.["context"]) : null)

const withContext = (part: Part): ReadonlyArray<Part> => {
  const context = contextOf(part)
  if (context === null || part.type !== "file") return [part]
  const { context: _context, ...rest } = part.extras ?? {}
  const { extras: _extras, ...bare } = part
  return [plainText(context), Object.keys(rest).length === 0 ? bare : { ...bare, extras: rest }]
}

const hasContext = ({ parts }: Message): boolean => parts.some((part) => contextOf(part) !== null)

export const forOthers = (conversation: Conversation): Conversation =>
  conversation.messages.some(hasContext)
    ? {
        ...conversation,
        messages: conversation.messages.map((message) =>
          hasContext(message) ? { ...message, parts: message.parts.flatMap(withContext) } : message
        )
      }
    : conversation
