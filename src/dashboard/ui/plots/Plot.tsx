/** Values over time as lines or columns, with the same as a table for who cannot see them. The browser's own clock gives the times. */
import { useEffect, useRef } from "preact/hooks"
import uPlot from "uplot"
import { words } from "../../words/common.ts"
import { clockTime } from "../format.ts"
import { theme } from "../preferences.ts"

export interface PlotSeries {
  readonly name: string
  readonly values: ReadonlyArray<number | null>
  /** One of the six series of styles/tokens.css. */
  readonly color: 1 | 2 | 3 | 4 | 5 | 6
  readonly format: (value: number) => string
  /** Columns from the axis up; else a line. */
  readonly isColumns?: boolean
  /** True when it has the axis at the right. */
  readonly isRight?: boolean
}

interface Properties {
  readonly title: string
  /** Beginnings of the steps, ISO 8601. */
  readonly starts: ReadonlyArray<string>
  readonly series: ReadonlyArray<PlotSeries>
  readonly height: number
}

/** Dashes by series, beside the colour. */
const dashes: Readonly<Record<PlotSeries["color"], ReadonlyArray<number>>> = {
  1: [],
  2: [6, 3],
  3: [2, 3],
  4: [10, 4],
  5: [8, 3, 2, 3],
  6: [1, 4]
}

const colorOf = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** A colour of the tokens, resolved for the theme that is drawn: a canvas knows no `light-dark()`. */
const resolved = (name: string): string => {
  const probe = document.createElement("span")
  probe.style.color = `var(${name})`
  document.body.append(probe)
  const color = getComputedStyle(probe).color
  probe.remove()
  return color === "" ? colorOf(name) : color
}

const optionsOf = ({ height, series }: Properties, width: number): uPlot.Options => {
  const quiet = resolved("--quiet")
  const line = resolved("--line")
  const axis = { stroke: quiet, grid: { stroke: line, width: 1 }, ticks: { show: false }, font: "12px system-ui" }
  const left = series.find(({ isRight }) => isRight !== true)
  const right = series.find(({ isRight }) => isRight === true)
  return {
    width,
    height,
    legend: { show: false },
    cursor: { y: false, points: { show: false } },
    scales: {
      y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.1)] },
      right: { range: (_plot, _min, max) => [0, max * 1.1 || 1] }
    },
    axes: [
      axis,
      { ...axis, values: (_plot, values) => values.map((value) => left?.format(value) ?? ""), size: 52 },
      {
        ...axis,
        scale: "right",
        side: 1,
        show: right !== undefined,
        grid: { show: false },
        values: (_plot, values) => values.map((value) => right?.format(value) ?? ""),
        size: 64
      }
    ],
    series: [
      {},
      ...series.map(({ color, isColumns, isRight, name }): uPlot.Series => {
        const stroke = resolved(`--series-${color}`)
        return {
          label: name,
          stroke,
          scale: isRight === true ? "right" : "y",
          width: isColumns === true ? 0 : 2,
          dash: [...dashes[color]],
          points: { show: false },
          ...(isColumns === true ? { fill: stroke, paths: uPlot.paths.bars?.({ size: [0.7, 40] }) } : {})
        } as uPlot.Series
      })
    ]
  }
}

const dataOf = ({ series, starts }: Properties): uPlot.AlignedData => [
  starts.map((start) => Date.parse(start) / 1_000),
  ...series.map(({ values }) => [...values])
]

const AsTable = ({ series, starts, title }: Properties) => (
  <details class="as-table">
    <summary>{words.asTable}</summary>
    <div class="scroller" tabIndex={0} role="region" aria-label={title}>
      <table class="plain-table">
        <thead>
          <tr>
            <th>{words.from}</th>
            {series.map(({ name }) => (
              <th key={name} class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {starts.map((start, index) => (
            <tr key={start}>
              <td>{clockTime(start)}</td>
              {series.map(({ format, name, values }) => {
                const value = values[index] ?? null
                return (
                  <td key={name} class="number">
                    {value === null ? words.nothing : format(value)}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  </details>
)

export const Plot = (properties: Properties) => {
  const { height, series, starts, title } = properties
  const place = useRef<HTMLDivElement>(null)
  const look = theme.value
  useEffect(() => {
    const element = place.current
    if (element === null) return undefined
    const plot = new uPlot(optionsOf(properties, element.clientWidth), dataOf(properties), element)
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    const system = matchMedia("(prefers-color-scheme: dark)")
    const redraw = (): void => plot.redraw(true)
    system.addEventListener("change", redraw)
    return () => {
      observer.disconnect()
      system.removeEventListener("change", redraw)
      plot.destroy()
    }
  }, [starts, series, height, look])
  return (
    <figure class="plot">
      <figcaption>
        {title}
        {series.map(({ color, name }) => (
          <span key={name} class="legend">
            <span class={`mark series-${color}`} aria-hidden="true" />
            {name}
          </span>
        ))}
      </figcaption>
      <div class="canvas" ref={place} style={{ height: `${height}px` }} aria-hidden="true" />
      <AsTable {...properties} />
    </figure>
  )
}
