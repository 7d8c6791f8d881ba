/** `data:<media type>;base64,<data>` in and out. */
import type { MediaSource } from "../canonical/Conversation.ts"

const dataUrl = /^data:([^;,]+)(?:;[^;,]+)*;base64,/i

/** A URL as a media source: inline data when it is a base64 data URL, else a link. */
export const mediaOfUrl = (url: string): MediaSource => {
  const match = dataUrl.exec(url.slice(0, 256))
  const mediaType = match?.[1]
  if (match === null || mediaType === undefined) return { kind: "url", url }
  return { kind: "base64", mediaType, data: url.slice(match[0].length) }
}

export const dataUrlOf = (mediaType: string, data: string): string => `data:${mediaType};base64,${data}`
