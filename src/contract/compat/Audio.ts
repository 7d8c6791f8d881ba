/** Recordings that are written down, in the form of OpenAI's clients. */
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { anyObject, maybe, others } from "./Open.ts"

const recording = field(Schema.String, "The recording: mp3, mp4, mpeg, mpga, m4a, wav, flac, ogg or webm.", "RIFF…")
const model = field(Schema.String, "Id of a model that listens.", "openai/gpt-4o-transcribe")
const prompt = field(maybe(Schema.String), "Words to guide the spelling.", "Gateway, Deepgram")
const temperature = field(maybe(Schema.NumberFromString), "From 0 to 2.", 0)

export const TranscriptionForm = HttpApiSchema.Multipart(
  Schema.Struct({
    file: recording,
    model,
    language: field(maybe(Schema.String), "Language of the recording (ISO 639-1); absent: it is found out.", "en"),
    prompt,
    response_format: field(
      maybe(Schema.String),
      "`json`, `text`, `srt`, `verbose_json`, `vtt`, or what else the model knows. Absent: `json`.",
      "json"
    ),
    temperature,
    stream: field(maybe(Schema.BooleanFromString), "Whether the text comes as events, at models that can.", false),
    "timestamp_granularities[]": field(
      maybe(Schema.Array(Schema.String)),
      "With `verbose_json`: `segment`, `word`, or both.",
      ["segment"]
    )
  })
)

export const TranslationForm = HttpApiSchema.Multipart(
  Schema.Struct({
    file: recording,
    model: field(Schema.String, "Id of a model that translates.", "openai/whisper-1"),
    prompt,
    response_format: field(maybe(Schema.String), "`json`, `text`, `srt`, `verbose_json` or `vtt`.", "json"),
    temperature
  })
)

export const Transcription = Schema.Struct(
  {
    text: field(Schema.String, "What is said.", "Hello there."),
    task: field(maybe(Schema.String), "`transcribe` or `translate`; with `verbose_json`.", "transcribe"),
    language: field(maybe(Schema.String), "The language; with `verbose_json`.", "english"),
    duration: field(maybe(Schema.Number), "Seconds of the recording; with `verbose_json`.", 2.5),
    segments: field(maybe(Schema.Array(anyObject)), "Its pieces, with their times; with `verbose_json`.", [
      { id: 0, start: 0, end: 2.5, text: "Hello there." }
    ]),
    usage: field(maybe(anyObject), "Tokens or seconds, where the provider tells them.", {
      type: "duration",
      seconds: 3
    })
  },
  others
).annotations({ identifier: "Transcription", description: "What was said." })
