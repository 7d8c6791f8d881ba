/** Requests and cost of the last day, by the hour. */
import { useMemo } from "preact/hooks"
import type { AnswerOf } from "../../api/client.ts"
import { usageSeries } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Plot, type PlotSeries } from "../../ui/Plot.tsx"
import { money, nowMs, short } from "../../ui/format.ts"
import { words } from "../../words/home.ts"

const dayMs = 86_400_000
const everyMs = 60_000
const height = 180

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone

const ask = (signal: AbortSignal) =>
  usageSeries({ query: { from: new Date(nowMs() - dayMs).toISOString(), step: "hour", tz: zone }, signal })

const Chart = ({ answer: { starts, total } }: { readonly answer: AnswerOf<typeof usageSeries> }) => {
  const series = useMemo<ReadonlyArray<PlotSeries>>(
    () => [
      { name: words.day.requests, values: total.requests, color: 1, format: short, isColumns: true },
      { name: words.day.failed, values: total.failed, color: 5, format: short },
      { name: words.day.cost, values: total.costUsd, color: 2, format: money, isRight: true }
    ],
    [total]
  )
  return <Plot title={words.day.title} starts={starts} series={series} height={height} />
}

export const Day = () => {
  const usage = useAnswer({ key: ["series", "day"], ask, everyMs })
  return (
    <section class="card">
      <Answered of={usage} height={height + 40}>
        {(answer) => <Chart answer={answer} />}
      </Answered>
    </section>
  )
}
