/**
 * Provider id of the registry → provider id of the price package (`@pydantic/genai-prices`). Providers with subscription plans, currencies
 * of their own or free offers are left out: an unknown price is better than a wrong one.
 */
export const publishedAs: ReadonlyMap<string, string> = new Map(
  Object.entries({
    anthropic: "anthropic",
    arcee: "arcee",
    avian: "avian",
    "azure-foundry": "azure",
    "azure-openai": "azure",
    baseten: "baseten",
    bedrock: "aws",
    cerebras: "cerebras",
    "cloudflare-ai": "cloudflare",
    codestral: "mistral",
    cohere: "cohere",
    deepseek: "deepseek",
    doubleword: "doubleword",
    fireworks: "fireworks",
    gemini: "google",
    groq: "groq",
    minimax: "minimax",
    mistral: "mistral",
    moonshot: "moonshotai",
    novita: "novita",
    openai: "openai",
    openrouter: "openrouter",
    ovhcloud: "ovhcloud",
    perplexity: "perplexity",
    together: "together",
    vertex: "google",
    "vertex-express": "google",
    xai: "x-ai",
    "zai-paas": "zai"
  })
)
