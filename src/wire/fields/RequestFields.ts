/** Fields of requests. Each row is one thing a client can say. */
import { dropped, exact, type FieldRow, mapped, rejected, row } from "./FieldTable.ts"

const everywhere = { chat: exact, messages: exact, ollama: exact }
const asText = mapped("as text")
const joined = mapped("texts are joined")

export const requestFields = [
  row(
    "system",
    "System prompt",
    { chat: "messages (system)", messages: "system", ollama: "messages (system)" },
    everywhere
  ),
  row(
    "systemBetween",
    "System message between turns",
    { chat: "messages (system)", messages: "messages (system)", ollama: "messages (system)" },
    { ...everywhere, messages: mapped("gathered into `system`") }
  ),
  row(
    "developer",
    "Developer message",
    { chat: "messages (developer)" },
    {
      messages: mapped("gathered into `system`"),
      ollama: mapped("as a system message")
    }
  ),
  row(
    "userText",
    "User text",
    { chat: "messages.content", messages: "messages.content", ollama: "messages.content" },
    everywhere
  ),
  row(
    "userTexts",
    "Several texts in one message",
    { chat: "messages.content", messages: "messages.content" },
    {
      chat: exact,
      messages: exact,
      ollama: joined
    }
  ),
  row(
    "imageInline",
    "Picture, inline",
    { chat: "messages.content.image_url", messages: "messages.content.image", ollama: "messages.images" },
    everywhere
  ),
  row(
    "imageUrl",
    "Picture, by link",
    { chat: "messages.content.image_url", messages: "messages.content.image" },
    {
      chat: exact,
      messages: exact,
      ollama: dropped
    }
  ),
  row(
    "imageDetail",
    "Picture detail",
    { chat: "messages.content.image_url.detail" },
    {
      messages: dropped,
      ollama: dropped
    }
  ),
  row(
    "filePdf",
    "Document (PDF)",
    { chat: "messages.content.file", messages: "messages.content.document" },
    {
      chat: exact,
      messages: exact,
      ollama: dropped
    }
  ),
  row(
    "fileText",
    "Document (plain text)",
    { chat: "messages.content.file", messages: "messages.content.document" },
    {
      chat: asText,
      messages: mapped("as a text document"),
      ollama: asText
    }
  ),
  row(
    "fileId",
    "File, by the provider's id",
    { chat: "messages.content.file", messages: "messages.content.document" },
    { chat: dropped, messages: dropped, ollama: dropped }
  ),
  row("audio", "Sound", { chat: "messages.content.input_audio" }, { messages: dropped, ollama: dropped }),
  row(
    "opaqueBlock",
    "Content block of one wire alone",
    { messages: "messages.content.search_result" },
    {
      chat: dropped,
      ollama: dropped
    }
  ),
  row(
    "cacheControl",
    "Prompt-cache mark",
    { chat: "cache_control", messages: "cache_control" },
    {
      chat: dropped,
      messages: exact,
      ollama: dropped
    }
  ),
  row("messageName", "Name of a speaker", { chat: "messages.name" }, { messages: dropped, ollama: dropped }),
  row(
    "reasoningHistory",
    "Earlier reasoning without proof",
    { chat: "messages.reasoning_content", ollama: "messages.thinking" },
    { chat: exact, messages: dropped, ollama: exact }
  ),
  row(
    "reasoningSigned",
    "Earlier reasoning with its provider's proof",
    { messages: "messages.content.thinking" },
    {
      chat: dropped,
      ollama: dropped
    }
  ),
  row("refusalHistory", "Earlier refusal", { chat: "messages.refusal" }, { messages: asText, ollama: asText }),
  row("citations", "Earlier citations", { messages: "messages.content.citations" }, { chat: dropped, ollama: dropped }),
  row(
    "toolCall",
    "Tool call",
    { chat: "messages.tool_calls", messages: "messages.content.tool_use", ollama: "messages.tool_calls" },
    everywhere
  ),
  row(
    "toolCallOddId",
    "Tool-call id with signs outside a–z, 0–9, _ and -",
    { chat: "messages.tool_calls.id" },
    {
      messages: mapped("renamed, in the call and in its result"),
      ollama: exact
    }
  ),
  row(
    "toolArgsBroken",
    "Tool-call arguments that are no JSON object",
    { chat: "messages.tool_calls.function.arguments" },
    { messages: mapped("kept whole, as one argument"), ollama: mapped("kept whole, as one argument") }
  ),
  row(
    "toolResult",
    "Tool result",
    { chat: "messages (tool)", messages: "messages.content.tool_result", ollama: "messages (tool)" },
    everywhere
  ),
  row(
    "toolResultImage",
    "Picture in a tool result",
    { messages: "messages.content.tool_result.image" },
    {
      chat: mapped("in a user message after the results"),
      ollama: exact
    }
  ),
  row(
    "toolResultError",
    "Failed tool result",
    { messages: "messages.content.tool_result.is_error" },
    {
      chat: dropped,
      ollama: dropped
    }
  ),
  row("tool", "Tool definition", { chat: "tools", messages: "tools", ollama: "tools" }, everywhere),
  row(
    "toolStrict",
    "Strict tool schema",
    { chat: "tools.function.strict", messages: "tools.strict" },
    {
      chat: exact,
      messages: dropped,
      ollama: dropped
    }
  ),
  row("toolCustom", "Free-form tool", { chat: "tools.custom" }, { messages: dropped, ollama: dropped }),
  row(
    "toolBuiltin",
    "Tool the provider runs",
    { messages: "tools.web_search_20250305" },
    {
      chat: dropped,
      ollama: dropped
    }
  ),
  row(
    "toolChoiceNone",
    "Tool choice: none",
    { chat: "tool_choice", messages: "tool_choice" },
    {
      chat: exact,
      messages: exact,
      ollama: dropped
    }
  ),
  row(
    "toolChoiceRequired",
    "Tool choice: any",
    { chat: "tool_choice", messages: "tool_choice" },
    {
      chat: exact,
      messages: exact,
      ollama: dropped
    }
  ),
  row(
    "toolChoiceNamed",
    "Tool choice: this one",
    { chat: "tool_choice", messages: "tool_choice" },
    {
      chat: exact,
      messages: exact,
      ollama: dropped
    }
  ),
  row(
    "toolChoiceAllowed",
    "Tool choice: among these",
    { chat: "tool_choice" },
    {
      messages: mapped("the others are not offered"),
      ollama: mapped("the others are not offered")
    }
  ),
  row(
    "parallelOff",
    "One tool call at a time",
    { chat: "parallel_tool_calls", messages: "tool_choice.disable_parallel_tool_use" },
    { chat: exact, messages: exact, ollama: dropped }
  ),
  row(
    "maxOutputTokens",
    "Output limit",
    { chat: "max_tokens", messages: "max_tokens", ollama: "options.num_predict" },
    everywhere
  ),
  row(
    "temperature",
    "Temperature up to 1",
    { chat: "temperature", messages: "temperature", ollama: "options.temperature" },
    everywhere
  ),
  row(
    "temperatureHigh",
    "Temperature above 1",
    { chat: "temperature", ollama: "options.temperature" },
    {
      ...everywhere,
      messages: mapped("1")
    }
  ),
  row("topP", "top_p", { chat: "top_p", messages: "top_p", ollama: "options.top_p" }, everywhere),
  row(
    "topK",
    "top_k",
    { messages: "top_k", ollama: "options.top_k" },
    {
      chat: dropped,
      messages: exact,
      ollama: exact
    }
  ),
  row(
    "stop",
    "Up to four stop strings",
    { chat: "stop", messages: "stop_sequences", ollama: "options.stop" },
    everywhere
  ),
  row(
    "stopMany",
    "Stop strings beyond four",
    { messages: "stop_sequences", ollama: "options.stop" },
    {
      chat: dropped,
      messages: exact,
      ollama: exact
    }
  ),
  row("seed", "Seed", { chat: "seed", ollama: "options.seed" }, { chat: exact, messages: dropped, ollama: exact }),
  row(
    "presencePenalty",
    "Presence penalty",
    { chat: "presence_penalty", ollama: "options.presence_penalty" },
    {
      chat: exact,
      messages: dropped,
      ollama: exact
    }
  ),
  row(
    "frequencyPenalty",
    "Frequency penalty",
    { chat: "frequency_penalty", ollama: "options.frequency_penalty" },
    {
      chat: exact,
      messages: dropped,
      ollama: exact
    }
  ),
  row(
    "logprobs",
    "Token probabilities",
    { chat: "logprobs", ollama: "logprobs" },
    {
      chat: exact,
      messages: dropped,
      ollama: exact
    }
  ),
  row(
    "topLogprobs",
    "Token alternatives",
    { chat: "top_logprobs", ollama: "top_logprobs" },
    {
      chat: exact,
      messages: dropped,
      ollama: exact
    }
  ),
  row("logitBias", "Token bias", { chat: "logit_bias" }, { messages: dropped, ollama: dropped }),
  row(
    "candidates",
    "Several answers",
    { chat: "n" },
    {
      messages: rejected("one answer per request"),
      ollama: rejected("one answer per request")
    }
  ),
  row(
    "jsonAny",
    "Any JSON as the answer",
    { chat: "response_format", ollama: "format" },
    {
      chat: exact,
      messages: dropped,
      ollama: exact
    }
  ),
  row(
    "jsonSchema",
    "JSON by a schema as the answer",
    { chat: "response_format", messages: "output_config.format", ollama: "format" },
    everywhere
  ),
  row(
    "reasoningEffort",
    "Reasoning by effort",
    { chat: "reasoning_effort", ollama: "think" },
    {
      chat: exact,
      messages: mapped("a budget, or adaptive thinking with an effort on models that decide for themselves"),
      ollama: mapped("`think: true`; the level itself on models that take one")
    }
  ),
  row(
    "reasoningBudget",
    "Reasoning by budget",
    { messages: "thinking" },
    {
      chat: mapped("the nearest effort"),
      ollama: mapped("`think: true`; the nearest level on models that take one")
    }
  ),
  row(
    "reasoningOff",
    "No reasoning",
    { chat: "reasoning_effort", messages: "thinking", ollama: "think" },
    {
      chat: mapped("not asked for: many models refuse a no"),
      messages: mapped("not asked for: it is off by itself"),
      ollama: exact
    }
  ),
  row(
    "user",
    "End user",
    { chat: "user", messages: "metadata.user_id" },
    {
      chat: exact,
      messages: exact,
      ollama: dropped
    }
  ),
  row("metadata", "Metadata", { chat: "metadata" }, { messages: dropped, ollama: dropped }),
  row("stream", "Streaming", { chat: "stream", messages: "stream", ollama: "stream" }, everywhere),
  row(
    "ownMember",
    "Members of one wire alone",
    { chat: "store", messages: "container", ollama: "keep_alive" },
    { chat: dropped, messages: dropped, ollama: dropped }
  ),
  row("ownOption", "Options of one wire alone", { ollama: "options.num_ctx" }, { chat: dropped, messages: dropped })
] as const satisfies ReadonlyArray<FieldRow>

export type RequestFieldId = (typeof requestFields)[number]["id"]
