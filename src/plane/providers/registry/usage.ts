/**
 * Places where each provider counts reasoning and cached tokens (`docs/usage-by-provider.md`). A row without a member of its own
 * counts as the wire's maker does. A provider without a row documents nothing of it.
 */
import { plainUsage, type UpstreamCharge, type UsageDialect } from "../../../contract/domain/Dialect.ts"
import type { WireName } from "../../../contract/domain/Wire.ts"

interface UsageRow {
  readonly reasoning?: UsageDialect["reasoning"]
  readonly reasoningAt?: string
  readonly cacheReadAt?: string
  readonly cacheWriteAt?: string
  readonly charge?: { readonly is: UpstreamCharge; readonly docs: string }
  readonly docs: string
}

const asOpenAi = (docs: string): UsageRow => ({ docs })

const mistral = asOpenAi("https://docs.mistral.ai/api/endpoint/chat")
const kimi: UsageRow = { cacheReadAt: "cached_tokens", docs: "https://platform.kimi.ai/docs/api/chat" }
const glm = asOpenAi("https://docs.z.ai/guides/capabilities/cache")
const minimax = asOpenAi("https://platform.minimax.io/docs/api-reference/text-anthropic-api")
const vertex = asOpenAi("https://cloud.google.com/vertex-ai/generative-ai/docs/thinking")
const alibaba: UsageRow = {
  cacheWriteAt: "prompt_tokens_details.cache_creation_input_tokens",
  docs: "https://www.alibabacloud.com/help/en/model-studio/context-cache"
}

const rows: Readonly<Record<string, UsageRow>> = {
  openai: asOpenAi("https://platform.openai.com/docs/api-reference/chat/object"),
  anthropic: asOpenAi("https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching"),
  gemini: asOpenAi("https://ai.google.dev/gemini-api/docs/thinking"),
  vertex,
  "vertex-express": vertex,
  "azure-openai": asOpenAi("https://learn.microsoft.com/azure/ai-foundry/openai/how-to/reasoning"),
  xai: {
    reasoning: "beside",
    charge: {
      is: { at: "cost_in_usd_ticks", unitsPerUsd: 1e10, ownKey: null },
      docs: "https://docs.x.ai/developers/cost-tracking"
    },
    docs: "https://docs.x.ai/docs/key-information/consumption-and-rate-limits"
  },
  mistral,
  codestral: mistral,
  deepseek: {
    cacheReadAt: "prompt_cache_hit_tokens",
    docs: "https://api-docs.deepseek.com/api/create-chat-completion"
  },
  cohere: asOpenAi("https://docs.cohere.com/docs/compatibility-api"),
  perplexity: {
    reasoning: "outside_total",
    reasoningAt: "reasoning_tokens",
    docs: "https://docs.perplexity.ai/models/models/sonar-deep-research"
  },
  openrouter: {
    cacheWriteAt: "prompt_tokens_details.cache_write_tokens",
    charge: {
      is: {
        at: "cost",
        unitsPerUsd: 1,
        ownKey: { when: "is_byok", at: "cost_details.upstream_inference_cost" }
      },
      docs: "https://openrouter.ai/docs/use-cases/usage-accounting"
    },
    docs: "https://openrouter.ai/docs/use-cases/usage-accounting"
  },
  "vercel-ai-gateway": {
    cacheWriteAt: "cache_creation_input_tokens",
    docs: "https://github.com/vercel/ai/blob/main/packages/xai/src/__fixtures__/issue-19639-generate.json"
  },
  "github-models": asOpenAi("https://docs.github.com/en/rest/models/inference"),
  venice: asOpenAi("https://docs.venice.ai/api-reference/endpoint/chat/completions"),
  groq: asOpenAi("https://console.groq.com/docs/prompt-caching"),
  cerebras: asOpenAi("https://inference-docs.cerebras.ai/capabilities/prompt-caching"),
  fireworks: asOpenAi("https://docs.fireworks.ai/guides/prompt-caching"),
  together: { cacheReadAt: "cached_tokens", docs: "https://docs.together.ai/reference/chat-completions-1" },
  // Inside for most of its models, beside for Google's: the total shows which.
  deepinfra: asOpenAi("https://github.com/vercel/ai/pull/12242"),
  novita: asOpenAi("https://novita.ai/docs/api-reference/model-apis-llm-create-chat-completion"),
  moonshot: kimi,
  "moonshot-cn": kimi,
  glm,
  "glm-cn": glm,
  zai: glm,
  "zai-paas": glm,
  zhipu: glm,
  minimax,
  "minimax-cn": minimax,
  alibaba,
  "alibaba-cn": alibaba,
  volcengine: asOpenAi("https://www.volcengine.com/docs/82379/1494384"),
  byteplus: asOpenAi("https://docs.byteplus.com/en/docs/ModelArk/1494384"),
  siliconflow: asOpenAi("https://docs.siliconflow.com/en/api-reference/chat-completions/chat-completions"),
  "siliconflow-cn": asOpenAi("https://docs.siliconflow.cn/cn/api-reference/chat-completions/chat-completions"),
  ollama: asOpenAi("https://github.com/ollama/ollama/blob/main/docs/api.md"),
  vllm: asOpenAi("https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html"),
  sglang: { reasoningAt: "reasoning_tokens", docs: "https://github.com/sgl-project/sglang/pull/15562" },
  "llama-cpp": asOpenAi("https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md")
}

