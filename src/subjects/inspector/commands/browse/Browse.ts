/** A list of captured requests to move in: what is known of it, and what each key does. Pure. */
import type { Frame } from "../../../../cli/gateway/InspectorFeed.ts"
import { type ItemRow, together, what } from "../rows.ts"

/** Opened page, as text. */
export interface Page {
  readonly title: string
  readonly lines: ReadonlyArray<string>
  /** The first line that is shown. */
  readonly top: number
}

export interface Browse {
  /** Oldest first. */
  readonly rows: ReadonlyArray<ItemRow>
  readonly selected: string | null
  readonly filter: string
  /** Keys go into the filter. */
  readonly isTyping: boolean
  readonly marked: ReadonlySet<string>
  /** First attempts whose retries are lines of their own. */
  readonly opened: ReadonlySet<string>
  readonly isByContext: boolean
  readonly page: Page | null
  /** Time by which the recording is behind, in ms; 0: it is not. */
  readonly behindMs: number
  /** Null: nothing is said. */
  readonly message: string | null
}

export const empty: Browse = {
  rows: [],
  selected: null,
  filter: "",
  isTyping: false,
  marked: new Set(),
  opened: new Set(),
  isByContext: false,
  page: null,
  behindMs: 0,
  message: null
}

/** The most rows that are kept; the oldest go first. */
export const maxRows = 1_000
const maxFilterChars = 100

export type Line =
  | { readonly _tag: "Context"; readonly contextKey: string | null; readonly count: number }
  | { readonly _tag: "Row"; readonly row: ItemRow; readonly isAttempt: boolean }

const firstOf = ({ id, retryOf }: ItemRow): string => retryOf ?? id

const textOf = (row: ItemRow): string =>
  [
    what(row),
    row.method,
    row.path,
    row.status,
    row.agent,
    row.processName,
    row.pid,
    row.contextKey,
    row.source,
    row.error,
    row.note,
    row.annotation,
    row.id
  ]
    .join(" ")
    .toLowerCase()

/** All words of the filter, anywhere. */
export const matches = (row: ItemRow, filter: string): boolean => {
  const text = textOf(row)
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

const groupedBy = <Name>(
  rows: ReadonlyArray<ItemRow>,
  nameOf: (row: ItemRow) => Name
): ReadonlyMap<Name, ReadonlyArray<ItemRow>> => {
  const groups = new Map<Name, Array<ItemRow>>()
  for (const row of rows) {
    const name = nameOf(row)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [row])
    else group.push(row)
  }
  return groups
}

const rowLines = (rows: ReadonlyArray<ItemRow>, opened: ReadonlySet<string>): ReadonlyArray<Line> => {
  const attempts = groupedBy(rows, firstOf)
  return together(rows)
    .toReversed()
    .flatMap((row) => {
      const all = opened.has(firstOf(row)) ? (attempts.get(firstOf(row)) ?? [row]).toReversed() : [row]
      return all.map((each, at): Line => ({ _tag: "Row", row: each, isAttempt: at > 0 }))
    })
}

/** Lists the lines of the list, newest first. */
export const linesOf = ({ filter, isByContext, opened, rows }: Browse): ReadonlyArray<Line> => {
  const shown = rows.filter((row) => matches(row, filter))
  if (!isByContext) return rowLines(shown, opened)
  return [...groupedBy(shown.toReversed(), ({ contextKey }) => contextKey)].flatMap(([contextKey, group]) => {
    const head: Line = { _tag: "Context", contextKey, count: group.length }
    const lines: Array<Line> = [head]
    return lines.concat(rowLines(group.toReversed(), opened))
  })
}

const idsOf = (state: Browse): ReadonlyArray<string> =>
  linesOf(state).flatMap((line) => (line._tag === "Row" ? [line.row.id] : []))

/** Keeps the selection while it is shown; for an attempt that is folded now it moves to the group of its retries. */
const settled = (state: Browse, before: Browse): Browse => {
  const ids = idsOf(state)
  if (state.selected !== null && ids.includes(state.selected)) return state
  const known = state.rows.find(({ id }) => id === state.selected)
  const storm =
    known === undefined
      ? undefined
      : ids.find((id) => state.rows.some((row) => row.id === id && firstOf(row) === firstOf(known)))
  const place = state.selected === null ? 0 : Math.max(0, idsOf(before).indexOf(state.selected))
  return { ...state, selected: storm ?? ids[Math.min(place, ids.length - 1)] ?? null }
}

const withRow = (rows: ReadonlyArray<ItemRow>, row: ItemRow): ReadonlyArray<ItemRow> => {
  const at = rows.findLastIndex(({ id }) => id === row.id)
  return at < 0 ? [...rows, row].slice(-maxRows) : rows.with(at, row)
}

