/** Reads and writes `data:<media type>;base64,<data>` (RFC 2397). */
import type { MediaSource } from "./Conversation.ts"
import { imageTypeOf } from "./ImageType.ts"
import { mediaTypeOf } from "../json/MediaType.ts"

const dataUrl = /^data:([^;,]*)(?:;[^;,]+)*;base64,/i

/** Finds the type of data that names none: by its first bytes, else text (RFC 2397). */
const sniffedType = (data: string): string =>
  imageTypeOf(data) ?? (data.startsWith("JVBERi") ? "application/pdf" : "text/plain")

/** A URL as a media source: inline data when it is a base64 data URL, else a link. */
export const mediaOfUrl = (url: string): MediaSource => {
  const match = dataUrl.exec(url.slice(0, 256))
  const mediaType = match?.[1]
  if (match === null || mediaType === undefined) return { kind: "url", url }
  const data = url.slice(match[0].length)
  return { kind: "base64", mediaType: mediaType === "" ? sniffedType(data) : mediaTypeOf(mediaType), data }
}

const plainTextUrl = /^data:(?:text\/[^;,]*)?(?:;[^;,]*)*,/i

/** The same for files, whose data may also be percent-encoded text. */
export const fileOfUrl = (url: string): MediaSource => {
  const source = mediaOfUrl(url)
  const match = source.kind === "url" ? plainTextUrl.exec(url.slice(0, 256)) : null
  if (match === null) return source
  try {
    return { kind: "text", text: decodeURIComponent(url.slice(match[0].length)) }
  } catch {
    return source
  }
}

// Both alphabets are in use, and command-line tools insert line ends.
const noBase64 = /[^A-Za-z0-9+/_=\s-]/

/** Checks whether a text can be base64 data at all; linear, nothing is decoded. */
export const isBase64 = (data: string): boolean => data !== "" && !noBase64.test(data)

/** Inline data that is not base64; links and ids are not checked. */
export const isBroken = (source: MediaSource): boolean => source.kind === "base64" && !isBase64(source.data)

/** The error message for such data. */
export const expectedBase64 = "expected base64 data"

export const dataUrlOf = (mediaType: string, data: string): string => `data:${mediaType};base64,${data}`
