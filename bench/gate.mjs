/**
 * `npm run bench -- --gate`: the built gateway beside the build of the last release. Each round starts both anew, because two starts of one build
 * differ by some percent for as long as they live, and loads them in short windows that follow each other at once. A round gives one ratio for
 * each figure; rounds go on until every figure's interval is narrow or clear of the bound, or the time is over.
 */
import fs from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { profileGateway } from "./lib/profile.mjs"
import { threadsSeconds, residentKb } from "./lib/procfs.mjs"
import { buildWithMaps, lastRelease, releaseBuild } from "./lib/release.mjs"
import { servers } from "./lib/servers.mjs"
import { geometricInterval, median } from "./lib/statistics.mjs"

const root = fileURLToPath(new URL("../", import.meta.url))
const historyFile = path.join(root, "bench/history.jsonl")

/** Half the width of an interval, as a part of 1, at which a figure is known well enough. */
const NARROW = 0.03
const LEAST_ROUNDS = 3

const cpuPer = (unit) => async (bench, server, kind, timing) => {
  const before = threadsSeconds(server.pid)
  const window = await bench.window(server, kind, timing)
  return ((threadsSeconds(server.pid) - before) / window[unit]) * 1e6
}

const firstToken = async (bench, server, kind, timing) => (await bench.window(server, kind, timing)).firstByteUs.p50

/** Figures of a loaded gateway: which load, how often a round looks at each of the two, and what a profile of it is called. */
const loaded = [
  {
    name: "CPU of a small request",
    unit: "µs",
    kind: "small",
    connections: 32,
    pairs: 4,
    read: cpuPer("requests"),
    profile: "small"
  },
  {
    name: "CPU of a request of 91 KB",
    unit: "µs",
    kind: "big",
    connections: 8,
    pairs: 3,
    read: cpuPer("requests"),
    profile: "big"
  },
  {
    name: "CPU of an agent's turn, 300 KB",
    unit: "µs",
    kind: "turn300",
    connections: 16,
    pairs: 3,
    read: cpuPer("requests"),
    profile: "turn"
  },
  {
    name: "first token of an agent's turn",
    unit: "µs",
    kind: "turn300",
    connections: 1,
    pairs: 3,
    read: firstToken,
    profile: "turn"
  },
  {
    name: "CPU of a stream's chunk",
    unit: "µs",
    kind: "paced",
    connections: 200,
    pairs: 1,
    seconds: 2,
    read: cpuPer("chunks"),
    profile: "sse"
  }
]

const atStart = [
  { name: "start to listening", unit: "ms", read: ({ startMs }) => startMs },
  { name: "CPU of the start", unit: "ms", read: ({ startCpuMs }) => startCpuMs },
  { name: "memory at listening", unit: "MB", read: ({ startKb }) => startKb / 1024 }
]
const atEnd = [{ name: "memory after the load", unit: "MB", read: ({ pid }) => residentKb(pid) / 1024 }]

export const figures = [...loaded, ...atStart, ...atEnd]

/** Started a few times before it stays: a start is over in less time than the machine's noise. */
const startOf = async (bench, build) => {
  const starts = []
  for (let last = 1; ; last++) {
    const server = await servers.gateway.start(bench, { program: path.join(build, "bin/gateway") })
    starts.push({
      startMs: server.startMs,
      startCpuMs: threadsSeconds(server.pid) * 1000,
      startKb: residentKb(server.pid)
    })
    if (last === bench.plan.gate.starts) {
      const best = (name) => Math.min(...starts.map((start) => start[name]))
      return Object.assign(server, {
        startMs: best("startMs"),
        startCpuMs: best("startCpuMs"),
        startKb: best("startKb")
      })
    }
    await server.stop()
  }
}

/** Pairs of neighbouring windows in the order ABBA, so that a machine that slows down steadily slows both alike. */
const compareLoaded = async (bench, { connections, kind, pairs, read, seconds = bench.plan.gate.seconds }, two) => {
  const measured = []
  for (let pair = 0; pair < pairs; pair++) {
    const order = pair % 2 === 0 ? ["release", "present"] : ["present", "release"]
    const values = {}
    for (const name of order) values[name] = await read(bench, two[name], kind, { connections, seconds })
    measured.push(values)
  }
  return {
    release: median(measured.map(({ release }) => release)),
    present: median(measured.map(({ present }) => present)),
    ratio: median(measured.map(({ present, release }) => present / release))
  }
}

const compareOnce = ({ read }, { present, release }) => {
  const values = { present: read(present), release: read(release) }
  return { ...values, ratio: values.present / values.release }
}

const warmUp = async (bench, server) => {
  const { warmUpSeconds } = bench.plan.gate
  // The small ones teach V8 the way of all others: before that, windows differ by half of their cost.
  for (const [kind, connections, times] of [
    ["small", 32, 4],
    ["big", 8, 1],
    ["turn300", 16, 1]
  ]) {
    await bench.window(server, kind, { connections, seconds: warmUpSeconds * times })
  }
}

const round = async (bench, builds, isReversed) => {
  const two = {}
  try {
    for (const name of isReversed ? ["present", "release"] : ["release", "present"])
      two[name] = await startOf(bench, builds[name])
    for (const server of Object.values(two)) {
      await server.setUp()
      await warmUp(bench, server)
    }
    const found = new Map()
    for (const figure of loaded) found.set(figure.name, await compareLoaded(bench, figure, two))
    for (const figure of [...atStart, ...atEnd]) found.set(figure.name, compareOnce(figure, two))
    return found
  } finally {
    await Promise.all(Object.values(two).map((server) => server.stop()))
  }
}

