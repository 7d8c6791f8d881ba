/**
 * Candidates that score too badly are left alone for a while and then tried with one probe.
 * A pure state machine: in → out (5 min, doubling to 30) → probe → back on trial, or out for longer.
 */
import type { Candidate } from "../candidate/Candidate.ts"
import { factorNames, type FactorName, type Weights } from "../../../subjects/combos/entity/AutoWeights.ts"

/** Score below which a candidate goes out. */
const exclusionScore = 0.2
const firstExclusionMs = 5 * 60_000
export const longestExclusionMs = 30 * 60_000
/** A probe without a report may be repeated after this long. */
const probeLeaseMs = 10 * 60_000
/** Time in ms without an exclusion after which its history is dropped. */
const trialMs = 30 * 60_000
/** Candidates remembered at a time; beyond it those whose time ended first are dropped. */
export const mostExclusions = 2_000

export interface Healing {
  readonly phase: "out" | "trial"
  /** Times it went out without having proved itself in between. */
  readonly level: number
  /** Time at which the exclusion ends (`out`) or ended (`trial`), epoch milliseconds. */
  readonly untilMs: number
  /** Epoch milliseconds since which a probe is in progress; null when none is. */
  readonly probeSinceMs: number | null
}

/** States by candidate key. */
export type HealingState = ReadonlyMap<string, Healing>

export const healed: HealingState = new Map()

/** `in` may be called, `out` only as a last resort until `untilMs`, `probe`: its next call is the probe after an exclusion. */
export type Standing =
  | { readonly _tag: "in" }
  | { readonly _tag: "probe" }
  | { readonly _tag: "out"; readonly untilMs: number }

/** Computes the duration of an exclusion of a level, in milliseconds. */
export const exclusionMs = (level: number): number =>
  Math.min(longestExclusionMs, firstExclusionMs * 2 ** Math.min(Math.max(level, 1) - 1, 10))

const out = (level: number, nowMs: number): Healing => ({
  phase: "out",
  level,
  untilMs: nowMs + exclusionMs(level),
  probeSinceMs: null
})

const isIn: Standing = { _tag: "in" }
const isProbe: Standing = { _tag: "probe" }

/**
 * Checks whether a score is so low that a candidate is excluded. A difference within the rounding of the sum does not
 * count.
 */
export const isTooLow = (score: number): boolean => score < exclusionScore - 1e-9

/**
 * Updates one candidate's state by its score and the time. Null: nothing needs to be remembered. A clock set back
 * lengthens nothing.
 */
export const look = (
  before: Healing | null,
  score: number,
  nowMs: number
): { readonly healing: Healing | null; readonly standing: Standing } => {
  if (before === null || before.phase === "trial") {
    if (isTooLow(score)) {
      const healing = out((before?.level ?? 0) + 1, nowMs)
      return { healing, standing: { _tag: "out", untilMs: healing.untilMs } }
    }
    const proved = before !== null && nowMs - before.untilMs > trialMs
    return { healing: proved ? null : before, standing: isIn }
  }
  const latestMs = nowMs + exclusionMs(before.level)
  const healing = before.untilMs > latestMs ? { ...before, untilMs: latestMs } : before
  if (nowMs < healing.untilMs) return { healing, standing: { _tag: "out", untilMs: healing.untilMs } }
  const { probeSinceMs } = healing
  if (probeSinceMs !== null && nowMs >= probeSinceMs && nowMs - probeSinceMs < probeLeaseMs) {
    return { healing, standing: { _tag: "out", untilMs: probeSinceMs + probeLeaseMs } }
  }
  return { healing: probeSinceMs === null ? healing : { ...healing, probeSinceMs: null }, standing: isProbe }
}

const bounded = (state: Map<string, Healing>): HealingState => {
  if (state.size <= mostExclusions) return state
  return new Map([...state].toSorted(([, a], [, b]) => b.untilMs - a.untilMs).slice(0, mostExclusions))
}

/** The state with some entries replaced; null takes one out. The same state when nothing is different. */
export const withHealing = (
  state: HealingState,
  changes: ReadonlyArray<readonly [string, Healing | null]>
): HealingState => {
  const real = changes.filter(([key, healing]) => (state.get(key) ?? null) !== healing)
  if (real.length === 0) return state
  const next = new Map(state)
  for (const [key, healing] of real) {
    if (healing === null) next.delete(key)
    else next.set(key, healing)
  }
  return bounded(next)
}

/** The probe of a candidate has begun: no other request is sent there until it ends. */
export const probeStarted = (state: HealingState, key: string, nowMs: number): HealingState => {
  const before = state.get(key)
  return before?.phase === "out" ? withHealing(state, [[key, { ...before, probeSinceMs: nowMs }]]) : state
}

/**
 * A call to a candidate ended. After its exclusion a good answer lets it in again, on trial, and a failure keeps it out for twice as
 * long; calls that ended while it was out on its time, or of candidates that are in, change nothing.
 */
export const callEnded = (state: HealingState, key: string, ok: boolean, nowMs: number): HealingState => {
  const before = state.get(key)
  if (before?.phase !== "out" || nowMs < before.untilMs) return state
  return withHealing(state, [
    [key, ok ? { ...before, phase: "trial", untilMs: nowMs, probeSinceMs: null } : out(before.level + 1, nowMs)]
  ])
}

/** The time a probe gets: a quarter of the usual one, but a second at least. */
export const probeTimeoutMs = (usualMs: number): number => Math.min(usualMs, Math.max(1_000, usualMs / 4))

/** More than half of the providers' breakers are OPEN. One provider counts once, however many accounts it has. */
export const isIncident = (candidates: ReadonlyArray<Candidate>): boolean => {
  const open = new Map<string, boolean>()
  for (const { breaker, target } of candidates) open.set(target.account.spec.id, breaker === "OPEN")
  let count = 0
  for (const is of open.values()) if (is) count += 1
  return count * 2 > open.size
}

/** The weights of incident mode: half of everything goes to stability, the other half is shared out as before. The sum stays 1. */
export const steadied = (weights: Weights): Weights => {
  const steady = Object.fromEntries(factorNames.map((name) => [name, weights[name] / 2])) as Record<FactorName, number>
  return { ...steady, stability: steady.stability + 0.5 }
}
