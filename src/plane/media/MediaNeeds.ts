/**
 * Decides which pictures and files of a conversation a target cannot fetch for itself, and puts the fetched ones in.
 * Pure.
 */
import type { WireName } from "../../contract/domain/Wire.ts"
import type {
  Conversation,
  FilePart,
  ImagePart,
  MediaSource,
  Message,
  Part,
  ToolResultPart
} from "../../wire/canonical/Conversation.ts"

const isHttp = (url: string): boolean => /^https?:\/\//i.test(url)
const isHttps = (url: string): boolean => /^https:\/\//i.test(url)
/** Google's servers take links to videos there as they are. */
const isVideoLink = (url: string): boolean => /^https?:\/\/(?:(?:www|m)\.)?(?:youtube\.com|youtu\.be)\//i.test(url)

/**
 * Checks whether the bytes must be sent instead of the link. Chat and responses servers fetch pictures themselves; the chat wire
 * has no links for files. The messages API follows https only, Gemini only links into its own stores, local runners none at all.
 */
const needsBytes = (wire: WireName, part: ImagePart | FilePart, url: string): boolean => {
  if (!isHttp(url)) return false
  switch (wire) {
    case "responses":
      return false
    case "chat":
      return part.type === "file"
    case "messages":
      return !isHttps(url)
    case "gemini":
      return !isVideoLink(url)
    case "ollama":
      return true
  }
}

/** The link of a part whose bytes this target needs; null when it needs none. */
const linkOf = (part: Part, wire: WireName): string | null =>
  (part.type === "image" || part.type === "file") &&
  part.source.kind === "url" &&
  needsBytes(wire, part, part.source.url)
    ? part.source.url
    : null

export interface Link {
  readonly url: string
  /** Some part shows it as a picture: then nothing else will do. */
  readonly asImage: boolean
}

/** Every link to be fetched, once, in order. Empty where the client's wire is the target's own: its links are its own affair. */
export const linksToFetch = ({ messages, wire }: Conversation, target: WireName): ReadonlyArray<Link> => {
  if (wire === target) return []
  const links = new Map<string, Link>()
  const look = (part: Part): void => {
    const url = linkOf(part, target)
    if (url !== null) links.set(url, { url, asImage: part.type === "image" || links.get(url)?.asImage === true })
    if (part.type === "tool_result") part.content.forEach(look)
  }
  for (const { parts } of messages) parts.forEach(look)
  return [...links.values()]
}

/** Checks whether anything has to be fetched before this conversation can be sent to a target of that wire. */
export const needsFetch = (conversation: Conversation, target: WireName): boolean =>
  linksToFetch(conversation, target).length > 0

/** The conversation with the fetched sources in place of their links. */
export const withSources = (
  conversation: Conversation,
  target: WireName,
  sources: ReadonlyMap<string, MediaSource>
): Conversation => {
  const filled = <P extends Part>(part: P): P => {
    const link = linkOf(part, target)
    const source = link === null ? undefined : sources.get(link)
    return source === undefined ? part : { ...part, source }
  }
  const inPart = (part: Part): Part => {
    if (part.type !== "tool_result") return filled(part)
    const result: ToolResultPart = { ...part, content: part.content.map((inner) => filled(inner)) }
    return result
  }
  const messages = conversation.messages.map((message): Message => ({ ...message, parts: message.parts.map(inPart) }))
  return { ...conversation, messages }
}
