/** Evaluations: suites of questions with the answers that are expected, and what became of them when they were put to a model. */
import type { KnownCaller } from "../../contract/domain/Usage.ts"

export const evalStrategies = ["exact", "contains", "regex", "json"] as const
export type EvalStrategy = (typeof evalStrategies)[number]

export interface EvalMessage {
  readonly role: "system" | "user" | "assistant"
  /** Text, or the parts of the chat wire. */
  readonly content: string | ReadonlyArray<Readonly<Record<string, unknown>>>
}

export interface EvalCase {
  readonly id: string
  readonly name: string
  readonly input: { readonly messages: ReadonlyArray<EvalMessage> }
  /** A text for all strategies but `json`. */
  readonly expected: { readonly strategy: EvalStrategy; readonly value: unknown }
  readonly tags: ReadonlyArray<string>
}

export interface EvalSuite {
  readonly id: string
  readonly name: string
  readonly cases: ReadonlyArray<EvalCase>
  /** Epoch milliseconds; null for the suites of the program itself. */
  readonly createdAtMs: number | null
  readonly updatedAtMs: number | null
}

export const targetTypes = ["model", "combo"] as const

export interface EvalTarget {
  readonly type: (typeof targetTypes)[number]
  /** Name that a client asks for: a model id, or the name of a combo. */
  readonly id: string
}

export const runStatuses = ["running", "completed", "failed", "cancelled"] as const
export type RunStatus = (typeof runStatuses)[number]

export interface EvalRun {
  readonly id: string
  readonly suiteId: string
  readonly suiteName: string
  readonly target: EvalTarget
  /** Key in whose name the questions are asked. */
  readonly apiKeyId: string | null
  /** Caller who began it without a key; null: not known, or a key is named. */
  readonly caller: KnownCaller | null
  /** The run of the same suite over the other target. */
  readonly comparedWith: string | null
  readonly status: RunStatus
  /** Reason of a failure or a cancellation. */
  readonly reason: string | null
  /** Cases of the suite. */
  readonly total: number
  readonly passed: number
  /** Cases that were asked and did not pass. */
  readonly failed: number
  readonly costNanoUsd: number
  /** Sum over the cases that were asked, in milliseconds. */
  readonly latencyMs: number
  readonly startedAtMs: number
  readonly finishedAtMs: number | null
}

export interface EvalResult {
  /** Place of the case in its suite, from 0. */
  readonly position: number
  readonly caseId: string
  readonly name: string
  readonly passed: boolean
  /** True when a model answered at all. */
  readonly answered: boolean
  readonly latencyMs: number
  /** The beginning of the answer; null where there is none, or where the key keeps nothing of what is said. */
  readonly output: string | null
  /** Reason for which it did not pass. */
  readonly reason: string | null
  readonly requestId: string
  /** Provider that answered. */
  readonly provider: string | null
  readonly model: string | null
  readonly costNanoUsd: number
}

/** Result of a model in the last complete run of a suite. */
export interface EvalScore {
  readonly suiteId: string
  readonly provider: string
  readonly model: string
  readonly cases: number
  readonly passed: number
  /** Sum over the cases. */
  readonly latencyMs: number
  /** Epoch milliseconds of the run's end. */
  readonly atMs: number
}
