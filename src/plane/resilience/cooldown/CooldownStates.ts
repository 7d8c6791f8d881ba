/**
 * The health of all connections, in memory: cooldowns of connections (`Cooldown`) and of single models (`ModelCooldowns`). Times are epoch
 * milliseconds.
 */
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import { type ConnectionHealth, healthy } from "../../../subjects/connections/entity.ts"
import * as Cooldown from "./Cooldown.ts"
import * as ModelCooldowns from "./ModelCooldowns.ts"

/** State of one connection. */
export interface CooldownEntry {
  readonly own: Cooldown.CooldownState
  readonly models: ModelCooldowns.ModelCooldowns
}

export interface CooldownStates {
  /** Hot: counts the changes of any connection. */
  readonly changes: () => number
  /** Hot: nothing holds the connection or one of its models up, now or at any other time. */
  readonly isAtRest: (connectionId: string) => boolean
  /** Hot: the health of a connection. While it is doubted or one of its models cools down, it shows as cooling down for that long. */
  readonly healthOf: (connectionId: string) => ConnectionHealth
  /** Hot: milliseconds until it may be used; 0 now, null when only an operator can help. */
  readonly waitMs: (connectionId: string, nowMs: number) => number | null
  /** Hot: milliseconds until this model of the connection has cooled down; until then other targets go first. */
  readonly modelWaitMs: (connectionId: string, model: string, nowMs: number) => number
  /** The cooldown of a model; null when none of its failures is remembered. */
  readonly modelState: (connectionId: string, model: string) => ConnectionHealth | null
  /** Hot: milliseconds for which others are asked first. A restart forgets it. */
  readonly doubtMs: (connectionId: string, nowMs: number) => number
  readonly fail: (
    connectionId: string,
    profile: Cooldown.CooldownProfile,
    nowMs: number,
    failure: Cooldown.CooldownFailure
  ) => void
  /** Hot: other models of the connection have failed since their last good answer, and this one has not. */
  readonly onlyOthersFailed: (connectionId: string, model: string) => boolean
  /** The model failed in a transient way (`isTransient`): it cools down, and the other models of the connection do not. */
  readonly failModel: (
    connectionId: string,
    model: string,
    profile: Cooldown.CooldownProfile,
    nowMs: number,
    failure: Omit<Cooldown.CooldownFailure, "penalty">
  ) => void
  /**
   * Hot: a call that began at `startedMs` was answered well. True when it ended a trouble. It ends the rest of its model; without
   * one that of every model.
   */
  readonly succeed: (connectionId: string, startedMs: number, model?: string) => boolean
  /** The connection is as new, whatever calls that began before still bring. */
  readonly reset: (connectionId: string, nowMs: number) => void
  /** Drops the observations made with other credentials. */
  readonly renew: (connectionId: string) => void
  /** The connection is gone; calls that are still in progress change nothing any more. */
  readonly forget: (connectionId: string) => void
  /** Undefined when nothing is known of it. */
  readonly get: (connectionId: string) => CooldownEntry | undefined
  /** Returns its state, without the parts that a restart forgets. */
  readonly lasting: (connectionId: string) => ConnectionHealth
}

export interface CooldownStatesOptions {
  readonly initial: Iterable<readonly [connectionId: string, entry: CooldownEntry]>
  /** Called with each connection that changes. */
  readonly changed: (connectionId: string) => void
}

export const fresh: Cooldown.CooldownState = { ...healthy, failedAtMs: null, resetAtMs: null, doubtedUntilMs: null }

/** Connections remembered as gone; beyond it the oldest goes. Only calls that outlive their connection ask. */
const goneCapacity = 1_000

interface Deps {
  readonly models: Map<string, ModelCooldowns.ModelCooldowns>
  readonly states: Map<string, Cooldown.CooldownState>
  readonly gone: LruMap<string, true>
  changes: number
  readonly changed: (connectionId: string) => void
}

const modelsOf = ({ models }: Deps, id: string): ModelCooldowns.ModelCooldowns => models.get(id) ?? ModelCooldowns.none

/** Returns the part of the state that outlives the process: doubts do not. */
const lasting = (deps: Deps, id: string): ConnectionHealth => {
  const { doubtedUntilMs: _, failedAtMs, resetAtMs: __, ...health } = deps.states.get(id) ?? fresh
  return ModelCooldowns.shown(health, failedAtMs, modelsOf(deps, id))
}

const healthOf = (deps: Deps, id: string): ConnectionHealth => {
  const health = lasting(deps, id)
  const doubtedUntilMs = deps.states.get(id)?.doubtedUntilMs ?? null
  if (doubtedUntilMs === null || Cooldown.isTerminal(health.testStatus)) return health
  const rateLimitedUntilMs = Math.max(doubtedUntilMs, health.rateLimitedUntilMs ?? 0)
  return { ...health, testStatus: "unavailable", rateLimitedUntilMs }
}

