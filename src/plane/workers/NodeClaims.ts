/**
 * Claims of gateways on one database: one of them does the work in the background that is done in the database, and one at a time renews the tokens of an
 * account. The first that asks has the work until it ends or is not heard of for some seconds; then the next one goes on (docs/cluster.md).
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { forAtMost } from "../../kernel/time/AtMost.ts"
import * as ClaimRows from "../../store/nodes/ClaimRows.ts"
import type { StoreError } from "../../store/Errors.ts"
import { all, type ClaimsShape } from "../state/Claims.ts"
import type { RenewalTurns } from "../state/Renewals.ts"

/** Work whose outcome is in the database. All other work is about what a process or its data folder has. */
const shared: ReadonlySet<string> = new Set([
  "attention",
  "batch-retention",
  "decision-retention",
  "job-retention",
  "leaderboard-sync",
  "memories",
  "model-sync",
  "price-sync",
  "reports",
  "token-sweep",
  "usage-retention",
  "usage-sums",
  "webhooks"
])

/** The one claim on all of that work: a statement every two seconds, and one gateway to look at. */
export const workClaim = "background"

export interface ClaimTimes {
  /** Time in ms until a claim of a gateway that is not heard of is another's. */
  readonly ttlMs: number
  /** Time in ms between two tries to have or keep it. */
  readonly everyMs: number
}

export const usualTimes: ClaimTimes = { ttlMs: 8_000, everyMs: 2_000 }

/** The claim while it is this process's: `lost` is done when it is not any more. */
interface Tenure {
  readonly fence: number
  readonly lost: Deferred.Deferred<void>
}

const untilTaken = Effect.fn("NodeClaims.untilTaken")(function* <A>(
  tryIt: Effect.Effect<A | null, StoreError>,
  everyMs: number
) {
  for (;;) {
    const taken = yield* tryIt
    if (taken !== null) return taken
    yield* Effect.sleep(everyMs)
  }
})

/** Claims of this process, which is `holder` over a data folder of this name; the first try is made before it is done. */
export const make = (
  holder: string,
  folder: string,
  { everyMs, ttlMs }: ClaimTimes = usualTimes
): Effect.Effect<ClaimsShape, never, SqlClient.SqlClient | Scope.Scope> =>
  Effect.gen(function* () {
    const rows = yield* ClaimRows.make
    let tenure: Tenure | null = null
    let gained = Deferred.unsafeMake<Tenure>(FiberId.none)
    let lastTakenMs = Number.NEGATIVE_INFINITY

    const lose = (): void => {
      if (tenure === null) return
      Deferred.unsafeDone(tenure.lost, Effect.void)
      tenure = null
      gained = Deferred.unsafeMake<Tenure>(FiberId.none)
    }
    const have = (fence: number, nowMs: number): void => {
      lastTakenMs = nowMs
      if (tenure?.fence === fence) return
      lose()
      tenure = { fence, lost: Deferred.unsafeMake(FiberId.none) }
      Deferred.unsafeDone(gained, Effect.succeed(tenure))
    }
    // The time before the statement counts: the row may expire that much earlier than its answer is here.
    const clock = yield* Effect.clock
    const look = Effect.suspend(() => {
      const begunMs = clock.unsafeCurrentTimeMillis()
      return rows.take(workClaim, holder, ttlMs).pipe(
        Effect.timeout(everyMs),
        Effect.match({
          onFailure: () => {
            if (clock.unsafeCurrentTimeMillis() - lastTakenMs > ttlMs - everyMs) lose()
          },
          onSuccess: (fence) => (fence === null ? lose() : have(fence, begunMs))
        })
      )
    })
    yield* look
    yield* Effect.addFinalizer(() => forAtMost("2 seconds")(rows.release(workClaim, holder)))
    yield* Effect.forkScoped(Effect.schedule(look, Schedule.spaced(everyMs)))

    const whileHeld: ClaimsShape["whileHeld"] = (key, work) => {
      if (!shared.has(key)) return all.whileHeld(key, work)
      const once = Effect.flatMap(
        Effect.suspend(() => Deferred.await(gained)),
        ({ fence, lost }) => Effect.raceFirst(Effect.as(work(fence), true), Effect.as(Deferred.await(lost), false))
      )
      return Effect.asVoid(Effect.repeat(once, { until: (isDone) => isDone }))
    }
    // A process that was stopped finds that its time is over before it has looked again.
    const isHeld = (): boolean => tenure !== null && clock.unsafeCurrentTimeMillis() - lastTakenMs < ttlMs
    return {
      whileHeld,
      holds: (key) => !shared.has(key) || isHeld(),
      own: (work) => rows.own(work, folder),
      disown: (work) => rows.disown(work, folder)
    }
  })

/** Longest time in ms that a renewal of tokens takes, beyond which another gateway may try it. */
const renewalTtlMs = 60_000
const renewalEveryMs = 100

/** Turns of gateways at the tokens of an account. */
export const turns = (holder: string): Effect.Effect<RenewalTurns, never, SqlClient.SqlClient> =>
  Effect.map(ClaimRows.make, (rows) => ({
    inTurn: (connectionId, work) => {
      const name = `renewal ${connectionId}`
      return Effect.acquireUseRelease(
        Effect.interruptible(untilTaken(rows.take(name, holder, renewalTtlMs), renewalEveryMs)),
        () => work,
        () => Effect.ignore(rows.release(name, holder))
      )
    }
  }))
