/**
 * Vectors that a request is better with and goes on without: asked for in the caller's name. A model that fails is left alone for a while, and the
 * log says why.
 */
import * as Effect from "effect/Effect"
import { LruMap } from "../../kernel/collections/LruMap.ts"
import type { Timers } from "../../platform/Timers.ts"
import type { Work } from "../request/Exchange.ts"
import type { Embedder, EmbeddingError } from "./Embedder.ts"

/** A request waits no longer than this. */
const embeddingTimeoutMs = 3_000
/** Time in ms for which a model is not asked again for this caller after a failure. */
export const pauseMs = 30_000
const maxPaused = 1_000

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

export interface OwnVectorsServices {
  readonly embedder: typeof Embedder.Service
  readonly timers: typeof Timers.Service
  /** Reason of a failure, for the log. */
  readonly failure: string
}

/** Hot: a function that gives the vectors in the order of the texts; null where there are none. */
export const makeOwnVectors = ({ embedder, failure, timers }: OwnVectorsServices) => {
  const paused = new LruMap<string, true>({ capacity: maxPaused, ttlMs: pauseMs })

  return (
    { exchange, owner }: Work,
    model: string,
    texts: ReadonlyArray<string>
  ): Effect.Effect<ReadonlyArray<Float32Array> | null> =>
    Effect.suspend(() => {
      const caller = JSON.stringify([owner, model])
      if (paused.get(caller, timers.monotonicMs()) !== undefined) return Effect.succeed(null)
      return embedder.embed({ principal: exchange.principal, model, texts, timeoutMs: embeddingTimeoutMs }).pipe(
        Effect.map(({ vectors }) => vectors),
        Effect.catchAll((error) => {
          paused.set(caller, true, timers.monotonicMs())
          const facts = { model, reason: reasonOf(error), pauseMs }
          return Effect.as(Effect.annotateLogs(Effect.logWarning(failure), facts), null)
        })
      )
    })
}
