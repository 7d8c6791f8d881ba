/**
 * The decision record: what was asked for, what could have served it, what was tried and why. It never holds prompt text or a key.
 */
import type { RequestHook } from "../plugins/entity.ts"

export type AttemptOutcome = "completed" | "failed" | "aborted"

export interface AttemptRecord {
  readonly provider: string
  readonly connectionId: string
  readonly model: string
  /** Upstream status, null when none arrived. */
  readonly status: number | null
  readonly outcome: AttemptOutcome
  /** Short, stable words such as `http_503`, `connect_refused`, `first_byte_timeout`. */
  readonly reason: string
  /** Epoch milliseconds. */
  readonly startedMs: number
  readonly latencyMs: number
}

/** An attempt as the record shows it. */
export interface AttemptView extends Omit<AttemptRecord, "startedMs"> {
  /** ISO 8601. */
  readonly startedAt: string
}

export interface Exclusion {
  readonly rule: string
  /** ISO 8601, null when it does not end by itself. */
  readonly until: string | null
  readonly detail: string
}

export interface Candidate {
  readonly provider: string
  readonly connectionId: string
  readonly model: string
  readonly score: number | null
  readonly factors: Readonly<Record<string, number>> | null
  readonly excluded: Exclusion | null
}

/** `failed`: it threw, was late or was killed, or what it returned could not be used. */
export type PluginAction = "none" | "modified" | "blocked" | "failed"

/** A call of a plugin that the request waited for, or one that observed the end of a stream. */
export interface PluginCall {
  readonly name: string
  readonly hook: RequestHook
  readonly action: PluginAction
  readonly ms: number
}

export interface DecisionRecord {
  readonly requestId: string
  /** Absent where nothing was asked. */
  readonly state?: "running" | "ended"
  readonly requestedModel: string
  /** The model used instead, by a setting or as its successor; absent where the requested id itself was used. */
  readonly fallbackModel?: string
  readonly combo: string | null
  readonly strategy: string
  /** Reason for which the first target is first, in a few words. */
  readonly reason?: string
  readonly seed: number
  readonly weights: Readonly<Record<string, number>> | null
  readonly candidates: ReadonlyArray<Candidate>
  /** Number of candidates that the record does not show; absent when it shows all. */
  readonly candidatesLeftOut?: number
  readonly order: ReadonlyArray<string>
  readonly attempts: ReadonlyArray<AttemptView>
  readonly chosen: string | null
  readonly relaxedFilters: ReadonlyArray<string>
  /** Absent: no plugin was called. */
  readonly plugins?: ReadonlyArray<PluginCall>
  /** Metadata that plugins have added to the request, at most 4 KB; absent: none. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Gateway that has decided, of several on one database; absent in one process. */
  readonly node?: string
}
