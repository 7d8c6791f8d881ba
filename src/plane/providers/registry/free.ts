/** Providers that can be used without paying, some without a key. */
import type { ProviderSpec } from "../../../domain/Provider.ts"
import { chatIn, optionalBearer } from "./build.ts"

const chat = chatIn("free")

export const free: ReadonlyArray<ProviderSpec> = [
  chat("pollinations", "Pollinations", "https://gen.pollinations.ai/v1", {
    aliases: ["pol"],
    auth: optionalBearer,
    env: ["POLLINATIONS_API_KEY"],
    models: ["openai"]
  }),
  chat("llm7", "LLM7", "https://api.llm7.io/v1", { env: ["LLM7_API_KEY"] })
]
