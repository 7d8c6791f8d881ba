/**
 * Requests to speak a text, in the form of OpenAI's endpoint.
 *
 * https://developers.openai.com/api/reference/resources/audio/subresources/speech/methods/create,
 * https://elevenlabs.io/docs/api-reference/text-to-speech/convert, https://developers.deepgram.com/reference/text-to-speech-api/speak
 * (read on 2026-11-23)
 */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../../../contract/domain/Errors.ts"
import type { Conversation } from "../../canonical/Conversation.ts"
import type { Usage } from "../../canonical/Usage.ts"
import { noTokens } from "../../../contract/domain/Usage.ts"
import { optionalFieldProblem } from "../../Envelope.ts"
import { invalidField, mismatch } from "../../json/FieldReader.ts"
import { isObject, type Json, type JsonObject, optional, stringOr } from "../../json/Json.ts"
import { envelopeOf, wholeRequest } from "../WholeRequest.ts"
import type { EncodedRequest, EncodeOptions, Envelope } from "../../WireCodec.ts"

/** No provider speaks more in one request. */
const mostChars = 100_000

/** The name of a voice, or the id of one that was made. */
const voiceOf = (voice: Json | undefined): string | null => {
  const name = isObject(voice) ? voice["id"] : voice
  return typeof name === "string" && name !== "" ? name : null
}

export const checkEnvelope = (body: unknown): Either.Either<Envelope, InvalidRequest> => {
  if (!isObject(body)) return Either.left(invalidField("body", mismatch(body, "a JSON object")))
  const { input, model, response_format: format = null, voice } = body
  if (typeof model !== "string" || model === "") return Either.left(invalidField("model", "a model id is required"))
  if (typeof input !== "string" || input === "") return Either.left(invalidField("input", "a text is required"))
  if (input.length > mostChars) return Either.left(invalidField("input", `at most ${mostChars} characters`))
  if (voice !== undefined && voice !== null && voiceOf(voice) === null) {
    return Either.left(invalidField("voice", "expected the name of a voice, or an object with its 'id'"))
  }
  if (format !== null && typeof format !== "string") {
    return Either.left(invalidField("response_format", mismatch(format, "a string")))
  }
  const wrong = optionalFieldProblem(body, { speed: "number" })
  return wrong === null ? Either.right(envelopeOf(model)) : Either.left(wrong)
}

export const decodeRequest = (body: JsonObject): Either.Either<Conversation, InvalidRequest> =>
  Either.map(checkEnvelope(body), ({ model }) => wholeRequest(body, model))

/** Providers bill the characters of the text. */
export const usageOf = ({ input }: JsonObject): Usage => ({
  ...noTokens,
  units: { characters: typeof input === "string" ? Array.from(input).length : 0 }
})

type Encode = (conversation: Conversation, options: EncodeOptions) => EncodedRequest

export const encodeOpenAi: Encode = ({ extras = {} }, { model }) => ({
  body: { ...extras, model },
  dropped: [],
  mapped: []
})

const formatOf = ({ response_format: format }: JsonObject): string => stringOr(format) ?? "mp3"

const droppedOf = (extras: JsonObject, known: ReadonlyArray<string>): ReadonlyArray<string> =>
  Object.keys(extras).filter((name) => !known.includes(name))

/** OpenAI's names of formats in ElevenLabs' words. */
const elevenLabsFormats: Readonly<Record<string, string>> = {
  mp3: "mp3_44100_128",
  opus: "opus_48000_128",
  pcm: "pcm_24000"
}

/** A voice of the provider is part of the path; OpenAI's names of voices are none of its ids. */
const elevenLabsVoice = "21m00Tcm4TlvDq8ikWAM"

export const encodeElevenLabs: Encode = ({ extras = {} }, { model }) => {
  const format = elevenLabsFormats[formatOf(extras)]
  const known = ["input", "voice", "speed", ...(format === undefined ? [] : ["response_format"])]
  return {
    body: {
      text: extras["input"] ?? "",
      model_id: model,
      ...optional("voice_settings", typeof extras["speed"] === "number" ? { speed: extras["speed"] } : null)
    },
    dropped: droppedOf(extras, known),
    mapped: [],
    place: {
      values: { voice: voiceOf(extras["voice"]) ?? elevenLabsVoice },
      query: format === undefined ? "" : `output_format=${format}`
    }
  }
}

const deepgramFormats: Readonly<Record<string, string>> = {
  mp3: "encoding=mp3",
  opus: "encoding=opus",
  flac: "encoding=flac",
  aac: "encoding=aac",
  pcm: "encoding=linear16&container=none",
  wav: "encoding=linear16&container=wav"
}

/** Encodes a request for Deepgram, whose models are voices. */
export const encodeDeepgram: Encode = ({ extras = {} }) => {
  const format = deepgramFormats[formatOf(extras)]
  return {
    body: { text: extras["input"] ?? "" },
    dropped: droppedOf(extras, ["input", ...(format === undefined ? [] : ["response_format"])]),
    mapped: [],
    place: { values: {}, query: format ?? "" }
  }
}
