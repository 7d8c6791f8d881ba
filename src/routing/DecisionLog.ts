/**
 * The last decisions, so that every choice can be asked for afterwards (`GET /api/routing/decisions/{requestId}`).
 * Features only, never prompt text. Bounded: the oldest are forgotten.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type { DecisionRecord } from "../domain/Decision.ts"

export const capacity = 2_000

export class DecisionLog extends Context.Tag("gateway/routing/DecisionLog")<
  DecisionLog,
  {
    /** Hot. */
    readonly record: (decision: DecisionRecord) => void
    readonly get: (requestId: string) => DecisionRecord | null
  }
>() {}

export const make = () => {
  const byRequest = new Map<string, DecisionRecord>()
  return DecisionLog.of({
    record: (decision) => {
      if (byRequest.size >= capacity) {
        const oldest = byRequest.keys().next()
        if (!oldest.done) byRequest.delete(oldest.value)
      }
      byRequest.set(decision.requestId, decision)
    },
    get: (requestId) => byRequest.get(requestId) ?? null
  })
}

export const layer: Layer.Layer<DecisionLog> = Layer.sync(DecisionLog, make)