/** Sums the rounds of a figure up. `isWorse`: by more than the bound, and not by chance. */
export const judge = ({ name, profile, unit }, rounds, bound) => {
  const measured = rounds.map((found) => found.get(name))
  const { high, low, mean } = geometricInterval(measured.map(({ ratio }) => ratio))
  const isNarrow = high / low - 1 <= 2 * NARROW
  return {
    name,
    unit,
    profile,
    release: median(measured.map((values) => values.release)),
    present: median(measured.map((values) => values.present)),
    ratio: mean,
    low,
    high,
    isWorse: mean > bound && low > 1,
    isDecided: isNarrow || high < bound || low > bound
  }
}

export const isWorse = ({ judged }) => judged.some((each) => each.isWorse)

const measureRounds = async (bench, builds, bound) => {
  const endsAt = performance.now() + bench.plan.gate.deadlineSeconds * 1000
  const rounds = []
  let longestMs = 0
  for (;;) {
    bench.say(`round ${rounds.length + 1}`)
    const startedAt = performance.now()
    rounds.push(await round(bench, builds, rounds.length % 2 === 1))
    longestMs = Math.max(longestMs, performance.now() - startedAt)
    const judged = figures.map((figure) => judge(figure, rounds, bound))
    const isOver = performance.now() + longestMs > endsAt
    if (rounds.length >= LEAST_ROUNDS && (isOver || judged.every(({ isDecided }) => isDecided)))
      return { rounds: rounds.length, judged }
  }
}

/** Where the time of a load went in both builds, by part, in microseconds a request; those that grew most first. */
const grownParts = async (bench, builds, scenario) => {
  const costs = {}
  for (const [name, build] of Object.entries(builds)) {
    buildWithMaps(build)
    const { parts } = await profileGateway(bench, servers.gateway, scenario, build)
    costs[name] = new Map(parts.map(({ part, usPerRequest }) => [part, usPerRequest]))
  }
  return [...costs.present]
    .map(([part, us]) => ({ part, presentUs: us, grownUs: us - (costs.release.get(part) ?? 0) }))
    .sort((a, b) => b.grownUs - a.grownUs)
}

/** What is worse is measured once more from the beginning, and is worse only when that says so, too: one series in twenty is led astray by its noise. */
const confirmed = async (bench, builds, bound) => {
  const first = await measureRounds(bench, builds, bound)
  if (!isWorse(first)) return first
  bench.say("something is worse: once more")
  const second = await measureRounds(bench, builds, bound)
  const again = new Set(second.judged.flatMap((each) => (each.isWorse ? [each.name] : [])))
  for (const each of first.judged) each.isWorse &&= again.has(each.name)
  return { rounds: first.rounds + second.rounds, judged: first.judged }
}

/** `{ against, rounds, bound, judged, grown }`; `grown` has, by load, what costs more in the builds' profiles. */
export const measureGate = async (bench, { against, bound }) => {
  const release = against === undefined ? releaseBuild(bench.say) : path.resolve(against)
  const builds = { release, present: root }
  const { judged, rounds } = await confirmed(bench, builds, bound)
  const scenarios = new Set(
    judged.flatMap((each) => (each.isWorse && each.profile !== undefined ? [each.profile] : []))
  )
  const grown = {}
  for (const scenario of scenarios) {
    bench.say(`profile of ${scenario}`)
    grown[scenario] = await grownParts(bench, builds, scenario)
  }
  return { against: against === undefined ? lastRelease() : { folder: release }, rounds, bound, judged, grown }
}

const verdictOf = ({ high, isWorse: worse, low }) => {
  if (worse) return "WORSE"
  if (high < 1) return "better"
  return low > 1 ? "a little worse, within the bound" : "the same, as far as can be seen"
}

const digitsOf = (value) => (value < 10 ? 2 : value < 100 ? 1 : 0)

const line = (each) => {
  const values = [each.release, each.present].map((value) =>
    `${value.toFixed(digitsOf(value))} ${each.unit}`.padStart(11)
  )
  const interval = `${each.ratio.toFixed(3)} (${each.low.toFixed(2)} to ${each.high.toFixed(2)})`
  return `  ${each.name.padEnd(34)}${values.join("")}   ${interval}  ${verdictOf(each)}`
}

const grownText = ([scenario, parts]) => [
  `What grew in a profile of ${scenario}, µs a request`,
  ...parts
    .slice(0, 6)
    .map(
      ({ grownUs, part, presentUs }) =>
        `  ${grownUs >= 0 ? "+" : ""}${grownUs.toFixed(1)} to ${presentUs.toFixed(1)}  ${part}`
    )
]

export const gateText = ({ against, bound, grown, judged, rounds }) =>
  [
    `Beside ${against.folder ?? `${against.version} (${against.commit.slice(0, 10)})`}, ${rounds} rounds: the release, this build, their ratio with its 95 % interval`,
    ...judged.map(line),
    ...Object.entries(grown).flatMap(grownText),
    isWorse({ judged }) ? `Something is worse by more than ${bound}.` : `Nothing is worse by more than ${bound}.`
  ].join("\n")

/** Adds the figures of a release to those before it. */
export const keepHistory = ({ against, judged, rounds }, { at, machine, version }) => {
  const rounded = (value) => Number(value.toPrecision(4))
  const kept = Object.fromEntries(
    judged.map(({ name, present, ratio, unit }) => [name, { value: rounded(present), unit, ratio: rounded(ratio) }])
  )
  fs.appendFileSync(historyFile, `${JSON.stringify({ version, at, against, rounds, machine, figures: kept })}\n`)
}
