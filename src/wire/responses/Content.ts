/**
 * Content parts of messages and tool outputs, both ways.
 *
 * https://developers.openai.com/api/reference/resources/responses/methods/create
 */
import type {
  Citation,
  FilePart,
  ImagePart,
  Marked,
  MediaSource,
  OpaquePart,
  Part,
  TextPart
} from "../canonical/Conversation.ts"
import type { DropLog } from "../canonical/DropLog.ts"
import { citationsIn, urlCitation } from "../canonical/Links.ts"
import { videoField } from "../canonical/TextFile.ts"
import { dataUrlOf, expectedBase64, fileOfUrl, isBase64, isBroken, mediaOfUrl } from "../canonical/DataUrl.ts"
import { type FieldReader, mismatch } from "../json/FieldReader.ts"
import { extrasOf, isArray, isObject, type Json, type JsonObject, optional, stringOr } from "../json/Json.ts"

const members = {
  text: new Set(["type", "text", "annotations", "prompt_cache_breakpoint"]),
  image: new Set(["type", "image_url", "file_id", "detail", "prompt_cache_breakpoint"]),
  file: new Set(["type", "file_data", "file_url", "file_id", "filename", "prompt_cache_breakpoint"]),
  audio: new Set(["type", "input_audio", "prompt_cache_breakpoint"])
} as const

const breakpoint = "prompt_cache_breakpoint"

const restOf = (part: JsonObject, kind: keyof typeof members) => {
  const mark = part[breakpoint]
  return {
    ...(isObject(mark) ? { cacheBreakpoint: mark } : {}),
    ...optional("extras", extrasOf(part, members[kind]))
  }
}

/** `content.` distinguishes a part of a message from an item of the input (both are opaque parts canonically). */
const contentKind = "content."
const opaque = (part: JsonObject, kind: string): OpaquePart => ({
  type: "opaque",
  wire: "responses",
  kind: contentKind + kind,
  value: part
})
export const isOpaqueContent = (part: OpaquePart): boolean => part.kind.startsWith(contentKind)

export const citationsOf = (part: JsonObject): { readonly citations?: ReadonlyArray<Citation> } =>
  citationsIn("responses", part["annotations"], null)

const fileId = (part: JsonObject): MediaSource | null => {
  const id = stringOr(part["file_id"]) ?? ""
  return id === "" ? null : { kind: "file_id", wire: "responses", id }
}

const decodeImage = (part: JsonObject, path: string, read: FieldReader): ImagePart | null => {
  const url = read.string(part, "image_url", path) ?? ""
  const source = url === "" ? fileId(part) : mediaOfUrl(url)
  if (source !== null && isBroken(source)) read.fail(`${path}.image_url`, expectedBase64)
  if (source !== null)
    return { type: "image", source, ...optional("detail", stringOr(part["detail"])), ...restOf(part, "image") }
  read.fail(`${path}.image_url`, "image_url or file_id is required")
  return null
}

const decodeFile = (part: JsonObject, path: string, read: FieldReader): FilePart | null => {
  const data = read.string(part, "file_data", path) ?? ""
  const url = read.string(part, "file_url", path) ?? ""
  const source = data !== "" ? mediaOfUrl(data) : url !== "" ? fileOfUrl(url) : fileId(part)
  if (source !== null && isBroken(source)) read.fail(`${path}.file_data`, expectedBase64)
  if (source !== null)
    return { type: "file", source, ...optional("filename", stringOr(part["filename"])), ...restOf(part, "file") }
  read.fail(`${path}.file_data`, "file_data, file_url or file_id is required")
  return null
}

const decodePart = (part: Json, path: string, read: FieldReader): Part | null => {
  if (!isObject(part)) {
    read.fail(path, mismatch(part, "an object"))
    return null
  }
  const kind = part["type"]
  switch (kind) {
    case "input_text":
    case "output_text":
    case "text": {
      const text = read.string(part, "text", path)
      if (text === undefined) read.fail(`${path}.text`, "a text part needs text")
      return { type: "text", text: text ?? "", ...citationsOf(part), ...restOf(part, "text") }
    }
    case "refusal":
      return { type: "refusal", text: read.string(part, "refusal", path) ?? "" }
    case "input_image":
      return decodeImage(part, path, read)
    case "input_file":
      return decodeFile(part, path, read)
    case "input_audio": {
      const audio = read.object(part, "input_audio", path)
      const data = audio === undefined ? undefined : read.string(audio, "data", `${path}.input_audio`)
      if (audio === undefined || data === undefined) {
        read.fail(`${path}.input_audio.data`, "audio data is required")
        return null
      }
      if (!isBase64(data)) read.fail(`${path}.input_audio.data`, expectedBase64)
      return { type: "audio", data, format: stringOr(audio["format"]) ?? "wav", ...restOf(part, "audio") }
    }
    default:
      if (typeof kind === "string") return opaque(part, kind)
      read.fail(`${path}.type`, "a content part needs a type")
      return null
  }
}

