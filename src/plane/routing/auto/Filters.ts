/**
 * Filters the candidates that suit a request at all. A filter that no candidate would pass is dropped, and the decision
 * names it. Pure.
 */
import type { ModelFacts } from "../../providers/ModelFacts.ts"
import type { Candidate, Features } from "../candidate/Candidate.ts"
import type { AutoFilter } from "../resolve/AutoId.ts"
import { expectedOutput } from "./Factors.ts"
import { isFree, isPro } from "./ModelTier.ts"

export type FilterRule =
  | "candidate-pool"
  | "free"
  | "pro"
  | "vision"
  | "multimodal"
  | "reasoning"
  | "tools"
  | "structured-output"
  | "context-window"
  | "max-output"
  | "budget"
  | "score"

/** Reason for which a candidate stays out of this decision. */
export interface AutoExclusion {
  readonly candidate: Candidate
  readonly rule: FilterRule
  /** Epoch milliseconds at which the exclusion ends; null when it does not end by itself. */
  readonly untilMs: number | null
  readonly detail: string
}

export interface FilterRequest {
  readonly filter: AutoFilter
  readonly features: Features
  /** Provider names; null for all. */
  readonly candidatePool: ReadonlyArray<string> | null
  readonly budgetUsd: number | null
  /** The setting `freeTierStrict`: `:free` is then a condition that is never dropped. */
  readonly freeTierStrict: boolean
}

export type Filtered =
  | {
      readonly _tag: "Kept"
      /** Candidates left, in their order; never empty when there were candidates. */
      readonly kept: ReadonlyArray<Candidate>
      readonly exclusions: ReadonlyArray<AutoExclusion>
      readonly relaxedFilters: ReadonlyArray<FilterRule>
    }
  /** `:free` was asked for, is strict, and none of the candidates is free. */
  | { readonly _tag: "NoFreeCandidate"; readonly exclusions: ReadonlyArray<AutoExclusion> }

interface Rule {
  readonly name: FilterRule
  readonly passes: (candidate: Candidate) => boolean
  readonly detail: (candidate: Candidate) => string
}

const belongsTo = ({ target }: Candidate, names: ReadonlySet<string>): boolean => {
  const { aliases, id, name } = target.account.spec
  return names.has(id.toLowerCase()) || names.has(name.toLowerCase()) || aliases.some((alias) => names.has(alias))
}

/** USD that a request is expected to cost at a candidate; null when it has no price. */
export const estimateUsd = (candidate: Candidate, features: Features): number | null => {
  const { price } = candidate
  if (price === null) return null
  const output = expectedOutput(features, candidate)
  return (features.promptTokens * price.inputUsd + output * price.outputUsd) / 1_000_000
}

/**
 * Selects the part of a pool that suits an automatic id by the known facts of its models, without a request. Fail-open
 * like the filters.
 */
export const suited = <A>(
  { reasoning, sight }: AutoFilter,
  pool: ReadonlyArray<A>,
  factsOf: (one: A) => ModelFacts
) => {
  const seeing = sight === null ? pool : pool.filter((one) => factsOf(one).vision === true)
  const kept = seeing.length === 0 ? pool : seeing
  const thinking = reasoning ? kept.filter((one) => factsOf(one).reasoning === true) : kept
  return thinking.length === 0 ? kept : thinking
}

/** Everything but the budget, in the order of asking. A capability that was asked for by name must be known. */
const rulesOf = ({ candidatePool, features, filter }: FilterRequest): ReadonlyArray<Rule> => {
  const rules: Array<Rule> = []
  const add = (name: FilterRule, passes: Rule["passes"], detail: Rule["detail"]): void => {
    rules.push({ name, passes, detail })
  }
  if (candidatePool !== null) {
    const names = new Set(candidatePool.map((name) => name.trim().toLowerCase()))
    add(
      "candidate-pool",
      (candidate) => belongsTo(candidate, names),
      () => "the provider is not in the combo's candidatePool"
    )
  }
  if (filter.tier === "free") add("free", isFree, () => "the model is not known to be free")
  if (filter.tier === "pro") add("pro", isPro, () => "the model is not known to be a premium one")
  if (filter.sight !== null || features.hasImages) {
    add(
      filter.sight ?? "vision",
      ({ facts }) => facts.vision === true,
      ({ facts }) =>
        facts.vision === false ? "the model takes no pictures" : "the model is not known to take pictures"
    )
  }
  if (filter.reasoning) {
    add(
      "reasoning",
      ({ facts }) => facts.reasoning === true,
      ({ facts }) => (facts.reasoning === false ? "the model does not reason" : "the model is not known to reason")
    )
  }
  // A capability that plain requests need excludes a candidate only where it is known to be missing: most upstreams do not report it.
  if (features.hasTools) {
    add(
      "tools",
      ({ facts }) => facts.toolCalling !== false,
      () => "the model calls no tools"
    )
  }
  if (features.wantsSchema) {
    add(
      "structured-output",
      ({ facts }) => facts.structuredOutput !== false,
      () => "the model has no structured output"
    )
  }
  const needed = features.promptTokens + (features.maxOutputTokens ?? 0)
  add(
    "context-window",
    ({ facts }) => facts.contextLength === null || facts.contextLength >= needed,
    ({ facts }) => `${needed} tokens needed, the window holds ${facts.contextLength ?? "an unknown number"}`
  )
  const output = features.maxOutputTokens
  if (output !== null) {
    add(
      "max-output",
      ({ facts }) => facts.maxOutputTokens === null || facts.maxOutputTokens >= output,
      ({ facts }) =>
        `${output} output tokens asked for, the model gives ${facts.maxOutputTokens ?? "an unknown number"}`
    )
  }
  return rules
}

