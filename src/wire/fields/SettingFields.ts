/** Fields of requests: settings of the model and of the provider. */
import {
  dropped,
  everywhere,
  exact,
  type FieldRow,
  mapped,
  noPlaceAnywhere,
  nowhere,
  rejected,
  row
} from "./FieldTable.ts"

const one = rejected("one answer per request")

export const settingFields = [
  row(
    "maxOutputTokens",
    "Output limit",
    {
      chat: "max_tokens",
      messages: "max_tokens",
      responses: "max_output_tokens",
      gemini: "generationConfig.maxOutputTokens",
      ollama: "options.num_predict"
    },
    everywhere
  ),
  row(
    "maxOutputTokensLow",
    "Output limit below 16",
    {
      chat: "max_tokens",
      messages: "max_tokens",
      gemini: "generationConfig.maxOutputTokens",
      ollama: "options.num_predict"
    },
    { ...everywhere, responses: mapped("16, the least the wire takes") }
  ),
  row(
    "temperature",
    "Temperature up to 1",
    {
      chat: "temperature",
      messages: "temperature",
      responses: "temperature",
      gemini: "generationConfig.temperature",
      ollama: "options.temperature"
    },
    everywhere
  ),
  row(
    "temperatureHigh",
    "Temperature above 1",
    {
      chat: "temperature",
      responses: "temperature",
      gemini: "generationConfig.temperature",
      ollama: "options.temperature"
    },
    { ...everywhere, messages: mapped("1") }
  ),
  row(
    "topP",
    "top_p",
    {
      chat: "top_p",
      messages: "top_p",
      responses: "top_p",
      gemini: "generationConfig.topP",
      ollama: "options.top_p"
    },
    everywhere
  ),
  row(
    "topK",
    "top_k",
    { messages: "top_k", gemini: "generationConfig.topK", ollama: "options.top_k" },
    { ...everywhere, chat: dropped, responses: dropped }
  ),
  row(
    "stop",
    "Up to four stop strings",
    {
      chat: "stop",
      messages: "stop_sequences",
      gemini: "generationConfig.stopSequences",
      ollama: "options.stop"
    },
    { ...everywhere, responses: dropped }
  ),
  row(
    "stopMany",
    "Five stop strings",
    { messages: "stop_sequences", gemini: "generationConfig.stopSequences", ollama: "options.stop" },
    { ...everywhere, chat: dropped, responses: dropped }
  ),
  row(
    "stopMore",
    "Stop strings beyond five",
    { messages: "stop_sequences", ollama: "options.stop" },
    { ...nowhere, messages: exact, ollama: exact }
  ),
  row(
    "seed",
    "Seed",
    { chat: "seed", gemini: "generationConfig.seed", ollama: "options.seed" },
    { ...everywhere, messages: dropped, responses: dropped }
  ),
  row(
    "presencePenalty",
    "Presence penalty",
    { chat: "presence_penalty", gemini: "generationConfig.presencePenalty", ollama: "options.presence_penalty" },
    { ...everywhere, messages: dropped, responses: dropped }
  ),
  row(
    "frequencyPenalty",
    "Frequency penalty",
    { chat: "frequency_penalty", gemini: "generationConfig.frequencyPenalty", ollama: "options.frequency_penalty" },
    { ...everywhere, messages: dropped, responses: dropped }
  ),
  row(
    "logprobs",
    "Token probabilities",
    { chat: "logprobs", responses: "include", gemini: "generationConfig.responseLogprobs", ollama: "logprobs" },
    { ...everywhere, messages: dropped }
  ),
  row(
    "topLogprobs",
    "Token alternatives",
    { chat: "top_logprobs", responses: "top_logprobs", gemini: "generationConfig.logprobs", ollama: "top_logprobs" },
    { ...everywhere, messages: dropped }
  ),
  row("logitBias", "Token bias", { chat: "logit_bias" }, nowhere),
  row(
    "candidates",
    "Several answers",
    { chat: "n", gemini: "generationConfig.candidateCount" },
    { chat: one, messages: one, responses: one, gemini: one, ollama: one }
  ),
  row(
    "jsonAny",
    "Any JSON as the answer",
    {
      chat: "response_format",
      responses: "text.format",
      gemini: "generationConfig.responseMimeType",
      ollama: "format"
    },
    { ...everywhere, messages: dropped }
  ),
  row(
    "jsonSchema",
    "JSON by a schema as the answer",
    {
      chat: "response_format",
      messages: "output_config.format",
      responses: "text.format",
      gemini: "generationConfig.responseSchema",
      ollama: "format"
    },
    {
      ...everywhere,
      gemini: mapped("in Google's own subset where that is equivalent"),
      messages: { fate: "exact", note: "Objects are closed, and bounds that are refused are dropped." }
    }
  ),
  row("verbosity", "Verbosity", { chat: "verbosity", responses: "text.verbosity" }, { ...nowhere, responses: exact }),
  row(
    "reasoningEffort",
    "Reasoning by effort",
    {
      chat: "reasoning_effort",
      responses: "reasoning",
      gemini: "generationConfig.thinkingConfig",
      ollama: "think"
    },
    {
      chat: exact,
      messages: mapped("a budget, or adaptive thinking with an effort on models that decide for themselves"),
      responses: exact,
      gemini: mapped("a budget; the level itself on models that take one"),
      ollama: mapped("`think: true`; the level itself on models that take one")
    }
  ),
  row(
    "reasoningBudget",
    "Reasoning by budget",
    { messages: "thinking", gemini: "generationConfig.thinkingConfig" },
    {
      chat: mapped("the nearest effort"),
      messages: exact,
      responses: mapped("the nearest effort"),
      gemini: mapped("the budget, and its thoughts are shown"),
      ollama: mapped("`think: true`; the nearest level on models that take one")
    }
  ),
  row(
    "reasoningOff",
    "No reasoning",
    {
      chat: "reasoning_effort",
      messages: "thinking",
      responses: "reasoning",
      gemini: "generationConfig.thinkingConfig",
      ollama: "think"
    },
    {
      chat: mapped("left out: many models refuse to turn it off"),
      messages: mapped("left out: it is off by default"),
      responses: mapped("left out: many models refuse to turn it off"),
      gemini: mapped("turned off, or the minimum of models that cannot turn it off"),
      ollama: exact
    }
  ),
  row(
    "reasoningShown",
    "How reasoning is shown",
    { messages: "thinking.display", responses: "reasoning.summary", gemini: "generationConfig.thinkingConfig" },
    {
      chat: mapped("as the upstream shows it"),
      messages: mapped("one kind of summary, or omitted"),
      responses: mapped("`auto`, or no summary"),
      gemini: mapped("thoughts, or none"),
      ollama: mapped("as the upstream shows it")
    },
    { "messages>gemini": exact, "gemini>messages": exact }
  ),
  row(
    "user",
    "End user",
    { chat: "user", messages: "metadata.user_id", responses: "user" },
    { ...everywhere, gemini: dropped, ollama: dropped }
  ),
  row("metadata", "Metadata", { chat: "metadata", responses: "metadata" }, { ...nowhere, responses: exact }),
  row(
    "stream",
    "Streaming",
    {
      chat: "stream",
      messages: "stream",
      responses: "stream",
      gemini: "streamGenerateContent",
      ollama: "stream"
    },
    everywhere
  ),
  row("store", "Keeping the answer", { chat: "store", responses: "store" }, { ...nowhere, responses: exact }),
  row(
    "serviceTier",
    "Service tier",
    { chat: "service_tier", messages: "service_tier", responses: "service_tier" },
    { ...nowhere, responses: exact },
    { "messages>responses": dropped }
  ),
  row(
    "promptCacheKey",
    "Prompt-cache key",
    { chat: "prompt_cache_key", responses: "prompt_cache_key" },
    { ...nowhere, responses: exact }
  ),
  row(
    "safetyIdentifier",
    "Safety identifier",
    { chat: "safety_identifier", responses: "safety_identifier" },
    { ...nowhere, responses: exact }
  ),
  row("previousResponse", "Reference to an earlier answer", { responses: "previous_response_id" }, noPlaceAnywhere),
  row("storedConversation", "Reference to a conversation", { responses: "conversation" }, noPlaceAnywhere),
  row("storedPrompt", "Reference to a prompt", { responses: "prompt" }, noPlaceAnywhere),
  row("background", "Work in the background", { responses: "background" }, nowhere),
  row("include", "Additional output", { responses: "include" }, nowhere),
  row("maxToolCalls", "Limit on the provider's tool calls", { responses: "max_tool_calls" }, nowhere),
  row("safetySettings", "Safety settings", { gemini: "safetySettings" }, nowhere),
  row("cachedContent", "Reference to cached content", { gemini: "cachedContent" }, noPlaceAnywhere),
  row("responseModalities", "Modalities of the answer", { gemini: "generationConfig.responseModalities" }, nowhere),
  row(
    "ownMember",
    "Members of one wire alone",
    {
      chat: "prediction",
      messages: "container",
      responses: "truncation",
      gemini: "labels",
      ollama: "keep_alive"
    },
    nowhere
  ),
  row(
    "ownOption",
    "Options of one wire alone",
    { gemini: "generationConfig.mediaResolution", ollama: "options.num_ctx" },
    nowhere
  )
] as const satisfies ReadonlyArray<FieldRow>
