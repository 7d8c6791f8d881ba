/** The figures as a table for people. One row per figure, one column per server, each beside the floor. */
import { turnSizes } from "./bodies.mjs"
import { ratio } from "./statistics.mjs"
import { floorFigure } from "./verdicts.mjs"

const number = (value, digits = 0) =>
  value === undefined
    ? "-"
    : value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })
const milliseconds = (us) => (us === undefined ? undefined : us / 1000)
const megabytes = (kb) => (kb === undefined ? undefined : kb / 1024)

const asRatio = (value, floor) => `${number(ratio(value, floor), 2)}×`
const asAdded = (value, floor) => `${value < floor ? "" : "+"}${number(value - floor)}`

/** `toFloor` puts the comparison with the floor in brackets behind a value; `toPortkey` adds the ratio to Portkey at the end. */
const row = (label, read, { digits = 0, toFloor, toPortkey = false } = {}) => ({
  label,
  read,
  digits,
  toFloor,
  toPortkey
})

const sections = [
  {
    title: "1.4 KB, not streamed, 32 connections",
    rows: [
      row("requests/s, best window", (f) => f.small?.loaded.perSecond, { toFloor: asRatio, toPortkey: true }),
      row("requests/s, median", (f) => f.small?.loaded.medianPerSecond, { toFloor: asRatio, toPortkey: true }),
      row("CPU µs/request", (f) => f.small?.loaded.cpuUs, { toFloor: asRatio, toPortkey: true }),
      row("p50 ms", (f) => milliseconds(f.small?.loaded.p50Us), { digits: 1 }),
      row("p99 ms", (f) => milliseconds(f.small?.loaded.p99Us), { digits: 1 }),
      row("memory afterwards, MB", (f) => megabytes(f.small?.residentKb)),
      row("failed answers", (f) => f.small?.loaded.failures),
      row("other load, cores", (f) => f.small?.loaded.otherCores, { digits: 2 })
    ]
  },
  {
    title: "1.4 KB, not streamed, 1 connection",
    rows: [
      row("p50 µs", (f) => f.small?.single.p50Us, { toFloor: asAdded }),
      row("p99 µs", (f) => f.small?.single.p99Us, { toFloor: asAdded }),
      row("other load, cores", (f) => f.small?.single.otherCores, { digits: 2 })
    ]
  },
  {
    title: "91 KB, not streamed, 8 connections",
    rows: [
      row("requests/s, best window", (f) => f.big?.perSecond, { toFloor: asRatio, toPortkey: true }),
      row("CPU µs/request", (f) => f.big?.cpuUs, { toFloor: asRatio, toPortkey: true }),
      row("p99 ms", (f) => milliseconds(f.big?.p99Us), { digits: 1 }),
      row("failed answers", (f) => f.big?.failures),
      row("other load, cores", (f) => f.big?.otherCores, { digits: 2 })
    ]
  },
  ...turnSizes.map((kilobytes) => ({
    title: `A turn of an agent, ${kilobytes} KB, streamed (1 at a time, 16 at once)`,
    rows: [
      ["on the same wire", `turn${kilobytes}`],
      ["across to chat", `turn${kilobytes}across`]
    ].flatMap(([wire, kind]) => [
      row(`first token p50 ms, ${wire}`, (f) => milliseconds(f.turns?.[kind].firstTokenP50Us), {
        digits: 1,
        toFloor: (value, floor) => `+${number(value - floor, 1)}`
      }),
      row(`first token p99 ms, ${wire}`, (f) => milliseconds(f.turns?.[kind].firstTokenP99Us), { digits: 1 }),
      row(`CPU µs/request, ${wire}`, (f) => f.turns?.[kind].cpuUs, { toFloor: asRatio }),
      row(`failed answers, ${wire}`, (f) => f.turns?.[kind].failures)
    ])
  })),
  {
    title: "1,000 concurrent streams, 100 chunks each, 20 ms apart",
    rows: [
      row("chunks/s", (f) => f.sse?.chunksPerSecond, { toFloor: asRatio, toPortkey: true }),
      row("CPU µs/chunk", (f) => f.sse?.cpuUsPerChunk, { digits: 1, toFloor: asRatio, toPortkey: true }),
      row("first byte p50 ms", (f) => milliseconds(f.sse?.firstByteP50Us), { digits: 1 }),
      row("first byte p99 ms", (f) => milliseconds(f.sse?.firstByteP99Us), { digits: 1 }),
      row("longest gap ms", (f) => f.sse?.longestGapMs),
      row("streams ended whole", (f) => f.sse?.streamsEnded),
      row("chunks lost", (f) => f.sse?.lost),
      row("chunks out of order", (f) => f.sse?.outOfOrder),
      row("streams stalled", (f) => f.sse?.stalled),
      row("streams not ended in time", (f) => f.sse?.unfinished),
      row("streams cut or refused", (f) => f.sse?.failures),
      row("memory afterwards, MB", (f) => megabytes(f.sse?.residentKb)),
      row("other load, cores", (f) => f.sse?.otherCores, { digits: 2 })
    ]
  },
  {
    title: "1,000 idle streams",
    rows: [
      row("memory before, MB", (f) => megabytes(f.idle?.baseKb)),
      row("memory with the streams, MB", (f) => megabytes(f.idle?.withStreamsKb)),
      row("KB per stream", (f) => f.idle?.kbPerStream, { digits: 1, toFloor: asRatio })
    ]
  },
  {
    title: "Start to listening",
    rows: [
      row("ms, new data folder", (f) => f.start?.freshMs, { toFloor: asRatio }),
      row("ms, same data folder again", (f) => f.start?.againMs)
    ]
  },
  {
    title: "Usage logging",
    rows: [
      row("CPU µs/request with rows", (f) => f.usageLogging?.withRows),
      row("CPU µs/request without", (f) => f.usageLogging?.withoutRows)
    ]
  }
]

