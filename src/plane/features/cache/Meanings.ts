/**
 * Embeds the question of a request, by an embedding model that is asked in the caller's name. A model that fails costs a hit, never a
 * request.
 */
import * as Effect from "effect/Effect"
import { cacheKey } from "../../cache/CacheKey.ts"
import { wordingOf } from "../../cache/semantic/Wording.ts"
import type { Meaning } from "../../../subjects/cache/entity.ts"
import type { GatewaySettings } from "../../../subjects/flags/StoredFlags.ts"
import type { Timers } from "../../../platform/Timers.ts"
import type { Embedder } from "../../embedding/Embedder.ts"
import { makeOwnVectors } from "../../embedding/OwnVectors.ts"
import type { Work } from "../../request/Exchange.ts"
import { questionOf } from "./Question.ts"

/**
 * Most characters of a question: longer ones are not compared, because a vector shows little of one detail among many.
 */
const maxQuestionChars = 2_000

export interface MeaningOf {
  readonly meaning: Meaning
  /** Similarity from which on two questions count as the same. */
  readonly threshold: number
}

export interface Services {
  readonly embedder: typeof Embedder.Service
  readonly settings: typeof GatewaySettings.Service
  readonly timers: typeof Timers.Service
}

/** Null where the request is not compared by its meaning. `fields`: see `cacheKey`. */
export const makeMeanings = ({ embedder, settings, timers }: Services) => {
  const vectorsOf = makeOwnVectors({
    embedder,
    timers,
    failure: "The cache could not compare a request by its meaning; it goes on without"
  })

  return (work: Work, fields: string): Effect.Effect<MeaningOf | null> =>
    Effect.suspend(() => {
      const { enabled, model, threshold } = settings.current().cache.semantic
      if (!enabled || model === null) return Effect.succeed(null)
      const question = questionOf(work.exchange.wire, work.parsed, maxQuestionChars)
      if (question === null) return Effect.succeed(null)
      const bucket = cacheKey(JSON.stringify(["semantic", model, fields]), question.rest)
      return Effect.map(vectorsOf(work, model, [question.text]), (vectors) => {
        const vector = vectors?.[0]
        return vector === undefined
          ? null
          : { meaning: { bucket, wording: wordingOf(question.text), vector }, threshold }
      })
    })
}
