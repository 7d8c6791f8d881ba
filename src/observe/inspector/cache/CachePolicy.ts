/**
 * Documented facts of the prompt caches of providers: the least size, the lifetime of an entry, the steps in which a read is reported, the
 * prefixes that are written. Pure.
 */
import type { WireName } from "../../../contract/domain/Wire.ts"
import { leastCachedTokens } from "../../../wire/CacheMarks.ts"
import { claudeVersionOf } from "../../../wire/canonical/ModelFamily.ts"
import { hourTtlMs, type Prompt, shortTtlMs } from "../prompt/Prompt.ts"

export interface CachePolicy {
  /** A shorter prefix is not cached. */
  readonly minTokens: number
  /** Reads are reported in multiples of it. */
  readonly stepTokens: number
  /** An entry is kept at least this long after its last use; marks have their own time. */
  readonly ttlMs: number
  /** Prefixes that a request writes: each one of its prompt, the whole prompt only, or those that its marks name. */
  readonly writes: "all" | "whole" | "marks"
  /**
   * `documented`: it caches by itself, and a read of zero means that nothing was read. `learned`: it may not cache at all; until it has reported
   * a read once, a zero means nothing. `silent`: its answers have no such count.
   */
  readonly reads: "documented" | "learned" | "silent"
}

const minuteMs = 60_000

/** Blocks before a mark that are searched for an entry: https://platform.claude.com/docs/en/build-with-claude/prompt-caching */
export const lookBackBlocks = 20

const dayMs = 24 * hourTtlMs

/**
 * 1,024 tokens, in steps of 128, 5 to 10 minutes without use; longer where the request asks for it, and 30 minutes from GPT-5.6 on
 * (https://developers.openai.com/api/docs/guides/prompt-caching).
 */
const openAi = (model: string, prompt: Prompt): CachePolicy => {
  const retention = prompt.parameters.find(({ path }) => path === "prompt_cache_retention")?.text
  const version = /gpt-(\d+)(?:\.(\d+))?/i.exec(model)
  const isLater = version !== null && Number(version[1]) + Number(version[2] ?? 0) / 10 >= 5.6
  const ttlMs = retention === '"24h"' ? dayMs : isLater ? 30 * minuteMs : shortTtlMs
  return { minTokens: 1_024, stepTokens: 128, ttlMs, writes: "all", reads: "documented" }
}

/** Nothing is cached without a mark: https://platform.claude.com/docs/en/build-with-claude/prompt-caching */
const claude = (model: string): CachePolicy => ({
  minTokens: leastCachedTokens(model),
  stepTokens: 1,
  ttlMs: shortTtlMs,
  writes: "marks",
  reads: "documented"
})

/**
 * Implicit caching from Gemini 2.5 on, 2,048 tokens there and 4,096 later (https://ai.google.dev/gemini-api/docs/caching). Neither time nor steps
 * are documented: five minutes are assumed, and a read may end one least size early.
 */
const gemini = (model: string): CachePolicy => {
  const least = /gemini-2/i.test(model) ? 2_048 : 4_096
  return { minTokens: least, stepTokens: least, ttlMs: shortTtlMs, writes: "all", reads: "documented" }
}

/**
 * Policy of DeepSeek: kept for hours; a request writes the end of its prompt
 * (https://api-docs.deepseek.com/guides/kv_cache/).
 */
const deepSeek: CachePolicy = { minTokens: 64, stepTokens: 64, ttlMs: hourTtlMs, writes: "whole", reads: "documented" }

/**
 * The model stays loaded for five minutes by default, its last prompt with it, and an answer does not report what was reused
 * (https://github.com/ollama/ollama/blob/main/docs/faq.md).
 */
const ollama: CachePolicy = { minTokens: 256, stepTokens: 64, ttlMs: shortTtlMs, writes: "all", reads: "silent" }

const unknown: CachePolicy = { minTokens: 1_024, stepTokens: 256, ttlMs: shortTtlMs, writes: "all", reads: "learned" }

const openAiModels = /(?:^|\/)(?:gpt-[4-9]|chatgpt-|o[1-9](?![a-z])|codex)/i
const openAiProviders: ReadonlySet<string> = new Set(["openai", "azure-openai", "codex", "github-models"])

export const policyOf = (wire: WireName, provider: string | null, model: string, prompt: Prompt): CachePolicy => {
  if (wire === "ollama") return ollama
  if (claudeVersionOf(model) !== null || /claude/i.test(model)) return claude(model)
  // A model that is no Claude caches by itself on this wire too; with marks, what they name.
  if (wire === "messages") return prompt.marks.length > 0 ? { ...unknown, writes: "marks" } : unknown
  if (wire === "gemini" || /gemini/i.test(model)) return gemini(model)
  if (provider === "deepseek" || /deepseek/i.test(model)) return provider === "deepseek" ? deepSeek : unknown
  if (openAiProviders.has(provider ?? "") || (provider === null && openAiModels.test(model)))
    return openAi(model, prompt)
  return unknown
}
