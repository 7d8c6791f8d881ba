/** Bills as the contract shows them. */
import { csv } from "../../kernel/text/Csv.ts"
import { nanoUsdPerUsd } from "../../contract/domain/Usage.ts"
import type { OwnedBy } from "../../store/usage/OwnedUsageSql.ts"
import type { BilledLine, ReportDimension, TaggedLine, TeamsAbove } from "./entity.ts"
import type { BillRow, BillView, ClosedBills } from "./routes.ts"
import { billed, grouped, linesFor, rolledUp, type Sums, totalOf } from "./rules.ts"
import type { Bill } from "./service.ts"

const iso = (ms: number): string => new Date(ms).toISOString()
const orNull = (text: string): string | null => (text === "" ? null : text)

const sumsView = ({ billedNanoUsd, costNanoUsd, requests, tokensIn, tokensOut, unpriced }: Sums) => ({
  requests,
  unpriced,
  tokensIn,
  tokensOut,
  costUsd: costNanoUsd / nanoUsdPerUsd,
  billedUsd: billedNanoUsd / nanoUsdPerUsd
})

const rowOf =
  ({ report: { names } }: Bill, teamsAbove: TeamsAbove | null) =>
  (line: BilledLine): BillRow => ({
    person: orNull(line.person),
    personName: names.person[line.person] ?? null,
    team: orNull(line.team),
    teamName: names.team[line.team] ?? teamsAbove?.nameOf(line.team) ?? null,
    key: orNull(line.key),
    keyName: names.key[line.key] ?? null,
    provider: orNull(line.provider),
    model: orNull(line.model),
    tag: orNull(line.tag),
    ...sumsView(line)
  })

const ofTags =
  "A request is in the row of each of its tags, so that rows by tag may add up to more than the total. They are made of the log: what was deleted from it is in the total alone."

const ofTeams =
  "A request is in the row of each team above its own too, by the tree of now, so that rows by team add up to more than the total."

/** Parts that are asked for besides: the lines by tag, and what teams below others have cost in those as well. */
export interface BillMore {
  readonly tagged: ReadonlyArray<TaggedLine> | null
  readonly teamsAbove: TeamsAbove | null
}

/** `owner`: of whom alone it is shown; null: of all. */
export const billView = (
  bill: Bill,
  by: ReadonlyArray<ReportDimension>,
  owner: OwnedBy | null,
  { tagged, teamsAbove }: BillMore = { tagged: null, teamsAbove: null }
): BillView => {
  const { closed, inexact, report } = bill
  const { rates } = report
  const lines = billed(linesFor(report.lines, owner), rates)
  const corrections = billed(linesFor(report.corrections, owner), rates)
  const months = [...new Set(corrections.map(({ month }) => month))]
  const viewed = rowOf(bill, teamsAbove)
  const shown = tagged === null ? lines : billed(linesFor(tagged, owner), rates)
  // Of teams above, those that the caller sees.
  const above = (teamId: string): ReadonlyArray<string> =>
    (teamsAbove?.idsOf(teamId) ?? []).filter((id) => owner === null || owner.teamIds.includes(id))
  return {
    month: report.month,
    timezone: report.timeZone,
    from: iso(report.fromMs),
    to: iso(report.untilMs),
    closedAt: closed === null ? null : iso(closed.atMs),
    checksum: closed?.checksum ?? null,
    intact: closed?.isIntact ?? true,
    by,
    rows: grouped(teamsAbove === null ? shown : rolledUp(shown, above), by).map(viewed),
    total: sumsView(totalOf(lines)),
    corrections: months.flatMap((month) =>
      grouped(
        corrections.filter((line) => line.month === month),
        by
      ).map((line) => Object.assign({ month }, viewed(line)))
    ),
    correctionsTotal: sumsView(totalOf(corrections)),
    inexact: [...inexact, ...(tagged === null ? [] : [ofTags]), ...(teamsAbove === null ? [] : [ofTeams])]
  }
}

export const csvColumns = [
  "person",
  "personName",
  "team",
  "teamName",
  "key",
  "keyName",
  "provider",
  "model",
  "tag",
  "requests",
  "unpriced",
  "tokensIn",
  "tokensOut",
  "costUsd",
  "billedUsd"
] as const satisfies ReadonlyArray<keyof BillRow>

/** One record a row, corrections last. */
export const csvOf = ({ corrections, month, rows }: BillView): string => {
  const recordOf = (of: string, row: BillRow) => [of, ...csvColumns.map((name) => row[name])]
  return csv([
    ["month", ...csvColumns],
    ...rows.map((row) => recordOf(month, row)),
    ...corrections.map((row) => recordOf(row.month, row))
  ])
}

export const closedView = (all: ReadonlyArray<Bill>): typeof ClosedBills.Type => ({
  bills: all.flatMap(({ closed, report }) =>
    closed === null
      ? []
      : [
          {
            month: report.month,
            timezone: report.timeZone,
            closedAt: iso(closed.atMs),
            checksum: closed.checksum,
            intact: closed.isIntact,
            costUsd: totalOf(billed(report.lines, report.rates)).costNanoUsd / nanoUsdPerUsd,
            correctionsUsd: totalOf(billed(report.corrections, report.rates)).costNanoUsd / nanoUsdPerUsd
          }
        ]
  )
})
