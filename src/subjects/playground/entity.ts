/** Named configurations of the playground, to try models with. */
import * as Schema from "effect/Schema"
import { exactOptional, field } from "../../kernel/Documented.ts"

/** `audio` is the route of music: speech and transcriptions have names of their own. */
export const playgroundEndpoints = [
  "chat",
  "completions",
  "embeddings",
  "images",
  "audio",
  "speech",
  "transcriptions",
  "moderations",
  "rerank",
  "search"
] as const
export const PlaygroundEndpoint = Schema.Literal(...playgroundEndpoints)
export type PlaygroundEndpoint = typeof PlaygroundEndpoint.Type

/** Models of one comparison. */
export const maxCompared = 4
export const maxModelChars = 300
export const maxSystemChars = 100_000
export const maxPromptChars = 200_000
export const maxParamsChars = 8_192
const maxStops = 16
const maxStopChars = 500

const Stop = Schema.String.pipe(Schema.minLength(1), Schema.maxLength(maxStopChars))

/** Parameters of a request, by their names on the chat wire. */
export const PlaygroundParams = Schema.Struct({
  temperature: field(
    exactOptional(Schema.Finite.pipe(Schema.between(0, 2))),
    "How much chance there is in it, 0 to 2.",
    0.7
  ),
  max_tokens: field(
    exactOptional(Schema.Int.pipe(Schema.between(1, 10_000_000))),
    "The longest answer, in tokens.",
    1_024
  ),
  top_p: field(
    exactOptional(Schema.Finite.pipe(Schema.between(0, 1))),
    "The share of likely tokens to choose from.",
    0.9
  ),
  presence_penalty: field(
    exactOptional(Schema.Finite.pipe(Schema.between(-2, 2))),
    "Against words used before, -2 to 2.",
    0
  ),
  frequency_penalty: field(
    exactOptional(Schema.Finite.pipe(Schema.between(-2, 2))),
    "Against words used often, -2 to 2.",
    0
  ),
  seed: field(
    exactOptional(Schema.Int.pipe(Schema.between(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER))),
    "Makes answers repeatable, where the provider can.",
    7
  ),
  stop: field(
    exactOptional(Schema.Union(Stop, Schema.Array(Stop).pipe(Schema.minItems(1), Schema.maxItems(maxStops)))),
    "Where an answer ends: a text, or several.",
    ["END"]
  )
}).annotations({ identifier: "PlaygroundParams" })
export type PlaygroundParams = typeof PlaygroundParams.Type

export const playgroundParams = [
  "temperature",
  "max_tokens",
  "top_p",
  "presence_penalty",
  "frequency_penalty",
  "seed",
  "stop"
] as const satisfies ReadonlyArray<keyof PlaygroundParams>

export interface PresetFields {
  readonly name: string
  readonly endpoint: PlaygroundEndpoint
  readonly model: string
  readonly system: string | null
  /** A JSON object of `PlaygroundParams`, as it was given. */
  readonly paramsJson: string
}

export interface Preset extends PresetFields {
  readonly id: string
  /** Id of the API key that made it, or empty. */
  readonly owner: string
  readonly createdAtMs: number
}

/** A message of a prompt. */
export interface PromptMessage {
  readonly role: "system" | "user" | "assistant"
  readonly content: string
}
