/**
 * Rates how demanding a request is, 0 (trivial) to 100 (expert), and the tier of model that suits it (reference: levels
 * and points). Pure.
 */
import type { TextSignals } from "./TaskType.ts"
import type { ModelTier } from "./ModelTier.ts"

export interface Demand {
  /** Counts from the text sample; nothing else is kept of it. */
  readonly signals: TextSignals
  readonly promptTokens: number
  readonly toolCount: number
}

const contextSteps: ReadonlyArray<readonly [number, number]> = [
  [64_000, 15],
  [32_000, 12],
  [16_000, 9],
  [8_000, 6],
  [4_000, 4],
  [1_000, 2]
]

const contextPoints = (tokens: number): number => contextSteps.find(([from]) => tokens >= from)?.[1] ?? 0

const points = (marks: number, each: number, most: number): number => Math.min(most, marks * each)

/** Code ≤ 25, mathematics ≤ 20, reasoning ≤ 20, length ≤ 15, tools 2–10, expert domain ≤ 10: 100 together. */
export const specificityOf = ({ promptTokens, signals, toolCount }: Demand): number =>
  points(signals.code, 5, 25) +
  points(signals.math, 5, 20) +
  points(signals.reasoning, 5, 20) +
  contextPoints(promptTokens) +
  (toolCount > 0 ? Math.min(10, Math.max(2, toolCount)) : 0) +
  points(signals.domain, 5, 10)

export type Level = "trivial" | "simple" | "moderate" | "complex" | "expert"

export const levelOf = (specificity: number): Level =>
  specificity <= 5
    ? "trivial"
    : specificity <= 20
      ? "simple"
      : specificity <= 40
        ? "moderate"
        : specificity <= 65
          ? "complex"
          : "expert"

const recommended: Readonly<Record<Level, ModelTier>> = {
  trivial: "free",
  simple: "free",
  moderate: "cheap",
  complex: "cheap",
  expert: "premium"
}

/** The tier to be preferred for a request. Tools need at least a cheap model. */
export const recommendedTier = (specificity: number, hasTools: boolean): ModelTier => {
  const tier = recommended[levelOf(specificity)]
  return tier === "free" && hasTools ? "cheap" : tier
}

/** Rates how well a model's tier suits a request's specificity, [0, 1]; .5 for an unknown tier. */
export const specificityFit = (tier: ModelTier | null, specificity: number): number => {
  switch (tier) {
    case "free":
      return specificity <= 15 ? 0.9 : 0.2
    case "cheap":
      return specificity > 15 && specificity <= 50 ? 0.9 : 0.4
    case "premium":
      return specificity > 50 ? 0.9 : 0.3
    case null:
      return 0.5
  }
}
