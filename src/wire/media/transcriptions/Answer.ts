/**
 * Transcripts in answers: OpenAI's own forms go through as they are; those of other providers become one of them.
 *
 * https://developers.openai.com/api/reference/resources/audio/subresources/transcriptions/methods/create,
 * https://developers.deepgram.com/reference/speech-to-text/listen-pre-recorded, https://elevenlabs.io/docs/api-reference/speech-to-text/convert
 * (2026-11)
 */
import { noTokens } from "../../../contract/domain/Usage.ts"
import type { Response } from "../../canonical/Response.ts"
import { billingOf } from "../../canonical/BillingReading.ts"
import { countOr, type Usage, withBilling } from "../../canonical/Usage.ts"
import { isArray, isObject, type Json, type JsonObject, numberOr, objectOr, stringOr } from "../../json/Json.ts"
import { type AnswerReading, valueIn } from "../OpaqueAnswer.ts"
import type { EncodeContext, TextAnswer } from "../../WireCodec.ts"
import { textFormatOf, wantsWords } from "./Request.ts"
import { asText, asVerbose, spokenIn, type Transcript } from "./Transcript.ts"

export const kind = "transcriptions"

/** Longer than any recording. */
const mostSeconds = 10_000_000

const secondsUsage = (value: Json | undefined): Usage | null => {
  const seconds = numberOr(value)
  return seconds === null || seconds < 0 || seconds > mostSeconds ? null : { ...noTokens, units: { seconds } }
}

/** Tokens, or seconds where the model is billed by them. */
export const usageIn = (told: Json | undefined): Usage | null => {
  const usage = objectOr(told)
  if (usage["type"] === "duration") return secondsUsage(usage["seconds"])
  const read = countOr(usage["input_tokens"]) ?? countOr(usage["prompt_tokens"])
  const made = countOr(usage["output_tokens"]) ?? countOr(usage["completion_tokens"])
  if (read === null && made === null) return null
  return { ...noTokens, in: read ?? 0, out: made ?? 0, ...withBilling(billingOf(usage, {}, null)) }
}

/** OpenAI's own form, whichever the client asked for. */
export const openAiAnswer: AnswerReading = {
  valueOf: (body) => (typeof body["text"] === "string" ? body : null),
  usageOf: (body) => usageIn(body["usage"]) ?? secondsUsage(body["duration"])
}

const jsonOf = ({ duration, language, segments, text, words }: Transcript): JsonObject => {
  const listed = (list: Transcript["words"]): ReadonlyArray<JsonObject> => list.map((spoken) => ({ ...spoken }))
  return { transcript: { text, language, duration, words: listed(words), segments: listed(segments) } }
}

/** The transcript of another provider in an opaque answer. */
const transcriptIn = (value: JsonObject): Transcript | null => {
  const told = value["transcript"]
  if (!isObject(told)) return null
  return {
    text: stringOr(told["text"]) ?? "",
    language: stringOr(told["language"]),
    duration: numberOr(told["duration"]),
    words: spokenIn(told["words"], ["text"]),
    segments: spokenIn(told["segments"], ["text"])
  }
}

/** An answer in OpenAI's words that was asked for in another form: servers that know JSON only. */
const transcriptOf = (value: JsonObject): Transcript => ({
  text: stringOr(value["text"]) ?? "",
  language: stringOr(value["language"]),
  duration: numberOr(value["duration"]),
  words: spokenIn(value["words"], ["word"]),
  segments: spokenIn(value["segments"], ["text"])
})

/** The answer of an upstream with a form of its own. */
export const answerFrom = (read: (body: JsonObject) => Transcript | null): AnswerReading => ({
  valueOf: (body) => {
    const transcript = read(body)
    return transcript === null ? null : jsonOf(transcript)
  },
  usageOf: (body) => {
    const transcript = read(body)
    return transcript === null ? null : secondsUsage(transcript.duration ?? undefined)
  }
})

const firstOf = (list: Json | undefined): JsonObject => objectOr(isArray(list) ? list[0] : undefined)

export const deepgramAnswer = answerFrom((body) => {
  const results = objectOr(body["results"])
  const channel = firstOf(results["channels"])
  const best = firstOf(channel["alternatives"])
  const text = stringOr(best["transcript"])
  return text === null
    ? null
    : {
        text,
        language: stringOr(channel["detected_language"]) ?? stringOr(firstOf(best["languages"])),
        duration: numberOr(objectOr(body["metadata"])["duration"]),
        words: spokenIn(best["words"], ["punctuated_word", "word"]),
        segments: spokenIn(results["utterances"], ["transcript"])
      }
})

export const elevenLabsAnswer = answerFrom((body) => {
  const text = stringOr(body["text"])
  const list = isArray(body["words"]) ? body["words"] : []
  const words = list.filter((item) => isObject(item) && (item["type"] ?? "word") === "word")
  return text === null
    ? null
    : {
        text,
        language: stringOr(body["language_code"]),
        duration: numberOr(body["audio_duration_secs"]) ?? spokenIn(list, ["text"]).at(-1)?.end ?? null,
        words: spokenIn(words, ["text"]),
        segments: []
      }
})

export const encodeResponse = (response: Response, { request = {} }: EncodeContext): JsonObject => {
  const value = valueIn(kind, response)
  const transcript = transcriptIn(value)
  if (transcript === null) return value
  if (request["response_format"] === "verbose_json") return asVerbose(transcript, wantsWords(request))
  const seconds = response.usage?.units?.seconds
  return {
    text: transcript.text,
    ...(seconds === undefined ? {} : { usage: { type: "duration", seconds: Math.ceil(seconds) } })
  }
}

const types = {
  text: "text/plain; charset=utf-8",
  srt: "application/x-subrip; charset=utf-8",
  vtt: "text/vtt; charset=utf-8"
} as const

export const encodeText = (response: Response, { request = {} }: EncodeContext): TextAnswer | null => {
  const format = textFormatOf(request)
  if (format === null) return null
  const value = valueIn(kind, response)
  const body = asText(format, transcriptIn(value) ?? transcriptOf(value))
  return body === null ? null : { type: types[format], body }
}

/** The text of an answer of whatever form. */
export const textOf = (value: JsonObject): string => (transcriptIn(value) ?? transcriptOf(value)).text