/** The `content` of a message or the `output` of a tool: a text, or parts. */
export const decodeContent = (owner: JsonObject, key: string, path: string, read: FieldReader): ReadonlyArray<Part> => {
  const content = owner[key]
  if (content === undefined || content === null) return []
  if (typeof content === "string") return [{ type: "text", text: content }]
  if (isArray(content))
    return content.flatMap((part, index) => decodePart(part, `${path}.${key}[${index}]`, read) ?? [])
  read.fail(`${path}.${key}`, mismatch(content, "a string or an array of parts"))
  return []
}

/** An annotation; null for a citation that the wire cannot express. The chat wire nests the same members. */
export const encodeCitation = ({ link, value, wire }: Citation): JsonObject | null => {
  if (wire === "responses") return value
  return link === undefined ? null : { type: "url_citation", ...urlCitation(link, 0) }
}

export interface PartEncoder {
  /** The client speaks this wire too: its own extras may be restored. */
  readonly own: boolean
  readonly log: DropLog
}

/** Members of the client's own part, without the mark of its item (`ItemDecode.ts`). */
const extrasOfPart = (part: Marked, { own }: PartEncoder): JsonObject => {
  const mark = optional(breakpoint, part.cacheBreakpoint)
  if (!own || part.extras === undefined) return mark
  const { item: _item, ...extras } = part.extras
  return { ...mark, ...extras }
}

const encodeAnnotations = (part: TextPart, { log, own }: PartEncoder): ReadonlyArray<JsonObject> => {
  const annotations = (part.citations ?? []).flatMap<JsonObject>((citation) => encodeCitation(citation) ?? [])
  if (!own && annotations.length !== (part.citations ?? []).length) log.drop("citations")
  return annotations
}

const encodeImage = (part: ImagePart, encoder: PartEncoder): JsonObject | null => {
  const { source } = part
  const detail = { detail: part.detail ?? "auto" }
  const more = extrasOfPart(part, encoder)
  if (source.kind === "url") return { type: "input_image", image_url: source.url, ...detail, ...more }
  if (source.kind === "base64")
    return { type: "input_image", image_url: dataUrlOf(source.mediaType, source.data), ...detail, ...more }
  if (source.kind === "file_id" && source.wire === "responses")
    return { type: "input_image", file_id: source.id, ...detail, ...more }
  encoder.log.drop("image")
  return null
}

const encodeFile = (part: FilePart, encoder: PartEncoder): JsonObject | null => {
  if (part.media === "video") {
    encoder.log.loseField(videoField)
    return null
  }
  const { filename, source } = part
  const more = extrasOfPart(part, encoder)
  const named = optional("filename", filename)
  switch (source.kind) {
    case "text":
      return { type: "input_text", text: source.text }
    case "url":
      return { type: "input_file", file_url: source.url, ...named, ...more }
    case "base64":
      return {
        type: "input_file",
        // Data without a name is refused.
        ...(encoder.own ? named : { filename: filename ?? "document.pdf" }),
        file_data: dataUrlOf(source.mediaType, source.data),
        ...more
      }
    case "file_id":
      if (source.wire === "responses") return { type: "input_file", file_id: source.id, ...named, ...more }
      encoder.log.drop("file")
      return null
  }
}

const noteMarks = (part: Part, log: DropLog): void => {
  if ("cacheControl" in part) log.dropField("cache_control")
  // State on a text belongs to another wire.
  if (part.type === "text" && part.state !== undefined) log.drop("reasoningHistory")
}

/** A part of a user's, system's or tool's content; null when it cannot be sent (and is named in the log). */
export const encodeInputPart = (part: Part, encoder: PartEncoder): JsonObject | null => {
  const { log } = encoder
  noteMarks(part, log)
  switch (part.type) {
    case "text":
      if (part.citations !== undefined) log.drop("citations")
      return { type: "input_text", text: part.text, ...extrasOfPart(part, encoder) }
    case "refusal":
      return { type: "input_text", text: part.text }
    case "image":
      return encodeImage(part, encoder)
    case "file":
      return encodeFile(part, encoder)
    case "audio":
      return {
        type: "input_audio",
        input_audio: { data: part.data, format: part.format },
        ...extrasOfPart(part, encoder)
      }
    case "opaque":
      if (part.wire === "responses") return part.value
      log.loseField(`messages.content.${part.kind}`)
      return null
    // Items of their own.
    case "reasoning":
    case "tool_call":
    case "tool_result":
      return null
  }
}

/** A part of an assistant's content, which holds text and refusals only. */
export const encodeOutputPart = (part: Part, encoder: PartEncoder): JsonObject | null => {
  const { log } = encoder
  noteMarks(part, log)
  switch (part.type) {
    case "text":
      if (part.text === "" && !encoder.own) return null
      return {
        type: "output_text",
        text: part.text,
        annotations: encodeAnnotations(part, encoder),
        ...extrasOfPart(part, encoder)
      }
    case "refusal":
      return { type: "refusal", refusal: part.text }
    case "image":
    case "file":
    case "audio":
      log.drop(part.type)
      return null
    default:
      return encodeInputPart(part, encoder)
  }
}
