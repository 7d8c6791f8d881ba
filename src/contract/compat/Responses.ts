/** Bodies of the responses wire: https://developers.openai.com/api/reference/resources/responses */
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { anyObject, Content, maybe, model, others, servedModel, stream, temperature, tokens } from "./Open.ts"

export const ResponsesRequest = Schema.Struct(
  {
    model,
    input: field(Content, "A text, or a list of items.", "Say hello in one word."),
    instructions: field(maybe(Schema.String), "What holds for this request.", "Be brief."),
    previous_response_id: field(
      maybe(Schema.NullOr(Schema.String)),
      "Id of an answer that this request follows; null: none.",
      null
    ),
    stream,
    max_output_tokens: field(maybe(Schema.Number), "Most tokens of the answer.", 200),
    temperature,
    tools: field(maybe(Schema.Array(anyObject)), "Functions the model may call.", [
      { type: "function", name: "weather", parameters: { type: "object", properties: {} } }
    ])
  },
  others
).annotations({ identifier: "ResponsesRequest", description: "A request for a response." })

export const ResponsesAnswer = Schema.Struct(
  {
    id: field(Schema.String, "Id of the answer.", "resp_abc123"),
    object: field(Schema.Literal("response"), "Always `response`."),
    status: field(Schema.String, "`completed`, or why not.", "completed"),
    model: servedModel,
    output: field(
      Schema.Array(Schema.Struct({ type: field(Schema.String, "Kind of the item.", "message") }, others)),
      "The items of the answer.",
      [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello.", annotations: [] }] }]
    ),
    usage: field(
      Schema.NullOr(
        Schema.Struct(
          {
            input_tokens: tokens("Tokens of the prompt.", 12),
            output_tokens: tokens("Tokens of the answer.", 2),
            total_tokens: tokens("Their sum.", 14)
          },
          others
        )
      ),
      "What was used; null: unknown."
    )
  },
  others
).annotations({ identifier: "ResponsesAnswer", description: "A whole answer." })
