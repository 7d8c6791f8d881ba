/**
 * What the recording of the gateway's own traffic costs: CPU of the event loop's thread and of all threads per request, the first byte, the
 * rate of 1,000 streams and how late the event loop is, off and on. The same gateway is switched between windows that follow each other at
 * once, and each ratio is taken between two neighbours. At last, the memory of a long run.
 */
import fs from "node:fs"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { callAdmin, servers } from "./lib/servers.mjs"
import { mainThreadSeconds, residentKb } from "./lib/procfs.mjs"
import { withServer } from "./lib/scenarios.mjs"
import { measureFeedDelay } from "./lib/feedDelay.mjs"
import { median } from "./lib/statistics.mjs"
import { measureMemory } from "./lib/trafficMemory.mjs"

const base = "/api/tools/traffic-inspector"

const turn = (server, enabled) => callAdmin(server.port, "POST", `${base}/capture-modes/gateway`, { enabled })

const probe = fileURLToPath(new URL("./lib/delayProbe.mjs", import.meta.url))

/** How late the event loop was since it was asked last, in milliseconds. */
const takeDelay = async ({ delayFile, pid }) => {
  fs.rmSync(delayFile, { force: true })
  process.kill(pid, "SIGUSR2")
  for (let attempt = 0; attempt < 500 && !fs.existsSync(delayFile); attempt++) await sleep(10)
  return JSON.parse(fs.readFileSync(delayFile, "utf8"))
}

const measured = async (bench, server, kind, options) => {
  await takeDelay(server)
  const before = mainThreadSeconds(server.pid)
  const window = await bench.window(server, kind, options)
  const mainSeconds = mainThreadSeconds(server.pid) - before
  const { p99Ms: delayMs } = await takeDelay(server)
  const units = kind === "paced" ? window.chunks : window.requests
  return {
    mainUs: (mainSeconds / units) * 1e6,
    allUs: (window.serverCpuSeconds / units) * 1e6,
    p50Us: (kind === "paced" ? window.firstByteUs : window.latencyUs).p50,
    perSecond: kind === "paced" ? window.chunksPerSecond : window.perSecond,
    delayMs
  }
}

/** Exchanges that were recorded so far, and those that lost a body. */
const countsOf = async (server) => (await callAdmin(server.port, "GET", `${base}/capture-modes`)).gateway

/** Share of exchanges since `before` that lost a body. */
const lostShare = async (server, before) => {
  const { bodiesLost, recorded } = await countsOf(server)
  return recorded === before.recorded ? 0 : (bodiesLost - before.bodiesLost) / (recorded - before.recorded)
}

const scenarios = (plan) => [
  { name: "1.4 KB", kind: "small", connections: plan.small.connections, seconds: plan.auto.seconds },
  { name: "91 KB", kind: "big", connections: plan.big.connections, seconds: plan.auto.seconds },
  { name: "1.4 KB, one client", kind: "small", connections: 1, seconds: plan.auto.seconds },
  { name: "1,000 streams", kind: "paced", connections: plan.streams, seconds: plan.sse.seconds, pairs: 2 },
  {
    name: "1 MB, 200 clients",
    kind: "huge",
    connections: 200,
    seconds: plan.traffic.hugeSeconds,
    pairs: 2,
    warmUpSeconds: plan.traffic.hugeSeconds
  }
]

const compare = async (
  bench,
  server,
  { kind, name, pairs = bench.plan.auto.pairs, warmUpSeconds = bench.plan.auto.warmUpSeconds, ...load }
) => {
  bench.say(`gateway: own traffic, ${name}`)
  const windows = { off: [], on: [] }
  for (const enabled of [true, false]) {
    await turn(server, enabled)
    await measured(bench, server, kind, { ...load, seconds: warmUpSeconds })
  }
  for (let pair = 0; pair < pairs; pair++) {
    for (const state of pair % 2 === 0 ? ["off", "on"] : ["on", "off"]) {
      await turn(server, state === "on")
      windows[state].push(await measured(bench, server, kind, load))
    }
  }
  await turn(server, true)
  const before = await countsOf(server)
  // Long enough that what waits does not hide what is lost.
  await measured(bench, server, kind, { ...load, seconds: bench.plan.traffic.lostSeconds })
  const lost = await lostShare(server, before)
  const ratioOf = (field) => median(windows.on.map((on, at) => on[field] / windows.off[at][field]))
  return {
    name,
    pairs,
    offMainUs: median(windows.off.map(({ mainUs }) => mainUs)),
    mainRatio: ratioOf("mainUs"),
    allRatio: ratioOf("allUs"),
    rateRatio: ratioOf("perSecond"),
    addedDelayMs: median(windows.on.map(({ delayMs }, at) => delayMs - windows.off[at].delayMs)),
    addedP50Us: median(windows.on.map(({ p50Us }, at) => p50Us - windows.off[at].p50Us)),
    lost,
    residentKb: residentKb(server.pid)
  }
}

const isWanted = (input, name) => input === undefined || name.includes(input)