/** Nothing but windows and lengths of answers is to be looked at. */
export const asksForRoomOnly = ({ budgetUsd, candidatePool, features, filter }: FilterRequest): boolean =>
  candidatePool === null &&
  budgetUsd === null &&
  filter.tier === null &&
  filter.sight === null &&
  !filter.reasoning &&
  !features.hasImages &&
  !features.hasTools &&
  !features.wantsSchema

const dollars = (usd: number): string => (usd >= 0.01 ? usd.toFixed(4) : usd.toPrecision(3))

/** The cheapest that is not OPEN, with all that cost exactly the same; of the OPEN ones only when there are no others. */
const cheapestOf = (candidates: ReadonlyArray<Candidate>, costs: ReadonlyMap<Candidate, number>) => {
  const healthy = candidates.filter(({ breaker }) => breaker !== "OPEN")
  const among = healthy.length === 0 ? candidates : healthy
  let least = Infinity
  for (const candidate of among) least = Math.min(least, costs.get(candidate) ?? Infinity)
  return new Set(among.filter((candidate) => costs.get(candidate) === least))
}

/**
 * Keeps the candidates that are expected to cost no more than the budget. An unpriced model has no computable cost and
 * stays. When all exceed it, the cheapest healthy one is used.
 */
const withinBudget = (candidates: ReadonlyArray<Candidate>, features: Features, budgetUsd: number) => {
  const costs = new Map<Candidate, number>()
  for (const candidate of candidates) costs.set(candidate, estimateUsd(candidate, features) ?? 0)
  const costOf = (candidate: Candidate): number => costs.get(candidate) ?? 0
  const affordable = candidates.filter((candidate) => costOf(candidate) <= budgetUsd)
  const cheapest = affordable.length === 0 ? cheapestOf(candidates, costs) : null
  const kept = cheapest === null ? affordable : candidates.filter((candidate) => cheapest.has(candidate))
  const exclusions: Array<AutoExclusion> = []
  for (const candidate of candidates) {
    if (cheapest === null ? costOf(candidate) <= budgetUsd : cheapest.has(candidate)) continue
    const detail = `about ${dollars(costOf(candidate))} USD expected, ${dollars(budgetUsd)} USD allowed`
    exclusions.push({ candidate, rule: "budget", untilMs: null, detail })
  }
  return { kept, exclusions, relaxed: cheapest !== null }
}

/** Applies one filter after the other, each to what the ones before it left. */
export const applyFilters = (candidates: ReadonlyArray<Candidate>, request: FilterRequest): Filtered => {
  const exclusions: Array<AutoExclusion> = []
  const relaxedFilters: Array<FilterRule> = []
  let kept = candidates
  for (const { detail, name, passes } of rulesOf(request)) {
    if (kept.every(passes)) continue
    const passing = kept.filter(passes)
    const strict = name === "free" && request.freeTierStrict
    if (passing.length === 0 && !strict) {
      relaxedFilters.push(name)
      continue
    }
    for (const candidate of kept) {
      if (!passes(candidate)) exclusions.push({ candidate, rule: name, untilMs: null, detail: detail(candidate) })
    }
    if (passing.length === 0) return { _tag: "NoFreeCandidate", exclusions }
    kept = passing
  }
  if (request.budgetUsd !== null && kept.length > 0) {
    const affordable = withinBudget(kept, request.features, request.budgetUsd)
    exclusions.push(...affordable.exclusions)
    if (affordable.relaxed) relaxedFilters.push("budget")
    kept = affordable.kept
  }
  return { _tag: "Kept", kept, exclusions, relaxedFilters }
}
