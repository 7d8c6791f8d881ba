/** Cost and requests of the key, day by day in the reader's zone. */
import { useMemo } from "preact/hooks"
import type { AnswerOf } from "../../api/client.ts"
import { usageMeSeries } from "../../api/calls.generated.ts"
import { askAs } from "../../api/own.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Plot, type PlotSeries } from "../../ui/plots/Plot.tsx"
import { money, nowMs, short } from "../../ui/format.ts"
import { words } from "../../words/me.ts"

const rangeMs = 30 * 86_400_000
export const height = 180
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** The last thirty days in the reader's zone. */
export const lastDays = () =>
  ({ from: new Date(nowMs() - rangeMs).toISOString().slice(0, 10), step: "day", tz: zone }) as const

const ask = (signal: AbortSignal) =>
  askAs(usageMeSeries, {
    query: lastDays(),
    signal
  })

export const Chart = ({
  answer: { starts, total }
}: {
  readonly answer: Pick<AnswerOf<typeof usageMeSeries>, "starts" | "total">
}) => {
  const series = useMemo<ReadonlyArray<PlotSeries>>(
    () => [
      { name: words.series.requests, values: total.requests, color: 1, format: short, isColumns: true },
      { name: words.series.cost, values: total.costUsd, color: 2, format: money, isRight: true }
    ],
    [total]
  )
  return <Plot title={words.spend} starts={starts} series={series} height={height} />
}

export const Spend = () => {
  const usage = useAnswer({ key: ["own", "series"], ask })
  return (
    <section class="card">
      <h2>{words.spend}</h2>
      <Answered of={usage} height={height + 40}>
        {(answer) => <Chart answer={answer} />}
      </Answered>
    </section>
  )
}
