/** Rules of bills: the span of a month, sums of lines, and the text of a report. Pure. */
import { instantOf } from "../../kernel/time/TimeZones.ts"
import type { OwnedBy } from "../../store/usage/OwnedUsageSql.ts"
import {
  type BilledLine,
  type BillLine,
  type BillReport,
  type ReportDimension,
  reportDimensions,
  type Span,
  type TaggedLine
} from "./entity.ts"

/** The month, from its first moment by the clocks of a zone to that of the next one. */
export const spanOfMonth = (month: string, timeZone: string): Span => {
  const [year = 0, number = 1] = month.split("-").map(Number)
  const first = { day: 1, hour: 0, minute: 0 }
  const next = number === 12 ? { year: year + 1, month: 1 } : { year, month: number + 1 }
  return {
    fromMs: instantOf(timeZone, { year, month: number, ...first }),
    untilMs: instantOf(timeZone, { ...next, ...first })
  }
}

/** Selects lines that belong to a person or to teams; null: all. */
export const linesFor = <Line extends BillLine>(
  lines: ReadonlyArray<Line>,
  owner: OwnedBy | null
): ReadonlyArray<Line> =>
  owner === null ? lines : lines.filter(({ person, team }) => person === owner.userId || owner.teamIds.includes(team))

export type Sums = Omit<BilledLine, ReportDimension>

export const noSums: Sums = { requests: 0, unpriced: 0, tokensIn: 0, tokensOut: 0, costNanoUsd: 0, billedNanoUsd: 0 }

/** Lines with what is billed, by the factors of teams. */
export const billed = <Line extends BillLine | TaggedLine>(
  lines: ReadonlyArray<Line>,
  rates: BillReport["rates"]
): ReadonlyArray<Line & BilledLine> =>
  lines.map((line) => Object.assign({ tag: "" }, line, { billedNanoUsd: line.costNanoUsd * (rates[line.team] ?? 1) }))

export const added = (one: Sums, other: Sums): Sums => ({
  requests: one.requests + other.requests,
  unpriced: one.unpriced + other.unpriced,
  tokensIn: one.tokensIn + other.tokensIn,
  tokensOut: one.tokensOut + other.tokensOut,
  costNanoUsd: one.costNanoUsd + other.costNanoUsd,
  billedNanoUsd: one.billedNanoUsd + other.billedNanoUsd
})

export const totalOf = (lines: ReadonlyArray<BilledLine>): Sums => lines.reduce<Sums>(added, noSums)

/** Sums up lines by some dimensions, those that cost the most first; the others are empty. */
export const grouped = (
  lines: ReadonlyArray<BilledLine>,
  by: ReadonlyArray<ReportDimension>
): ReadonlyArray<BilledLine> => {
  const groups = new Map<string, BilledLine>()
  const isAsked = new Set(by)
  for (const line of lines) {
    const names = Object.fromEntries(
      reportDimensions.map((name) => [name, isAsked.has(name) ? line[name] : ""])
    ) as Pick<TaggedLine, ReportDimension>
    const key = JSON.stringify(reportDimensions.map((name) => names[name]))
    groups.set(key, { ...names, ...added(groups.get(key) ?? noSums, line) })
  }
  return [...groups.values()].toSorted(
    (one, other) => other.costNanoUsd - one.costNanoUsd || other.requests - one.requests
  )
}

/** Tags of a report at most: callers choose them. */
export const mostTagsOfReport = 1_000
export const otherTags = "(other)"

/** A line for each tag of each line, of the tags with the most requests; what has others only is taken together. */
export const linesByTag = (
  lines: ReadonlyArray<{ readonly line: BillLine; readonly tags: ReadonlyArray<string> }>,
  most = mostTagsOfReport
): ReadonlyArray<TaggedLine> => {
  const requests = new Map<string, number>()
  for (const { line, tags } of lines)
    for (const tag of tags) requests.set(tag, (requests.get(tag) ?? 0) + line.requests)
  const byRequests = [...requests].toSorted(
    ([one, requestsOfOne], [other, requestsOfOther]) => requestsOfOther - requestsOfOne || (one < other ? -1 : 1)
  )
  const shown = new Set(byRequests.slice(0, most).map(([tag]) => tag))
  return lines.flatMap(({ line, tags }) => {
    const known = new Set(tags.map((tag) => (shown.has(tag) ? tag : otherTags)))
    return (known.size === 0 ? [""] : [...known]).map((tag) => Object.assign({ tag }, line))
  })
}

/** Lines with each of them for the teams above its own as well: the amounts are those of its own team. */
export const rolledUp = (
  lines: ReadonlyArray<BilledLine>,
  above: (teamId: string) => ReadonlyArray<string>
): ReadonlyArray<BilledLine> =>
  lines.flatMap((line) => [line, ...above(line.team).map((team) => Object.assign({}, line, { team }))])

/** Text of a report, with its fields in one order, so that a report always has the same checksum. */
export const textOf = ({ corrections, fromMs, lines, month, names, rates, timeZone, untilMs }: BillReport): string => {
  const sorted = <A>(all: Readonly<Record<string, A>>) =>
    Object.fromEntries(Object.entries(all).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  const dimensionsOf = (line: BillLine) => ({
    person: line.person,
    team: line.team,
    key: line.key,
    model: line.model,
    provider: line.provider,
    requests: line.requests,
    unpriced: line.unpriced,
    tokensIn: line.tokensIn,
    tokensOut: line.tokensOut,
    costNanoUsd: line.costNanoUsd
  })
  return JSON.stringify({
    month,
    timeZone,
    fromMs,
    untilMs,
    lines: lines.map(dimensionsOf),
    corrections: corrections.map((line) => Object.assign({ month: line.month }, dimensionsOf(line))),
    names: { person: sorted(names.person), team: sorted(names.team), key: sorted(names.key) },
    ...(Object.keys(rates).length === 0 ? {} : { rates: sorted(rates) })
  })
}
