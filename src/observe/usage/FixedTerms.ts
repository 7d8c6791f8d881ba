/**
 * Published terms of providers for service tiers, speeds, places and grounding (2026-11), which the price package does not hold. Each row has
 * the page it was taken from; terms without a page are left out, and reported as unpriced when an answer names them.
 */
import type { ModelPrice, PriceTerms } from "../../subjects/pricing/entity.ts"

export type FixedTerms = Pick<
  ModelPrice,
  "serviceTiers" | "speeds" | "geos" | "perGroundedAnswer" | "perWebSearch" | "minSeconds"
>

const half: PriceTerms = { factor: 0.5 }
const none: FixedTerms = {}

/** Factors of priority over the standard tier, by model, the first that matches. https://openai.com/api-priority-processing/ */
const openAiPriority: ReadonlyArray<readonly [models: RegExp, factor: number]> = [
  [/^gpt-5\.5(?!-pro)/, 2.5],
  [/^gpt-5-mini/, 1.8],
  [/^gpt-5(?:\.\d+)?(?:-codex|-mini|-chat-latest)?(?:-20|$)/, 2],
  [/^gpt-5\.\d+-codex/, 2],
  [/^gpt-4\.1-nano/, 2],
  [/^gpt-4\.1/, 1.75],
  [/^gpt-4o-2024-05-13/, 1.75],
  [/^gpt-4o-mini(?:-2024-07-18)?$/, 0.25 / 0.15],
  [/^gpt-4o(?:-2024-\d\d-\d\d)?$/, 1.7],
  [/^o3(?:-2025-04-16)?$/, 1.75],
  [/^o4-mini(?:-2025-04-16)?$/, 2 / 1.1]
]

/** https://platform.openai.com/docs/guides/flex-processing: tokens at the price of a batch. */
const openAi = (model: string): FixedTerms => {
  const priority = openAiPriority.find(([models]) => models.test(model))
  return {
    serviceTiers: { flex: half, batch: half, ...(priority === undefined ? {} : { priority: { factor: priority[1] } }) }
  }
}

/** https://platform.claude.com/docs/en/build-with-claude/fast-mode#pricing */
const fastFactor = (model: string): number | null =>
  /opus-4-[67]/.test(model) ? 6 : /opus-(?:4-8|5)/.test(model) ? 2 : null

/** https://platform.claude.com/docs/en/about-claude/pricing: batches at half, inference in the US at 1.1 times all prices of tokens. */
const anthropic = (model: string): FixedTerms => {
  const fast = fastFactor(model)
  return {
    serviceTiers: { batch: half },
    geos: { us: { factor: 1.1 } },
    ...(fast === null ? {} : { speeds: { fast: { factor: fast } } })
  }
}

/** https://ai.google.dev/gemini-api/docs/optimization, https://ai.google.dev/gemini-api/docs/pricing */
const google = (model: string): FixedTerms => ({
  serviceTiers: { flex: half, batch: half, priority: { factor: 1.8 } },
  // Before Gemini 3 a grounded answer is paid, since then each search for it.
  ...(/^gemini-(?:[3-9]|\d\d)/.test(model) ? { perWebSearch: 0.014 } : { perGroundedAnswer: 0.035 })
})

/** https://console.groq.com/docs/flex-processing: at the price of the standard tier; at least ten seconds of sound are paid. */
const groq = (model: string): FixedTerms => ({
  serviceTiers: { flex: {}, batch: half },
  ...(/whisper/.test(model) ? { minSeconds: 10 } : {})
})

/** Finds the terms by the price package's ids of the provider and the model. */
export const fixedTermsOf = (provider: string, model: string): FixedTerms => {
  switch (provider) {
    case "openai":
      return openAi(model)
    case "azure":
      return { serviceTiers: { batch: half } }
    case "anthropic":
      return anthropic(model)
    case "google":
      return google(model)
    case "groq":
      return groq(model)
    default:
      return none
  }
}
