/** Shows the cost of a month: day by day, and a table of any two of model, key, provider, combo and day. */
import { useMemo } from "preact/hooks"
import type { AnswerOf } from "../../../api/client.ts"
import { usageHistoryBreakdown, usageSeries, type limitsBudget } from "../../../api/calls.generated.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { type DayStack, StackedDays } from "../../../ui/plots/StackedDays.tsx"
import { count, dayName, money } from "../../../ui/format.ts"
import { words } from "../../../words/keysMoney.ts"
import { useAddress } from "../address.ts"
import { Months } from "./Months.tsx"
import { Export } from "./Export.tsx"
import { costsSoFar, Figures } from "./Figures.tsx"
import { dayText, daysIn, forecastOf, perDayOf } from "./period.ts"
import { dimensions, type Split, type Stack, stacksOf, tableOf, tableOfDays } from "./split.ts"
import { SpentTable } from "./SpentTable.tsx"
import { pairsQuery, type Pairs, readShown, type Series, seriesQuery, type Shown, useMoney } from "./useMoney.ts"

type Budgets = AnswerOf<typeof limitsBudget>

const mostStacks = 5
const mostColumns = 5
const height = 220

const wordsOf = (dimension: Split) => ({ none: words.none[dimension], others: words.others })

const colored = (stacks: ReadonlyArray<Stack>): ReadonlyArray<DayStack> =>
  stacks.map(({ costs, name }, index) => ({
    name,
    values: costs,
    color: Math.min(6, index + 1) as DayStack["color"]
  }))

/** Amount that all budgets together let be spent on a day; null: there is none. */
const allowedOf = (budgets: Budgets | undefined, days: number): number | null => {
  if (budgets === undefined || !("budgets" in budgets)) return null
  const all = budgets.budgets.flatMap(({ budget }) => (budget === null ? [] : (perDayOf(budget, days) ?? [])))
  return all.length === 0 ? null : all.reduce((one, other) => one + other, 0)
}

/** A choice of one of the dimensions. */
const Choice = ({
  label,
  name,
  value
}: {
  readonly label: string
  readonly name: "by" | "and"
  readonly value: string
}) => {
  const { set } = useAddress()
  return (
    <select
      class="input short"
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => set({ [name]: currentTarget.value })}
    >
      {dimensions.map((each) => (
        <option key={each} value={each}>
          {words.dimensions[each]}
        </option>
      ))}
    </select>
  )
}

interface DaysProperties {
  readonly series: Series
  readonly stacks: ReadonlyArray<Stack>
  readonly shown: Shown
  readonly budgets: Budgets | undefined
}

const Days = ({ budgets, series, shown, stacks }: DaysProperties) => {
  const { isNow, month, stacked } = shown
  const count_ = daysIn(month)
  const costs = costsSoFar(series, month)
  const forecast = isNow ? forecastOf(costs, count_) : null
  const allowed = isNow ? allowedOf(budgets, count_) : null
  const expected = Array.from({ length: count_ }, (_, day) =>
    forecast === null || day < costs.length - 1 ? 0 : day === costs.length - 1 ? forecast.restOfToday : forecast.perDay
  )
  return (
    <StackedDays
      title={words.plot(words.dimensions[stacked])}
      days={Array.from({ length: count_ }, (_, day) => dayName(dayText(month, day + 1)))}
      stacks={colored(stacks)}
      expected={expected}
      expectedName={words.expected}
      line={
        allowed === null
          ? null
          : {
              value: allowed,
              name: words.perDay(money(allowed)),
              above: words.budgetAbove
            }
      }
      format={money}
      dayTitle={words.dayTotal}
      height={height}
    />
  )
}

const tableIn = (shown: Shown, stacks: ReadonlyArray<Stack>, pairs: Pairs | undefined, series: Series) => {
  const [by, and] = shown.dimensions
  if (by === "day" || and === "day") {
    const days = costsSoFar(series, shown.month).map((_, day) => dayName(dayText(shown.month, day + 1)))
    return tableOfDays(days, stacks)
  }
  return tableOf(pairs?.rows ?? [], mostColumns, wordsOf(and))
}

interface Properties {
  readonly budgets: Budgets | undefined
}

export const Money = ({ budgets }: Properties) => {
  const { query } = useAddress()
  const shown = readShown(query)
  const [by, and] = shown.dimensions
  const { hasBefore, last, pairs, series } = useMoney(shown)
  const answer = series.value.data
  const stacks = useMemo(
    () => (answer === undefined ? [] : stacksOf(answer, mostStacks, wordsOf(shown.stacked))),
    [answer, shown.stacked]
  )
  return (
    <section class="card stack money" aria-label={words.table}>
      <Answered of={series} height={height + 120}>
        {(found) => {
          const table = tableIn(shown, stacks, pairs.value.data, found)
          const rest = pairs.value.data?.rest
          return (
            <>
              <div class="money-head">
                <Figures series={found} pairs={pairs} last={last} shown={shown} hasBefore={hasBefore} />
                <span class="money-choices">
                  <Months month={shown.month} />
                  <span class="nowrap">
                    {words.by} <Choice label={words.byLabel} name="by" value={by} /> ×{" "}
                    <Choice label={words.andLabel} name="and" value={and} />
                  </span>
                  <Export shown={shown} table={table} pairs={pairs.value.data} />
                </span>
              </div>
              {found.total.requests.every((each) => each === 0) ? (
                <div class="empty">
                  <p>{words.nothing}</p>
                  <p class="quiet">{words.nothingHint}</p>
                </div>
              ) : (
                <div class="money-body">
                  <Days series={found} stacks={stacks} shown={shown} budgets={budgets} />
                  <SpentTable table={table} shown={shown} />
                </div>
              )}
              {found.inexact.map((sentence) => (
                <p key={sentence} class="quiet">
                  {sentence}
                </p>
              ))}
              {rest !== undefined && rest.requests > 0 && (
                <p class="quiet">
                  {words.cut(rest.requests, money(rest.costUsd)).replace(String(rest.requests), count(rest.requests))}
                </p>
              )}
              <CopyAs
                call={by === "day" || and === "day" ? usageSeries : usageHistoryBreakdown}
                query={by === "day" || and === "day" ? seriesQuery(shown) : pairsQuery(shown)}
              />
            </>
          )
        }}
      </Answered>
    </section>
  )
}
