/** Bills: those of open months from the sums, those of closed ones as they were closed. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { makeLane } from "../../kernel/Lane.ts"
import type { StoreError } from "../../store/Errors.ts"
import type { ReadRefused } from "../../store/engine/ReadWorker.ts"
import { UsageJournal } from "../../store/usage/UsageJournal.ts"
import { type Directory, teamsFrom } from "../people/Owners.ts"
import { People } from "../people/People.ts"
import { hoursKeptMs } from "../usageHistory/entity.ts"
import { makeNames } from "../usage/RowFacts.ts"
import * as Errors from "../Errors.ts"
import { type BillLine, BillReport, type ClosedBill, type Span, type TaggedLine, type TeamsAbove } from "./entity.ts"
import { BillRepo } from "./repo.ts"
import { type Billed, BillSumsRepo, hoursSince, isWhole } from "./BillSumsRepo.ts"
import { linesByTag, spanOfMonth, textOf } from "./rules.ts"

export interface Bill {
  readonly report: BillReport
  /** Null: the month is open, and what the bill says may change. */
  readonly closed: {
    readonly atMs: number
    readonly checksum: string
    /** The checksum is that of the report. */
    readonly isIntact: boolean
  } | null
  /** Sentences on the parts that are not exact. */
  readonly inexact: ReadonlyArray<string>
}

export interface MonthQuery {
  /** `YYYY-MM`. */
  readonly month: string
  readonly timeZone: string
}

export class Bills extends Context.Tag("gateway/subjects/bills/Bills")<
  Bills,
  {
    readonly bill: (query: MonthQuery) => Effect.Effect<Bill, ReadRefused | StoreError>
    /** Sums of any part of time, of closed months as well, with the names and rates of now. */
    readonly spent: (
      span: Span
    ) => Effect.Effect<Pick<BillReport, "lines" | "names" | "rates">, ReadRefused | StoreError>
    /** Reads the lines of a month by tag, as far as the log has its rows. */
    readonly byTag: (query: MonthQuery) => Effect.Effect<ReadonlyArray<TaggedLine>, ReadRefused | StoreError>
    /** The tree of teams as it is now. */
    readonly teamsAbove: () => TeamsAbove
    /** Freezes the bill of a month that is over; what comes later is a correction on the next one that is closed. */
    readonly close: (query: MonthQuery) => Effect.Effect<Bill, Errors.StateConflict | ReadRefused | StoreError>
    /** Oldest first. */
    readonly closed: Effect.Effect<ReadonlyArray<Bill>, StoreError>
  }
>() {}

const checksumOf = (text: string): string => createHash("sha256").update(text).digest("hex")

const idOf = ({ month, timeZone }: MonthQuery): string => `${month}/${timeZone}`

const reportIn = Schema.decodeSync(Schema.parseJson(BillReport))

const frozen = ({ checksum, createdAtMs, report }: ClosedBill): Bill => ({
  report: reportIn(report),
  closed: { atMs: createdAtMs, checksum, isIntact: checksumOf(report) === checksum },
  inexact: []
})

const daysOnly = (timeZone: string): ReadonlyArray<string> => [
  `Sums by hour are kept for ${hoursKeptMs / 86_400_000} days: what is older begins and ends by the days of UTC where its rows were deleted, not by those of ${timeZone}.`
]

const teamsAboveIn = (directory: Directory): TeamsAbove => ({
  idsOf: (teamId) =>
    teamsFrom(directory, teamId)
      .slice(1)
      .map(({ id }) => id),
  nameOf: (teamId) => directory.teams.get(teamId)?.name
})

const nothingBilled: Billed = { months: [], lastSeq: 0 }

const idsIn = (lines: ReadonlyArray<BillLine>, name: "key" | "person" | "team"): ReadonlyArray<string> =>
  [...new Set(lines.map((line) => line[name]))].filter((id) => id !== "")

const named = (
  ids: ReadonlyArray<string>,
  nameOf: (id: string) => string | null | undefined
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    ids.flatMap((id) => {
      const name = nameOf(id) ?? null
      return name === null ? [] : [[id, name] as const]
    })
  )

