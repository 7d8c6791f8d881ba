/** Asks what a month has cost: day by day, by two dimensions, and in the same days of the month before. */
import type { AnswerOf } from "../../../api/client.ts"
import { usageHistoryBreakdown, usageSeries } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { nowMs } from "../../../ui/format.ts"
import { dayText, daysOver, type Month, monthOf, movedBy, readMonth, textOfMonth } from "./period.ts"
import { type Dimension, readDimensions, type Split, stackedBy } from "./split.ts"

export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
const everyMs = 60_000
/** Series of which the dearest are chosen: those with the most requests. */
const mostSeries = 30
const mostPairs = 500

export type Series = AnswerOf<typeof usageSeries>
export type Pairs = AnswerOf<typeof usageHistoryBreakdown>

export interface Shown {
  readonly dimensions: readonly [Dimension, Dimension]
  readonly stacked: Split
  readonly month: Month
  readonly isNow: boolean
}

/** Reads what an address asks for; a month that is to come is this one. */
export const readShown = (query: Readonly<Record<string, string>>): Shown => {
  const dimensions = readDimensions(query["by"], query["and"])
  const now = monthOf(nowMs())
  const asked = readMonth(query["month"] ?? "")
  const month = asked === null || textOfMonth(asked) > textOfMonth(now) ? now : asked
  return { dimensions, stacked: stackedBy(dimensions), month, isNow: textOfMonth(month) === textOfMonth(now) }
}

/** From the first day of a month to its end, as queries name it. */
export const rangeOf = (month: Month) => ({ from: dayText(month, 1), to: dayText(movedBy(month, 1), 1), tz: zone })

/** The query of the table: two dimensions of which none is the day. */
export const pairsQuery = ({ dimensions: [by, and], month, stacked }: Shown) => ({
  ...rangeOf(month),
  by: by === "day" ? stacked : by,
  ...(and === "day" || by === "day" ? {} : { and }),
  top: mostPairs
})

export const seriesQuery = ({ month, stacked }: Shown) => ({
  ...rangeOf(month),
  by: stacked,
  step: "day" as const,
  top: mostSeries
})

/** The days of the month before that are compared with those of this one that are over; null: none is. */
const beforeRange = ({ month }: Shown): { readonly from: string; readonly to: string; readonly tz: string } | null => {
  const over = daysOver(month, nowMs())
  const last = movedBy(month, -1)
  if (over === 0) return null
  if (over === null) return rangeOf(last)
  const end = dayText(last, over + 1)
  const { from, to, tz } = rangeOf(last)
  return { from, to: end < to ? end : to, tz }
}

export const useMoney = (shown: Shown) => {
  const series = useAnswer({
    key: ["money", "series", seriesQuery(shown)],
    ask: (signal) => usageSeries({ query: seriesQuery(shown), signal }),
    everyMs
  })
  const pairs = useAnswer({
    key: ["money", "pairs", pairsQuery(shown)],
    ask: (signal) => usageHistoryBreakdown({ query: pairsQuery(shown), signal }),
    everyMs
  })
  const before = beforeRange(shown)
  const last = useAnswer({
    key: ["money", "before", before],
    ask: (signal) => usageHistoryBreakdown({ query: { ...before, by: "outcome", top: 1 }, signal }),
    when: before !== null
  })
  return { series, pairs, last, hasBefore: before !== null }
}