/** Updates the state with a frame of the feed. */
export const withFrame = (state: Browse, frame: Frame): Browse => {
  switch (frame.type) {
    case "behind":
      return { ...state, behindMs: frame.data.behindMs }
    case "clear":
      return { ...state, rows: [], selected: null, marked: new Set() }
    case "snapshot":
      return settled({ ...state, rows: frame.data.toReversed().slice(-maxRows) }, state)
    case "new":
    case "update":
      return settled({ ...state, rows: withRow(state.rows, frame.data) }, state)
  }
}

/** A key: its name where it has one, and the text that it types. */
export interface Key {
  readonly name: string
  readonly text: string
  readonly isCtrl: boolean
}

export type Step =
  | { readonly _tag: "Quit" }
  | { readonly _tag: "Open"; readonly id: string; readonly view: "show" | "conversation" }
  | { readonly _tag: "Compare"; readonly one: string; readonly other: string }

/** `step` null: nothing is to be done but to draw. */
export interface Pressed {
  readonly state: Browse
  readonly step: Step | null
}

const only = (state: Browse): Pressed => ({ state, step: null })

const moved = (state: Browse, by: number): Browse => {
  const ids = idsOf(state)
  const at = state.selected === null ? -1 : ids.indexOf(state.selected)
  const to = Math.max(0, Math.min(ids.length - 1, at + by))
  return { ...state, selected: ids[to] ?? null }
}

const toggled = (set: ReadonlySet<string>, value: string): ReadonlySet<string> => {
  const next = new Set(set)
  if (!next.delete(value)) next.add(value)
  return next
}

const filtered = (state: Browse, filter: string): Browse =>
  settled({ ...state, filter: filter.slice(0, maxFilterChars) }, state)

const typed = (state: Browse, { isCtrl, name, text }: Key): Pressed | null => {
  switch (name) {
    case "return":
    case "enter":
      return only({ ...state, isTyping: false })
    case "escape":
      return only({ ...filtered(state, ""), isTyping: false })
    case "backspace":
      return only(filtered(state, [...state.filter].slice(0, -1).join("")))
    case "up":
    case "down":
    case "pageup":
    case "pagedown":
      return null
    default:
      return only(isCtrl || /\p{Cc}/u.test(text) ? state : filtered(state, state.filter + text))
  }
}

const steps: Readonly<Record<string, (height: number) => number>> = {
  up: () => -1,
  k: () => -1,
  down: () => 1,
  j: () => 1,
  pageup: (height) => -height,
  pagedown: (height) => height,
  home: () => Number.NEGATIVE_INFINITY,
  end: () => Number.POSITIVE_INFINITY
}

const inPage = (state: Browse, page: Page, { name }: Key, height: number): Pressed => {
  if (name === "escape" || name === "q" || name === "left" || name === "backspace")
    return only({ ...state, page: null })
  const by = steps[name]?.(height) ?? 0
  const top = Math.max(0, Math.min(page.lines.length - height, page.top + by))
  return only({ ...state, page: { ...page, top } })
}

const compared = (state: Browse): Pressed => {
  const ids = state.rows.flatMap(({ id }) => (state.marked.has(id) ? [id] : []))
  const [one, other] = ids
  if (one !== undefined && other !== undefined && ids.length === 2) {
    return { state, step: { _tag: "Compare", one, other } }
  }
  return only({ ...state, message: "Mark two requests with the space bar to compare them." })
}

const inList = (state: Browse, { name, text }: Key, height: number): Pressed => {
  const move = steps[name]
  if (move !== undefined) return only(moved(state, move(height)))
  const { selected } = state
  const row = state.rows.find(({ id }) => id === selected)
  const open = (view: "show" | "conversation"): Pressed =>
    row === undefined ? only(state) : { state, step: { _tag: "Open", id: row.id, view } }
  if (text === "/") return only({ ...state, isTyping: true })
  switch (name) {
    case "return":
    case "enter":
      return open("show")
    case "c":
      return open("conversation")
    case "space":
      return row === undefined ? only(state) : only(moved({ ...state, marked: toggled(state.marked, row.id) }, 1))
    case "d":
      return compared(state)
    case "x":
    case "right":
      return row === undefined
        ? only(state)
        : only(settled({ ...state, opened: toggled(state.opened, firstOf(row)) }, state))
    case "g":
      return only({ ...state, isByContext: !state.isByContext })
    case "escape":
      return only({ ...filtered(state, ""), marked: new Set() })
    case "q":
      return { state, step: { _tag: "Quit" } }
    default:
      return only(state)
  }
}

/** `height`: rows of the screen that the list or the page has. */
export const pressed = (before: Browse, key: Key, height: number): Pressed => {
  const state = { ...before, message: null }
  if (key.isCtrl && (key.name === "c" || key.name === "d")) return { state, step: { _tag: "Quit" } }
  if (state.page !== null) return inPage(state, state.page, key, height)
  return (state.isTyping ? typed(state, key) : null) ?? inList({ ...state }, key, height)
}
