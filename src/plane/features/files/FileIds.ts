/**
 * Ids of the gateway's own files in a request of any wire, and the request with their bytes in the places of the ids. Pure.
 *
 * https://developers.openai.com/api/docs/guides/pdf-files, https://platform.claude.com/docs/en/build-with-claude/files,
 * https://ai.google.dev/gemini-api/docs/files
 */
import type { WireName } from "../../../contract/domain/Wire.ts"
import { dataUrlOf } from "../../../wire/canonical/DataUrl.ts"
import { imageTypeOf } from "../../../wire/canonical/ImageType.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr, stringOr } from "../../../wire/json/Json.ts"
import { isTextual } from "../../../wire/json/MediaType.ts"

/** A file as it is put in. */
export interface KnownFile {
  readonly filename: string
  readonly mediaType: string
  /** Base64. */
  readonly data: string
}

const pattern = /^(?:.*\/)?(file-[0-9a-f]{32})$/

/** The id of a file of the gateway's form, alone or at the end of an address; null where it is another one. */
export const ownFileId = (value: Json | undefined): string | null =>
  typeof value === "string" && value.length < 1_024 ? (pattern.exec(value)?.[1] ?? null) : null

/** Hot: checks whether such an id may be in the bytes of a request. */
export const mayNameFile = (body: Buffer): boolean => body.includes("file-")

const typeByEnding: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  json: "application/json",
  html: "text/html",
  xml: "application/xml",
  wav: "audio/wav",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  webm: "video/webm"
}

/** The media type that the first bytes prove, else what the name says. */
export const mediaTypeOfFile = (filename: string, data: string): string => {
  if (data.startsWith("JVBERi")) return "application/pdf"
  const ending = /\.([a-z0-9]{2,5})$/i.exec(filename)?.[1]?.toLowerCase() ?? ""
  return (
    imageTypeOf(data) ??
    (Object.hasOwn(typeByEnding, ending) ? typeByEnding[ending] : null) ??
    "application/octet-stream"
  )
}

const urlOf = ({ data, mediaType }: KnownFile): string => dataUrlOf(mediaType, data)

const isPicture = ({ mediaType }: KnownFile): boolean => mediaType.startsWith("image/")

const soundOf = ({ data, mediaType }: KnownFile): JsonObject | null => {
  const format = /^audio\/(wav|mpeg|mp3)$/.exec(mediaType)?.[1]
  return format === undefined ? null : { data, format: format === "wav" ? "wav" : "mp3" }
}

type Find = (id: string) => KnownFile | null

/** Replaces the name of a file in a part of a wire by the file itself; null where it names none that is known. */
type Put = (part: JsonObject, find: Find) => JsonObject | null

const found = (value: Json | undefined, find: Find): KnownFile | null => {
  const id = ownFileId(value)
  return id === null ? null : find(id)
}

const inChat: Put = (part, find) => {
  const { file, type, ...rest } = part
  const known = type === "file" ? found(objectOr(file)["file_id"], find) : null
  if (known === null) return null
  if (isPicture(known)) return { type: "image_url", image_url: { url: urlOf(known) }, ...rest }
  const sound = soundOf(known)
  if (sound !== null) return { type: "input_audio", input_audio: sound, ...rest }
  return { type, file: { filename: known.filename, file_data: urlOf(known) }, ...rest }
}

const inResponses: Put = (part, find) => {
  const { file_id: id, type, ...rest } = part
  const known = type === "input_file" || type === "input_image" ? found(id, find) : null
  if (known === null) return null
  if (type === "input_image" || isPicture(known)) {
    const { filename: _name, ...marks } = rest
    return { ...marks, type: "input_image", image_url: urlOf(known) }
  }
  return { ...rest, type, filename: stringOr(rest["filename"]) ?? known.filename, file_data: urlOf(known) }
}

const inMessages: Put = (part, find) => {
  const { source, type } = part
  const { file_id: id, type: kind } = objectOr(source)
  const known = kind === "file" && (type === "document" || type === "image") ? found(id, find) : null
  if (known === null) return null
  const { data, filename, mediaType } = known
  if (isPicture(known)) {
    const { title: _title, ...rest } = part
    return { ...rest, type: "image", source: { type: "base64", media_type: mediaType, data } }
  }
  const title = stringOr(part["title"]) ?? filename
  if (isTextual(mediaType)) {
    const text = Buffer.from(data, "base64").toString("utf8")
    return { ...part, title, source: { type: "text", media_type: "text/plain", data: text } }
  }
  return { ...part, title, source: { type: "base64", media_type: mediaType, data } }
}

const inGemini: Put = (part, find) => {
  const name = part["fileData"] === undefined ? "file_data" : "fileData"
  const { [name]: named, ...rest } = part
  const { fileUri, file_uri: uri } = objectOr(named)
  const known = found(fileUri ?? uri, find)
  if (known === null) return null
  return { ...rest, inlineData: { mimeType: known.mediaType, data: known.data } }
}

const puts: Readonly<Record<WireName, Put | null>> = {
  chat: inChat,
  responses: inResponses,
  messages: inMessages,
  gemini: inGemini,
  ollama: null
}

/** Deeper values hold no parts of a conversation. */
const mostDeep = 12

const replaced = (value: Json | undefined, put: Put, find: Find, depth: number): Json | undefined => {
  if (depth > mostDeep || typeof value !== "object" || value === null) return value
  if (isArray(value)) {
    const items = value.map((item) => replaced(item, put, find, depth + 1) ?? null)
    return items.every((item, index) => item === value[index]) ? value : items
  }
  const own = isObject(value) ? put(value, find) : null
  if (own !== null) return own
  const entries = Object.entries(value)
  const members = entries.map(([name, member]) => [name, replaced(member, put, find, depth + 1)] as const)
  return members.every(([, member], index) => member === entries[index]?.[1]) ? value : Object.fromEntries(members)
}

/** Members in which the conversation is. */
const conversationMembers = [
  "messages",
  "input",
  "contents",
  "system",
  "systemInstruction",
  "system_instruction"
] as const

/** The request with files in the places of their ids; the same object where it names none that `find` knows. */
export const withFiles = (wire: WireName, body: JsonObject, find: Find): JsonObject => {
  const put = puts[wire]
  if (put === null) return body
  const changed = conversationMembers.flatMap((member) => {
    const next = replaced(body[member], put, find, 0)
    return next === body[member] ? [] : [[member, next] as const]
  })
  return changed.length === 0 ? body : { ...body, ...Object.fromEntries(changed) }
}

/** Ids of the gateway's form that the request names, each once. */
export const fileIdsIn = (wire: WireName, body: JsonObject): ReadonlyArray<string> => {
  const ids = new Set<string>()
  withFiles(wire, body, (id) => {
    ids.add(id)
    return null
  })
  return [...ids]
}
