/**
 * Locked models by provider, connection and model, in memory. Beside them models whose quota is used up are held (`QuotaHolds`), lockouts on or
 * off: an exhausted one is not asked again.
 */
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import type { ResilienceSettings } from "../../../subjects/resilience/entity.ts"
import type { QuotaHolds } from "./QuotaHolds.ts"
import * as Lockout from "./Lockout.ts"
import type { LockoutKey } from "./LockoutKey.ts"

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
  /** Time in ms that the upstream named; null when it named none. */
  readonly hintMs: number | null
}

/** A lock or a hold as it is from now on; `untilMs` null: the model may be asked. */
export interface LockoutChange extends LockoutKey {
  readonly untilMs: number | null
  readonly reason: string | null
}

export interface LockoutStates {
  /** Hot: no model is locked or held. */
  readonly isEmpty: () => boolean
  /** Hot: milliseconds until the model may be asked again; 0 when it may now. */
  readonly waitMs: (key: LockoutKey, nowMs: number) => number
  /** Kind of the failure that used up the model's quota; null when it is not held. */
  readonly holdReason: (key: LockoutKey, nowMs: number) => string | null
  /** Counts a failure whose status is in `errorCodes`, where lockouts are on. */
  readonly fail: (key: LockoutKey, nowMs: number, failure: LockoutFailure) => void
  /** The quota of the model is used up for so many milliseconds. A longer hold is kept. */
  readonly hold: (key: LockoutKey, nowMs: number, reason: string, ms: number) => void
  /** Hot. */
  readonly succeed: (key: LockoutKey) => void
  /** Active locks and holds, the longest first. */
  readonly list: (nowMs: number) => ReadonlyArray<LockoutView>
  /** Unlocks what matches (a missing connection matches all); gives how many there were. */
  readonly clear: (match: Partial<LockoutKey>) => number
}

/** Locks kept at most; beyond it the oldest goes. */
export const capacity = 10_000

interface Entry {
  readonly key: LockoutKey
  readonly state: Lockout.LockoutState
  /** A lock was told of, and not its end. */
  readonly isTold: boolean
}

const idOf = ({ connectionId, model, provider }: LockoutKey): string => `${provider}\n${connectionId}\n${model}`

/** The key of an id. No id of a provider or connection has a line feed. */
export const keyOf = (id: string): LockoutKey => {
  const [provider = "", connectionId = "", ...model] = id.split("\n")
  return { provider, connectionId, model: model.join("\n") }
}

/** `changed`: called with each model whose lock has changed. */
export const makeLockoutStates = (
  profile: () => ResilienceSettings["modelLockout"],
  holds: QuotaHolds,
  changed: (change: LockoutChange) => void = () => {}
): LockoutStates => {
  const entries = new LruMap<string, Entry>({ capacity })

  const fail = (key: LockoutKey, nowMs: number, { hintMs, reason, status }: LockoutFailure): void => {
    const current = profile()
    if (!current.enabled || !current.errorCodes.includes(status)) return
    const id = idOf(key)
    const before = entries.peek(id)
    if (before === undefined && entries.isFull) entries.prune(({ state }) => !Lockout.isAlive(state, nowMs))
    const state = Lockout.fail(before?.state ?? null, current, nowMs, reason, hintMs)
    const isLocked = Lockout.isLocked(state, nowMs)
    entries.set(id, { key, state, isTold: isLocked || before?.isTold === true })
    if (isLocked) changed({ ...key, untilMs: state.untilMs, reason: state.reason })
  }

  const succeed = (key: LockoutKey): void => {
    if (entries.size === 0) return
    const id = idOf(key)
    const entry = entries.peek(id)
    if (entry === undefined) return
    const state = Lockout.succeed(entry.state)
    if (state === null) entries.delete(id)
    else entries.set(id, { key: entry.key, state, isTold: false })
    if (entry.isTold && holds.get(id) === undefined) changed({ ...entry.key, untilMs: null, reason: null })
  }

  const isEmpty = (): boolean => entries.size === 0 && holds.isEmpty()

  const waitMs = (key: LockoutKey, nowMs: number): number => {
    if (isEmpty()) return 0
    const id = idOf(key)
    const heldMs = holds.waitMs(id, nowMs)
    const entry = profile().enabled ? entries.peek(id) : undefined
    if (entry === undefined) return heldMs
    const state = Lockout.settle(entry.state, nowMs)
    if (state !== entry.state) entries.set(id, { ...entry, state })
    return Math.max(heldMs, state.untilMs - nowMs)
  }

  const list = (nowMs: number): ReadonlyArray<LockoutView> => {
    const views = new Map<string, LockoutView>()
    for (const [id, { key, state }] of entries) {
      if (!Lockout.isLocked(state, nowMs)) continue
      const { failures: failureCount, lockedAtMs, reason, untilMs } = state
      views.set(id, { ...key, reason, failureCount, lockedAtMs, untilMs, remainingMs: untilMs - nowMs })
    }
    for (const [id, { heldAtMs: lockedAtMs, untilMs, ...hold }] of holds.active(nowMs)) {
      const lock = views.get(id)
      if (lock !== undefined && lock.untilMs >= untilMs) continue
      views.set(id, {
        ...hold,
        failureCount: lock?.failureCount ?? 1,
        lockedAtMs,
        untilMs,
        remainingMs: untilMs - nowMs
      })
    }
    return [...views.values()].toSorted((a, b) => b.remainingMs - a.remainingMs)
  }

  const clear = (match: Partial<LockoutKey>): number => {
    const matches = ({ connectionId, model, provider }: LockoutKey): boolean =>
      (match.provider === undefined || match.provider === provider) &&
      (match.connectionId === undefined || match.connectionId === connectionId) &&
      (match.model === undefined || match.model === model)
    const cleared = new Set(holds.clear(matches))
    for (const [id, { isTold, key }] of entries) {
      if (!matches(key)) continue
      entries.delete(id)
      cleared.add(id)
      if (isTold) changed({ ...key, untilMs: null, reason: null })
    }
    return cleared.size
  }

  const hold = (key: LockoutKey, nowMs: number, reason: string, ms: number): void =>
    holds.hold(idOf(key), key, nowMs, reason, ms)

  const holdReason = (key: LockoutKey, nowMs: number): string | null => {
    const current = holds.get(idOf(key))
    return current !== undefined && current.untilMs > nowMs ? current.reason : null
  }

  return { isEmpty, waitMs, holdReason, fail, hold, succeed, list, clear }
}