const put = (deps: Deps, id: string, before: Cooldown.CooldownState, after: Cooldown.CooldownState): boolean => {
  const { changed, gone, states } = deps
  if (after === before || gone.peek(id) === true) return false
  states.set(id, after)
  deps.changes += 1
  changed(id)
  return true
}

const putModels = (deps: Deps, id: string, after: ModelCooldowns.ModelCooldowns): boolean => {
  const { changed, gone, models, states } = deps
  if (after === modelsOf(deps, id) || gone.peek(id) === true) return false
  if (after.size === 0) models.delete(id)
  else models.set(id, after)
  if (!states.has(id)) states.set(id, fresh)
  deps.changes += 1
  changed(id)
  return true
}

/** Returns the present state; one that begins anew by a set-back clock is kept. */
const stateNow = (deps: Deps, id: string, nowMs: number): Cooldown.CooldownState | undefined => {
  const before = deps.states.get(id)
  if (before === undefined) return undefined
  const now = Cooldown.settle(before, nowMs)
  put(deps, id, before, now)
  return now
}

const modelsNow = (deps: Deps, id: string, nowMs: number): ModelCooldowns.ModelCooldowns => {
  const before = deps.models.get(id)
  if (before === undefined) return ModelCooldowns.none
  const now = ModelCooldowns.settle(before, nowMs)
  putModels(deps, id, now)
  return now
}

const clear = (deps: Deps, id: string): void => {
  putModels(deps, id, ModelCooldowns.none)
}

export const makeCooldownStates = ({ changed, initial }: CooldownStatesOptions): CooldownStates => {
  const states = new Map<string, Cooldown.CooldownState>()
  const models = new Map<string, ModelCooldowns.ModelCooldowns>()
  const gone = new LruMap<string, true>({ capacity: goneCapacity })
  for (const [id, entry] of initial) {
    states.set(id, entry.own)
    if (entry.models.size > 0) models.set(id, entry.models)
  }
  const deps: Deps = { models, states, gone, changes: 0, changed }

  return {
    changes: () => deps.changes,
    isAtRest: (id) => {
      if (models.has(id)) return false
      const state = states.get(id)
      return state === undefined || Cooldown.isAtRest(state)
    },
    healthOf: (id) => healthOf(deps, id),
    waitMs: (id, nowMs) => {
      const state = stateNow(deps, id, nowMs)
      return state === undefined ? 0 : Cooldown.waitMs(state, nowMs)
    },
    modelWaitMs: (id, model, nowMs) => ModelCooldowns.waitMs(modelsNow(deps, id, nowMs), model, nowMs),
    onlyOthersFailed: (id, model) => ModelCooldowns.onlyOthers(modelsOf(deps, id), model),
    modelState: (id, model) => modelsOf(deps, id).get(model)?.state ?? null,
    doubtMs: (id, nowMs) => {
      const state = stateNow(deps, id, nowMs)
      return state === undefined ? 0 : Cooldown.doubtMs(state, nowMs)
    },
    fail: (id, profile, nowMs, failure) => {
      const before = stateNow(deps, id, nowMs) ?? fresh
      put(deps, id, before, Cooldown.fail(before, profile, nowMs, failure))
    },
    failModel: (id, model, profile, nowMs, failure) => {
      const own = stateNow(deps, id, nowMs) ?? fresh
      // An account that may not be asked at all has no cooldown, and the failure of credentials that were replaced meanwhile does not count.
      if (Cooldown.isTerminal(own.testStatus)) return
      if (own.resetAtMs !== null && failure.startedMs < own.resetAtMs && own.resetAtMs <= nowMs) return
      putModels(
        deps,
        id,
        ModelCooldowns.fail(modelsNow(deps, id, nowMs), model, { profile, fresh }, nowMs, {
          ...failure,
          penalty: { _tag: "Backoff" }
        })
      )
    },
    succeed: (id, startedMs, model) => {
      const before = states.get(id) ?? fresh
      const wasTroubled =
        before.testStatus === "unavailable" ||
        before.doubtedUntilMs !== null ||
        ModelCooldowns.isShown(modelsOf(deps, id))
      const isBetter = putModels(deps, id, ModelCooldowns.succeed(modelsOf(deps, id), model ?? null, startedMs))
      const isWell = put(deps, id, before, Cooldown.succeed(before, startedMs))
      return (isBetter || isWell) && wasTroubled
    },
    reset: (id, resetAtMs) => {
      clear(deps, id)
      put(deps, id, states.get(id) ?? fresh, { ...fresh, resetAtMs })
    },
    renew: (id) => {
      clear(deps, id)
      const state = states.get(id)
      if (state !== undefined) put(deps, id, state, fresh)
    },
    forget: (id) => {
      states.delete(id)
      models.delete(id)
      gone.set(id, true)
      deps.changes += 1
    },
    get: (id) => {
      const own = states.get(id)
      return own === undefined ? undefined : { own, models: modelsOf(deps, id) }
    },
    lasting: (id) => lasting(deps, id)
  }
}
