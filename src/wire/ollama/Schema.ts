/**
 * Schemas of the ollama wire for the API document and for tests; see `chat/Schema.ts` for why requests are checked by hand.
 *
 * https://docs.ollama.com/api/chat
 */
import * as Schema from "effect/Schema"

const open = { key: Schema.String, value: Schema.Unknown }
const maybe = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))
const object = Schema.Record(open)

const shared = {
  model: Schema.NonEmptyString,
  stream: maybe(Schema.Boolean).annotations({ description: "True when left out." }),
  options: maybe(object),
  format: maybe(Schema.Union(Schema.String, object)),
  think: maybe(Schema.Union(Schema.Boolean, Schema.String)),
  keep_alive: maybe(Schema.Union(Schema.String, Schema.Number))
}

const Call = Schema.Struct({ function: Schema.Struct({ name: Schema.String, arguments: object }, open) }, open)

const OllamaMessage = Schema.Struct(
  {
    role: Schema.Literal("system", "user", "assistant", "tool"),
    content: maybe(Schema.String),
    images: maybe(Schema.Array(Schema.String)),
    thinking: maybe(Schema.String),
    tool_calls: maybe(Schema.Array(Call)),
    tool_name: maybe(Schema.String),
    tool_call_id: maybe(Schema.String)
  },
  open
).annotations({ identifier: "OllamaMessage" })

export const OllamaChatRequest = Schema.Struct(
  { ...shared, messages: Schema.NonEmptyArray(OllamaMessage), tools: maybe(Schema.Array(object)) },
  open
).annotations({ identifier: "OllamaChatRequest" })

export const OllamaGenerateRequest = Schema.Struct(
  {
    ...shared,
    prompt: Schema.String,
    system: maybe(Schema.String),
    suffix: maybe(Schema.String),
    images: maybe(Schema.Array(Schema.String))
  },
  open
).annotations({ identifier: "OllamaGenerateRequest" })

const answer = {
  model: Schema.String,
  created_at: Schema.String,
  done: Schema.Boolean,
  done_reason: Schema.optional(Schema.String),
  prompt_eval_count: Schema.optional(Schema.NonNegativeInt),
  eval_count: Schema.optional(Schema.NonNegativeInt),
  total_duration: Schema.optional(Schema.NonNegativeInt),
  load_duration: Schema.optional(Schema.NonNegativeInt),
  prompt_eval_duration: Schema.optional(Schema.NonNegativeInt),
  eval_duration: Schema.optional(Schema.NonNegativeInt)
}

/** A complete answer, and each line of a stream. */
export const OllamaChatAnswer = Schema.Struct(
  {
    ...answer,
    message: Schema.Struct(
      {
        role: Schema.Literal("assistant"),
        content: Schema.String,
        thinking: Schema.optional(Schema.String),
        tool_calls: Schema.optional(Schema.NonEmptyArray(Call))
      },
      open
    )
  },
  open
).annotations({ identifier: "OllamaChatAnswer" })

export const OllamaGenerateAnswer = Schema.Struct(
  { ...answer, response: Schema.String, thinking: Schema.optional(Schema.String) },
  open
).annotations({ identifier: "OllamaGenerateAnswer" })
