/** The verdicts for people: a row per fault, a column per way of asking. */
import type { Cell, Seen } from "./Cell.ts"
import type { ClientWire, WallWire } from "./Wires.ts"

export interface Verdict {
  readonly cell: Cell
  readonly seen: Seen
  readonly problems: ReadonlyArray<string>
}

interface Way {
  readonly client: ClientWire
  readonly upstream: WallWire
}

/** Client wire and upstream wire of the columns; the last five need a translation. */
export const ways: ReadonlyArray<Way> = [
  { client: "chat", upstream: "chat" },
  { client: "messages", upstream: "messages" },
  { client: "responses", upstream: "responses" },
  { client: "chat", upstream: "messages" },
  { client: "messages", upstream: "chat" },
  { client: "responses", upstream: "chat" },
  { client: "gemini", upstream: "chat" },
  { client: "ollama", upstream: "messages" }
]

const title = ({ client, upstream }: Way): string => (client === upstream ? client : `${client}→${upstream}`)

/** Whole and streamed, each with one target and with two. */
const forms = [
  { streamed: false, targets: 1 },
  { streamed: false, targets: 2 },
  { streamed: true, targets: 1 },
  { streamed: true, targets: 2 }
] as const

const endingOf = ({ ending }: Seen): string =>
  ending.error === null
    ? ending.isClean
      ? "answer"
      : "no success"
    : `${ending.error.class}${ending.error.status === null ? "" : ` ${ending.error.status}`}`

/** What a lone client of a fault ends with, over all of its cells. */
const endings = (verdicts: ReadonlyArray<Verdict>): string => {
  const alone = verdicts.filter(({ cell }) => cell.targets === 1)
  return [...new Set(alone.map(({ seen }) => endingOf(seen)))].join(", ")
}

const mark = (verdict: Verdict | undefined): string =>
  verdict === undefined ? "·" : verdict.problems.length === 0 ? "✓" : "✗"

const columnWidth = 18

export const nameOf = ({ client, fault, streamed, targets, upstream }: Cell): string =>
  `${fault.name} ${title({ client, upstream })} ${streamed ? "streamed" : "whole"}, ${targets === 1 ? "one target" : "two targets"}`

export const render = (verdicts: ReadonlyArray<Verdict>): string => {
  const faults = [...new Set(verdicts.map(({ cell }) => cell.fault.name))]
  const width = Math.max(...faults.map((name) => name.length)) + 2
  const line = (name: string, columns: ReadonlyArray<string>, rest: string): string =>
    `${name.padEnd(width)}${columns.map((column) => column.padEnd(columnWidth)).join("")}${rest}`
  const lines = [
    "Per way of asking: whole with one target, with two; streamed with one target, with two.",
    line("fault", ways.map(title), "  longest  a lone client ends with")
  ]
  for (const name of faults) {
    const own = verdicts.filter(({ cell }) => cell.fault.name === name)
    const columns = ways.map(({ client, upstream }) =>
      forms
        .map(({ streamed, targets }) =>
          mark(
            own.find(
              ({ cell }) =>
                cell.client === client &&
                cell.upstream === upstream &&
                cell.streamed === streamed &&
                cell.targets === targets
            )
          )
        )
        .join(" ")
    )
    const longest = Math.max(...own.map(({ seen }) => seen.ending.tookMs))
    lines.push(line(name, columns, `${String(longest).padStart(6)} ms  ${endings(own)}`))
  }
  const bad = verdicts.filter(({ problems }) => problems.length > 0)
  for (const verdict of bad) lines.push("", nameOf(verdict.cell), ...verdict.problems.map((problem) => `  ${problem}`))
  lines.push("", `${verdicts.length - bad.length} passed, ${bad.length} failed`)
  return lines.join("\n")
}