/** Providers that have a row. */
export const usageRowIds: ReadonlyArray<string> = Object.keys(rows)

const before = (own: string | undefined, known: ReadonlyArray<string>): ReadonlyArray<string> =>
  own === undefined ? known : [own, ...known.filter((path) => path !== own)]

/** Returns how a provider's answers on the chat and responses wires are counted. */
export const usageOf = (provider: string): UsageDialect => {
  const row = rows[provider]
  if (row === undefined) return plainUsage
  return {
    reasoning: row.reasoning ?? plainUsage.reasoning,
    cacheRead: plainUsage.cacheRead,
    reasoningAt: before(row.reasoningAt, plainUsage.reasoningAt),
    cacheReadAt: before(row.cacheReadAt, plainUsage.cacheReadAt),
    cacheWriteAt: before(row.cacheWriteAt, plainUsage.cacheWriteAt),
    charge: row.charge ?? null,
    docs: row.docs
  }
}

/** Wires with one way to count, at every provider. */
const wireUsage: Readonly<Record<"messages" | "gemini" | "ollama", UsageDialect>> = {
  messages: {
    reasoning: "inside",
    cacheRead: "beside",
    reasoningAt: ["output_tokens_details.thinking_tokens"],
    cacheReadAt: ["cache_read_input_tokens"],
    cacheWriteAt: ["cache_creation_input_tokens"],
    charge: null,
    docs: null
  },
  gemini: {
    reasoning: "beside",
    cacheRead: "inside",
    reasoningAt: ["thoughtsTokenCount"],
    cacheReadAt: ["cachedContentTokenCount"],
    cacheWriteAt: [],
    charge: null,
    docs: null
  },
  ollama: {
    reasoning: "inside",
    cacheRead: "inside",
    reasoningAt: [],
    cacheReadAt: [],
    cacheWriteAt: [],
    charge: null,
    docs: null
  }
}

/** Returns how the answers of a provider that speaks `wire` are counted. */
export const usageOn = (wire: WireName, usage: UsageDialect): UsageDialect => {
  if (wire === "chat") return usage
  if (wire !== "responses") return { ...wireUsage[wire], charge: usage.charge, docs: usage.docs }
  return {
    ...usage,
    reasoningAt: before("output_tokens_details.reasoning_tokens", usage.reasoningAt),
    cacheReadAt: before("input_tokens_details.cached_tokens", usage.cacheReadAt)
  }
}
