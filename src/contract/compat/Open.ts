/** Schemas that the bodies of the wires share. They name what a newcomer needs; every other member of a wire format passes through. */
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"

/** Members that are not named are allowed. */
export const others = { key: Schema.String, value: Schema.Unknown }

/** An object of its wire, with whatever members. */
export const anyObject = Schema.Record({ key: Schema.String, value: Schema.Unknown })

export const maybe = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })

/** Text, or parts of the wire: text, pictures, results of tools. */
export const Content = Schema.Union(Schema.String, Schema.Array(anyObject))

export const model = field(
  Schema.String,
  "A model id: `<provider>/<model>`, the name of a combo, an alias, or `auto`.",
  "auto"
)

export const servedModel = field(Schema.String, "The model that answered.", "gpt-4o-mini")

export const stream = field(maybe(Schema.Boolean), "Answer in parts, as they are made.", false)

export const temperature = field(maybe(Schema.Number), "How freely it is worded; 0: always the likeliest.", 0.7)

const Message = Schema.Struct(
  {
    role: field(Schema.String, "Who says it: `system`, `user`, `assistant` or `tool`.", "user"),
    content: field(Content, "What is said: text, or a list of parts.", "Say hello in one word.")
  },
  others
).annotations({ identifier: "Message" })

export const messages = field(Schema.Array(Message), "The conversation so far, the oldest message first.")

const Count = Schema.Number
export const tokens = (description: string, example: number) => field(Count, description, example)
