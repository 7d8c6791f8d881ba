/** The month in figures: what it has cost, how that compares, what is to be expected, and what caches have saved. */
import type { ReadonlySignal } from "@preact/signals"
import type { Result } from "../../../api/queries.ts"
import { Icon } from "../../../ui/Icon.tsx"
import { State } from "../../../ui/State.tsx"
import { money, monthName, nowMs, percent } from "../../../ui/format.ts"
import { words } from "../../../words/keysMoney.ts"
import { changeOf, daysIn, daysOver, forecastOf, type Month, textOfMonth } from "./period.ts"
import type { Pairs, Series, Shown } from "./useMoney.ts"

const sum = (values: ReadonlyArray<number>): number => values.reduce((all, each) => all + each, 0)

/** Costs of the days that have begun. */
export const costsSoFar = ({ total }: Series, month: Month): ReadonlyArray<number> => {
  const over = daysOver(month, nowMs())
  return over === null ? total.costUsd : total.costUsd.slice(0, over + 1)
}

interface ChangeProperties {
  readonly costs: ReadonlyArray<number>
  readonly last: Pairs | undefined
  readonly shown: Shown
  readonly hasBefore: boolean
}

const Change = ({ costs, hasBefore, last, shown }: ChangeProperties) => {
  if (!hasBefore) return <span class="quiet">{words.noDays}</span>
  if (last === undefined) return null
  const change = changeOf(sum(shown.isNow ? costs.slice(0, -1) : costs), last.total.costUsd)
  if (change === null) return <span class="quiet">{words.noLast}</span>
  const text = percent(Math.abs(change))
  return (
    <span>
      <Icon name={change < 0 ? "down" : "up"} />{" "}
      {(shown.isNow ? words.onLast : words.onWholeLast)(`${change < 0 ? "−" : "+"}${text}`)}
    </span>
  )
}

interface Properties {
  readonly series: Series
  readonly pairs: ReadonlySignal<Result<Pairs>>
  readonly last: ReadonlySignal<Result<Pairs>>
  readonly shown: Shown
  readonly hasBefore: boolean
}

export const Figures = ({ hasBefore, last, pairs, series, shown }: Properties) => {
  const costs = costsSoFar(series, shown.month)
  const forecast = shown.isNow ? forecastOf(costs, daysIn(shown.month)) : null
  const saved = pairs.value.data?.total.cacheSavedUsd ?? 0
  return (
    <p class="money-figures">
      <span>
        <strong class="big">{money(sum(costs))}</strong>{" "}
        {shown.isNow ? words.spent.now : words.spent.then(monthName(textOfMonth(shown.month)))}
      </span>
      <Change costs={costs} last={last.value.data} shown={shown} hasBefore={hasBefore} />
      {forecast !== null && forecast.month > 0 && <span>{words.forecast(money(forecast.month))}</span>}
      {saved > 0 && (
        <span title={words.savedHint}>
          <State kind="good">{words.saved(money(saved))}</State>
        </span>
      )}
    </p>
  )
}
