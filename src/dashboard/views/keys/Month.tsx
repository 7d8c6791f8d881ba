/** The cost of this month by key, day by day in the reader's zone. */
import { useMemo } from "preact/hooks"
import type { AnswerOf } from "../../api/client.ts"
import { usageSeries } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Plot, type PlotSeries } from "../../ui/Plot.tsx"
import { money, nowMs } from "../../ui/format.ts"
import { words } from "../../words/keys.ts"

const height = 200
const everyMs = 60_000
/** Keys with a line of their own. */
const mostLines = 4
const colors = [1, 2, 3, 4] as const

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone

const firstOfMonth = (): string => {
  const now = new Date(nowMs())
  return `${now.getFullYear()}-${String(now.getMonth() + 1).padStart(2, "0")}-01`
}

const ask = (signal: AbortSignal) =>
  usageSeries({ query: { from: firstOfMonth(), step: "day", tz: zone, by: "apiKey", top: mostLines }, signal })

const sum = (values: ReadonlyArray<number>): number => values.reduce((total, value) => total + value, 0)

const Chart = ({ answer: { rest, series, starts } }: { readonly answer: AnswerOf<typeof usageSeries> }) => {
  const lines = useMemo<ReadonlyArray<PlotSeries>>(
    () => [
      ...series.map(({ costUsd, key, name }, index): PlotSeries => ({
        name: name ?? key ?? words.noKey,
        values: costUsd,
        color: colors[index] ?? 6,
        format: money
      })),
      ...(sum(rest.costUsd) > 0 ? [{ name: words.others, values: rest.costUsd, color: 6 as const, format: money }] : [])
    ],
    [series, rest]
  )
  return <Plot title={words.byKey} starts={starts} series={lines} height={height} />
}

export const Month = () => {
  const usage = useAnswer({ key: ["series", "month"], ask, everyMs })
  return (
    <section class="card">
      <Answered of={usage} height={height + 60}>
        {(answer) => (
          <>
            <h2>{words.month(money(sum(answer.total.costUsd)))}</h2>
            <Chart answer={answer} />
          </>
        )}
      </Answered>
    </section>
  )
}
