/** Resellers and routers: one key, models of many makers. */
import type { ProviderSpec } from "../../../domain/Provider.ts"
import { chatIn, githubTokens } from "./build.ts"

const chat = chatIn("gateway")

export const gateways: ReadonlyArray<ProviderSpec> = [
  chat("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", {
    aliases: ["or"],
    env: ["OPENROUTER_API_KEY"],
    models: ["openrouter/auto"],
    docsUrl: "https://openrouter.ai/docs",
    media: { images: { adapter: "openrouterImages", baseUrl: null, path: "/chat/completions" } }
  }),
  chat("vercel-ai-gateway", "Vercel AI Gateway", "https://ai-gateway.vercel.sh/v1", {
    aliases: ["vag"],
    env: ["AI_GATEWAY_API_KEY"]
  }),
  chat("github-models", "GitHub Models", "https://models.github.ai/inference", {
    aliases: ["ghm"],
    modelsPath: "https://models.github.ai/catalog/models",
    oauth: githubTokens,
    env: ["GITHUB_MODELS_TOKEN"]
  }),
  chat("aimlapi", "AI/ML API", "https://api.aimlapi.com/v1", {
    aliases: ["aiml"],
    env: ["AIMLAPI_API_KEY", "AIML_API_KEY"]
  }),
  chat("aihubmix", "AIHubMix", "https://aihubmix.com/v1", { env: ["AIHUBMIX_API_KEY"] }),
  chat("zenmux", "ZenMux", "https://zenmux.ai/api/v1", { env: ["ZENMUX_API_KEY"] }),
  chat("kilo-gateway", "Kilo Gateway", "https://api.kilo.ai/api/gateway", {
    aliases: ["kilo"],
    env: ["KILO_API_KEY"]
  }),
  chat("opencode-zen", "OpenCode Zen", "https://opencode.ai/zen/v1", { aliases: ["zen"], env: ["OPENCODE_API_KEY"] }),
  chat("opencode-go", "OpenCode Go", "https://opencode.ai/zen/go/v1"),
  chat("nanogpt", "NanoGPT", "https://nano-gpt.com/api/v1", { aliases: ["nano-gpt"], env: ["NANOGPT_API_KEY"] }),
  chat("venice", "Venice AI", "https://api.venice.ai/api/v1", { env: ["VENICE_API_KEY"] }),
  chat("synthetic", "Synthetic", "https://api.synthetic.new/openai/v1", { env: ["SYNTHETIC_API_KEY"] }),
  chat("requesty", "Requesty", "https://router.requesty.ai/v1", { env: ["REQUESTY_API_KEY"] }),
  chat("portkey", "Portkey", "https://api.portkey.ai/v1", {
    auth: { type: "apikey", header: "x-portkey-api-key", prefix: "" },
    env: ["PORTKEY_API_KEY"]
  }),
  chat("helicone", "Helicone AI Gateway", "https://ai-gateway.helicone.ai/v1", { env: ["HELICONE_API_KEY"] }),
  chat("unify", "Unify", "https://api.unify.ai/v0", { env: ["UNIFY_KEY"] }),
  chat("martian", "Martian", "https://api.withmartian.com/v1", { env: ["MARTIAN_API_KEY"] }),
  chat("cometapi", "CometAPI", "https://api.cometapi.com/v1", { env: ["COMETAPI_KEY", "COMETAPI_API_KEY"] }),
  chat("poe", "Poe", "https://api.poe.com/v1", { env: ["POE_API_KEY"] }),
  chat("302ai", "302.AI", "https://api.302.ai/v1", { aliases: ["ai302"], env: ["AI302_API_KEY"] }),
  chat("abacus", "Abacus RouteLLM", "https://routellm.abacus.ai/v1", { env: ["ABACUS_API_KEY"] }),
  chat("glama", "Glama", "https://glama.ai/api/gateway/openai/v1", { env: ["GLAMA_API_KEY"] }),
  chat("cortecs", "Cortecs", "https://api.cortecs.ai/v1", { env: ["CORTECS_API_KEY"] }),
  chat("llmgateway", "LLM Gateway", "https://api.llmgateway.io/v1", { env: ["LLM_GATEWAY_API_KEY"] }),
  chat("fastrouter", "FastRouter", "https://go.fastrouter.ai/api/v1", { env: ["FASTROUTER_API_KEY"] }),
  chat("electronhub", "Electron Hub", "https://api.electronhub.ai/v1", { env: ["ELECTRONHUB_API_KEY"] }),
  chat("redpill", "RedPill", "https://api.redpill.ai/v1", { env: ["REDPILL_API_KEY"] }),
  chat(
    "cloudflare-ai-gateway",
    "Cloudflare AI Gateway",
    "https://gateway.ai.cloudflare.com/v1/{accountId}/{gatewayId}/compat",
    { aliases: ["cf-gateway"], modelsPath: null }
  )
]
