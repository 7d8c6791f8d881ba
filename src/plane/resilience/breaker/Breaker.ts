/**
 * The circuit breaker of one provider as a pure transition function. No timer runs: `settle` brings a state to the current time. The
 * rules are in docs/resilience.md.
 */
import type { ProviderClass } from "../../../contract/domain/Provider.ts"
import type { ResilienceSettings } from "../../../subjects/resilience/entity.ts"

export type BreakerPhase = "CLOSED" | "DEGRADED" | "OPEN" | "HALF_OPEN"

export interface BreakerState {
  readonly phase: BreakerPhase
  readonly failures: number
  /** Epoch milliseconds of the latest opening; null before the first. */
  readonly openedAtMs: number | null
  /** Probes that failed in a row: each doubles the time to the next. */
  readonly failedProbes: number
  /** Epoch milliseconds since which a probe is in progress; null when none is. */
  readonly probeSinceMs: number | null
}

/** Thresholds in failures, time in milliseconds. */
export interface BreakerProfile {
  readonly degradationThreshold: number
  readonly failureThreshold: number
  readonly resetTimeoutMs: number
  /** Most that failed probes may stretch the reset timeout. */
  readonly maxMultiplier: number
}

/** Largest factors by which failed probes stretch the reset timeout. */
const maxMultiplier: Readonly<Record<ProviderClass, number>> = { oauth: 8, apikey: 4, local: 4 }

type Settings = ResilienceSettings["providerBreaker"]
type Profiles = Readonly<Record<ProviderClass, BreakerProfile>>

const profilesBySettings = new WeakMap<Settings, Profiles>()

const profilesOf = (settings: Settings): Profiles => {
  const known = profilesBySettings.get(settings)
  if (known !== undefined) return known
  const profiles = {
    oauth: { ...settings.oauth, maxMultiplier: maxMultiplier.oauth },
    apikey: { ...settings.apikey, maxMultiplier: maxMultiplier.apikey },
    local: { ...settings.local, maxMultiplier: maxMultiplier.local }
  }
  profilesBySettings.set(settings, profiles)
  return profiles
}

/** Hot: the profile of a class of providers, from the settings in force. */
export const profileOf = (settings: Settings, providerClass: ProviderClass): BreakerProfile =>
  profilesOf(settings)[providerClass]

export const closed: BreakerState = {
  phase: "CLOSED",
  failures: 0,
  openedAtMs: null,
  failedProbes: 0,
  probeSinceMs: null
}

/** The reset timeout in force, in milliseconds. */
export const resetTimeoutMs = (state: BreakerState, profile: BreakerProfile): number =>
  profile.resetTimeoutMs * Math.min(2 ** Math.min(state.failedProbes, 30), profile.maxMultiplier)

/** A probe without a report (its request died) may be repeated after this long. */
const probeLeaseMs = (state: BreakerState, profile: BreakerProfile): number =>
  Math.max(600_000, resetTimeoutMs(state, profile))

/**
 * Updates the state by time alone. A clock that was set back starts the running wait anew: it neither keeps a breaker open for
 * longer than its timeout from now, nor lets a second probe through. The caller keeps the result; otherwise the wait never ends.
 */
export const settle = (state: BreakerState, profile: BreakerProfile, nowMs: number): BreakerState => {
  const { openedAtMs, phase, probeSinceMs } = state
  if (phase === "OPEN" && openedAtMs !== null) {
    if (nowMs < openedAtMs) return { ...state, openedAtMs: nowMs }
    return nowMs - openedAtMs >= resetTimeoutMs(state, profile)
      ? { ...state, phase: "HALF_OPEN", probeSinceMs: null }
      : state
  }
  if (phase === "HALF_OPEN" && probeSinceMs !== null) {
    if (nowMs < probeSinceMs) return { ...state, probeSinceMs: nowMs }
    return nowMs - probeSinceMs >= probeLeaseMs(state, profile) ? { ...state, probeSinceMs: null } : state
  }
  return state
}

/** Milliseconds until a call may be tried; 0 when it may now, null while a probe is in progress. */
export const retryAfterMs = (state: BreakerState, profile: BreakerProfile, nowMs: number): number | null => {
  const { openedAtMs, phase, probeSinceMs } = settle(state, profile, nowMs)
  if (phase === "OPEN" && openedAtMs !== null) {
    return Math.max(1, openedAtMs + resetTimeoutMs(state, profile) - nowMs)
  }
  return phase === "HALF_OPEN" && probeSinceMs !== null ? null : 0
}

