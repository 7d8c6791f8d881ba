/**
 * Schemas of the chat wire for the API document and for tests. Bodies are open: unknown members pass. The request path
 * checks by hand (`Envelope.ts`, `RequestDecode.ts`), because decoding a long history by schema costs more than the rest.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create
 */
import * as Schema from "effect/Schema"

const open = { key: Schema.String, value: Schema.Unknown }
const maybe = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))
const positive = Schema.Int.pipe(Schema.positive())

const ChatMessage = Schema.Struct(
  {
    role: Schema.Literal("system", "developer", "user", "assistant", "tool"),
    content: maybe(Schema.Union(Schema.String, Schema.Array(Schema.Struct({ type: Schema.String }, open)))),
    tool_calls: maybe(Schema.Array(Schema.Struct({ id: Schema.String, type: maybe(Schema.String) }, open))),
    tool_call_id: maybe(Schema.String)
  },
  open
).annotations({ identifier: "ChatMessage" })

export const ChatRequest = Schema.Struct(
  {
    model: Schema.NonEmptyString,
    messages: Schema.NonEmptyArray(ChatMessage),
    stream: maybe(Schema.Boolean),
    stream_options: maybe(Schema.Struct({ include_usage: maybe(Schema.Boolean) }, open)),
    tools: maybe(Schema.Array(Schema.Struct({ type: Schema.String }, open))),
    tool_choice: maybe(
      Schema.Union(Schema.Literal("auto", "none", "required"), Schema.Struct({ type: Schema.String }, open))
    ),
    parallel_tool_calls: maybe(Schema.Boolean),
    max_tokens: maybe(positive),
    max_completion_tokens: maybe(positive),
    temperature: maybe(Schema.Number),
    top_p: maybe(Schema.Number),
    presence_penalty: maybe(Schema.Number),
    frequency_penalty: maybe(Schema.Number),
    seed: maybe(Schema.Number),
    stop: maybe(Schema.Union(Schema.String, Schema.Array(Schema.String))),
    response_format: maybe(Schema.Struct({ type: Schema.String }, open)),
    reasoning_effort: maybe(Schema.String)
  },
  open
).annotations({ identifier: "ChatRequest" })

const Usage = Schema.Struct(
  {
    prompt_tokens: Schema.NonNegativeInt,
    completion_tokens: Schema.NonNegativeInt,
    total_tokens: Schema.NonNegativeInt
  },
  open
)

export const ChatResponse = Schema.Struct(
  {
    id: Schema.String,
    object: Schema.Literal("chat.completion"),
    created: Schema.Int,
    model: Schema.String,
    choices: Schema.NonEmptyArray(
      Schema.Struct(
        {
          index: Schema.Int,
          message: Schema.Struct({ role: Schema.Literal("assistant"), content: Schema.NullOr(Schema.String) }, open),
          finish_reason: Schema.Literal("stop", "length", "tool_calls", "content_filter")
        },
        open
      )
    ),
    usage: Schema.optional(Usage)
  },
  open
).annotations({ identifier: "ChatResponse" })
