/** What a process tells of itself from outside. */
import { readdirSync } from "node:fs"

/** Open files and sockets of a process; null where the system does not tell. */
export const openFiles = (pid: number): number | null => {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return null
  }
}

/** A value without labels from a Prometheus page; null without one. */
export const gauge = async (
  url: string,
  name: string,
  headers: Readonly<Record<string, string>>
): Promise<number | null> => {
  const page = await (await fetch(`${url}/metrics`, { headers })).text()
  const value = page
    .split("\n")
    .find((line) => line.startsWith(`${name} `))
    ?.split(" ")[1]
  return value === undefined ? null : Number(value)
}

/** Slope of a line through points at equal distances, by least squares, per point. */
export const slope = (values: ReadonlyArray<number>): number => {
  const middle = (values.length - 1) / 2
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const rise = values.reduce((sum, value, index) => sum + (index - middle) * (value - mean), 0)
  const run = values.reduce((sum, _, index) => sum + (index - middle) ** 2, 0)
  return run === 0 ? 0 : rise / run
}

/** Asks again until `wanted`, at most for `withinMs`; gives the last answer. */
export const settled = async <A>(
  look: () => A | Promise<A>,
  wanted: (value: A) => boolean,
  withinMs: number
): Promise<A> => {
  const until = Date.now() + withinMs
  for (;;) {
    const value = await look()
    if (wanted(value) || Date.now() > until) return value
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
