/** Fields of answers. Each row is one thing an answer can contain. */
import { dropped, everywhere, exact, type FieldRow, mapped, nowhere, row } from "./FieldTable.ts"

const asText = mapped("as text")
const joined = mapped("texts are joined")
const asEnd = mapped("end of turn")
const asLimit = mapped("output limit")
const asInput = mapped("an argument named `input`")

/** Names of the stop reason's member on each wire. */
const stops = {
  chat: "finish_reason",
  messages: "stop_reason",
  responses: "status",
  gemini: "finishReason",
  ollama: "done_reason"
}

export const answerFields = [
  row(
    "id",
    "Id",
    { chat: "id", messages: "id", responses: "id", gemini: "responseId" },
    { ...everywhere, ollama: dropped }
  ),
  row(
    "model",
    "Model",
    { chat: "model", messages: "model", responses: "model", gemini: "modelVersion", ollama: "model" },
    everywhere
  ),
  row(
    "created",
    "Time",
    { chat: "created", responses: "created_at", gemini: "createTime", ollama: "created_at" },
    { ...everywhere, messages: dropped, gemini: dropped }
  ),
  row(
    "text",
    "Text",
    {
      chat: "message.content",
      messages: "content.text",
      responses: "output.content.output_text",
      gemini: "content.parts.text",
      ollama: "message.content"
    },
    everywhere
  ),
  row(
    "texts",
    "Several texts",
    { messages: "content.text", responses: "output.content.output_text", gemini: "content.parts.text" },
    { ...everywhere, chat: joined, ollama: joined }
  ),
  row(
    "refusal",
    "Refusal",
    { chat: "message.refusal", responses: "output.content.refusal" },
    { chat: exact, messages: asText, responses: exact, gemini: asText, ollama: asText }
  ),
  row(
    "reasoning",
    "Reasoning",
    {
      chat: "message.reasoning_content",
      messages: "content.thinking",
      responses: "output.reasoning.summary",
      gemini: "content.parts.thought",
      ollama: "message.thinking"
    },
    everywhere
  ),
  row(
    "reasoningProof",
    "Proof of reasoning",
    {
      messages: "content.thinking.signature",
      responses: "output.reasoning.encrypted_content",
      gemini: "content.parts.thoughtSignature"
    },
    nowhere
  ),
  row(
    "toolCall",
    "Tool call",
    {
      chat: "message.tool_calls",
      messages: "content.tool_use",
      responses: "output.function_call",
      gemini: "content.parts.functionCall",
      ollama: "message.tool_calls"
    },
    everywhere
  ),
  row(
    "toolCallCustom",
    "Free-form tool call",
    { chat: "message.tool_calls.custom", responses: "output.custom_tool_call" },
    {
      chat: exact,
      messages: mapped("an argument named `arguments`"),
      responses: exact,
      gemini: asInput,
      ollama: asInput
    }
  ),
  row(
    "serverTool",
    "Work of the provider's own tools",
    {
      messages: "content.server_tool_use",
      responses: "output.code_interpreter_call",
      gemini: "content.parts.executableCode"
    },
    nowhere
  ),
  row(
    "webSearch",
    "Search of the web, and what it found",
    {
      messages: "content.web_search_tool_result",
      responses: "output.web_search_call",
      gemini: "groundingMetadata"
    },
    { ...everywhere, chat: { fate: "dropped", note: "The links of the answer arrive." }, ollama: dropped }
  ),
  row(
    "picture",
    "Picture",
    {
      chat: "message.images",
      responses: "output.image_generation_call",
      gemini: "content.parts.inlineData",
      ollama: "message.images"
    },
    { ...everywhere, messages: dropped }
  ),
  // Chat says its words beside it, which arrive as text.
  row("sound", "Sound", { chat: "message.audio", gemini: "content.parts.inlineData" }, nowhere),
  row(
    "citations",
    "Links to pages",
    {
      chat: "message.annotations",
      messages: "content.text.citations",
      responses: "output.content.output_text.annotations",
      gemini: "groundingMetadata.groundingSupports"
    },
    { ...everywhere, ollama: dropped }
  ),
  row(
    "logprobs",
    "Token probabilities",
    {
      chat: "choices.logprobs",
      responses: "output.content.output_text.logprobs",
      gemini: "logprobsResult",
      ollama: "logprobs"
    },
    { ...everywhere, messages: dropped }
  ),
  row("stopEnd", "Stop: end of turn", stops, everywhere),
  row("stopLength", "Stop: output limit", stops, everywhere),
  row("stopTools", "Stop: tool calls", stops, everywhere),
  row(
    "stopSequence",
    "Stop: a stop string",
    { messages: "stop_reason" },
    { chat: asEnd, responses: asEnd, gemini: asEnd, ollama: asEnd }
  ),
  row(
    "stopFilter",
    "Stop: filtered or refused",
    { chat: "finish_reason", messages: "stop_reason", responses: "status", gemini: "finishReason" },
    everywhere
  ),
  row(
    "stopWindow",
    "Stop: context window full",
    { messages: "stop_reason" },
    { chat: asLimit, responses: asLimit, gemini: asLimit, ollama: asLimit }
  ),
  row(
    "stopPause",
    "Stop: pause of a long turn",
    { messages: "stop_reason" },
    { chat: asEnd, responses: asEnd, gemini: asEnd, ollama: asEnd }
  ),
  row(
    "usageIn",
    "Prompt tokens",
    {
      chat: "usage.prompt_tokens",
      messages: "usage.input_tokens",
      responses: "usage.input_tokens",
      gemini: "usageMetadata.promptTokenCount",
      ollama: "prompt_eval_count"
    },
    everywhere
  ),
  row(
    "usageOut",
    "Answer tokens",
    {
      chat: "usage.completion_tokens",
      messages: "usage.output_tokens",
      responses: "usage.output_tokens",
      gemini: "usageMetadata.candidatesTokenCount",
      ollama: "eval_count"
    },
    everywhere
  ),
  row(
    "usageCacheRead",
    "Prompt tokens read from the cache",
    {
      chat: "usage.prompt_tokens_details.cached_tokens",
      messages: "usage.cache_read_input_tokens",
      responses: "usage.input_tokens_details.cached_tokens",
      gemini: "usageMetadata.cachedContentTokenCount"
    },
    { ...everywhere, ollama: dropped }
  ),
  row(
    "usageCacheWrite",
    "Prompt tokens written to the cache",
    { messages: "usage.cache_creation_input_tokens", responses: "usage.input_tokens_details.cache_write_tokens" },
    { ...everywhere, gemini: dropped, ollama: dropped }
  ),
  row(
    "usageReasoning",
    "Reasoning tokens",
    {
      chat: "usage.completion_tokens_details.reasoning_tokens",
      responses: "usage.output_tokens_details.reasoning_tokens",
      gemini: "usageMetadata.thoughtsTokenCount"
    },
    { ...everywhere, ollama: dropped }
  )
] as const satisfies ReadonlyArray<FieldRow>

export type AnswerFieldId = (typeof answerFields)[number]["id"]