const measureRows = async (bench, input) => {
  const wanted = scenarios(bench.plan).filter(({ name }) => isWanted(input, name))
  if (wanted.length === 0) return []
  const delayFile = path.join(bench.folder, "delay.json")
  const variant = { nodeFlags: ["--import", probe], env: { BENCH_DELAY_FILE: delayFile } }
  return withServer(bench, servers.gateway, variant, async (running) => {
    const server = { ...running, delayFile }
    await bench.window(server, "small", { connections: 32, seconds: bench.plan.warmUpSeconds })
    const rows = []
    for (const scenario of wanted) rows.push(await compare(bench, server, scenario))
    return rows
  })
}

const measureLong = (bench) =>
  withServer({ ...bench, core: undefined }, servers.gateway, undefined, async (server) => {
    bench.say("gateway: memory")
    await turn(server, true)
    const memory = await measureMemory(server, bench.plan.traffic)
    return { ...memory, ...(await countsOf(server)) }
  })

const measureFeed = (bench) =>
  withServer({ ...bench, core: undefined }, servers.gateway, undefined, async (server) => {
    bench.say("gateway: delay of the feed")
    await turn(server, true)
    return measureFeedDelay(server, bench.plan.traffic.feedExchanges)
  })

export const measureTraffic = async (bench, { input }) => ({
  rows: await measureRows(bench, input),
  feed: isWanted(input, "feed") ? await measureFeed(bench) : undefined,
  memory: isWanted(input, "memory") ? await measureLong(bench) : undefined
})

const goals = [
  ["1.4 KB", "main-thread CPU ≤ 1.30", ({ mainRatio }) => mainRatio <= 1.3],
  ["91 KB", "main-thread CPU ≤ 1.30", ({ mainRatio }) => mainRatio <= 1.3],
  ["1.4 KB, one client", "first byte ≤ +200 µs", ({ addedP50Us }) => addedP50Us <= 200],
  ["1,000 streams", "rate ≥ 0.90", ({ rateRatio }) => rateRatio >= 0.9],
  ["1 MB, 200 clients", "event loop late ≤ +5 ms (p99)", ({ addedDelayMs }) => addedDelayMs <= 5]
]

const mb = (kb) => `${(kb / 1024).toFixed(0)} MB`

const memoryText = (memory) =>
  memory === undefined
    ? []
    : [
        "",
        `Memory over ${memory.exchanges} exchanges, one in twenty with 1 MB, 20 clients of the feed of which five never read`,
        `  RSS ${mb(memory.startKb)} at first, ${mb(memory.halfKb)} after half, ${mb(memory.endKb)} at the end, ${mb(memory.mostKb)} at most, ${mb(memory.restKb)} at rest`,
        `  slope of the second half ${memory.slopeKbPerThousand.toFixed(0)} KB per 1,000 exchanges`,
        `  small requests: p99 ${memory.p99Ms.toFixed(1)} ms, ${memory.mostMs.toFixed(0)} ms at most, ${memory.refused} refused`,
        `  feed: ${Math.min(...memory.feedBytes)} to ${Math.max(...memory.feedBytes)} bytes for each client that reads`,
        `  ${memory.recorded} recorded, ${memory.bodiesLost} lost a body`
      ]

const feedText = (feed) =>
  feed === undefined
    ? []
    : [
        "",
        `From the end of an answer to its frame in the feed, ${feed.told} of ${feed.count} exchanges`,
        `  p50 ${feed.p50Ms.toFixed(0)} ms, p95 ${feed.p95Ms.toFixed(0)} ms, ${feed.mostMs.toFixed(0)} ms at most`,
        `${(feed.p95Ms <= 100 && feed.told === feed.count ? "meets the goal" : "falls short").padEnd(15)} feed: p95 ≤ 100 ms`
      ]

export const trafficText = ({ feed, memory, rows }) =>
  [...rowsText(rows), ...feedText(feed), ...memoryText(memory)].join("\n")

const rowsText = (rows) => {
  if (rows.length === 0) return []
  return [
    "Own traffic recorded, against not (median of neighbouring windows)",
    `  ${"".padEnd(20)}${["main µs, off", "main CPU", "all CPU", "rate", "p50", "late p99", "lost", "RSS MB"].map((head) => head.padStart(13)).join("")}`,
    ...rows.map(
      ({ addedDelayMs, addedP50Us, allRatio, lost, mainRatio, name, offMainUs, rateRatio, residentKb: kb }) =>
        `  ${name.padEnd(20)}${[
          offMainUs.toFixed(0),
          `${mainRatio.toFixed(2)}×`,
          `${allRatio.toFixed(2)}×`,
          `${rateRatio.toFixed(2)}×`,
          `${addedP50Us >= 0 ? "+" : ""}${addedP50Us.toFixed(0)} µs`,
          `${addedDelayMs >= 0 ? "+" : ""}${addedDelayMs.toFixed(1)} ms`,
          `${(lost * 100).toFixed(0)} %`,
          (kb / 1024).toFixed(0)
        ]
          .map((cell) => cell.padStart(13))
          .join("")}`
    ),
    "",
    ...goals.flatMap(([name, words, isMet]) => {
      const row = rows.find((each) => each.name === name)
      return row === undefined
        ? []
        : [`${(isMet(row) ? "meets the goal" : "falls short").padEnd(15)} ${name}: ${words}`]
    })
  ]
}
