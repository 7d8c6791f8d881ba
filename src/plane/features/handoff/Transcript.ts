/** The end of a conversation as plain text, for the model that sums it up: bounded, without system texts, media and reasoning. Pure. */
import type { Message, Part } from "../../../wire/canonical/Conversation.ts"

/** About 8000 tokens. */
export const maxTranscriptBytes = 30_000

const asText = (part: Part): string => {
  switch (part.type) {
    case "text":
    case "refusal":
      return part.text
    case "tool_call":
      return `[calls ${part.name}: ${part.args}]`
    case "tool_result":
      return `[${part.isError ? "tool error" : "tool result"}: ${part.content.map(asText).join("\n")}]`
    case "image":
    case "audio":
    case "file":
      return `[${part.type}]`
    default:
      return ""
  }
}

/** System prompts come again with every request. */
const isOfConversation = ({ role }: Message): boolean => role !== "system" && role !== "developer"

/** Counts the messages by which a conversation is measured. */
export const countMessages = (messages: ReadonlyArray<Message>): number => messages.filter(isOfConversation).length

/** The end of a text in so many bytes, from the begin of a character on. */
const tail = (text: string, bytes: number): string => {
  const whole = Buffer.from(text)
  let start = Math.max(0, whole.length - bytes)
  while (start < whole.length && ((whole[start] ?? 0) & 0xc0) === 0x80) start += 1
  return whole.subarray(start).toString()
}

/** Writes the last `maxMessages` messages: the newest in full, and of the oldest one that fits only its end. */
export const transcriptOf = (messages: ReadonlyArray<Message>, maxMessages: number): string => {
  const lines: Array<string> = []
  let room = maxTranscriptBytes
  for (const { parts, role } of messages.filter(isOfConversation).slice(-maxMessages).toReversed()) {
    const text = parts
      .map(asText)
      .filter((each) => each !== "")
      .join("\n")
    if (text === "") continue
    const whole = `${role}: ${text}\n`
    const size = Buffer.byteLength(whole)
    lines.push(size <= room ? whole : `${role}: […] ${tail(whole, Math.max(0, room - 16))}`)
    room -= size
    if (room <= 0) break
  }
  return lines.toReversed().join("\n")
}
