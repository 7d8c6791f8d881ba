/** Shows and clears all caches of answers for `/api/cache/stats`. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AnswerCache } from "../plane/cache/AnswerCache.ts"
import { IdempotencyStats } from "../plane/cache/IdempotencyStats.ts"
import { GatewaySettings } from "../subjects/flags/StoredFlags.ts"
import { AnswerCaches } from "../observe/usage/Caches.ts"

const make = Effect.gen(function* () {
  const answers = yield* AnswerCache
  const idempotency = yield* IdempotencyStats
  const settings = yield* GatewaySettings
  return {
    answers: Effect.map(answers.counts, (counts) => ({ enabled: settings.current().cache.enabled, ...counts })),
    idempotency: Effect.sync(idempotency.current),
    clear: Effect.map(answers.clear, (cleared) => cleared + idempotency.clear())
  }
})

export const caches: Layer.Layer<AnswerCaches, never, AnswerCache | GatewaySettings | IdempotencyStats> = Layer.effect(
  AnswerCaches,
  make
)
