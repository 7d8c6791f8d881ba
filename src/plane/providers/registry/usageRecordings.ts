/**
 * Published answers that back the table of `usage.ts`: a recording of the provider's answer, or the example its documentation gives.
 * The tests read the usage of each; a row that is not here has none.
 */

/**
 * - `at` the address of the answer
 * - `as` the id of a provider of the same maker that counts alike at another address, and has one
 */
export type UsageRecording = { readonly at: string } | { readonly as: string }

const github = (repository: string, commit: string, path: string): UsageRecording => ({
  at: `https://github.com/${repository}/blob/${commit}/${path}`
})

const vercelAi = (path: string, commit = "ed857f50f112e23930b0c2dd8d532cc8bebbc911"): UsageRecording =>
  github("vercel/ai", commit, `packages/${path}`)

const rig = (commit: string, path: string): UsageRecording =>
  github("0xPlaygrounds/rig", commit, `crates/rig-cassette/fixtures/cassettes/${path}`)

const reqLlm = (commit: string, path: string): UsageRecording =>
  github("agentjido/req_llm", commit, `test/support/fixtures/${path}`)

/** Recordings by provider id. */
export const usageRecordings: Readonly<Record<string, UsageRecording>> = {
  openai: rig("63596dbfea9e8c6f6982a8ef10fec3ecc909365e", "openai/prompt_caching/chat_completions_blocking_probe.yaml"),
  anthropic: reqLlm(
    "16af91c08d3923f5e75b659019835b10813d8503",
    "anthropic/claude_haiku_4_5_20251001/billing_cache_5m_buffered_warm.json"
  ),
  gemini: rig("63596dbfea9e8c6f6982a8ef10fec3ecc909365e", "gemini/prompt_caching/blocking_probe.yaml"),
  vertex: vercelAi("google/src/__fixtures__/google-stream-no-args-tool-call.chunks.txt"),
  "vertex-express": { as: "vertex" },
  "azure-openai": vercelAi("openai/src/chat/__fixtures__/azure-model-router.1.chunks.txt"),
  xai: vercelAi("xai/src/__fixtures__/xai-tool-call.json", "dacf4c49f19dc11401dc218704ec17e02753a387"),
  mistral: vercelAi("mistral/src/__fixtures__/mistral-incremental-tool-call.chunks.txt"),
  codestral: { at: "https://docs.mistral.ai/api/endpoint/fim" },
  deepseek: vercelAi("deepseek/src/chat/__fixtures__/deepseek-json.json"),
  perplexity: { at: "https://github.com/bgeneto/open-webui-cost-tracker/issues/6" },
  openrouter: rig("15ad5a8eb60f1c9e3d297c985d28be5f2b7e8317", "openrouter/prompt_caching/blocking_probe.yaml"),
  "vercel-ai-gateway": vercelAi(
    "xai/src/__fixtures__/issue-19639-generate.json",
    "0a16ee9cfd8bd3c02899d308f0c08e7ba97761b4"
  ),
  "github-models": { at: "https://github.com/tonybaloney/llm-github-models/pull/34" },
  venice: rig("15ad5a8eb60f1c9e3d297c985d28be5f2b7e8317", "venice/prompt_caching/blocking_probe.yaml"),
  groq: rig("99b6468c53b7839cc69dd396001920314cdff40d", "groq/prompt_caching/blocking_probe.yaml"),
  cerebras: github(
    "pydantic/pydantic-ai",
    "5f5321c2edabc298bf462a32d84bb7edfbf31bda",
    "tests/models/cassettes/test_cerebras/test_cerebras_zai_reasoning_replayed_as_think_tags.yaml"
  ),
  fireworks: reqLlm(
    "c7a4ae567a0f65650f923df50c4c0a7b8f5ea323",
    "fireworks_ai/accounts_fireworks_models_gpt_oss_20b/basic.json"
  ),
  together: github(
    "traceloop/openllmetry",
    "0283e3a27ec11caee7c812fb1b60ae636f2224e2",
    "packages/opentelemetry-instrumentation-together/tests/cassettes/test_chat/test_together_chat.yaml"
  ),
  deepinfra: { at: "https://github.com/vercel/ai/pull/12214" },
  moonshot: { at: "https://github.com/AstrBotDevs/AstrBot/issues/6614" },
  "moonshot-cn": github("xpzouying/moonshot", "d20614640eb4dd69d1e6cecde8aa3f096945797a", "README.md"),
  glm: reqLlm("84f0d698113e4a3fb0d7b9811b6cbf1d885234e2", "zai_coding_plan/glm_5_3_flash/sequential_tool_cache_2.json"),
  "glm-cn": { as: "zhipu" },
  zai: github("quochuydev/test-history-lines", "27dd053a5ad9dd6d3f7ec8e1ec6f85d7a0e904f4", "glm.md"),
  "zai-paas": reqLlm("c7a4ae567a0f65650f923df50c4c0a7b8f5ea323", "zai/glm_4_5_flash/basic.json"),
  zhipu: github("JiauZhang/chatchat", "7724cce286d31bd61dbb984a2a5d29e6ecaf509e", "examples/zhipu_completion.py"),
  minimax: { at: "https://platform.minimax.io/docs/api-reference/text-chat-anthropic" },
  "minimax-cn": { as: "minimax" },
  alibaba: vercelAi("alibaba/src/__fixtures__/alibaba-reasoning.json"),
  "alibaba-cn": { at: "https://github.com/alibaba/spring-ai-alibaba/issues/2699" },
  volcengine: github("chaoshenglu/Graphic-Notes", "fdde9e0d28ee3935c40bc47e71e2f7e5f5172d52", "resist.work/README.md"),
  byteplus: { as: "volcengine" },
  siliconflow: { as: "siliconflow-cn" },
  "siliconflow-cn": { at: "https://docs.siliconflow.cn/cn/api-reference/chat-completions/chat-completions" },
  ollama: github("ollama/ollama", "fb30760996871fa9460115c753afd2c60d4ab0f7", "docs/api.md"),
  vllm: { at: "https://github.com/vllm-project/vllm/issues/16162" },
  sglang: { at: "https://github.com/sgl-project/sglang/pull/17156" },
  "llama-cpp": rig("679edbe7c83e06a52d5e24684693a0431eecc608", "llamacpp/prompt_caching/blocking_probe.yaml")
}
