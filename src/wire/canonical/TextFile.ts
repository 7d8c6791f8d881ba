/** Files that are nothing but words, for wires whose upstreams take words and no such files. */
import { isTextual } from "../json/MediaType.ts"
import type { FilePart, MediaSource } from "./Conversation.ts"

/** The words of a text file; null for another file, and for one that is not here. */
export const wordsOf = (source: MediaSource): string | null => {
  if (source.kind === "text") return source.text
  return source.kind === "base64" && isTextual(source.mediaType)
    ? Buffer.from(source.data, "base64").toString("utf8")
    : null
}

/** The words below the file's own name, by which a prompt may speak of it. */
export const namedWords = ({ filename }: FilePart, words: string): string =>
  filename === undefined ? words : `${filename}:\n${words}`
