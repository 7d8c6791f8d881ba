/** Text files as plain text, for wires whose upstreams do not accept them as files. */
import { isTextual } from "../json/MediaType.ts"
import type { FilePart, MediaSource } from "./Conversation.ts"

/** Field in which clients send videos that have no place on other wires. */
export const videoField = "messages.content.video_url"

/** The text of a text file; null for another file, and for one that is not inline. */
export const wordsOf = (source: MediaSource): string | null => {
  if (source.kind === "text") return source.text
  return source.kind === "base64" && isTextual(source.mediaType)
    ? Buffer.from(source.data, "base64").toString("utf8")
    : null
}

/** The text under the file's name, because a prompt may refer to it. */
export const namedWords = ({ filename }: FilePart, words: string): string =>
  filename === undefined ? words : `${filename}:\n${words}`
