/**
 * Usage of answers, for the rows of the registry's table. Members and numbers are as the source has them; what several sources print
 * in another notation (a Python object, a YAML file) is written as the JSON it was read from. Sources are fixtures of vercel/ai
 * (Apache-2.0), rig (MIT), pydantic-ai (MIT), req_llm (Apache-2.0) and openllmetry (Apache-2.0), documentation pages and issues.
 */
import type { TokenCounts } from "../../../../src/contract/domain/Usage.ts"
import { type UsageRecording, usageRecordings } from "../../../../src/plane/providers/registry/usageRecordings.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"

export interface Answer {
  readonly provider: string
  readonly model: string
  /** Address of the answer. Null: made up in the shape the provider documents. */
  readonly source: string | null
  readonly usage: JsonObject
  readonly read: Partial<TokenCounts>
}

const addressOf = (recording: UsageRecording | undefined): string => {
  if (recording === undefined || !("at" in recording)) throw new Error("a recorded answer needs an address of its own")
  return recording.at
}

/** An answer at the address the registry names. */
export const recorded = (provider: string, model: string, usage: JsonObject, read: Partial<TokenCounts>): Answer => ({
  provider,
  model,
  source: addressOf(usageRecordings[provider]),
  usage,
  read
})

/** Answers of the chat wire, one at least for each row. */
export const recordedChat: ReadonlyArray<Answer> = [
  recorded(
    "openai",
    "gpt-4o-mini-2024-07-18",
    {
      completion_tokens: 4,
      completion_tokens_details: {
        accepted_prediction_tokens: 0,
        audio_tokens: 0,
        reasoning_tokens: 0,
        rejected_prediction_tokens: 0
      },
      prompt_tokens: 4624,
      prompt_tokens_details: { audio_tokens: 0, cached_tokens: 4480 },
      total_tokens: 4628
    },
    { in: 4624, out: 4, cacheRead: 4480 }
  ),
  recorded(
    "azure-openai",
    "gpt-5-nano-2025-08-07",
    {
      completion_tokens: 78,
      completion_tokens_details: {
        accepted_prediction_tokens: 0,
        audio_tokens: 0,
        reasoning_tokens: 64,
        rejected_prediction_tokens: 0
      },
      prompt_tokens: 15,
      prompt_tokens_details: { audio_tokens: 0, cached_tokens: 0 },
      total_tokens: 93
    },
    { in: 15, out: 78, reasoning: 64 }
  ),
  recorded(
    "xai",
    "grok-3-mini",
    {
      prompt_tokens: 291,
      completion_tokens: 26,
      total_tokens: 506,
      prompt_tokens_details: { text_tokens: 291, audio_tokens: 0, image_tokens: 0, cached_tokens: 244 },
      completion_tokens_details: {
        reasoning_tokens: 189,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0
      },
      num_sources_used: 0,
      cost_in_usd_ticks: 1_399_000
    },
    { in: 291, out: 215, cacheRead: 244, reasoning: 189 }
  ),
  recorded(
    "mistral",
    "zai-glm-5-2",
    {
      prompt_tokens: 171,
      total_tokens: 185,
      completion_tokens: 14,
      prompt_tokens_details: { cached_tokens: 128 }
    },
    { in: 171, out: 14, cacheRead: 128 }
  ),
  recorded(
    "codestral",
    "codestral-2508",
    { prompt_tokens: 8, completion_tokens: 91, total_tokens: 99 },
    { in: 8, out: 91 }
  ),
  recorded(
    "deepseek",
    "deepseek-reasoner",
    {
      prompt_tokens: 495,
      completion_tokens: 144,
      total_tokens: 639,
      prompt_tokens_details: { cached_tokens: 320 },
      completion_tokens_details: { reasoning_tokens: 118 },
      prompt_cache_hit_tokens: 320,
      prompt_cache_miss_tokens: 175
    },
    { in: 495, out: 144, cacheRead: 320, reasoning: 118 }
  ),
  recorded(
    "perplexity",
    "sonar-deep-research",
    {
      prompt_tokens: 108,
      completion_tokens: 3256,
      total_tokens: 3364,
      citation_tokens: 7299,
      num_search_queries: 74,
      reasoning_tokens: 73_248
    },
    { in: 108, out: 76_504, reasoning: 73_248 }
  ),
  recorded(
    "openrouter",
    "openai/gpt-4o-mini",
    {
      completion_tokens: 4,
      completion_tokens_details: { audio_tokens: 0, image_tokens: 0, reasoning_tokens: 0 },
      cost: 0.000_36,
      cost_details: {
        upstream_inference_completions_cost: 2.4e-6,
        upstream_inference_cost: 0.000_36,
        upstream_inference_prompt_cost: 0.000_357_6
      },
      is_byok: false,
      prompt_tokens: 4624,
      prompt_tokens_details: { audio_tokens: 0, cache_write_tokens: 0, cached_tokens: 4480, video_tokens: 0 },
      total_tokens: 4628
    },
    { in: 4624, out: 4, cacheRead: 4480 }
  ),
  recorded(
    "vercel-ai-gateway",
    "spacexai/grok-4.1-fast-non-reasoning",
    {
      prompt_tokens: 675,
      completion_tokens: 1,
      total_tokens: 676,
      cost: 0.000_034_4,
      is_byok: false,
      prompt_tokens_details: { cached_tokens: 674, audio_tokens: 0, video_tokens: 0 },
      cost_details: {
        upstream_inference_cost: null,
        upstream_inference_prompt_cost: 0,
        upstream_inference_completions_cost: 0
      },
      completion_tokens_details: { reasoning_tokens: 0, image_tokens: 0 },
      cache_creation_input_tokens: 0,
      market_cost: 0.000_034_4,
      surcharge_cost: 0.0001,
      gateway_cost: 0.000_134_4,
      provider_allowlist_cost: 0.0001
    },
    { in: 675, out: 1, cacheRead: 674 }
  ),
  // As a client printed it, which leaves the total out.
  recorded(
    "github-models",
    "o3",
    { prompt_tokens: 20, completion_tokens: 85, completion_tokens_details: { reasoning_tokens: 64 } },
    { in: 20, out: 85, reasoning: 64 }
  ),
  recorded(
    "venice",
    "qwen3-5-9b",
    {
      cache_read_input_tokens: 5280,
      completion_tokens: 16,
      completion_tokens_details: { reasoning_tokens: 16 },
      prompt_tokens: 5810,
      prompt_tokens_details: { cached_tokens: 5280 },
      total_tokens: 5826
    },
    { in: 5810, out: 16, cacheRead: 5280, reasoning: 16 }
  ),
  recorded(
    "groq",
    "openai/gpt-oss-20b",
    {
      completion_time: 0.017_381_934,
      completion_tokens: 16,
      completion_tokens_details: { reasoning_tokens: 14 },
      prompt_time: 0.172_483_276,
      prompt_tokens: 1815,
      queue_time: 0.086_428_026,
      total_time: 0.189_865_21,
      total_tokens: 1831
    },
    { in: 1815, out: 16, reasoning: 14 }
  ),
  recorded(
    "cerebras",
    "zai-glm-4.7",
    {
      completion_tokens: 415,
      completion_tokens_details: {
        accepted_prediction_tokens: 0,
        reasoning_tokens: 406,
        rejected_prediction_tokens: 0
      },
      prompt_tokens: 17,
      prompt_tokens_details: { cached_tokens: 0 },
      total_tokens: 432
    },
    { in: 17, out: 415, reasoning: 406 }
  ),
  recorded(
    "fireworks",
    "accounts/fireworks/models/gpt-oss-20b",
    { completion_tokens: 25, prompt_tokens: 75, prompt_tokens_details: { cached_tokens: 0 }, total_tokens: 100 },
    { in: 75, out: 25 }
  ),
  recorded(
    "together",
    "mistralai/Mixtral-8x7B-Instruct-v0.1",
    { prompt_tokens: 18, completion_tokens: 35, total_tokens: 53 },
    { in: 18, out: 35 }
  ),
  recorded(
    "deepinfra",
    "google/gemini-2.5-pro",
    {
      prompt_tokens: 19,
      completion_tokens: 84,
      total_tokens: 1184,
      prompt_tokens_details: null,
      completion_tokens_details: { reasoning_tokens: 1081 }
    },
    { in: 19, out: 1165, reasoning: 1081 }
  ),
  recorded(
    "moonshot",
    "kimi-k2-0905-preview",
    {
      prompt_tokens: 1336,
      completion_tokens: 31,
      total_tokens: 1367,
      cached_tokens: 1280,
      prompt_tokens_details: { cached_tokens: 1280 }
    },
    { in: 1336, out: 31, cacheRead: 1280 }
  ),
  recorded(
    "moonshot-cn",
    "moonshot-v1-8k",
    { prompt_tokens: 81, completion_tokens: 26, total_tokens: 107 },
    { in: 81, out: 26 }
  ),
  recorded(
    "glm",
    "glm-5.3-flash",
    {
      completion_tokens: 20,
      completion_tokens_details: { reasoning_tokens: 0 },
      prompt_tokens: 4010,
      prompt_tokens_details: { cached_tokens: 3968 },
      total_tokens: 4030
    },
    { in: 4010, out: 20, cacheRead: 3968 }
  ),
  recorded(
    "zai-paas",
    "glm-4.5-flash",
    {
      completion_tokens: 258,
      completion_tokens_details: { reasoning_tokens: 111 },
      prompt_tokens: 8,
      prompt_tokens_details: { cached_tokens: 4 },
      total_tokens: 266
    },
    { in: 8, out: 258, cacheRead: 4, reasoning: 111 }
  ),
  recorded("zhipu", "glm-3-turbo", { completion_tokens: 39, prompt_tokens: 6, total_tokens: 45 }, { in: 6, out: 39 }),
  recorded(
    "alibaba",
    "qwen3-max",
    {
      prompt_tokens: 24,
      completion_tokens: 1668,
      total_tokens: 1692,
      completion_tokens_details: { reasoning_tokens: 1353 },
      prompt_tokens_details: { cached_tokens: 0 }
    },
    { in: 24, out: 1668, reasoning: 1353 }
  ),
  recorded(
    "alibaba-cn",
    "qwen-plus",
    {
      prompt_tokens: 3019,
      completion_tokens: 104,
      total_tokens: 3123,
      prompt_tokens_details: { cached_tokens: 2048 }
    },
    { in: 3019, out: 104, cacheRead: 2048 }
  ),
  recorded(
    "volcengine",
    "doubao-seed-1-6-250615",
    {
      completion_tokens: 153,
      prompt_tokens: 102,
      total_tokens: 255,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 146 }
    },
    { in: 102, out: 153, reasoning: 146 }
  ),
  recorded(
    "siliconflow-cn",
    "Pro/zai-org/GLM-4.7",
    {
      prompt_tokens: 15,
      completion_tokens: 1540,
      total_tokens: 1555,
      completion_tokens_details: { reasoning_tokens: 1190 },
      prompt_tokens_details: { cached_tokens: 0 },
      prompt_cache_hit_tokens: 0,
      prompt_cache_miss_tokens: 15
    },
    { in: 15, out: 1540, reasoning: 1190 }
  ),
  recorded(
    "vllm",
    "facebook/opt-125m",
    {
      prompt_tokens: 24,
      total_tokens: 97,
      completion_tokens: 73,
      completion_tokens_details: null,
      prompt_tokens_details: { audio_tokens: null, cached_tokens: 16 }
    },
    { in: 24, out: 73, cacheRead: 16 }
  ),
  {
    provider: "vllm",
    model: "MiniMax-M2.7",
    source: "https://github.com/vllm-project/vllm-ascend/issues/9030",
    usage: {
      prompt_tokens: 25,
      total_tokens: 1049,
      completion_tokens: 1024,
      prompt_tokens_details: null,
      completion_tokens_details: { reasoning_tokens: 428 }
    },
    read: { in: 25, out: 1024, reasoning: 428 }
  },
  recorded(
    "sglang",
    "base-model",
    {
      prompt_tokens: 29,
      total_tokens: 134,
      completion_tokens: 105,
      prompt_tokens_details: null,
      reasoning_tokens: 0
    },
    { in: 29, out: 105 }
  ),
  recorded(
    "llama-cpp",
    "Qwen3-1.7B-Q4_K_M",
    {
      completion_tokens: 16,
      prompt_tokens: 2854,
      prompt_tokens_details: { cached_tokens: 2825 },
      total_tokens: 2870
    },
    { in: 2854, out: 16, cacheRead: 2825 }
  )
]

