/**
 * Amounts day by day, stacked by what they are for; days to come are dotted, and a line says what is allowed. Elements with heights in percent: it
 * is as wide as its place. Who cannot see it has the table that stands beside it.
 */
import { Icon } from "../Icon.tsx"
import { visible } from "../format.ts"

export interface DayStack {
  readonly name: string
  /** One of the six series of styles/tokens.css. */
  readonly color: 1 | 2 | 3 | 4 | 5 | 6
  readonly values: ReadonlyArray<number>
}

interface Properties {
  readonly title: string
  /** Names of all days, also of those to come. */
  readonly days: ReadonlyArray<string>
  readonly stacks: ReadonlyArray<DayStack>
  /** Expected beyond what is there, for each day. */
  readonly expected: ReadonlyArray<number>
  readonly expectedName: string
  readonly line: { readonly value: number; readonly name: string; readonly above: string } | null
  readonly format: (value: number) => string
  readonly dayTitle: (day: string, total: string) => string
  readonly height: number
}

const sum = (values: ReadonlyArray<number>): number => values.reduce((all, each) => all + each, 0)

const roundSteps = [1, 2, 2.5, 5, 10] as const

/** The next round number from a value on. */
const roundUp = (value: number): number => {
  if (value <= 0) return 1
  const unit = 10 ** Math.floor(Math.log10(value))
  return (roundSteps.find((step) => step * unit >= value) ?? 10) * unit
}

/** A line that is farther up than so many times the highest day would leave nothing of the days. */
const mostAbove = 3

const percentOf = (value: number, most: number): string => `${(100 * value) / most}%`

interface DayProperties extends Pick<Properties, "stacks" | "format" | "dayTitle"> {
  readonly day: string
  readonly at: number
  readonly expected: number
  readonly most: number
}

const Day = ({ at, day, dayTitle, expected, format, most, stacks }: DayProperties) => {
  const parts = stacks.map(({ color, name, values }) => ({ color, name, value: values[at] ?? 0 }))
  const total = sum(parts.map(({ value }) => value))
  const shown = parts.filter(({ value }) => value > 0)
  const title = [dayTitle(day, format(total)), ...shown.map(({ name, value }) => `${visible(name)}  ${format(value)}`)]
  return (
    <span class="day" title={title.join("\n")}>
      {expected > 0 && <span class="expected" style={{ height: percentOf(expected, most) }} />}
      {shown.toReversed().map(({ color, name, value }) => (
        <span key={name} class={`part series-${color}`} style={{ height: percentOf(value, most) }} />
      ))}
    </span>
  )
}

/** Names below the days: as many as there is room for. */
const isNamed = (at: number, count: number): boolean =>
  at === 0 || at === count - 1 || ((at + 1) % 7 === 0 && count - at > 5)

const Legend = ({ expected, expectedName, line, stacks }: Omit<Properties, "days">) => (
  <>
    {stacks.map(({ color, name }) => (
      <span key={name} class="legend">
        <span class={`mark square series-${color}`} aria-hidden="true" />
        {visible(name)}
      </span>
    ))}
    {sum(expected) > 0 && (
      <span class="legend">
        <span class="mark square expected" aria-hidden="true" />
        {expectedName}
      </span>
    )}
    {line !== null && (
      <span class="legend">
        <span class="mark limit" aria-hidden="true" />
        {line.name}
      </span>
    )}
  </>
)

export const StackedDays = (properties: Properties) => {
  const { days, dayTitle, expected, format, height, line, stacks, title } = properties
  const totals = days.map((_, at) => sum(stacks.map(({ values }) => values[at] ?? 0)) + (expected[at] ?? 0))
  const highest = Math.max(...totals, 0)
  const isLineShown = line !== null && (highest === 0 || line.value <= mostAbove * highest)
  const most = roundUp(Math.max(highest, isLineShown ? line.value * 1.05 : 0))
  return (
    <figure class="plot stacked">
      <figcaption>
        {title}
        <Legend {...properties} />
        {line !== null && !isLineShown && (
          <span class="legend">
            <Icon name="up" /> {line.above}
          </span>
        )}
      </figcaption>
      <div class="stacked-plot" style={{ height: `${height}px` }} aria-hidden="true">
        <span class="scale">
          <span>{format(most)}</span>
          <span>{format(most / 2)}</span>
          <span>{format(0)}</span>
        </span>
        <span class="days">
          {isLineShown && <span class="limit" style={{ bottom: percentOf(line.value, most) }} />}
          {days.map((day, at) => (
            <Day
              key={day}
              day={day}
              at={at}
              stacks={stacks}
              expected={expected[at] ?? 0}
              most={most}
              format={format}
              dayTitle={dayTitle}
            />
          ))}
        </span>
      </div>
      <div class="day-names" aria-hidden="true">
        {days.map((day, at) => (
          <span key={day}>{isNamed(at, days.length) ? day : ""}</span>
        ))}
      </div>
    </figure>
  )
}
