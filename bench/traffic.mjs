/**
 * What the recording of the gateway's own traffic costs: CPU of the event loop's thread and of all threads per request, the first byte and
 * the rate of 1,000 streams, off and on. The same gateway is switched between windows that follow each other at once, and each ratio is
 * taken between two neighbours.
 */
import { callAdmin, servers } from "./lib/servers.mjs"
import { mainThreadSeconds, residentKb } from "./lib/procfs.mjs"
import { withServer } from "./lib/scenarios.mjs"
import { median } from "./lib/statistics.mjs"

const base = "/api/tools/traffic-inspector"

const turn = (server, enabled) => callAdmin(server.port, "POST", `${base}/capture-modes/gateway`, { enabled })

const measured = async (bench, server, kind, options) => {
  const before = mainThreadSeconds(server.pid)
  const window = await bench.window(server, kind, options)
  const mainSeconds = mainThreadSeconds(server.pid) - before
  const units = kind === "paced" ? window.chunks : window.requests
  return {
    mainUs: (mainSeconds / units) * 1e6,
    allUs: (window.serverCpuSeconds / units) * 1e6,
    p50Us: (kind === "paced" ? window.firstByteUs : window.latencyUs).p50,
    perSecond: kind === "paced" ? window.chunksPerSecond : window.perSecond
  }
}

/** Share of the newest records whose bodies were let go. */
const lostShare = async (server) => {
  const { requests } = await callAdmin(server.port, "GET", `${base}/requests?limit=1000`)
  return requests.length === 0 ? 0 : requests.filter(({ bodyEvicted }) => bodyEvicted).length / requests.length
}

const scenarios = (plan) => [
  { name: "1.4 KB", kind: "small", connections: plan.small.connections, seconds: plan.auto.seconds },
  { name: "91 KB", kind: "big", connections: plan.big.connections, seconds: plan.auto.seconds },
  { name: "1.4 KB, one client", kind: "small", connections: 1, seconds: plan.auto.seconds },
  { name: "1,000 streams", kind: "paced", connections: plan.streams, seconds: plan.sse.seconds, pairs: 2 }
]

const compare = async (bench, server, { kind, name, pairs = bench.plan.auto.pairs, ...load }) => {
  bench.say(`gateway: own traffic, ${name}`)
  const windows = { off: [], on: [] }
  for (const enabled of [true, false]) {
    await turn(server, enabled)
    await measured(bench, server, kind, { ...load, seconds: bench.plan.auto.warmUpSeconds })
  }
  for (let pair = 0; pair < pairs; pair++) {
    for (const state of pair % 2 === 0 ? ["off", "on"] : ["on", "off"]) {
      await turn(server, state === "on")
      windows[state].push(await measured(bench, server, kind, load))
    }
  }
  await turn(server, true)
  await measured(bench, server, kind, load)
  const lost = await lostShare(server)
  const ratioOf = (field) => median(windows.on.map((on, at) => on[field] / windows.off[at][field]))
  return {
    name,
    pairs,
    offMainUs: median(windows.off.map(({ mainUs }) => mainUs)),
    mainRatio: ratioOf("mainUs"),
    allRatio: ratioOf("allUs"),
    rateRatio: ratioOf("perSecond"),
    addedP50Us: median(windows.on.map(({ p50Us }, at) => p50Us - windows.off[at].p50Us)),
    lost,
    residentKb: residentKb(server.pid)
  }
}

export const measureTraffic = (bench, { input }) =>
  withServer(bench, servers.gateway, undefined, async (server) => {
    await bench.window(server, "small", { connections: 32, seconds: bench.plan.warmUpSeconds })
    const rows = []
    for (const scenario of scenarios(bench.plan)) {
      if (input === undefined || scenario.name.includes(input)) rows.push(await compare(bench, server, scenario))
    }
    return rows
  })

const goals = [
  ["1.4 KB", "main-thread CPU ≤ 1.30", ({ mainRatio }) => mainRatio <= 1.3],
  ["91 KB", "main-thread CPU ≤ 1.30", ({ mainRatio }) => mainRatio <= 1.3],
  ["1.4 KB, one client", "first byte ≤ +200 µs", ({ addedP50Us }) => addedP50Us <= 200],
  ["1,000 streams", "rate ≥ 0.90", ({ rateRatio }) => rateRatio >= 0.9]
]

export const trafficText = (rows) =>
  [
    "Own traffic recorded, against not (median of neighbouring windows)",
    `  ${"".padEnd(20)}${["main µs, off", "main CPU", "all CPU", "rate", "p50", "lost", "RSS MB"].map((head) => head.padStart(13)).join("")}`,
    ...rows.map(
      ({ addedP50Us, allRatio, lost, mainRatio, name, offMainUs, rateRatio, residentKb: kb }) =>
        `  ${name.padEnd(20)}${[
          offMainUs.toFixed(0),
          `${mainRatio.toFixed(2)}×`,
          `${allRatio.toFixed(2)}×`,
          `${rateRatio.toFixed(2)}×`,
          `${addedP50Us >= 0 ? "+" : ""}${addedP50Us.toFixed(0)} µs`,
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
  ].join("\n")
