/**
 * The interface of a strategy: a pure function that orders candidates. It neither calls nor excludes them. What it wants to remember is
 * part of its result, and is kept only when the decision is carried out.
 */
import type { Reason } from "./Reason.ts"
import type { ComboPolicy } from "../../../subjects/combos/entity/ComboPolicy.ts"
import type { SeededRandom } from "../../../kernel/SeededRandom.ts"
import type { Candidate, Features } from "./Candidate.ts"

/** Memory of the strategies of one combo between requests. */
export interface StrategyMemory {
  /** Turns taken so far. */
  readonly turns: number
  /** The candidate that is kept for some more successes. */
  readonly sticky: { readonly key: string; readonly left: number } | null
  /** Keys still to be dealt, the next one first. */
  readonly deck: ReadonlyArray<string>
  readonly lastDealt: string | null
  /** The candidate that answered last. */
  readonly lastKnownGood: { readonly connectionId: string; readonly model: string } | null
  /** Deficit round robin: what each key has to its credit. */
  readonly credits: Readonly<Record<string, number>>
}

export const blankMemory: StrategyMemory = {
  turns: 0,
  sticky: null,
  deck: [],
  lastDealt: null,
  lastKnownGood: null,
  credits: {}
}

export interface StrategyInput {
  /** Candidates that may be called, in the order of the combo's targets. Never empty. */
  readonly candidates: ReadonlyArray<Candidate>
  readonly features: Features
  readonly policy: ComboPolicy
  readonly memory: StrategyMemory
  readonly random: SeededRandom
  readonly nowMs: number
}

/** A candidate's score and where it comes from: `score = Σ weights·factors`, penalties being factors or fields of their own. */
export interface Score {
  readonly score: number
  readonly factors: Readonly<Record<string, number>>
}

export interface Ordering {
  /** All candidates, the first to be tried first. */
  readonly order: ReadonlyArray<Candidate>
  /** Reason for which the first is first. */
  readonly reason: Reason
  readonly memory: StrategyMemory
  /** Scores by candidate key, where the strategy scores. */
  readonly scores?: ReadonlyMap<string, Score>
  /** Weights the scores were made with. */
  readonly weights?: Readonly<Record<string, number>>
}

export type Strategy = (input: StrategyInput) => Ordering

/** Updates a strategy's memory when a candidate has answered well. */
export type Served = (
  memory: StrategyMemory,
  served: Pick<Candidate, "key" | "target">,
  policy: ComboPolicy
) => StrategyMemory
