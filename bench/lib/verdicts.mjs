/** The targets the gateway is held to, and what this run says about each. A slow result is a line to read, never a failure of the run. */
import { meanOf, ratio } from "./statistics.mjs"

const atLeast = (accept, goal) => ({ accept, goal, sign: "≥", holds: (value, limit) => value >= limit })
const atMost = (accept, goal) => ({ accept, goal, sign: "≤", holds: (value, limit) => value <= limit })

/** The floor is measured before and after; its figure is the mean of both. */
export const floorFigure = (results, read) =>
  meanOf([results.floorBefore, results.floorAfter].map((figures) => figures && read(figures)))

const rate = {
  small: (figures) => figures.small?.loaded.perSecond,
  big: (figures) => figures.big?.perSecond,
  sse: (figures) => figures.sse?.chunksPerSecond
}

const toFloor = (results, scenario) =>
  ratio(results.gateway && rate[scenario](results.gateway), floorFigure(results, rate[scenario]))

const brokenChunks = ({ sse }) => sse && sse.lost + sse.outOfOrder + sse.stalled + sse.unfinished + sse.failures

const failedAnswers = ({ small, big }) => small && small.loaded.failures + small.single.failures + (big?.failures ?? 0)

const targets = [
  {
    name: "1.4 KB, throughput to the floor",
    unit: "×",
    ...atLeast(0.25, 0.45),
    read: (results) => toFloor(results, "small")
  },
  {
    name: "1.4 KB, throughput to Portkey",
    unit: "×",
    ...atLeast(3, 6),
    read: ({ gateway, portkey }) => ratio(gateway && rate.small(gateway), portkey && rate.small(portkey))
  },
  { name: "91 KB, throughput to the floor", unit: "×", ...atLeast(0.19), read: (results) => toFloor(results, "big") },
  {
    name: "1,000 streams, chunks/s to the floor",
    unit: "×",
    ...atLeast(0.6, 0.8),
    read: (results) => toFloor(results, "sse")
  },
  {
    name: "1,000 streams, chunks lost or out of order, streams stalled, cut or failed",
    unit: "",
    ...atMost(0),
    read: ({ gateway }) => gateway && brokenChunks(gateway)
  },
  { name: "memory of an idle stream", unit: " KB", ...atMost(45), read: ({ gateway }) => gateway?.idle?.kbPerStream },
  {
    name: "share of usage logging",
    unit: " %",
    ...atMost(10),
    read: ({ gateway }) => gateway?.usageLogging && gateway.usageLogging.costShare * 100
  },
  {
    name: "start to listening, new data folder",
    unit: " ms",
    ...atMost(400, 300),
    read: ({ gateway }) => gateway?.start?.freshMs
  },
  {
    name: "failed answers outside the streams",
    unit: "",
    ...atMost(0),
    read: ({ gateway }) => gateway && failedAnswers(gateway)
  }
]

const outcome = ({ accept, goal, holds }, value) => {
  if (value === undefined) return "not measured"
  if (goal !== undefined && holds(value, goal)) return "meets the goal"
  return holds(value, accept) ? "meets" : "falls short"
}

/** One verdict per target: `{ name, outcome, value, limit }`, `limit` as text. */
export const verdicts = (results) =>
  targets.map((target) => {
    const value = target.read(results)
    const goal = target.goal === undefined ? "" : `, goal ${target.goal}${target.unit}`
    return {
      name: target.name,
      outcome: outcome(target, value),
      value,
      unit: target.unit,
      limit: `${target.sign} ${target.accept}${target.unit}${goal}`
    }
  })
