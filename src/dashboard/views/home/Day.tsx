/** Requests and cost of the last day, by the hour, with its sums. */
import { useMemo } from "preact/hooks"
import type { AnswerOf } from "../../api/client.ts"
import type { usageHistoryAnalytics, usageSeries } from "../../api/calls.generated.ts"
import { Plot, type PlotSeries } from "../../ui/plots/Plot.tsx"
import { duration, money, percent, short } from "../../ui/format.ts"
import { words } from "../../words/home.ts"

const height = 190

interface Properties {
  readonly series: AnswerOf<typeof usageSeries>
  readonly summary: AnswerOf<typeof usageHistoryAnalytics>["summary"] | null
}

export const Day = ({ series: { starts, total }, summary }: Properties) => {
  const series = useMemo<ReadonlyArray<PlotSeries>>(
    () => [
      { name: words.day.requests, values: total.requests, color: 1, format: short, isColumns: true },
      { name: words.day.failed, values: total.failed, color: 5, format: short },
      { name: words.day.cost, values: total.costUsd, color: 2, format: money, isRight: true }
    ],
    [total]
  )
  const { figures } = words.day
  return (
    <>
      <Plot title={words.day.title} starts={starts} series={series} height={height} />
      {summary !== null && (
        <p class="day-figures">
          {summary.requests === 0 ? (
            <span class="quiet">{words.day.none}</span>
          ) : (
            <>
              <span>{figures.requests(short(summary.requests))}</span>
              <span>{figures.failed(percent(summary.failed / summary.requests))}</span>
              <span>{money(summary.costUsd)}</span>
              <span>{figures.tokens(short(summary.tokensIn), short(summary.tokensOut))}</span>
              <span>{figures.latency(duration(summary.avgLatencyMs))}</span>
            </>
          )}
        </p>
      )}
    </>
  )
}
