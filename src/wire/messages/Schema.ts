/**
 * Schemas of the messages wire for the API document and for tests; see `chat/Schema.ts` for why requests are checked by hand.
 *
 * https://platform.claude.com/docs/en/api/messages
 */
import * as Schema from "effect/Schema"

const open = { key: Schema.String, value: Schema.Unknown }
const maybe = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))
const positive = Schema.Int.pipe(Schema.positive())

const Block = Schema.Struct({ type: Schema.String }, open)
const Content = Schema.Union(Schema.String, Schema.Array(Block))

const MessagesMessage = Schema.Struct(
  { role: Schema.Literal("user", "assistant", "system"), content: Content },
  open
).annotations({ identifier: "MessagesMessage" })

export const MessagesRequest = Schema.Struct(
  {
    model: Schema.NonEmptyString,
    max_tokens: positive,
    messages: Schema.NonEmptyArray(MessagesMessage),
    system: maybe(Content),
    stream: maybe(Schema.Boolean),
    tools: maybe(Schema.Array(Schema.Struct({ name: maybe(Schema.String), type: maybe(Schema.String) }, open))),
    tool_choice: maybe(Schema.Struct({ type: Schema.Literal("auto", "any", "tool", "none") }, open)),
    temperature: maybe(Schema.Number),
    top_p: maybe(Schema.Number),
    top_k: maybe(Schema.Number),
    stop_sequences: maybe(Schema.Array(Schema.String)),
    thinking: maybe(Schema.Struct({ type: Schema.Literal("enabled", "adaptive", "disabled") }, open)),
    metadata: maybe(Schema.Struct({ user_id: maybe(Schema.String) }, open))
  },
  open
).annotations({ identifier: "MessagesRequest" })

export const MessagesResponse = Schema.Struct(
  {
    id: Schema.String,
    type: Schema.Literal("message"),
    role: Schema.Literal("assistant"),
    model: Schema.String,
    content: Schema.Array(Block),
    stop_reason: Schema.String,
    stop_sequence: Schema.NullOr(Schema.String),
    usage: Schema.Struct({ input_tokens: Schema.NonNegativeInt, output_tokens: Schema.NonNegativeInt }, open)
  },
  open
).annotations({ identifier: "MessagesResponse" })
