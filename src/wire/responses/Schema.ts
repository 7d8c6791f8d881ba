/**
 * Schemas of the responses wire for the API document and for tests; see `chat/Schema.ts` for why requests are checked by hand.
 *
 * https://developers.openai.com/api/reference/resources/responses/methods/create
 */
import * as Schema from "effect/Schema"

const open = { key: Schema.String, value: Schema.Unknown }
const maybe = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))
const positive = Schema.Int.pipe(Schema.positive())

const Typed = Schema.Struct({ type: Schema.String }, open)

/** A message may leave out its type; every other item has one. */
const ResponsesItem = Schema.Union(
  Typed,
  Schema.Struct(
    {
      role: Schema.Literal("user", "assistant", "system", "developer"),
      content: Schema.Union(Schema.String, Schema.Array(Typed))
    },
    open
  )
).annotations({ identifier: "ResponsesItem" })

export const ResponsesRequest = Schema.Struct(
  {
    model: Schema.NonEmptyString,
    input: maybe(Schema.Union(Schema.String, Schema.Array(ResponsesItem))),
    instructions: maybe(Schema.String),
    stream: maybe(Schema.Boolean),
    tools: maybe(Schema.Array(Typed)),
    tool_choice: maybe(Schema.Union(Schema.Literal("auto", "none", "required"), Typed)),
    parallel_tool_calls: maybe(Schema.Boolean),
    max_output_tokens: maybe(positive),
    temperature: maybe(Schema.Number),
    top_p: maybe(Schema.Number),
    include: maybe(Schema.Array(Schema.String)),
    reasoning: maybe(Schema.Struct({ effort: maybe(Schema.String), summary: maybe(Schema.String) }, open)),
    text: maybe(Schema.Struct({ format: maybe(Typed) }, open)),
    previous_response_id: maybe(Schema.String),
    store: maybe(Schema.Boolean),
    metadata: maybe(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
  },
  open
).annotations({ identifier: "ResponsesRequest" })

const Usage = Schema.Struct(
  {
    input_tokens: Schema.NonNegativeInt,
    input_tokens_details: Schema.Struct({ cached_tokens: Schema.NonNegativeInt }, open),
    output_tokens: Schema.NonNegativeInt,
    output_tokens_details: Schema.Struct({ reasoning_tokens: Schema.NonNegativeInt }, open),
    total_tokens: Schema.NonNegativeInt
  },
  open
)

export const ResponsesResponse = Schema.Struct(
  {
    id: Schema.String,
    object: Schema.Literal("response"),
    created_at: Schema.Int,
    status: Schema.Literal("completed", "incomplete", "failed", "in_progress"),
    error: Schema.NullOr(Schema.Struct({ code: Schema.String, message: Schema.String }, open)),
    incomplete_details: Schema.NullOr(Schema.Struct({ reason: Schema.String }, open)),
    instructions: Schema.NullOr(Schema.String),
    metadata: Schema.NullOr(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
    model: Schema.String,
    output: Schema.Array(Typed),
    parallel_tool_calls: Schema.Boolean,
    temperature: Schema.NullOr(Schema.Number),
    tool_choice: Schema.Union(Schema.String, Typed),
    tools: Schema.Array(Typed),
    top_p: Schema.NullOr(Schema.Number),
    usage: Schema.NullOr(Usage)
  },
  open
).annotations({ identifier: "ResponsesResponse" })
