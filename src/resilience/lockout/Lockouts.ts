/** Locked models by provider, connection and model. In memory only: a restart forgets them, the settings stay (document 1). */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Settings from "../Settings.ts"
import * as Lockout from "./Lockout.ts"

export interface LockoutKey {
  readonly provider: string
  readonly connectionId: string
  readonly model: string
}

export interface LockoutView extends LockoutKey {
  readonly reason: string
  readonly failureCount: number
  readonly lockedAtMs: number
  readonly untilMs: number
  readonly remainingMs: number
}

export interface LockoutFailure {
  readonly status: number
  readonly reason: string
  /** How long the upstream said, in milliseconds; null when it said nothing. */
  readonly hintMs: number | null
}

export class Lockouts extends Context.Tag("gateway/resilience/Lockouts")<
  Lockouts,
  {
    /** Hot: milliseconds until the model may be asked again; 0 when it may now. */
    readonly waitMs: (key: LockoutKey, nowMs: number) => number
    /** Counts a failure whose status is in `errorCodes`, where lockouts are on. */
    readonly fail: (key: LockoutKey, nowMs: number, failure: LockoutFailure) => void
    /** Hot. */
    readonly succeed: (key: LockoutKey) => void
    /** Active locks, the longest first. */
    readonly list: (nowMs: number) => ReadonlyArray<LockoutView>
    /** Unlocks what matches (a missing connection matches all); gives how many there were. */
    readonly clear: (match: Partial<LockoutKey>) => number
  }
>() {}

/** Locks kept at most; beyond it the oldest goes. */
export const capacity = 10_000

interface Entry {
  readonly key: LockoutKey
  readonly state: Lockout.LockoutState
}

const idOf = ({ connectionId, model, provider }: LockoutKey): string => `${provider}\n${connectionId}\n${model}`

export const make = Effect.gen(function* () {
  const settings = yield* Settings.Settings
  const entries = new Map<string, Entry>()

  const sweep = (nowMs: number): void => {
    if (entries.size < capacity) return
    for (const [id, { state }] of entries) if (!Lockout.isAlive(state, nowMs)) entries.delete(id)
    for (const id of entries.keys()) {
      if (entries.size < capacity) return
      entries.delete(id)
    }
  }

  const fail = (key: LockoutKey, nowMs: number, { hintMs, reason, status }: LockoutFailure): void => {
    const profile = settings.current().modelLockout
    if (!profile.enabled || !profile.errorCodes.includes(status)) return
    const id = idOf(key)
    if (!entries.has(id)) sweep(nowMs)
    const state = Lockout.fail(entries.get(id)?.state ?? null, profile, nowMs, reason, hintMs)
    entries.set(id, { key, state })
  }

  const succeed = (key: LockoutKey): void => {
    if (entries.size === 0) return
    const id = idOf(key)
    const entry = entries.get(id)
    if (entry === undefined) return
    const state = Lockout.succeed(entry.state)
    if (state === null) entries.delete(id)
    else entries.set(id, { key: entry.key, state })
  }

  const waitMs = (key: LockoutKey, nowMs: number): number => {
    if (entries.size === 0 || !settings.current().modelLockout.enabled) return 0
    const entry = entries.get(idOf(key))
    return entry === undefined ? 0 : Math.max(0, entry.state.untilMs - nowMs)
  }

  const list = (nowMs: number): ReadonlyArray<LockoutView> =>
    [...entries.values()]
      .filter(({ state }) => Lockout.isLocked(state, nowMs))
      .map(({ key, state }) => ({
        provider: key.provider,
        connectionId: key.connectionId,
        model: key.model,
        reason: state.reason,
        failureCount: state.failures,
        lockedAtMs: state.lockedAtMs,
        untilMs: state.untilMs,
        remainingMs: state.untilMs - nowMs
      }))
      .toSorted((a, b) => b.remainingMs - a.remainingMs)

  const clear = (match: Partial<LockoutKey>): number => {
    const matches = ({ connectionId, model, provider }: LockoutKey): boolean =>
      (match.provider === undefined || match.provider === provider) &&
      (match.connectionId === undefined || match.connectionId === connectionId) &&
      (match.model === undefined || match.model === model)
    let cleared = 0
    for (const [id, { key }] of entries) {
      if (!matches(key)) continue
      entries.delete(id)
      cleared += 1
    }
    return cleared
  }

  return Lockouts.of({ waitMs, fail, succeed, list, clear })
})

export const layer: Layer.Layer<Lockouts, never, Settings.Settings> = Layer.effect(Lockouts, make)
