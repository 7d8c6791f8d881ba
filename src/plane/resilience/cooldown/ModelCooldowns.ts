/**
 * The models of one connection that cool down after a transient failure: each with a backoff of its own, so that one broken model does
 * not hold up the others of its account. Pure: every function gives the next state, or the same one when nothing changed.
 */
import * as Schema from "effect/Schema"
import { type ConnectionHealth, TestStatus } from "../../../subjects/connections/entity.ts"
import * as Cooldown from "./Cooldown.ts"

export interface ModelCooldown {
  readonly state: Cooldown.CooldownState
  /** True when the connection shows it. A good answer of another model ends that, though this model stays in cooldown. */
  readonly isShown: boolean
}

/** Cooldowns by model, the one that failed last behind the others. */
export type ModelCooldowns = ReadonlyMap<string, ModelCooldown>

export const none: ModelCooldowns = new Map()

/** Models kept for one connection; beyond it the one whose failure is longest ago goes. Callers choose the names. */
export const maxModels = 100

export const waitMs = (models: ModelCooldowns, model: string, nowMs: number): number => {
  const rest = models.get(model)
  return rest === undefined ? 0 : (Cooldown.waitMs(rest.state, nowMs) ?? 0)
}

/** Models have failed, and this one is none of them. */
export const onlyOthers = (models: ModelCooldowns, model: string): boolean => models.size > 0 && !models.has(model)

/** State that a cooldown begins with, and the profile by which it grows. */
export interface CooldownStart {
  readonly profile: Cooldown.CooldownProfile
  readonly fresh: Cooldown.CooldownState
}

export const fail = (
  models: ModelCooldowns,
  model: string,
  { fresh, profile }: CooldownStart,
  nowMs: number,
  failure: Cooldown.CooldownFailure
): ModelCooldowns => {
  const before = models.get(model)?.state ?? fresh
  // Asked during its cooldown, as the last target left: the cooldown starts anew, or all who wait would come at once when the first rest is over.
  const isAskedAgain = before.failedAtMs !== null && failure.startedMs > before.failedAtMs
  const state = Cooldown.fail(isAskedAgain ? { ...before, rateLimitedUntilMs: null } : before, profile, nowMs, failure)
  if (state === before) return models
  const next = new Map(models)
  next.delete(model)
  next.set(model, { state, isShown: true })
  const [oldest] = next.keys()
  if (next.size > maxModels && oldest !== undefined) next.delete(oldest)
  return next
}

/** A call of `model` (null: of any) that began at `startedMs` was answered well. */
export const succeed = (models: ModelCooldowns, model: string | null, startedMs: number): ModelCooldowns => {
  if (models.size === 0) return models
  let changed = false
  const next = new Map<string, ModelCooldown>()
  for (const [name, rest] of models) {
    const isEarlier = startedMs < (rest.state.failedAtMs ?? 0)
    const isOver = !isEarlier && (model === null || name === model)
    if (isOver || (!isEarlier && rest.isShown)) changed = true
    if (!isOver) next.set(name, isEarlier || !rest.isShown ? rest : { ...rest, isShown: false })
  }
  return changed ? next : models
}

/** `Cooldown.settle` of each. */
export const settle = (models: ModelCooldowns, nowMs: number): ModelCooldowns => {
  let isSetBack = false
  for (const { state } of models.values()) if (state.failedAtMs !== null && nowMs < state.failedAtMs) isSetBack = true
  if (!isSetBack) return models
  return new Map(
    Array.from(models, ([model, { isShown, state }]) => [model, { isShown, state: Cooldown.settle(state, nowMs) }])
  )
}

export const isShown = (models: ModelCooldowns): boolean => {
  for (const rest of models.values()) if (rest.isShown) return true
  return false
}

/** The connection's own health, with the trouble of its models: the longest time, the highest level, the latest words. */
export const shown = (
  own: ConnectionHealth,
  ownFailedAtMs: number | null,
  models: ModelCooldowns
): ConnectionHealth => {
  if (models.size === 0 || Cooldown.isTerminal(own.testStatus)) return own
  let health = own
  let latestMs = ownFailedAtMs ?? Number.NEGATIVE_INFINITY
  for (const { isShown, state } of models.values()) {
    if (!isShown) continue
    const failedAtMs = state.failedAtMs ?? 0
    const { errorCode, lastError, lastErrorType } = failedAtMs >= latestMs ? state : health
    latestMs = Math.max(latestMs, failedAtMs)
    health = {
      testStatus: "unavailable",
      rateLimitedUntilMs: Math.max(health.rateLimitedUntilMs ?? 0, state.rateLimitedUntilMs ?? 0),
      backoffLevel: Math.max(health.backoffLevel, state.backoffLevel),
      lastError,
      lastErrorType,
      errorCode
    }
  }
  return health
}

const StoredState = Schema.Struct({
  testStatus: TestStatus,
  rateLimitedUntilMs: Schema.NullOr(Schema.Finite),
  lastError: Schema.NullOr(Schema.String),
  lastErrorType: Schema.NullOr(Schema.String),
  errorCode: Schema.NullOr(Schema.String),
  backoffLevel: Schema.NonNegativeInt,
  failedAtMs: Schema.NullOr(Schema.Finite)
})

/**
 * State that outlives the process beside the row of the connection: its own state, its beginning, and that of its
 * models.
 */
export const Stored = Schema.Struct({
  own: StoredState,
  models: Schema.Array(Schema.Struct({ model: Schema.String, isShown: Schema.Boolean, ...StoredState.fields }))
})
export type Stored = typeof Stored.Type

const storedState = (state: Cooldown.CooldownState): typeof StoredState.Type => {
  const { doubtedUntilMs: _, resetAtMs: __, ...lasting } = state
  return lasting
}

/** Null when the row of the connection says it all. */
export const stored = (own: Cooldown.CooldownState, models: ModelCooldowns): Stored | null =>
  models.size === 0 && own.rateLimitedUntilMs === null
    ? null
    : {
        own: storedState(own),
        models: Array.from(models, ([model, { isShown, state }]) => ({ model, isShown, ...storedState(state) }))
      }

export const restored = (
  { models, own }: Stored,
  fresh: Cooldown.CooldownState
): { readonly own: Cooldown.CooldownState; readonly models: ModelCooldowns } => ({
  own: { ...fresh, ...own },
  models: new Map(models.map(({ isShown, model, ...state }) => [model, { isShown, state: { ...fresh, ...state } }]))
})
