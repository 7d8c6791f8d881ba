/** What a process tells of itself, from inside (its metrics page) and from outside; and what figures tell together. */
import { readdirSync } from "node:fs"
import { request } from "undici"
import { lastWithin } from "../../support/eventually.ts"

/** Everything that has to come back to where it was when it is quiet: name (with its type) → count. */
export type Figures = ReadonlyMap<string, number>

/** Open files and sockets of a process; null where the system does not tell. */
const openFiles = (pid: number): number | null => {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return null
  }
}

const page = async (url: string): Promise<string> => {
  // A connection of its own for every look, so that the looking is always the same one socket.
  const { body } = await request(`${url}/metrics`, { reset: true })
  return body.text()
}

const counted =
  /^gateway_(?:active_resources\{type="(?<type>\w+)"\}|(?<gauge>open_streams|live_timers|fibers|requests_in_flight)) (?<value>\d+)$/gm

interface Places {
  readonly inUse: number
  readonly waiting: number
}

export interface Look {
  readonly rssBytes: number
  readonly figures: Figures
}

/** `places` are those of all connections. */
export const look = async (url: string, pid: number, places: () => Promise<ReadonlyArray<Places>>): Promise<Look> => {
  const connections = await places()
  const text = await page(url)
  const files = openFiles(pid)
  const figures = new Map<string, number>()
  for (const { groups } of text.matchAll(counted)) {
    figures.set(groups?.["type"] ?? groups?.["gauge"] ?? "", Number(groups?.["value"]))
  }
  const sum = (of: keyof Places): number => connections.reduce((total, place) => total + place[of], 0)
  figures.set("places", sum("inUse")).set("waiting", sum("waiting"))
  if (files !== null) figures.set("files", files)
  return { rssBytes: Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]), figures }
}

/** What there is more of than before, as `name: before → after`. */
export const grown = (before: Figures, after: Figures): ReadonlyArray<string> =>
  [...after].flatMap(([name, count]) => {
    const base = before.get(name) ?? 0
    return count > base ? [`${name}: ${base} → ${count}`] : []
  })

/** Asks until it hears the same five times in a row, at most for `withinMs`. */
export const steady = async (look: () => Promise<Figures>, withinMs: number): Promise<Figures> => {
  let last = await look()
  let same = 0
  return lastWithin(
    async () => {
      const now = await look()
      same = grown(now, last).length + grown(last, now).length === 0 ? same + 1 : 0
      last = now
      return now
    },
    () => same >= 4,
    { everyMs: 50, withinMs }
  )
}

/** Before, at the most, and after, side by side. */
export const table = (before: Figures, during: ReadonlyArray<Figures>, after: Figures): string => {
  const names = new Set([...before.keys(), ...after.keys(), ...during.flatMap((figures) => [...figures.keys()])])
  const line = (name: string, ...cells: ReadonlyArray<string | number>): string =>
    name.padEnd(20) + cells.map((cell) => String(cell).padStart(8)).join("")
  const most = (name: string): number => Math.max(0, ...during.map((figures) => figures.get(name) ?? 0))
  return [
    line("", "before", "most", "after"),
    ...[...names].map((name) => line(name, before.get(name) ?? 0, most(name), after.get(name) ?? 0))
  ].join("\n")
}

export interface Point {
  readonly x: number
  readonly y: number
}

/** Slope of the line through the points by least squares. */
export const slope = (points: ReadonlyArray<Point>): number => {
  const mean = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0) / values.length
  const middle = mean(points.map(({ x }) => x))
  const level = mean(points.map(({ y }) => y))
  const rise = points.reduce((sum, { x, y }) => sum + (x - middle) * (y - level), 0)
  const run = points.reduce((sum, { x }) => sum + (x - middle) ** 2, 0)
  return run === 0 ? 0 : rise / run
}
