/** Counts what the compression of prompts saves, and keeps it by day. Counts are written behind the requests. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { makeLane } from "../../kernel/Lane.ts"
import type { CompressionCounts } from "../../subjects/compression/entity/CompressionCounts.ts"
import type { StoreError } from "../../store/Errors.ts"
import { CompressionCountsRepo } from "../../subjects/compression/CompressionCountsRepo.ts"

export interface CountedRequest {
  /** Epoch milliseconds. */
  readonly atMs: number
  readonly mode: string
  readonly source: string
  /** Tokens of its texts; null: nothing was changed. */
  readonly tokens: { readonly before: number; readonly after: number } | null
}

export class CompressionAnalytics extends Context.Tag("gateway/plane/compression/Analytics")<
  CompressionAnalytics,
  {
    /** Hot. */
    readonly count: (request: CountedRequest) => void
    /** Sums the last days, today included; everything that was counted before is in it. */
    readonly lastDays: (days: number) => Effect.Effect<ReadonlyArray<CompressionCounts>, StoreError>
  }
>() {}

const dayMs = 86_400_000
const writeEvery = "5 seconds"
/** Days that are kept. */
export const keptDays = 366

/** Writes the day in UTC. */
const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10)

export const make = Effect.gen(function* () {
  const repo = yield* CompressionCountsRepo
  const oneAtATime = makeLane(1).inTurn
  let counted = new Map<string, CompressionCounts>()
  /** The day on which old days were removed last. */
  let trimmedOn = ""

  const add = (one: CompressionCounts): void => {
    const key = JSON.stringify([one.day, one.mode, one.source])
    const before = counted.get(key)
    if (before === undefined) return void counted.set(key, one)
    counted.set(key, {
      ...one,
      requests: before.requests + one.requests,
      changed: before.changed + one.changed,
      tokensBefore: before.tokensBefore + one.tokensBefore,
      tokensAfter: before.tokensAfter + one.tokensAfter
    })
  }

  const restore = (counts: ReadonlyArray<CompressionCounts>): void => {
    for (const one of counts) add(one)
  }

  const write = oneAtATime(
    Effect.suspend(() => {
      if (counted.size === 0) return Effect.void
      const taken = [...counted.values()]
      counted = new Map()
      // What could not be written is written the next time.
      return Effect.tapError(repo.add(taken), () => Effect.sync(() => restore(taken)))
    })
  )

  const trim = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    const today = dayOf(nowMs)
    if (today === trimmedOn) return
    yield* repo.trim(dayOf(nowMs - keptDays * dayMs))
    trimmedOn = today
  })

  const inBackground = Effect.zipRight(write, trim).pipe(
    Effect.catchAll((error) => Effect.logWarning("Counts of the compression could not be written", error))
  )

  yield* Effect.addFinalizer(() => inBackground)
  yield* Effect.forkScoped(Effect.schedule(inBackground, Schedule.spaced(writeEvery)))

  return CompressionAnalytics.of({
    count: ({ atMs, mode, source, tokens }) =>
      add({
        day: dayOf(atMs),
        mode,
        source,
        requests: 1,
        changed: tokens === null ? 0 : 1,
        tokensBefore: tokens?.before ?? 0,
        tokensAfter: tokens?.after ?? 0
      }),
    lastDays: Effect.fn("CompressionAnalytics.lastDays")(function* (days: number) {
      // What cannot be written now is missing until it is.
      yield* inBackground
      return yield* repo.since(dayOf((yield* Clock.currentTimeMillis) - (days - 1) * dayMs))
    })
  })
})

export const layer: Layer.Layer<CompressionAnalytics, never, CompressionCountsRepo> = Layer.scoped(
  CompressionAnalytics,
  make
)
