/**
 * The pictures of a request in its own wire, and how texts take their places. What is not replaced stays the object that it was. Pure. Shapes:
 * https://platform.openai.com/docs/api-reference/chat/create, https://docs.claude.com/en/api/messages, https://ai.google.dev/api/caching#Part,
 * https://docs.ollama.com/api/chat.
 */
import type { WireName } from "../../../contract/domain/Wire.ts"
import { camel } from "../../../wire/gemini/Casing.ts"
import { isArray, isObject, type Json, type JsonObject, optional, stringOr } from "../../../wire/json/Json.ts"
import { imageTypeOf } from "../../../wire/canonical/ImageType.ts"

/**
 * Writes the text that replaces a picture; null: it stays. `url`: its address or its bytes as a data URL; null where it
 * is only named by an id.
 */
export type Describe = (url: string | null) => string | null

type Change = (value: Json) => Json

const withMember = (object: JsonObject, name: string, change: Change): JsonObject => {
  const value = object[name]
  if (value === undefined || value === null) return object
  const next = change(value)
  return next === value ? object : { ...object, [name]: next }
}

const inItems =
  (change: (item: JsonObject) => Json): Change =>
  (value) => {
    if (!isArray(value)) return value
    const next = value.map((item) => (isObject(item) ? change(item) : item))
    return next.some((item, index) => item !== value[index]) ? next : value
  }

/** Marks for a prompt cache stay at their places. */
const marks = ({ cache_control: control, prompt_cache_breakpoint: breakpoint }: JsonObject): JsonObject => ({
  ...optional("cache_control", control),
  ...optional("prompt_cache_breakpoint", breakpoint)
})

const dataUrl = (mediaType: Json | undefined, data: string): string =>
  `data:${stringOr(mediaType) ?? "application/octet-stream"};base64,${data}`

/** A picture of Ollama's wire, which is bare base64. */
const bareUrl = (image: string): string =>
  image.startsWith("data:") ? image : dataUrl(imageTypeOf(image) ?? "image/png", image.replaceAll(/[\r\n]/g, ""))

const chatRequest = (body: JsonObject, describe: Describe): JsonObject => {
  const part = (item: JsonObject): Json => {
    const image = item["image_url"]
    if (item["type"] !== "image_url") return item
    const text = describe(stringOr(isObject(image) ? image["url"] : image))
    return text === null ? item : { type: "text", text, ...marks(item) }
  }
  return withMember(
    body,
    "messages",
    inItems((message) => withMember(message, "content", inItems(part)))
  )
}

const sourceUrl = (source: Json | undefined): string | null => {
  if (!isObject(source)) return null
  const data = stringOr(source["data"])
  return data === null ? stringOr(source["url"]) : dataUrl(source["media_type"], data)
}

const messagesRequest = (body: JsonObject, describe: Describe): JsonObject => {
  const block = (item: JsonObject): Json => {
    if (item["type"] === "tool_result") return withMember(item, "content", inItems(block))
    if (item["type"] !== "image") return item
    const text = describe(sourceUrl(item["source"]))
    return text === null ? item : { type: "text", text, ...marks(item) }
  }
  return withMember(
    body,
    "messages",
    inItems((message) => withMember(message, "content", inItems(block)))
  )
}

const responsesRequest = (body: JsonObject, describe: Describe): JsonObject => {
  const part = (item: JsonObject): Json => {
    if (item["type"] !== "input_image") return item
    const text = describe(stringOr(item["image_url"]))
    return text === null ? item : { type: "input_text", text, ...marks(item) }
  }
  const parts = inItems(part)
  return withMember(
    body,
    "input",
    inItems((item) => withMember(withMember(item, "content", parts), "output", parts))
  )
}

const geminiRequest = (body: JsonObject, describe: Describe): JsonObject => {
  const part = (item: JsonObject): Json => {
    const { fileData, inlineData } = camel(item)
    const media = inlineData ?? fileData
    if (!isObject(media)) return item
    const { data, fileUri, mimeType } = camel(media)
    if (stringOr(mimeType)?.startsWith("image/") !== true) return item
    const bytes = stringOr(data)
    const text = describe(bytes === null ? stringOr(fileUri) : dataUrl(mimeType, bytes))
    return text === null ? item : { text }
  }
  return withMember(
    body,
    "contents",
    inItems((content) => withMember(content, "parts", inItems(part)))
  )
}

/** Puts descriptions behind the text that they belong to: the wire has one text for each message. */
const withoutImages = (owner: JsonObject, member: "content" | "prompt", describe: Describe): JsonObject => {
  const images = owner["images"]
  if (!isArray(images)) return owner
  const kept: Array<Json> = []
  const texts: Array<string> = []
  for (const image of images) {
    const text = typeof image === "string" ? describe(bareUrl(image)) : null
    if (text === null) kept.push(image)
    else texts.push(text)
  }
  if (texts.length === 0) return owner
  const { images: _, ...rest } = owner
  const text = stringOr(owner[member]) ?? ""
  return {
    ...rest,
    [member]: [...(text === "" ? [] : [text]), ...texts].join("\n\n"),
    ...(kept.length === 0 ? {} : { images: kept })
  }
}

const ollamaRequest = (body: JsonObject, describe: Describe): JsonObject =>
  withMember(
    withoutImages(body, "prompt", describe),
    "messages",
    inItems((message) => withoutImages(message, "content", describe))
  )

const requests: Readonly<Record<WireName, (body: JsonObject, describe: Describe) => JsonObject>> = {
  chat: chatRequest,
  messages: messagesRequest,
  responses: responsesRequest,
  gemini: geminiRequest,
  ollama: ollamaRequest
}

/** The request with texts in place of its pictures, asked for in their order; the same object where none was replaced. */
export const replaceImages = (wire: WireName, body: JsonObject, describe: Describe): JsonObject =>
  requests[wire](body, describe)
