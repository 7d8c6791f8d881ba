/**
 * What a request asks, as a vector: by an embedding model, asked in the caller's name. A model that fails costs a hit, never a request, and is
 * left alone for a while.
 */
import * as Effect from "effect/Effect"
import { cacheKey } from "../../../cache/CacheKey.ts"
import { wordingOf } from "../../../cache/semantic/Wording.ts"
import type { Meaning } from "../../../domain/CachedAnswer.ts"
import type { GatewaySettings } from "../../../flags/GatewaySettings.ts"
import { LruMap } from "../../../kernel/LruMap.ts"
import type { Timers } from "../../../platform/Timers.ts"
import type { Embedder, EmbeddingError } from "../../embedding/Embedder.ts"
import type { Work } from "../../request/Exchange.ts"
import { questionOf } from "./Question.ts"

/** A request waits no longer than this to learn what it asks. */
const embeddingTimeoutMs = 3_000
/** After a failure the model is not asked again for this caller. */
export const pauseMs = 30_000
const maxPaused = 1_000

/** Longer questions are not compared: a vector tells little of one detail among many. */
const maxQuestionChars = 2_000

export interface MeaningOf {
  readonly meaning: Meaning
  /** From which on two questions say the same. */
  readonly threshold: number
}

export interface Services {
  readonly embedder: typeof Embedder.Service
  readonly settings: typeof GatewaySettings.Service
  readonly timers: typeof Timers.Service
}

const reasonOf = (error: EmbeddingError): string => {
  switch (error._tag) {
    case "NotEmbeddable":
      return error.reason
    case "EmbeddingFailed":
      return `status ${error.status}: ${error.reason}`
    case "EmbeddingTimedOut":
      return `no answer within ${error.timeoutMs} ms`
  }
}

/** Null where the request is not compared by its meaning. `fields`: see `cacheKey`. */
export const makeMeanings = ({ embedder, settings, timers }: Services) => {
  const paused = new LruMap<string, true>({ capacity: maxPaused, ttlMs: pauseMs })

  const embedded = (work: Work, model: string, text: string) =>
    embedder.embed({ principal: work.exchange.principal, model, texts: [text], timeoutMs: embeddingTimeoutMs }).pipe(
      Effect.map(({ vectors: [vector] }) => vector ?? null),
      Effect.catchAll((error) => {
        paused.set(JSON.stringify([work.owner, model]), true, timers.monotonicMs())
        const facts = { model, reason: reasonOf(error), pauseMs }
        return Effect.as(
          Effect.annotateLogs(
            Effect.logWarning("The cache could not compare a request by its meaning; it goes on without"),
            facts
          ),
          null
        )
      })
    )

  return (work: Work, fields: string): Effect.Effect<MeaningOf | null> =>
    Effect.suspend(() => {
      const { enabled, model, threshold } = settings.current().cache.semantic
      if (!enabled || model === null) return Effect.succeed(null)
      if (paused.get(JSON.stringify([work.owner, model]), timers.monotonicMs()) !== undefined)
        return Effect.succeed(null)
      const question = questionOf(work.exchange.wire, work.parsed, maxQuestionChars)
      if (question === null) return Effect.succeed(null)
      const bucket = cacheKey(JSON.stringify(["semantic", model, fields]), question.rest)
      return Effect.map(embedded(work, model, question.text), (vector) =>
        vector === null ? null : { meaning: { bucket, wording: wordingOf(question.text), vector }, threshold }
      )
    })
}
