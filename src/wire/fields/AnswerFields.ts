/** Fields of whole answers. Each row is one thing a provider can say. */
import { dropped, exact, type FieldRow, mapped, row } from "./FieldTable.ts"

const everywhere = { chat: exact, messages: exact, ollama: exact }
const asText = mapped("as text")

export const answerFields = [
  row("id", "Id", { chat: "id", messages: "id" }, { chat: exact, messages: exact, ollama: dropped }),
  row("model", "Model", { chat: "model", messages: "model", ollama: "model" }, everywhere),
  row("created", "Time", { chat: "created", ollama: "created_at" }, { chat: exact, messages: dropped, ollama: exact }),
  row("text", "Text", { chat: "message.content", messages: "content.text", ollama: "message.content" }, everywhere),
  row(
    "texts",
    "Several texts",
    { messages: "content.text" },
    {
      chat: mapped("texts are joined"),
      ollama: mapped("texts are joined")
    }
  ),
  row("refusal", "Refusal", { chat: "message.refusal" }, { messages: asText, ollama: asText }),
  row(
    "reasoning",
    "Reasoning",
    { chat: "message.reasoning_content", messages: "content.thinking", ollama: "message.thinking" },
    everywhere
  ),
  row(
    "reasoningProof",
    "Proof of reasoning",
    { messages: "content.thinking.signature" },
    {
      chat: dropped,
      ollama: dropped
    }
  ),
  row(
    "toolCall",
    "Tool call",
    { chat: "message.tool_calls", messages: "content.tool_use", ollama: "message.tool_calls" },
    everywhere
  ),
  row(
    "toolCallCustom",
    "Free-form tool call",
    { chat: "message.tool_calls.custom" },
    {
      messages: mapped("an argument named `arguments`"),
      ollama: mapped("an argument named `input`")
    }
  ),
  row(
    "serverTool",
    "Work of the provider's own tools",
    { messages: "content.server_tool_use" },
    {
      chat: dropped,
      ollama: dropped
    }
  ),
  row(
    "citations",
    "Citations",
    { chat: "message.annotations", messages: "content.text.citations" },
    {
      chat: dropped,
      messages: dropped,
      ollama: dropped
    }
  ),
  row(
    "logprobs",
    "Token probabilities",
    { chat: "choices.logprobs", ollama: "logprobs" },
    {
      chat: exact,
      messages: dropped,
      ollama: exact
    }
  ),
  row(
    "stopEnd",
    "Stop: end of turn",
    { chat: "finish_reason", messages: "stop_reason", ollama: "done_reason" },
    everywhere
  ),
  row(
    "stopLength",
    "Stop: output limit",
    { chat: "finish_reason", messages: "stop_reason", ollama: "done_reason" },
    everywhere
  ),
  row(
    "stopTools",
    "Stop: tool calls",
    { chat: "finish_reason", messages: "stop_reason", ollama: "done_reason" },
    everywhere
  ),
  row(
    "stopSequence",
    "Stop: a stop string",
    { messages: "stop_reason" },
    {
      chat: mapped("end of turn"),
      ollama: mapped("end of turn")
    }
  ),
  row("stopFilter", "Stop: filtered or refused", { chat: "finish_reason", messages: "stop_reason" }, everywhere),
  row(
    "stopWindow",
    "Stop: context window full",
    { messages: "stop_reason" },
    {
      chat: mapped("output limit"),
      ollama: mapped("output limit")
    }
  ),
  row(
    "stopPause",
    "Stop: pause of a long turn",
    { messages: "stop_reason" },
    {
      chat: mapped("end of turn"),
      ollama: mapped("end of turn")
    }
  ),
  row(
    "usageIn",
    "Prompt tokens",
    { chat: "usage.prompt_tokens", messages: "usage.input_tokens", ollama: "prompt_eval_count" },
    everywhere
  ),
  row(
    "usageOut",
    "Answer tokens",
    { chat: "usage.completion_tokens", messages: "usage.output_tokens", ollama: "eval_count" },
    everywhere
  ),
  row(
    "usageCacheRead",
    "Prompt tokens read from the cache",
    { chat: "usage.prompt_tokens_details.cached_tokens", messages: "usage.cache_read_input_tokens" },
    { chat: exact, messages: exact, ollama: dropped }
  ),
  row(
    "usageCacheWrite",
    "Prompt tokens written to the cache",
    { messages: "usage.cache_creation_input_tokens" },
    { chat: exact, ollama: dropped }
  ),
  row(
    "usageReasoning",
    "Reasoning tokens",
    { chat: "usage.completion_tokens_details.reasoning_tokens" },
    { messages: exact, ollama: dropped }
  )
] as const satisfies ReadonlyArray<FieldRow>

export type AnswerFieldId = (typeof answerFields)[number]["id"]
