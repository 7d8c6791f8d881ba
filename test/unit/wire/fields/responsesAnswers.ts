/** How the responses wire says the rows of the answer table. */
import type { AnswerFieldId } from "../../../../src/wire/fields/AnswerFields.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"

const answer = (output: ReadonlyArray<JsonObject>, more: JsonObject = {}): JsonObject => ({
  id: "x",
  object: "response",
  created_at: 1_700_000_000,
  model: "m",
  status: "completed",
  output,
  usage: { input_tokens: 9, output_tokens: 5, total_tokens: 14 },
  ...more
})

const said = (...content: ReadonlyArray<JsonObject>): JsonObject => ({ type: "message", role: "assistant", content })
const part = (more: JsonObject = {}): JsonObject => ({ type: "output_text", text: "a", annotations: [], ...more })
const text = answer([said(part())])
const incomplete = (reason: string): JsonObject =>
  answer([said(part())], { status: "incomplete", incomplete_details: { reason } })
const counted = (more: JsonObject): JsonObject =>
  answer([said(part())], { usage: { input_tokens: 9, output_tokens: 5, ...more } })
const call = answer([{ type: "function_call", call_id: "t", name: "f", arguments: '{"a":1}' }])
const summary = [{ type: "summary_text", text: "hm" }]

export const responsesAnswers: Partial<Readonly<Record<AnswerFieldId, JsonObject>>> = {
  id: text,
  model: text,
  created: text,
  text,
  texts: answer([said(part(), part())]),
  refusal: answer([said({ type: "refusal", refusal: "No." })]),
  reasoning: answer([{ type: "reasoning", summary }, said(part())]),
  reasoningProof: answer([{ type: "reasoning", id: "rs_1", summary, encrypted_content: "c2ln" }, said(part())]),
  toolCall: call,
  toolCallCustom: answer([{ type: "custom_tool_call", call_id: "t", name: "f", input: "go" }]),
  serverTool: answer([{ type: "code_interpreter_call", id: "ci_1", status: "completed" }, said(part())]),
  webSearch: answer([
    {
      type: "web_search_call",
      id: "ws_1",
      status: "completed",
      action: { type: "search", query: "q", sources: [{ type: "url", url: "https://x.test" }] }
    },
    said(part())
  ]),
  picture: answer([
    { type: "image_generation_call", id: "ig_1", status: "completed", result: "iVBORw0KGgo=" },
    said(part())
  ]),
  citations: answer([
    said(
      part({
        annotations: [{ type: "url_citation", url: "https://x.test", title: "X", start_index: 0, end_index: 1 }]
      })
    )
  ]),
  logprobs: answer([said(part({ logprobs: [{ token: "a", logprob: -1 }] }))]),
  stopEnd: text,
  stopLength: incomplete("max_output_tokens"),
  stopTools: call,
  stopFilter: incomplete("content_filter"),
  usageIn: text,
  usageOut: text,
  usageCacheRead: counted({ input_tokens_details: { cached_tokens: 4 } }),
  usageCacheWrite: counted({ input_tokens_details: { cached_tokens: 0, cache_write_tokens: 4 } }),
  usageReasoning: counted({ output_tokens_details: { reasoning_tokens: 4 } })
}
