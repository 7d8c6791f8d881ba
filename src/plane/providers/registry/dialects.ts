/**
 * Documented deviations of providers from the wires they speak. A provider that is not here documents none. Where its
 * documentation is silent and its answers are not, the address is a report of them.
 */
import {
  type Dialect,
  type Documented,
  type OwnSearch,
  plainDialect,
  type ReasoningHistory,
  type WireRule
} from "../../../contract/domain/Dialect.ts"
import { usageOf } from "./usage.ts"

const history = (is: ReasoningHistory, docs: string): Pick<Dialect, "reasoningHistory"> => ({
  reasoningHistory: { is, docs }
})

const mistral: Partial<Dialect> = {
  ...history("refused", "https://github.com/charmbracelet/crush/issues/1590"),
  streamOptions: { is: "refused", docs: "https://docs.mistral.ai/api/endpoint/chat" },
  callIds: {
    is: "nine_letters_or_digits",
    docs: "https://mistralai.github.io/mistral-common/usage/tools/#tool-calling-and-messages"
  }
}

const glm = history("reasoning_content", "https://docs.z.ai/guides/capabilities/thinking-mode")
const kimi = history("reasoning_content", "https://platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model")

/** Models that OpenAI serves by one of its endpoints only, or with tools by one of them only. */
const openAiModels: ReadonlyArray<WireRule> = [
  {
    models: /^(?:gpt-(?:4o-)?(?:mini-)?audio|gpt-4o-(?:mini-)?(?:audio|search)-preview)/,
    when: "always",
    wire: "chat",
    docs: "https://platform.openai.com/docs/models/gpt-4o-search-preview"
  },
  {
    models: /^(?:o\d(?:-mini)?-(?:pro|deep-research)|gpt-5(?:\.\d+)?-(?:pro|codex)|codex-|computer-use-)/,
    when: "always",
    wire: "responses",
    docs: "https://platform.openai.com/docs/models/gpt-5-pro"
  },
  {
    models: /^gpt-5\.4(?!\d)/,
    when: "tools_with_reasoning",
    wire: "responses",
    docs: "https://developers.openai.com/api/docs/guides/reasoning"
  },
  // From 5.5 on they reason by default.
  {
    models: /^gpt-(?:5\.(?:[5-9]|[1-9]\d)|[6-9])/,
    when: "tools_unless_off",
    wire: "responses",
    docs: "https://community.openai.com/t/gpt-5-6-chat-completion-reasoning-effort-bug-behavior-change/1386454"
  }
]

const openAiSearches: ReadonlyArray<OwnSearch> = [
  {
    wire: "chat",
    models: /search-(?:preview|api)/,
    docs: "https://developers.openai.com/api/docs/guides/tools-web-search"
  },
  {
    wire: "responses",
    models: /^(?!.*(?:search-|nano|audio|realtime|image))(?:gpt-(?:4o|4\.1|[5-9])|o[34]|chatgpt-)/,
    docs: "https://developers.openai.com/api/docs/guides/tools-web-search"
  }
]

const table: Readonly<Record<string, Partial<Dialect>>> = {
  openai: { wireRules: openAiModels, webSearch: openAiSearches },
  anthropic: {
    webSearch: [
      {
        wire: "messages",
        models: /^claude-(?!2|instant|3-(?:opus|sonnet|haiku))/,
        docs: "https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool"
      }
    ]
  },
  gemini: {
    webSearch: [
      {
        wire: "gemini",
        models: /^(?:models\/)?gemini-(?!.*(?:embedding|tts|image|live|audio))(?:[2-9]|flash|pro)/,
        docs: "https://ai.google.dev/gemini-api/docs/google-search"
      }
    ]
  },
  perplexity: {
    webSearch: [
      { wire: "chat", models: /^sonar/, docs: "https://docs.perplexity.ai/api-reference/chat-completions-post" }
    ]
  },
  "azure-openai": { wireRules: openAiModels },
  mistral,
  codestral: mistral,
  groq: history("refused", "https://console.groq.com/docs/openai#currently-unsupported-openai-features"),
  cerebras: history("refused", "https://github.com/Kilo-Org/kilocode/issues/10375"),
  deepseek: history("reasoning_content", "https://api-docs.deepseek.com/guides/thinking_mode"),
  moonshot: kimi,
  "moonshot-cn": kimi,
  glm,
  "glm-cn": glm,
  "zai-paas": glm,
  zhipu: glm,
  "xiaomi-mimo": history("reasoning_content", "https://github.com/ValueCell-ai/ClawX/discussions/1040"),
  openrouter: {
    ...history("reasoning", "https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks"),
    cacheMarks: { is: /^~?anthropic\/|claude/, docs: "https://openrouter.ai/docs/features/prompt-caching" }
  }
}

/** The table has no others. */
export const dialectIds: ReadonlyArray<string> = Object.keys(table)

export const dialectOf = (provider: string): Dialect => ({
  ...plainDialect,
  ...table[provider],
  usage: usageOf(provider)
})

/** Every statement of a dialect with its address, for the page and its test. */
export const statementsOf = (dialect: Dialect): ReadonlyArray<Documented<string>> => [
  ...(dialect.reasoningHistory === null ? [] : [dialect.reasoningHistory]),
  ...(dialect.streamOptions === null ? [] : [dialect.streamOptions]),
  ...(dialect.cacheMarks === null ? [] : [{ is: "cache_control", docs: dialect.cacheMarks.docs }]),
  ...(dialect.callIds === null ? [] : [dialect.callIds]),
  ...(dialect.webSearch ?? []).map(({ docs, wire }) => ({ is: `web search (${wire})`, docs })),
  ...dialect.wireRules.map(({ docs, wire }) => ({ is: wire, docs }))
]
