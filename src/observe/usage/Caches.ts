/** State of the caches of answers and of idempotency keys. A cache provides `AnswerCaches`; without one there is nothing to show or clear. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

export interface CacheState {
  readonly enabled: boolean
  readonly memorySize: number
  readonly memoryMaxSize: number
  readonly dbSize: number
  /** Number since the start. */
  readonly hits: number
  readonly misses: number
  /** Number of the hits that were found by meaning. */
  readonly semanticHits: number
}

export interface IdempotencyState {
  readonly activeKeys: number
  readonly windowMs: number
}

export interface Caches {
  readonly answers: Effect.Effect<CacheState>
  readonly idempotency: Effect.Effect<IdempotencyState>
  /** Removes every entry of all caches; returns how many. */
  readonly clear: Effect.Effect<number>
}

/** Caches of answers. Without a layer that provides one, there is none. */
export class AnswerCaches extends Context.Reference<AnswerCaches>()("gateway/observe/usage/AnswerCaches", {
  defaultValue: (): Caches => ({
    answers: Effect.succeed({
      enabled: false,
      memorySize: 0,
      memoryMaxSize: 0,
      dbSize: 0,
      hits: 0,
      misses: 0,
      semanticHits: 0
    }),
    idempotency: Effect.succeed({ activeKeys: 0, windowMs: 0 }),
    clear: Effect.succeed(0)
  })
}) {}

/** Computes the rate from 0 to 1; 0 before the first request. */
export const hitRate = ({ hits, misses }: Pick<CacheState, "hits" | "misses">): number =>
  hits + misses === 0 ? 0 : hits / (hits + misses)