/** An open breaker before the last target that is left lets a probe through as often as this, if its reset timeout is longer. */
const lastResortProbeMs = 3_000

/**
 * The first probe comes this soon, each that fails doubles the time: an upstream that fails now and then opens a breaker of a low
 * threshold again and again, and every second in which the only target is refused costs more requests than its failures.
 */
const firstLastResortProbeMs = 500

const lastResortWaitMs = ({ failedProbes }: BreakerState, resetMs: number): number =>
  Math.min(firstLastResortProbeMs * 2 ** Math.min(failedProbes, 30), lastResortProbeMs, resetMs)

/** Milliseconds until an open breaker lets a probe through where no other target is left; 0 when it is not open. */
export const lastResortMs = (state: BreakerState, profile: BreakerProfile, nowMs: number): number => {
  const { openedAtMs, phase } = settle(state, profile, nowMs)
  if (phase !== "OPEN" || openedAtMs === null) return 0
  return Math.max(0, openedAtMs + lastResortWaitMs(state, resetTimeoutMs(state, profile)) - nowMs)
}

export type Admission = "allowed" | "probe" | "refused"

/**
 * Asks for a call. A half-open breaker lets exactly one probe through, and with `lastResort` an open one as well: no other target is
 * left, and the caller has found that it is time (`lastResortMs`).
 */
export const admit = (
  state: BreakerState,
  profile: BreakerProfile,
  nowMs: number,
  lastResort = false
): { readonly state: BreakerState; readonly admission: Admission } => {
  const now = settle(state, profile, nowMs)
  if (now.phase === "OPEN") {
    return lastResort
      ? { state: { ...now, phase: "HALF_OPEN", probeSinceMs: nowMs }, admission: "probe" }
      : { state: now, admission: "refused" }
  }
  if (now.phase !== "HALF_OPEN") return { state: now, admission: "allowed" }
  return now.probeSinceMs === null
    ? { state: { ...now, probeSinceMs: nowMs }, admission: "probe" }
    : { state: now, admission: "refused" }
}

/**
 * - `success` the provider answered well
 * - `trip` it failed as a provider (408, 500, 502, 503, 504, network, timeout)
 * - `other` it answered, and the failure is the account's
 * - `unknown` nothing was learned of the provider (the client left, or the request itself was wrong)
 */
export type BreakerReport = "success" | "trip" | "other" | "unknown"

const reopened = (state: BreakerState, nowMs: number): BreakerState => ({
  ...state,
  phase: "OPEN",
  openedAtMs: nowMs,
  failedProbes: state.failedProbes + 1,
  probeSinceMs: null
})

const afterProbe = (state: BreakerState, report: BreakerReport, nowMs: number): BreakerState => {
  switch (report) {
    case "success":
      return closed
    // Also a refusal shows that the provider is not well again; without this the probe would block the way for ever.
    case "trip":
    case "other":
      return reopened(state, nowMs)
    case "unknown":
      return { ...state, probeSinceMs: null }
  }
}

const withFailures = (state: BreakerState, profile: BreakerProfile, failures: number): BreakerState => ({
  ...state,
  failures,
  phase: failures >= profile.degradationThreshold ? "DEGRADED" : "CLOSED"
})

/** Updates the state after a call. `probe`: it was the probe of a half-open breaker. */
export const report = (
  state: BreakerState,
  profile: BreakerProfile,
  nowMs: number,
  outcome: BreakerReport,
  probe: boolean
): BreakerState => {
  const now = settle(state, profile, nowMs)
  if (now.phase === "HALF_OPEN") return probe ? afterProbe(now, outcome, nowMs) : now
  // Calls that began before the breaker opened end now: they say nothing about after.
  if (now.phase === "OPEN") return now
  if (outcome === "success") return now.failures === 0 ? now : withFailures(now, profile, now.failures - 1)
  if (outcome !== "trip") return now
  const failures = now.failures + 1
  return failures >= profile.failureThreshold
    ? { phase: "OPEN", failures, openedAtMs: nowMs, failedProbes: 0, probeSinceMs: null }
    : withFailures(now, profile, failures)
}
