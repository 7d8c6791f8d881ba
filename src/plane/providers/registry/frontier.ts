/** Makers of their own models. */
import type { ProviderSpec } from "../../../domain/Provider.ts"
import { anthropicTokens, chatIn, geminiIn, googleTokens, messagesIn, openAiTokens } from "./build.ts"

const chat = chatIn("frontier")
const messages = messagesIn("frontier")
const gemini = geminiIn("frontier")

/** Address of its own API, beside the one for OpenAI's clients: https://docs.cohere.com/reference/about */
const cohereApi = "https://api.cohere.com/v2"

export const frontier: ReadonlyArray<ProviderSpec> = [
  chat("openai", "OpenAI", "https://api.openai.com/v1", {
    wires: ["responses", "chat"],
    keepsResponses: true,
    openAiTools: true,
    // https://platform.openai.com/docs/api-reference/batch
    batches: "openai",
    oauth: openAiTokens,
    env: ["OPENAI_API_KEY"],
    models: ["gpt-5.4-mini", "gpt-5.4", "gpt-4.1-mini", "gpt-4.1"],
    docsUrl: "https://platform.openai.com/docs"
  }),
  messages("anthropic", "Anthropic", "https://api.anthropic.com/v1", {
    systemBetween: true,
    env: ["ANTHROPIC_API_KEY"],
    oauth: anthropicTokens,
    models: ["claude-sonnet-4-6", "claude-haiku-4-5", "claude-opus-4-8"],
    docsUrl: "https://docs.anthropic.com"
  }),
  gemini("gemini", "Google Gemini", "https://generativelanguage.googleapis.com/v1beta", {
    aliases: ["google", "google-ai-studio"],
    modelsPath: "/models?pageSize=1000",
    oauth: googleTokens,
    env: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    models: ["gemini-3.5-flash", "gemini-2.5-flash", "gemini-2.5-pro"],
    docsUrl: "https://ai.google.dev/gemini-api/docs"
  }),
  chat("xai", "xAI", "https://api.x.ai/v1", {
    aliases: ["x-ai", "grok"],
    env: ["XAI_API_KEY"],
    models: ["grok-4.3", "grok-4-1-fast-reasoning"],
    docsUrl: "https://docs.x.ai",
    media: { images: { adapter: "xai", baseUrl: null, path: "/images/generations" } }
  }),
  chat("mistral", "Mistral AI", "https://api.mistral.ai/v1", {
    env: ["MISTRAL_API_KEY"],
    models: ["mistral-small-latest", "mistral-medium-latest", "mistral-large-latest"],
    docsUrl: "https://docs.mistral.ai"
  }),
  chat("codestral", "Codestral", "https://codestral.mistral.ai/v1", {
    modelsPath: null,
    env: ["CODESTRAL_API_KEY"],
    models: ["codestral-latest"]
  }),
  chat("deepseek", "DeepSeek", "https://api.deepseek.com/v1", {
    aliases: ["ds"],
    env: ["DEEPSEEK_API_KEY"],
    models: ["deepseek-chat", "deepseek-reasoner"],
    docsUrl: "https://api-docs.deepseek.com"
  }),
  chat("cohere", "Cohere", "https://api.cohere.com/compatibility/v1", {
    env: ["COHERE_API_KEY", "CO_API_KEY"],
    models: ["command-a-03-2025", "embed-v4.0", "rerank-v3.5"],
    media: {
      embeddings: { adapter: "cohere", baseUrl: cohereApi, path: "/embed" },
      rerank: { adapter: "cohere", baseUrl: cohereApi, path: "/rerank" }
    },
    docsUrl: "https://docs.cohere.com"
  }),
  chat("perplexity", "Perplexity", "https://api.perplexity.ai", {
    aliases: ["pplx"],
    modelsPath: "/v1/models",
    env: ["PERPLEXITY_API_KEY", "PPLX_API_KEY"],
    models: ["sonar", "sonar-pro", "sonar-reasoning-pro"],
    media: { search: { adapter: "perplexity", baseUrl: null, path: "/search" } },
    docsUrl: "https://docs.perplexity.ai"
  }),
  chat("meta-llama", "Meta Llama API", "https://api.llama.com/compat/v1", {
    aliases: ["llama-api"],
    env: ["LLAMA_API_KEY"]
  }),
  chat("ai21", "AI21 Labs", "https://api.ai21.com/studio/v1", { env: ["AI21_API_KEY"], models: ["jamba-large"] }),
  chat("reka", "Reka", "https://api.reka.ai/v1", { env: ["REKA_API_KEY"] }),
  chat("inception", "Inception", "https://api.inceptionlabs.ai/v1", { env: ["INCEPTION_API_KEY"] }),
  chat("arcee", "Arcee AI", "https://api.arcee.ai/api/v1", { env: ["ARCEEAI_API_KEY", "ARCEE_API_KEY"] }),
  chat("morph", "Morph", "https://api.morphllm.com/v1", { env: ["MORPH_API_KEY"] }),
  chat("v0-vercel", "Vercel v0", "https://api.v0.dev/v1", {
    aliases: ["v0"],
    modelsPath: null,
    env: ["V0_API_KEY"],
    models: ["v0-1.5-md", "v0-1.5-lg"]
  })
]
