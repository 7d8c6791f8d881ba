/**
 * The response object and the stream events of Open Responses, as its specification has them: every member that is required, null
 * only where it may be. More members than these are allowed.
 */
import * as Schema from "effect/Schema"

const nullable = Schema.NullOr
const { Boolean, Int, Number, String, Unknown } = Schema
const record = Schema.Record({ key: String, value: Unknown })

const UrlCitation = Schema.Struct({
  type: Schema.Literal("url_citation"),
  url: String,
  title: String,
  start_index: Int,
  end_index: Int
})

const TopLogprob = Schema.Struct({ token: String, logprob: Number, bytes: Schema.Array(Int) })
const Logprob = Schema.Struct({ ...TopLogprob.fields, top_logprobs: Schema.Array(TopLogprob) })
const logprobs = Schema.optional(Schema.Array(Logprob))

const OutputText = Schema.Struct({
  type: Schema.Literal("output_text"),
  text: String,
  annotations: Schema.Array(UrlCitation),
  logprobs
})
const Refusal = Schema.Struct({ type: Schema.Literal("refusal"), refusal: String })
const SummaryText = Schema.Struct({ type: Schema.Literal("summary_text"), text: String })
const ReasoningText = Schema.Struct({ type: Schema.Literal("reasoning_text"), text: String })
const ContentPart = Schema.Union(OutputText, Refusal, SummaryText, ReasoningText)

const status = Schema.Literal("in_progress", "completed", "incomplete")

const Message = Schema.Struct({
  type: Schema.Literal("message"),
  id: Schema.NonEmptyString,
  status,
  role: Schema.Literal("user", "assistant", "system", "developer"),
  content: Schema.Array(ContentPart)
})
const FunctionCall = Schema.Struct({
  type: Schema.Literal("function_call"),
  id: Schema.NonEmptyString,
  call_id: Schema.NonEmptyString,
  name: Schema.NonEmptyString,
  arguments: String,
  status
})
const Reasoning = Schema.Struct({
  type: Schema.Literal("reasoning"),
  id: Schema.NonEmptyString,
  summary: Schema.Array(ContentPart),
  content: Schema.optional(Schema.Array(ContentPart)),
  encrypted_content: Schema.optional(String)
})
const Item = Schema.Union(Message, FunctionCall, Reasoning)

const FunctionTool = Schema.Struct({
  type: Schema.Literal("function"),
  name: String,
  description: nullable(String),
  parameters: nullable(record),
  strict: nullable(Boolean)
})

const choiceWord = Schema.Literal("none", "auto", "required")
const FunctionChoice = Schema.Struct({ type: Schema.Literal("function"), name: Schema.optional(String) })
const ToolChoice = Schema.Union(
  choiceWord,
  FunctionChoice,
  Schema.Struct({ type: Schema.Literal("allowed_tools"), tools: Schema.Array(FunctionChoice), mode: choiceWord })
)

const TextFormat = Schema.Union(
  Schema.Struct({ type: Schema.Literal("text", "json_object") }),
  Schema.Struct({
    type: Schema.Literal("json_schema"),
    name: String,
    description: nullable(String),
    schema: nullable(record),
    strict: Boolean
  })
)

const Usage = Schema.Struct({
  input_tokens: Int,
  output_tokens: Int,
  total_tokens: Int,
  input_tokens_details: Schema.Struct({ cached_tokens: Int }),
  output_tokens_details: Schema.Struct({ reasoning_tokens: Int })
})

export const ResponseResource = Schema.Struct({
  id: Schema.NonEmptyString,
  object: Schema.Literal("response"),
  created_at: Int,
  completed_at: nullable(Int),
  status: Schema.Literal("queued", "in_progress", "completed", "incomplete", "failed"),
  incomplete_details: nullable(Schema.Struct({ reason: String })),
  model: Schema.NonEmptyString,
  previous_response_id: nullable(String),
  instructions: nullable(String),
  output: Schema.Array(Item),
  error: nullable(Schema.Struct({ code: String, message: String })),
  tools: Schema.Array(FunctionTool),
  tool_choice: ToolChoice,
  truncation: Schema.Literal("auto", "disabled"),
  parallel_tool_calls: Boolean,
  text: Schema.Struct({ format: TextFormat, verbosity: Schema.optional(Schema.Literal("low", "medium", "high")) }),
  top_p: Number,
  presence_penalty: Number,
  frequency_penalty: Number,
  top_logprobs: Int,
  temperature: Number,
  reasoning: nullable(
    Schema.Struct({
      effort: nullable(Schema.Literal("none", "minimal", "low", "medium", "high", "xhigh")),
      summary: nullable(Schema.Literal("concise", "detailed", "auto"))
    })
  ),
  user: nullable(String),
  usage: nullable(Usage),
  max_output_tokens: nullable(Int),
  max_tool_calls: nullable(Int),
  store: Boolean,
  background: Boolean,
  service_tier: String,
  metadata: record,
  safety_identifier: nullable(String),
  prompt_cache_key: nullable(String)
})
export type ResponseResource = typeof ResponseResource.Type

const event = <T extends string, F extends Schema.Struct.Fields>(type: T, fields: F) =>
  Schema.Struct({ type: Schema.Literal(`response.${type}` as const), sequence_number: Int, ...fields })

const whole = { response: ResponseResource }
const item = { output_index: Int, item: Item }
const inItem = { item_id: Schema.NonEmptyString, output_index: Int }
const inContent = { ...inItem, content_index: Int }
const inSummary = { ...inItem, summary_index: Int }
const delta = { delta: String }
const text = { text: String }

/** Every event type there is; a stream may hold no other. */
export const StreamingEvent = Schema.Union(
  event("created", whole),
  event("queued", whole),
  event("in_progress", whole),
  event("completed", whole),
  event("failed", whole),
  event("incomplete", whole),
  event("output_item.added", item),
  event("output_item.done", item),
  event("content_part.added", { ...inContent, part: ContentPart }),
  event("content_part.done", { ...inContent, part: ContentPart }),
  event("output_text.delta", { ...inContent, ...delta, logprobs }),
  event("output_text.done", { ...inContent, ...text, logprobs }),
  event("refusal.delta", { ...inContent, ...delta }),
  event("refusal.done", { ...inContent, refusal: String }),
  event("function_call_arguments.delta", { ...inItem, ...delta }),
  event("function_call_arguments.done", { ...inItem, arguments: String }),
  event("reasoning_summary_part.added", { ...inSummary, part: ContentPart }),
  event("reasoning_summary_part.done", { ...inSummary, part: ContentPart }),
  event("reasoning.delta", { ...inContent, ...delta }),
  event("reasoning.done", { ...inContent, ...text }),
  event("reasoning_summary_text.delta", { ...inSummary, ...delta }),
  event("reasoning_summary_text.done", { ...inSummary, ...text }),
  event("output_text.annotation.added", { ...inContent, annotation_index: Int, annotation: nullable(UrlCitation) }),
  Schema.Struct({
    type: Schema.Literal("error"),
    sequence_number: Int,
    error: Schema.Struct({ type: String, code: nullable(String), message: String, param: nullable(String) })
  })
)
export type StreamingEvent = typeof StreamingEvent.Type
