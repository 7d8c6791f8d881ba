/**
 * What a request costs by part of the program: each sample of a profile belongs to the nearest function of our own that it was taken in,
 * with all that this function called in packages and in Node. The shares are compared with those kept in `baseline.json`.
 */
import fs from "node:fs"
import { fileURLToPath } from "node:url"

const baselineFile = fileURLToPath(new URL("../baseline.json", import.meta.url))

/** The first that fits a path names its part. */
const parts = [
  ["http in and out", /^src\/entry\//],
  ["who is calling", /^src\/subjects\/auth\//],
  ["wire formats", /^src\/wire\//],
  [
    "opening, decision",
    /^src\/(?:plane\/(?:request|providers|routing\/(?:resolve|decide|auto|strategies|candidate))|subjects\/flags)\//
  ],
  ["failover", /^src\/plane\/(?:failover|features|routing\/walk|Pipeline\.ts)/],
  ["the call", /^src\/(?:plane\/(?:attempt|reply|state|media)|net\/egress)\//],
  ["health, statistics, quotas", /^src\/plane\/(?:routing\/(?:health|stats|quota)|resilience|ledger)\//],
  ["decision records", /^src\/plane\/routing\/records\//],
  ["usage rows, SQL", /^(?:src\/store\/|better-sqlite3$|@effect\/sql)/],
  ["log lines, metrics", /^src\/observe\/telemetry\//],
  ["bill", /^src\/(?:plane\/(?:settle|counting|tokens)|observe\/usage)\//],
  ["everything else of ours", /^src\//]
]

const garbage = "garbage collector"
const below = "node and sockets, outside our functions"
const fibers = "fibers"

/** `placeOf` gives the module of a call frame, a path for our own. Self times in microseconds, by part. */
export const timesByPart = (profile, fromUs, toUs, placeOf) => {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
  const parent = new Map()
  for (const { children = [], id } of profile.nodes) for (const child of children) parent.set(child, id)
  const modules = new Map(profile.nodes.map(({ callFrame, id }) => [id, placeOf(callFrame).module]))
  const partOfModule = (module) => parts.find(([, pattern]) => pattern.test(module))?.[0]
  const known = new Map()
  const partOf = (id) => {
    const found = known.get(id)
    if (found !== undefined) return found
    const own = nodes.get(id).callFrame.functionName === "(garbage collector)" ? garbage : partOfModule(modules.get(id))
    const up = parent.get(id)
    const inherited = own ?? (up === undefined ? below : partOf(up))
    const part = inherited === below && modules.get(id) === "effect" ? fibers : inherited
    known.set(id, part)
    return part
  }
  const times = new Map()
  let at = profile.startTime
  for (const [index, id] of profile.samples.entries()) {
    const delta = profile.timeDeltas[index]
    at += delta
    if (at < fromUs || at > toUs || modules.get(id) === "(idle)") continue
    const part = partOf(id)
    times.set(part, (times.get(part) ?? 0) + delta)
  }
  return times
}

/** `requests` were served meanwhile. The dearest part first. */
export const costs = (times, requests) => {
  const whole = [...times.values()].reduce((sum, time) => sum + time, 0)
  return [...times]
    .map(([part, time]) => ({ part, usPerRequest: time / requests, share: time / whole }))
    .sort((a, b) => b.share - a.share)
}

export const readBaseline = (scenario) =>
  fs.existsSync(baselineFile) ? JSON.parse(fs.readFileSync(baselineFile, "utf8"))[scenario] : undefined

/** Keeps the shares for later runs to be compared with. */
export const writeBaseline = (scenario, measured) => {
  const kept = fs.existsSync(baselineFile) ? JSON.parse(fs.readFileSync(baselineFile, "utf8")) : {}
  const shares = Object.fromEntries(measured.map(({ part, share }) => [part, Number(share.toFixed(4))]))
  fs.writeFileSync(baselineFile, `${JSON.stringify({ ...kept, [scenario]: shares }, null, 2)}\n`)
}

/** A part that takes so many points of the whole more than in the baseline is pointed at. */
const noticedPoints = 0.03

const percent = (share) => `${(share * 100).toFixed(1)} %`.padStart(8)

export const partsText = (scenario, measured, baseline) => {
  const line = ({ part, share, usPerRequest }) => {
    const before = baseline?.[part]
    const beside = before === undefined ? "" : `  (baseline ${percent(before).trim()})`
    const mark = before !== undefined && share - before > noticedPoints ? "  ! more than before" : ""
    return `  ${usPerRequest.toFixed(1).padStart(7)} µs ${percent(share)}  ${part}${beside}${mark}`
  }
  return [`CPU of one request by part, scenario ${scenario}, from a sampled profile`, ...measured.map(line)].join("\n")
}
