/**
 * A list of rows of different heights of which only those in sight are in the page. Heights are guessed until a row has been drawn; what is in
 * sight stays where it is when a guess above it proves wrong.
 */
import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks"
import { offsetsOf, rowAt } from "./tallRows.ts"

interface Properties {
  readonly label: string
  readonly count: number
  /** Guesses the height of a row, in pixels. */
  readonly guess: (index: number) => number
  readonly row: (index: number) => ComponentChildren
}

/** Pixels above and below what is in sight that are drawn as well. */
const spare = 400

export const TallList = ({ count, guess, label, row }: Properties) => {
  const scroller = useRef<HTMLDivElement>(null)
  const seen = useSignal({ top: 0, height: 600 })
  const version = useSignal(0)
  const heights = useMemo(() => Array.from({ length: count }, (_, index) => guess(index)), [count, guess])
  const offsets = useMemo(() => offsetsOf(heights), [heights, version.value])
  useEffect(() => {
    const element = scroller.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() => {
      seen.value = { top: element.scrollTop, height: element.clientHeight }
      version.value++
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [seen, version])

  const first = rowAt(offsets, seen.value.top - spare)
  const last = count === 0 ? -1 : rowAt(offsets, seen.value.top + seen.value.height + spare)
  const rows = Array.from({ length: last - first + 1 }, (_, place) => first + place)

  const measure = (): void => {
    const element = scroller.current
    if (element === null) return
    let moved = 0
    let isChanged = false
    for (const child of element.querySelectorAll<HTMLElement>(":scope > .tall-rows > [data-row]")) {
      const index = Number(child.dataset["row"])
      const height = child.offsetHeight
      const known = heights[index] ?? 0
      if (height === known) continue
      isChanged = true
      if ((offsets[index] ?? 0) < element.scrollTop) moved += height - known
      heights[index] = height
    }
    if (moved !== 0) element.scrollTop += moved
    if (isChanged) version.value++
  }
  useLayoutEffect(measure)
  useEffect(() => {
    // A row that is opened grows by itself.
    const element = scroller.current?.firstElementChild
    if (element === null || element === undefined) return undefined
    const observer = new ResizeObserver(measure)
    for (const child of element.children) observer.observe(child)
    return () => observer.disconnect()
  })
  return (
    <div
      class="tall-list"
      ref={scroller}
      role="region"
      aria-label={label}
      tabIndex={0}
      onScroll={({ currentTarget }) => {
        seen.value = { top: currentTarget.scrollTop, height: currentTarget.clientHeight }
      }}
    >
      <ol class="tall-rows" style={{ height: `${offsets.at(-1) ?? 0}px` }}>
        {rows.map((index) => (
          <li
            key={index}
            data-row={index}
            aria-setsize={count}
            aria-posinset={index + 1}
            style={{ transform: `translateY(${offsets[index] ?? 0}px)` }}
          >
            {row(index)}
          </li>
        ))}
      </ol>
    </div>
  )
}
