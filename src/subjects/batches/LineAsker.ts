/** Asks one line of a batch when the rates of its key allow it, and waits out that no connection can be called now. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { ApiKeys } from "../auth/ApiKeys.ts"
import type { Batch } from "./entity.ts"
import { type InnerAnswer, InnerRequests } from "../../plane/InnerRequests.ts"
import { turnOf } from "../../plane/jobs/OrderedTurns.ts"
import { KeyLimits } from "../../plane/ledger/KeyLimits.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import { answeredLine, failedLine, type LineResult } from "./BatchLines.ts"
import type { Endpoint } from "./Endpoints.ts"
import { LineGate } from "./LineGate.ts"
import { principalOf } from "./LinePrincipal.ts"
import { verdictOf } from "./Retries.ts"

export interface AskedLine {
  readonly number: number
  readonly customId: string
  readonly body: JsonObject
}

/** A part of a batch: what its lines have in common. */
export type Asking = Pick<Batch, "caller" | "id" | "owner">

export class LineAsker extends Context.Tag("gateway/subjects/batches/LineAsker")<
  LineAsker,
  {
    /** Ends when there is something to record. What is interrupted is asked again. */
    readonly ask: (batch: Asking, endpoint: Endpoint, line: AskedLine) => Effect.Effect<LineResult>
  }
>() {}

/** The line has to be asked again. */
class Waiting extends Data.TaggedError("Waiting")<{ readonly retryAfterMs: number }> {}

/** Calls of a line that an upstream refused because of its own limits. */
const mostRefused = 5
const firstDelay = "250 millis"
const longestDelay = "15 seconds"
/** Longest wait, in ms, that an answer may ask for: a connection may be ready before, or be replaced. */
const mostRetryAfterMs = 60_000

const backoff = Schedule.jittered(Schedule.union(Schedule.exponential(firstDelay), Schedule.spaced(longestDelay)))

const schedule = Schedule.identity<Waiting>().pipe(
  Schedule.intersect(backoff),
  Schedule.modifyDelay(([{ retryAfterMs }], delay) =>
    Duration.max(delay, Duration.millis(Math.min(retryAfterMs, mostRetryAfterMs)))
  )
)

export const make = Effect.gen(function* () {
  const gate = yield* LineGate
  const inner = yield* InnerRequests
  const keys = yield* ApiKeys
  const limits = yield* KeyLimits

  const ask = Effect.fn("LineAsker.ask")(function* (batch: Asking, endpoint: Endpoint, line: AskedLine) {
    const { category, codec, path, wire } = endpoint
    const { body, customId, number } = line
    let refused = 0
    const once = Effect.gen(function* () {
      yield* gate.enter(batch.owner)
      const principal = principalOf(keys, batch, endpoint, yield* Clock.currentTimeMillis)
      if (typeof principal === "string") return principal
      // Other lines of the key may have come first.
      const pauseMs = principal._tag === "Key" ? limits.pauseMs(principal.key) : 0
      if (pauseMs > 0) return yield* new Waiting({ retryAfterMs: pauseMs })
      const behalf = { principal, madeFor: "order", category } as const
      return yield* inner.ask({ behalf, path, body, format: { wire, codec }, batchId: batch.id })
    }).pipe(
      // The place is another line's while this one waits.
      Effect.scoped,
      (asked) =>
        Effect.zipRight(
          turnOf(limits, () => keys.get(batch.owner)),
          asked
        ),
      Effect.flatMap((answer): Effect.Effect<InnerAnswer | string, Waiting> => {
        if (typeof answer === "string") return Effect.succeed(answer)
        const verdict = verdictOf(answer)
        if (verdict === "stopping") return Effect.never
        if (verdict === "sometimes") refused += 1
        return verdict === "record" || (verdict === "sometimes" && refused >= mostRefused)
          ? Effect.succeed(answer)
          : new Waiting({ retryAfterMs: answer.retryAfterMs ?? 0 })
      })
    )
    const answer = yield* Effect.orDie(Effect.retry(once, { schedule }))
    return typeof answer === "string"
      ? failedLine(batch.id, number, customId, { code: "api_key_unusable", message: answer, param: null })
      : answeredLine(batch.id, number, customId, answer)
  })

  return LineAsker.of({ ask })
})

export const layer: Layer.Layer<LineAsker, never, ApiKeys | InnerRequests | KeyLimits | LineGate> = Layer.effect(
  LineAsker,
  make
)
