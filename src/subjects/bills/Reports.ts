/** Tells webhooks what a week or a month has cost, once it is over; while no webhook wants to know, nothing is summed. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Events } from "../../observe/Events.ts"
import { Claims } from "../../plane/state/Claims.ts"
import { wants } from "../webhooks/entity.ts"
import { Outbox } from "../webhooks/Outbox.ts"
import { reportPeriods } from "./entity.ts"
import { ReportRepo } from "./ReportRepo.ts"
import { Bills } from "./service.ts"
import { idOfPeriod, lastPeriod, reportOf, untilNextMs, type ZonedPeriod } from "./SpendReports.ts"

/** A webhook that is made meanwhile, or a database that was away, is looked for so often. */
const looksEveryMs = 3_600_000
/** A report that is later than this, because the gateway was stopped, is not told. */
const mostLateMs = 3 * 86_400_000

export const eventOf = { weekly: "report.weekly", monthly: "report.monthly" } as const

/** Makes the look at what is over; it never fails, and tells of each week and month once in each zone. */
export const makeLooks = Effect.gen(function* () {
  const bills = yield* Bills
  const events = yield* Events
  const outbox = yield* Outbox
  const repo = yield* ReportRepo
  const { holds } = yield* Claims

  /** Each week and month that is told, in each zone in which a webhook wants it. */
  const wanted = Effect.sync((): ReadonlyArray<ZonedPeriod> => {
    return reportPeriods.flatMap((period) => {
      const those = outbox.webhooks().filter((webhook) => wants(webhook, eventOf[period]))
      return [...new Set(those.map(({ timeZone }) => timeZone))].map((timeZone) => ({ period, timeZone }))
    })
  })

  const tell = Effect.fn("Reports.tell")(function* (zoned: ZonedPeriod) {
    const { period } = zoned
    const nowMs = yield* Clock.currentTimeMillis
    const span = lastPeriod(zoned, nowMs)
    const id = idOfPeriod(zoned, span)
    if (nowMs - span.untilMs > mostLateMs || (yield* repo.get(id)) !== null) return
    const before = yield* bills.spent(lastPeriod(zoned, span.fromMs))
    const report = reportOf(zoned, span, yield* bills.spent(span), before)
    // Another gateway on the database may have told it meanwhile.
    yield* repo.insert({ id, createdAtMs: nowMs })
    events.publish({ type: eventOf[period], atMs: nowMs, report })
  })

  const look = Effect.flatMap(
    Effect.map(wanted, (all) => (holds("reports") ? all : [])),
    Effect.forEach(
      (zoned) =>
        tell(zoned).pipe(
          Effect.catchTag("AlreadyStored", () => Effect.void),
          Effect.catchAllCause((cause) => Effect.logWarning(`The ${zoned.period} report could not be made`, cause))
        ),
      { discard: true }
    )
  )
  /** Until one of the periods that are wanted is over, or longer looks are due. Also where another gateway tells: this one may have taken that over by then. */
  const pause = Effect.flatMap(Effect.zip(Clock.currentTimeMillis, wanted), ([nowMs, zones]) =>
    Effect.sleep(Math.min(looksEveryMs, ...zones.map(({ timeZone }) => untilNextMs(timeZone, nowMs))))
  )
  return { look, pause }
})

export const layer = Layer.scopedDiscard(
  Effect.flatMap(makeLooks, ({ look, pause }) => Effect.forkScoped(Effect.forever(Effect.zipRight(look, pause))))
)
