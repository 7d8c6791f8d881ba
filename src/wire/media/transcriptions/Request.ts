/**
 * Requests to write down what is said, in the form of OpenAI's endpoint.
 *
 * https://developers.openai.com/api/reference/resources/audio/subresources/transcriptions/methods/create,
 * https://developers.deepgram.com/reference/speech-to-text/listen-pre-recorded, https://elevenlabs.io/docs/api-reference/speech-to-text/convert
 * (2026-11)
 */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../../../contract/domain/Errors.ts"
import { noTokens } from "../../../contract/domain/Usage.ts"
import type { Conversation } from "../../canonical/Conversation.ts"
import type { Usage } from "../../canonical/Usage.ts"
import { invalidField, mismatch } from "../../json/FieldReader.ts"
import { isArray, isObject, type Json, type JsonObject, stringOr } from "../../json/Json.ts"
import { fileOf, formOf, isTrue, repeatedField, type UploadedFile } from "../Upload.ts"
import { envelopeOf, wholeRequest } from "../WholeRequest.ts"
import type { EncodedRequest, EncodeOptions, Envelope, FormPart } from "../../WireCodec.ts"

export type TextFormat = "text" | "srt" | "vtt"

/** Returns the format the client wants where it is not JSON; null for JSON. */
export const textFormatOf = ({ response_format: format }: JsonObject): TextFormat | null =>
  format === "text" || format === "srt" || format === "vtt" ? format : null

const texts = ["language", "prompt", "response_format", "temperature", "stream"] as const

const textProblem = (body: JsonObject): InvalidRequest | null => {
  const wrong = texts.find((name) => body[name] !== undefined && typeof body[name] !== "string")
  return wrong === undefined ? null : invalidField(wrong, mismatch(body[wrong], "a text"))
}

export const checkEnvelope = (body: unknown): Either.Either<Envelope, InvalidRequest> => {
  if (!isObject(body)) return Either.left(invalidField("body", mismatch(body, "a form")))
  const { model } = body
  const repeated = repeatedField(body)
  if (repeated !== null) return Either.left(repeated)
  const file = fileOf(body["file"])
  if (file === null) return Either.left(invalidField("file", "the form has no file of this name"))
  if (file.bytes === 0) return Either.left(invalidField("file", "the file is empty"))
  if (typeof model !== "string" || model === "") return Either.left(invalidField("model", "a model id is required"))
  const wrong = textProblem(body)
  if (wrong !== null) return Either.left(wrong)
  const { temperature } = body
  if (temperature !== undefined && !(Number(temperature) >= 0 && Number(temperature) <= 2)) {
    return Either.left(invalidField("temperature", "expected a number from 0 to 2"))
  }
  // A form is never sent on as it came: its model and its boundary are others.
  return Either.right({ ...envelopeOf(model), stream: isTrue(body["stream"]), needsRewrite: true })
}

export const decodeRequest = (body: JsonObject): Either.Either<Conversation, InvalidRequest> =>
  Either.map(checkEnvelope(body), ({ model }) => wholeRequest(body, model))

/** Usual rate of speech, for files whose first bytes do not say how long they are. */
const usualBytesPerSecond = 16_000

/** Whole milliseconds as seconds. */
const rounded = (seconds: number): number => Math.round(seconds * 1000) / 1000

export const usageOf = (body: JsonObject): Usage => {
  const file = fileOf(body["file"])
  const seconds = file?.seconds ?? (file?.bytes ?? 0) / usualBytesPerSecond
  return { ...noTokens, units: { seconds: rounded(seconds) } }
}

export type Encode = (conversation: Conversation, options: EncodeOptions) => EncodedRequest

const nothing: ReadonlyArray<string> = []

export const encodeOpenAi: Encode = ({ extras = {} }, { model }) => ({
  body: {},
  dropped: nothing,
  mapped: nothing,
  payload: { type: "form", parts: formOf(extras, model) }
})

const noFile: UploadedFile = { upload: -1, filename: "", contentType: "", bytes: 0, seconds: null }

export const fileToSend = (extras: JsonObject): UploadedFile => fileOf(extras["file"]) ?? noFile

/** Members that every adapter reads of a request or makes its answer of. */
const understood = new Set(["file", "language", "response_format", "stream", "timestamp_granularities[]"])

export const droppedOf = (extras: JsonObject, also: ReadonlyArray<string> = nothing): ReadonlyArray<string> =>
  Object.keys(extras).filter((name) => !understood.has(name) && !also.includes(name))

export const wantsWords = (request: JsonObject): boolean => {
  const wanted: Json | undefined = request["timestamp_granularities[]"]
  return isArray(wanted) && wanted.includes("word")
}

/** Answers with times are put together from words and utterances. */
const wantsTimes = (request: JsonObject): boolean =>
  ["verbose_json", "srt", "vtt"].includes(stringOr(request["response_format"]) ?? "")

/** The file is the body; all else is in the query. */
export const encodeDeepgram: Encode = ({ extras = {} }, { model }) => {
  const { contentType, upload } = fileToSend(extras)
  const language = stringOr(extras["language"]) ?? ""
  const query = new URLSearchParams({ model, smart_format: "true" })
  if (language === "") query.set("detect_language", "true")
  else query.set("language", language)
  if (wantsTimes(extras)) query.set("utterances", "true")
  return {
    body: {},
    dropped: droppedOf(extras),
    mapped: nothing,
    place: { values: {}, query: query.toString() },
    payload: { type: "pieces", contentType, pieces: [{ upload, as: "bytes" }] }
  }
}

export const encodeElevenLabs: Encode = ({ extras = {} }, { model }) => {
  const { contentType, filename, upload } = fileToSend(extras)
  const text = (name: string, value: Json | undefined): ReadonlyArray<FormPart> =>
    typeof value === "string" && value !== "" ? [{ name, value }] : []
  return {
    body: {},
    dropped: droppedOf(extras, ["temperature"]),
    mapped: nothing,
    payload: {
      type: "form",
      parts: [
        { name: "model_id", value: model },
        ...text("language_code", extras["language"]),
        ...text("temperature", extras["temperature"]),
        { name: "timestamps_granularity", value: wantsTimes(extras) ? "word" : "none" },
        { name: "tag_audio_events", value: "false" },
        { name: "file", upload, filename, contentType }
      ]
    }
  }
}
