/**
 * Keeps the usage log within the limits of `/api/settings` (`usage`): its rows are added to the sums by hour and day in the background, in
 * small steps with pauses between them, and what is in the sums may be deleted.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { claimed } from "../../plane/state/Claims.ts"
import { makeLane } from "../../kernel/Lane.ts"
import { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import type { StoreError } from "../../store/Errors.ts"
import { SettingsRepo } from "../../subjects/settings/repo.ts"
import { type Expired, UsageSumsRepo } from "../../subjects/usage/UsageSumsRepo.ts"
import { UsageJournal } from "../../store/usage/UsageJournal.ts"

export class UsageRetention extends Context.Tag("gateway/observe/usage/UsageRetention")<
  UsageRetention,
  {
    /**
     * Deletes the rows of requests that arrived before a time (epoch milliseconds), some at a time; returns how many. Their sums stay. One that is
     * cut off, by its caller or by a stop, is gone on with in the background.
     */
    readonly purge: (beforeMs: number) => Effect.Effect<number, StoreError>
    /** Adds to the sums, and waits until every row of the log is in them. */
    readonly sumAll: Effect.Effect<void, StoreError>
  }
>() {}

const sumEvery = "10 seconds"
const deleteEvery = "1 minute"
const pause = Effect.sleep("4 millis")
const dayMs = 86_400_000

/** Namespace of a purge that is not over: `{beforeMs}`. */
const namespace = "usage_retention"
const key = "purge"
const Pending = Schema.Struct({ beforeMs: Schema.Number })

const pendingIn = (value: unknown): number | null =>
  Option.match(Schema.decodeUnknownOption(Pending)(value), { onNone: () => null, onSome: ({ beforeMs }) => beforeMs })

export const make = Effect.gen(function* () {
  const settings = yield* GatewaySettings
  const sums = yield* UsageSumsRepo
  const journal = yield* UsageJournal
  const stored = yield* SettingsRepo
  const oneAtATime = makeLane(1)

  /** Repeats a step with pauses until it has nothing left to do. */
  const whileSome = (step: Effect.Effect<number, StoreError>): Effect.Effect<number, StoreError> =>
    Effect.iterate(
      { all: 0, last: 1 },
      {
        while: ({ last }) => last > 0,
        body: ({ all }) =>
          Effect.flatMap(step, (last) => Effect.as(last > 0 ? pause : Effect.void, { all: all + last, last }))
      }
    ).pipe(Effect.map(({ all }) => all))

  const addUp = Effect.asVoid(whileSome(Effect.map(sums.sumMore, (some) => (some ? 1 : 0))))

  /**
   * Rows are deleted once the files of the journal that hold them are gone: a file that is left behind by a crash is read again at the next
   * start, and a row that is no longer in the table would be added to the sums twice.
   */
  const deleteAll = (expired: Expired) =>
    Effect.gen(function* () {
      const upTo = yield* sums.newest
      yield* journal.flush
      yield* addUp
      const nowMs = yield* Clock.currentTimeMillis
      return yield* whileSome(sums.deleteSome(expired, upTo, nowMs))
    })

  /** The time is stored until all rows before it are gone. */
  const purge = Effect.fn("UsageRetention.purge")(function* (beforeMs: number) {
    const pending = pendingIn(yield* stored.get(namespace, key))
    if (pending === null || pending < beforeMs) yield* stored.set(namespace, key, { beforeMs })
    const deleted = yield* deleteAll({ _tag: "Before", beforeMs })
    if (pending === null || pending <= beforeMs) yield* stored.remove(namespace, key)
    return deleted
  })

  const finishPurge = Effect.gen(function* () {
    const pending = pendingIn(yield* stored.get(namespace, key))
    if (pending !== null) yield* purge(pending)
  })

  const keepLimits = Effect.gen(function* () {
    yield* finishPurge
    const { maxRows, retentionDays } = settings.current().usage
    const nowMs = yield* Clock.currentTimeMillis
    yield* deleteAll({ _tag: "Before", beforeMs: nowMs - retentionDays * dayMs })
    yield* deleteAll({ _tag: "Beyond", maxRows })
    yield* whileSome(sums.deleteOldSums(nowMs))
  })

  const alone = oneAtATime.inTurn
  const orWarn = (what: string) =>
    Effect.catchAll((error: StoreError) => Effect.logWarning(`${what}: ${error.message}`))

  yield* alone(addUp).pipe(
    orWarn("Usage could not be summed up"),
    Effect.repeat(Schedule.spaced(sumEvery)),
    (summing) => claimed("usage-sums", summing),
    Effect.forkScoped
  )
  yield* alone(keepLimits).pipe(
    orWarn("Old usage rows could not be removed"),
    Effect.repeat(Schedule.spaced(deleteEvery)),
    Effect.delay(deleteEvery),
    (deleting) => claimed("usage-retention", deleting),
    Effect.forkScoped
  )

  return UsageRetention.of({
    purge: (beforeMs) => alone(purge(beforeMs)),
    sumAll: alone(addUp)
  })
})

export const layer: Layer.Layer<UsageRetention, never, GatewaySettings | SettingsRepo | UsageSumsRepo | UsageJournal> =
  Layer.scoped(UsageRetention, make)
