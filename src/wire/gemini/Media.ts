/**
 * `inlineData` and `fileData` parts, both ways.
 *
 * https://ai.google.dev/api/generate-content
 */
import type { AudioPart, FilePart, ImagePart, MediaSource } from "../canonical/Conversation.ts"
import type { DropLog } from "../canonical/DropLog.ts"
import { expectedBase64, isBase64 } from "../canonical/DataUrl.ts"
import { mediaTypeOf } from "../json/MediaType.ts"
import type { FieldReader } from "../json/FieldReader.ts"
import { extrasOf, type JsonObject, objectOr, optional } from "../json/Json.ts"
import { camel } from "./Casing.ts"

type MediaPart = ImagePart | AudioPart | FilePart

const inlineMembers = new Set(["inlineData"])
const blobMembers = new Set(["mimeType", "data"])
const fileMembers = new Set(["fileData"])

/** Audio types whose subtype is not the format's usual name. */
const audioFormats: Readonly<Record<string, string>> = {
  mpeg: "mp3",
  "x-wav": "wav",
  wave: "wav",
  "vnd.wave": "wav"
}

export const decodeInlineData = (part: JsonObject, path: string, read: FieldReader): MediaPart | null => {
  const at = `${path}.inlineData`
  const blob = camel(objectOr(part["inlineData"]))
  const said = read.string(blob, "mimeType", at)
  const mediaType = said === undefined ? undefined : mediaTypeOf(said)
  const data = read.string(blob, "data", at)
  if (mediaType === undefined) read.fail(`${at}.mimeType`, "a media type is required")
  if (data === undefined) read.fail(`${at}.data`, "base64 data is required")
  else if (!isBase64(data)) read.fail(`${at}.data`, expectedBase64)
  if (mediaType === undefined || data === undefined) return null
  const extras = {
    ...optional("extras", extrasOf(part, inlineMembers)),
    ...optional("inner", extrasOf(blob, blobMembers))
  }
  const source: MediaSource = { kind: "base64", mediaType, data }
  if (mediaType.startsWith("image/")) return { type: "image", source, ...extras }
  if (mediaType.startsWith("audio/")) {
    const subtype = mediaType.slice("audio/".length)
    return { type: "audio", data, format: audioFormats[subtype] ?? subtype, ...extras }
  }
  return { type: "file", source, ...optional("filename", read.string(blob, "displayName", at)), ...extras }
}

/** URLs in Google's own storage, which no other provider can open. */
const ownStore = /^(?:gs:\/\/|files\/|https:\/\/generativelanguage\.googleapis\.com\/)/

export const decodeFileData = (part: JsonObject, path: string, read: FieldReader): ImagePart | FilePart | null => {
  const at = `${path}.fileData`
  const file = camel(objectOr(part["fileData"]))
  const uri = read.string(file, "fileUri", at)
  if (uri === undefined || uri === "") {
    read.fail(`${at}.fileUri`, "the address of the file is required")
    return null
  }
  const { displayName: _name, fileUri: _uri, ...rest } = file
  const extras = {
    ...extrasOf(part, fileMembers),
    ...(Object.keys(rest).length === 0 ? {} : { fileData: rest })
  }
  const source: MediaSource = ownStore.test(uri)
    ? { kind: "file_id", wire: "gemini", id: uri }
    : { kind: "url", url: uri }
  const more = Object.keys(extras).length === 0 ? {} : { extras }
  if (read.string(file, "mimeType", at)?.startsWith("image/") === true) return { type: "image", source, ...more }
  return { type: "file", source, ...optional("filename", read.string(file, "displayName", at)), ...more }
}

/** Media types by file extension: the servers require one. */
const typeByEnding: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
  gif: "image/gif",
  heic: "image/heic",
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  html: "text/html",
  json: "application/json",
  mp3: "audio/mp3",
  wav: "audio/wav",
  mp4: "video/mp4",
  webm: "video/webm"
}

/** The default media type: an image needs one, but the servers detect its actual kind. */
const unsaidType = { image: "image/jpeg", file: null } as const

const guessedType = (part: ImagePart | FilePart, url: string): { readonly mimeType?: string } => {
  const ending = /\.([a-z0-9]{2,5})(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase()
  return optional(
    "mimeType",
    ending !== undefined && Object.hasOwn(typeByEnding, ending) ? typeByEnding[ending] : unsaidType[part.type]
  )
}

/** The data member of a part; null for what the wire cannot carry, which is logged. */
const encodeSource = (part: ImagePart | FilePart, own: boolean, log: DropLog): JsonObject | null => {
  const { source } = part
  switch (source.kind) {
    case "base64":
      return { inlineData: { mimeType: source.mediaType, data: source.data, ...(own ? part.inner : {}) } }
    case "text":
      return { text: source.text }
    case "url":
      return {
        fileData: {
          ...(own ? objectOr(part.extras?.["fileData"]) : guessedType(part, source.url)),
          fileUri: source.url
        }
      }
    case "file_id":
      if (source.wire === "gemini") return { fileData: { ...objectOr(part.extras?.["fileData"]), fileUri: source.id } }
      log.drop(part.type)
      return null
  }
}

export const encodeMedia = (part: MediaPart, own: boolean, log: DropLog): JsonObject | null => {
  if (part.type === "image" && part.detail !== undefined && part.detail !== "auto") log.drop("imageDetail")
  if (part.type === "file" && part.filename !== undefined && !own) log.drop("filename")
  const data =
    part.type === "audio"
      ? { inlineData: { mimeType: `audio/${part.format}`, data: part.data, ...(own ? part.inner : {}) } }
      : encodeSource(part, own, log)
  if (data === null || !own) return data
  const { fileData: _file, ...extras } = part.extras ?? {}
  return { ...data, ...extras }
}
