/** Bodies of the messages wire: https://platform.claude.com/docs/en/api/messages */
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { anyObject, Content, maybe, messages, model, others, servedModel, stream, temperature, tokens } from "./Open.ts"

export const MessagesRequest = Schema.Struct(
  {
    model,
    max_tokens: field(Schema.Number, "Most tokens of the answer.", 200),
    messages,
    system: field(maybe(Content), "What holds for the whole conversation: text, or a list of parts.", "Be brief."),
    stream,
    temperature,
    tools: field(maybe(Schema.Array(anyObject)), "Functions the model may call.", [
      { name: "weather", input_schema: { type: "object", properties: {} } }
    ])
  },
  others
).annotations({ identifier: "MessagesRequest", description: "A request for a message." })

export const MessagesAnswer = Schema.Struct(
  {
    id: field(Schema.String, "Id of the answer.", "msg_abc123"),
    type: field(Schema.String, "Always `message`.", "message"),
    role: field(Schema.String, "Always `assistant`.", "assistant"),
    model: servedModel,
    content: field(
      Schema.Array(
        Schema.Struct(
          { type: field(Schema.String, "Kind of the block: `text`, `thinking`, `tool_use`.", "text") },
          others
        )
      ),
      "The blocks of the answer.",
      [{ type: "text", text: "Hello." }]
    ),
    stop_reason: field(
      Schema.NullOr(Schema.String),
      "Why it ended: `end_turn`, `max_tokens`, `stop_sequence`, `tool_use`.",
      "end_turn"
    ),
    usage: field(
      Schema.Struct(
        {
          input_tokens: tokens("Tokens of the prompt that were not cached.", 12),
          output_tokens: tokens("Tokens of the answer.", 2)
        },
        others
      ),
      "What was used."
    )
  },
  others
).annotations({ identifier: "MessagesAnswer", description: "A whole answer." })

export const CountRequest = Schema.Struct({ model, messages }, others).annotations({
  identifier: "CountTokensRequest",
  description: "A request whose tokens are counted."
})

export const CountAnswer = Schema.Struct({ input_tokens: tokens("Tokens of the prompt.", 12) }, others).annotations({
  identifier: "CountTokensAnswer",
  description: "How many tokens a prompt has."
})