const columns = [
  { key: "floorBefore", title: "floor (before)" },
  { key: "gateway", title: "gateway" },
  { key: "portkey", title: "Portkey" },
  { key: "floorAfter", title: "floor (after)" }
]

const valueOf = (figures, { read }) => (figures === undefined ? undefined : read(figures))

const cell = (results, column, line) => {
  const value = valueOf(results[column.key], line)
  const text = number(value, line.digits)
  const floor = floorFigure(results, line.read)
  const isCompared =
    line.toFloor !== undefined && value !== undefined && floor !== undefined && !column.key.startsWith("floor")
  return isCompared ? `${text} (${line.toFloor(value, floor)})` : text
}

const toPortkey = (results, line) => {
  const share = line.toPortkey ? ratio(valueOf(results.gateway, line), valueOf(results.portkey, line)) : undefined
  return share === undefined ? "" : `${number(share, 2)}×`
}

const LABEL_WIDTH = 30
const CELL_WIDTH = 18

const printedLine = (label, cells) =>
  (label.padEnd(LABEL_WIDTH) + cells.map((text) => text.padStart(CELL_WIDTH)).join("")).trimEnd()

const printedSection = (results, shown, { title, rows }) => {
  const lines = rows.filter((line) => shown.some(({ key }) => valueOf(results[key], line) !== undefined))
  if (lines.length === 0) return []
  return [
    "",
    title,
    ...lines.map((line) =>
      printedLine(`  ${line.label}`, [...shown.map((column) => cell(results, column, line)), toPortkey(results, line)])
    )
  ]
}

/** The whole table as text. */
export const table = (results) => {
  const shown = columns.filter(({ key }) => results[key] !== undefined)
  const header = printedLine("", [
    ...shown.map(({ title }) => title),
    results.gateway && results.portkey ? "gateway/Portkey" : ""
  ])
  return [header, ...sections.flatMap((section) => printedSection(results, shown, section))].join("\n")
}

/** What went wrong on the way, one line each. */
export const problemLines = (results) =>
  columns.flatMap(({ key, title }) => (results[key]?.problems ?? []).map((problem) => `! ${title}: ${problem}`))

/** One line per target. */
export const verdictLine = ({ name, outcome, value, unit, limit }) => {
  const figure = value === undefined ? "" : `${number(value, Number.isInteger(value) ? 0 : 2)}${unit}  `
  return `${outcome.padEnd(15)} ${name}: ${figure}(${limit})`
}
