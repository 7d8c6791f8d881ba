/** Tells webhooks what a week or a month has cost, once it is over; while no webhook wants to know, nothing is summed. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Events } from "../../observe/Events.ts"
import { Claims } from "../../plane/state/Claims.ts"
import { wants } from "../webhooks/entity.ts"
import { Outbox } from "../webhooks/Outbox.ts"
import { type ReportPeriod, reportPeriods } from "./entity.ts"
import { ReportRepo } from "./ReportRepo.ts"
import { Bills } from "./service.ts"
import { idOfPeriod, lastPeriod, reportOf, untilNextMs } from "./SpendReports.ts"

/** A webhook that is made meanwhile, or a database that was away, is looked for so often. */
const looksEveryMs = 3_600_000
/** A report that is later than this, because the gateway was stopped, is not told. */
const mostLateMs = 3 * 86_400_000

export const eventOf = { weekly: "report.weekly", monthly: "report.monthly" } as const

/** Makes the look at what is over; it never fails, and tells of each week and month once. */
export const makeLook = Effect.gen(function* () {
  const bills = yield* Bills
  const events = yield* Events
  const outbox = yield* Outbox
  const repo = yield* ReportRepo
  const { holds } = yield* Claims

  const isWanted = (period: ReportPeriod): boolean =>
    holds("reports") && outbox.webhooks().some((webhook) => wants(webhook, eventOf[period]))

  const tell = Effect.fn("Reports.tell")(function* (period: ReportPeriod) {
    const nowMs = yield* Clock.currentTimeMillis
    const span = lastPeriod(period, nowMs)
    const id = idOfPeriod(period, span)
    if (!isWanted(period) || nowMs - span.untilMs > mostLateMs || (yield* repo.get(id)) !== null) return
    const before = yield* bills.spent(lastPeriod(period, span.fromMs))
    const report = reportOf(period, span, yield* bills.spent(span), before)
    // Another gateway on the database may have told it meanwhile.
    yield* repo.insert({ id, createdAtMs: nowMs })
    events.publish({ type: eventOf[period], atMs: nowMs, report })
  })

  return Effect.forEach(
    reportPeriods,
    (period) =>
      tell(period).pipe(
        Effect.catchTag("AlreadyStored", () => Effect.void),
        Effect.catchAllCause((cause) => Effect.logWarning(`The ${period} report could not be made`, cause))
      ),
    { discard: true }
  )
})

const pause = Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
  Effect.sleep(Math.min(looksEveryMs, untilNextMs(nowMs)))
)

export const layer = Layer.scopedDiscard(
  Effect.flatMap(makeLook, (look) => Effect.forkScoped(Effect.forever(Effect.zipRight(look, pause))))
)
