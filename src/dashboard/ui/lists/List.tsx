/**
 * A list of rows of one height of which only those in sight are in the page. Rows are reused by slot: scrolling changes their content and never
 * makes elements, so a hundred thousand rows cost as much as fifty.
 */
import { useSignal } from "@preact/signals"
import type { ComponentChildren, TargetedKeyboardEvent } from "preact"
import { useEffect, useRef } from "preact/hooks"

interface Properties {
  readonly label: string
  readonly count: number
  /** The first rows are on their way. */
  readonly isLoading?: boolean
  /** Height of a row, in pixels. */
  readonly rowHeight: number
  /** Titles of the columns, in a row above. */
  readonly head: ComponentChildren
  /** The cells of a row. */
  readonly row: (index: number) => ComponentChildren
  readonly rowId: (index: number) => string
  readonly selected: number
  readonly onSelect: (index: number) => void
  readonly onOpen: (index: number) => void
  /** Called when the last rows come into sight. */
  readonly onEnd?: () => void
}

/** Rows above and below what is in sight, so that a quick scroll shows no gap. */
const spare = 8
/** Rows that stand for the first ones until they have come. */
const waitingRows = 8

export const List = (properties: Properties) => {
  const { count, head, isLoading = false, label, onEnd, onOpen, onSelect, row, rowHeight, rowId, selected } = properties
  const top = useSignal(0)
  const height = useSignal(600)
  const scroller = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = scroller.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() => {
      height.value = element.clientHeight
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [height])

  const isWaiting = isLoading && count === 0
  const slots = Math.ceil(height.value / rowHeight) + 2 * spare
  const first = Math.max(0, Math.min(count - slots, Math.floor(top.value / rowHeight) - spare))
  const shown = Math.min(slots, count)
  const isAtEnd = first + shown >= count
  useEffect(() => {
    if (isAtEnd && count > 0) onEnd?.()
  }, [isAtEnd, count, onEnd])

  const moveTo = (index: number): void => {
    const next = Math.max(0, Math.min(count - 1, index))
    onSelect(next)
    const element = scroller.current
    if (element === null) return
    if (next * rowHeight < element.scrollTop) element.scrollTop = next * rowHeight
    else if ((next + 2) * rowHeight > element.scrollTop + element.clientHeight) {
      element.scrollTop = (next + 2) * rowHeight - element.clientHeight
    }
  }
  const page = Math.max(1, Math.floor(height.value / rowHeight) - 2)
  const moves: Readonly<Record<string, () => void>> = {
    ArrowDown: () => moveTo(selected + 1),
    j: () => moveTo(selected + 1),
    ArrowUp: () => moveTo(selected - 1),
    k: () => moveTo(selected - 1),
    PageDown: () => moveTo(selected + page),
    PageUp: () => moveTo(selected - page),
    Home: () => moveTo(0),
    End: () => moveTo(count - 1),
    Enter: () => onOpen(selected),
    o: () => onOpen(selected)
  }
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLDivElement>): void => {
    const move = event.ctrlKey || event.metaKey || event.altKey ? undefined : moves[event.key]
    if (move === undefined || count === 0) return
    event.preventDefault()
    move()
  }

  return (
    <div
      class="list"
      ref={scroller}
      role="grid"
      aria-label={label}
      aria-rowcount={count + 1}
      aria-busy={isWaiting}
      aria-activedescendant={count === 0 ? undefined : rowId(selected)}
      tabIndex={0}
      onScroll={(event) => {
        top.value = event.currentTarget.scrollTop
      }}
      onKeyDown={onKeyDown}
    >
      <div class="list-head" role="row" aria-rowindex={1} style={{ height: `${rowHeight}px` }}>
        {head}
      </div>
      <div class="list-rows" role="rowgroup" style={{ height: `${count * rowHeight}px` }}>
        {isWaiting && <div class="skeleton" style={{ height: `${waitingRows * rowHeight}px` }} aria-hidden="true" />}
        {Array.from({ length: shown }, (_, slot) => {
          // The slot of an index is always the same one.
          const index = first + ((slot - (first % shown) + shown) % shown)
          return (
            <div
              key={slot}
              id={rowId(index)}
              class="list-row"
              role="row"
              aria-rowindex={index + 2}
              aria-selected={index === selected}
              style={{ height: `${rowHeight}px`, transform: `translateY(${index * rowHeight}px)` }}
              onClick={() => {
                onSelect(index)
                onOpen(index)
              }}
            >
              {row(index)}
            </div>
          )
        })}
      </div>
    </div>
  )
}
