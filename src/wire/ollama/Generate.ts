/**
 * `/api/generate`: one prompt instead of a conversation. It is another endpoint of the same wire. Members that only it has (`suffix`,
 * `template`, `raw`, `context`) are sent to the same endpoint of an upstream, and named as dropped for any other.
 *
 * https://docs.ollama.com/api/generate
 */
import type * as Either from "effect/Either"
import type { InvalidRequest } from "../../contract/domain/Errors.ts"
import type { Conversation, Message } from "../canonical/Conversation.ts"
import { type DropLog, makeDropLog } from "../canonical/DropLog.ts"
import { type FieldReader, makeFieldReader } from "../json/FieldReader.ts"
import { isArray, type JsonObject, optional } from "../json/Json.ts"
import type { EncodedRequest, EncodeOptions } from "../WireCodec.ts"
import { decodeImages } from "./MessageDecode.ts"
import { encodeMessages } from "./MessageEncode.ts"
import { decodeSettings, encodeSettings, sharedMembers } from "./Settings.ts"

const known = new Set<string>([...sharedMembers, "prompt", "system", "images"])

const decodePrompt = (body: JsonObject, read: FieldReader): ReadonlyArray<Message> => {
  const system = read.string(body, "system") ?? ""
  const prompt = read.string(body, "prompt") ?? ""
  const images = decodeImages(body, read)
  if (prompt === "" && images.length === 0) read.fail("prompt", "a prompt is required")
  const text = prompt === "" && images.length > 0 ? [] : [{ type: "text" as const, text: prompt }]
  const user: Message = { role: "user", parts: [...text, ...images] }
  return system === "" ? [user] : [{ role: "system", parts: [{ type: "text", text: system }] }, user]
}

export const decodeGenerate = (body: JsonObject): Either.Either<Conversation, InvalidRequest> => {
  const read = makeFieldReader()
  return read.result({ ...decodeSettings(body, known, read), messages: decodePrompt(body, read), tools: [] })
}

/** System texts and user turns can be sent; answers and tool results of earlier turns cannot. */
const encodePrompt = (conversation: Conversation, log: DropLog): JsonObject => {
  const system: Array<string> = []
  const prompt: Array<string> = []
  const images: Array<string> = []
  for (const message of encodeMessages(conversation, log)) {
    const content = String(message["content"])
    if (message["role"] === "system") system.push(content)
    else if (message["role"] === "user") {
      if (content !== "") prompt.push(content)
      if (isArray(message["images"])) for (const image of message["images"]) images.push(String(image))
    } else log.loseField("messages")
  }
  return {
    prompt: prompt.join("\n\n"),
    ...optional("system", system.length === 0 ? null : system.join("\n\n")),
    ...optional("images", images.length === 0 ? null : images)
  }
}

const nowhere: ReadonlySet<string> = new Set()

export const encodeGenerate = (conversation: Conversation, options: EncodeOptions): EncodedRequest => {
  const log = makeDropLog(conversation.wire)
  if (conversation.tools.length > 0) log.dropField("tools")
  const body = { ...encodeSettings(conversation, options, nowhere, log), ...encodePrompt(conversation, log) }
  return { body, dropped: [...log.dropped], lost: [...log.lost], mapped: [...log.mapped] }
}