/** Names of the people, teams and keys in lines of a bill, and those rates of the teams that are not 1. */
const describe = (
  lines: ReadonlyArray<BillLine>,
  { teams, users }: Directory,
  keyName: (id: string) => string | null | undefined
): Pick<BillReport, "names" | "rates"> => ({
  names: {
    person: named(idsIn(lines, "person"), (id) => users.get(id)?.name),
    team: named(idsIn(lines, "team"), (id) => teams.get(id)?.name),
    key: named(idsIn(lines, "key"), keyName)
  },
  rates: Object.fromEntries(
    idsIn(lines, "team").flatMap((id) => {
      const rate = teams.get(id)?.rate ?? 1
      return rate === 1 ? [] : [[id, rate] as const]
    })
  )
})

export const make = Effect.gen(function* () {
  const journal = yield* UsageJournal
  const names = yield* makeNames
  const people = yield* People
  const repo = yield* BillRepo
  const sums = yield* BillSumsRepo
  const { inTurn } = makeLane(1)

  /** Months of the same zone that were closed. */
  const billedIn = (timeZone: string, all: ReadonlyArray<ClosedBill>): Billed => {
    const own = all.filter((each) => each.timeZone === timeZone)
    return {
      months: own.map(({ month }) => ({ month, ...spanOfMonth(month, timeZone) })),
      lastSeq: Math.max(0, ...own.map(({ lastSeq }) => lastSeq))
    }
  }

  /** Sums of a span with the names and rates of now. */
  const summed = Effect.fnUntraced(function* (span: Span, before: Billed) {
    yield* journal.catchUp
    const splitMs = hoursSince(yield* Clock.currentTimeMillis, hoursKeptMs)
    const found = yield* sums.sums(span, splitMs, before)
    const all = [...found.lines, ...found.corrections]
    const keyName = yield* names("key", idsIn(all, "key"))
    return { ...found, ...describe(all, people.directory(), keyName), isWhole: isWhole(span, splitMs) }
  })

  const open = Effect.fnUntraced(function* ({ month, timeZone }: MonthQuery) {
    const span = spanOfMonth(month, timeZone)
    const found = yield* summed(span, billedIn(timeZone, yield* repo.list))
    const { corrections, lines, names: described, rates } = found
    const report: BillReport = { month, timeZone, ...span, lines, corrections, names: described, rates }
    return { report, lastSeq: found.lastSeq, inexact: found.isWhole ? [] : daysOnly(timeZone) }
  })

  const spent = Effect.fn("Bills.spent")((span: Span) => summed(span, nothingBilled))

  const bill = Effect.fn("Bills.bill")(function* (query: MonthQuery) {
    const known = yield* repo.get(idOf(query))
    if (known !== null) return frozen(known)
    const { inexact, report } = yield* open(query)
    return { report, inexact, closed: null }
  })

  const byTag = Effect.fn("Bills.byTag")(function* ({ month, timeZone }: MonthQuery) {
    yield* journal.catchUp
    return linesByTag(yield* sums.tagged(spanOfMonth(month, timeZone)))
  })

  const close = Effect.fn("Bills.close")(function* (query: MonthQuery) {
    const { month, timeZone } = query
    const already = Errors.conflict(`The month ${month} is closed already.`, "month")
    if ((yield* repo.get(idOf(query))) !== null) return yield* already
    const nowMs = yield* Clock.currentTimeMillis
    if (nowMs < spanOfMonth(month, timeZone).untilMs) {
      return yield* Errors.conflict(`The month ${month} is not over in ${timeZone}.`, "month")
    }
    const { lastSeq, report } = yield* open(query)
    const text = textOf(report)
    const made: ClosedBill = {
      id: idOf(query),
      month,
      timeZone,
      lastSeq,
      checksum: checksumOf(text),
      report: text,
      createdAtMs: nowMs
    }
    yield* Effect.catchTag(repo.insert(made), "AlreadyStored", () => already)
    return frozen(made)
  }, inTurn)

  return Bills.of({
    bill,
    spent,
    byTag,
    teamsAbove: () => teamsAboveIn(people.directory()),
    close,
    closed: Effect.map(repo.list, (all) => all.map(frozen))
  })
})

export const layer: Layer.Layer<
  Bills,
  never,
  BillRepo | BillSumsRepo | People | UsageJournal | Effect.Effect.Context<typeof makeNames>
> = Layer.effect(Bills, make)