/** Answers of servers in front of other providers' models, and of providers without a row. */
export const relayedChat: ReadonlyArray<Answer> = [
  {
    // Google's endpoint for the chat wire on Vertex AI: the thoughts are beside the completion, at the top of the object.
    provider: "litellm",
    model: "gemini-2.5",
    source: "https://github.com/openai/openai-python/issues/2544",
    usage: {
      completion_tokens: 57,
      prompt_tokens: 2181,
      total_tokens: 2518,
      completion_tokens_details: null,
      prompt_tokens_details: null,
      reasoning_tokens: 280,
      traffic_type: "ON_DEMAND",
      promptTokensDetails: [{ modality: "TEXT", tokenCount: 2181 }],
      candidatesTokensDetails: [{ modality: "TEXT", tokenCount: 57 }]
    },
    read: { in: 2181, out: 337, reasoning: 280 }
  },
  {
    // The thoughts, 405 tokens, are in the total only.
    provider: "litellm",
    model: "gemini-2.5-flash",
    source: "https://github.com/mozilla-ai/any-llm/issues/1290",
    usage: { prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 },
    read: { in: 20, out: 603 }
  },
  {
    provider: "litellm",
    model: "gemini",
    source: "https://github.com/router-for-me/CLIProxyAPI/issues/5733",
    usage: {
      completion_tokens: 0,
      total_tokens: 81,
      prompt_tokens: 21,
      completion_tokens_details: { reasoning_tokens: 60 }
    },
    read: { in: 21, out: 60, reasoning: 60 }
  }
]
