/**
 * What a request costs with workers: gateways of one process and of 2 and 4 workers, all started at once and loaded in windows that follow each other,
 * free on all cores. CPU is that of all their processes; the requests are those of a key with a budget, so that leases are part of it.
 */
import fs from "node:fs"
import { withServer } from "./lib/scenarios.mjs"
import { callAdmin, servers } from "./lib/servers.mjs"
import { cpuSeconds } from "./lib/procfs.mjs"
import { median } from "./lib/statistics.mjs"

const counts = [1, 2, 4]
/** So large that no request of the run is refused. */
const muchUsd = 1_000_000

/** The process that was started, and those that it has started. */
const processesOf = (pid) => {
  const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim()
  return [pid, ...(children === "" ? [] : children.split(" ").map(Number))]
}

const roleOf = (pid) => {
  const variables = fs.readFileSync(`/proc/${pid}/environ`, "utf8").split("\0")
  const own = variables.find((variable) => variable.startsWith("GATEWAY_PROCESS="))
  return own === undefined ? "first" : JSON.parse(own.slice(own.indexOf("=") + 1)).role
}

const gatewayOf = (workers) => ({
  start: async (bench) => {
    const env = { GATEWAY_WORKERS: String(workers) }
    const server = await servers.gateway.start({ ...bench, core: undefined }, { env })
    const { setUp } = server
    server.setUp = async () => {
      await setUp()
      const { key, secret } = await callAdmin(server.port, "POST", "/api/keys", { name: "budget" })
      await callAdmin(server.port, "POST", "/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd: muchUsd })
      server.headers = [`Authorization: Bearer ${secret}`]
    }
    return server
  }
})

const windowOf = async (bench, server, seconds) => {
  const parts = processesOf(server.pid).map((pid) => ({ pid, role: roleOf(pid), before: cpuSeconds(pid) }))
  const begun = performance.now()
  const window = await bench.window(server, "small", { connections: bench.plan.small.connections, seconds })
  const elapsed = (performance.now() - begun) / 1000
  const cpuOf = (role) =>
    (parts.reduce((sum, part) => sum + (part.role === role ? cpuSeconds(part.pid) - part.before : 0), 0) /
      window.requests) *
    1e6
  const [ofFirst, ofOwner, ofWorkers] = [cpuOf("first"), cpuOf("owner"), cpuOf("worker")]
  return {
    us: ofFirst + ofOwner + ofWorkers,
    ofOwner,
    ofWorkers,
    perSecond: window.requests / seconds,
    loadCores: window.cpuSeconds / elapsed
  }
}

/** Starts one after the other; all run while `use` does. */
const withAll = (bench, [workers, ...more], use, opened = []) =>
  withServer(bench, gatewayOf(workers), undefined, (server) => {
    const all = [...opened, { workers, server, windows: [] }]
    return more.length === 0 ? use(all) : withAll(bench, more, use, all)
  })

/** `{ workers, us, ofOwner, ofWorkers, perSecond, loadCores, added }`: medians of windows; `added` is that of differences to the neighbour of one process. */
export const measureWorkers = (bench) =>
  withAll(bench, counts, async (opened) => {
    const { pairs, seconds, warmUpSeconds } = bench.plan.auto
    bench.say("gateway: one process, 2 and 4 workers")
    for (const { server, workers } of opened) await windowOf(bench, server, warmUpSeconds * 2 * workers)
    for (let pair = 0; pair < pairs * 2; pair++) {
      const order = pair % 2 === 0 ? opened : opened.toReversed()
      for (const { server, windows } of order) windows.push(await windowOf(bench, server, seconds))
    }
    const [alone] = opened
    return opened.map(({ windows, workers }) => {
      const of = (field) => median(windows.map((window) => window[field]))
      const added = median(windows.map(({ us }, at) => us - alone.windows[at].us))
      const figures = ["us", "ofOwner", "ofWorkers", "perSecond", "loadCores"]
      return { workers, added, ...Object.fromEntries(figures.map((field) => [field, of(field)])) }
    })
  })

export const workersText = (rows) =>
  [
    "CPU per request of a key with a budget, all processes together (medians of windows), and requests a second with the load beside it",
    ...rows.map(({ added, loadCores, ofOwner, ofWorkers, perSecond, us, workers }) => {
      const parts = workers === 1 ? "" : `, of which workers ${ofWorkers.toFixed(0)}, owner ${ofOwner.toFixed(0)}`
      const more = workers === 1 ? "" : `  (${added >= 0 ? "+" : ""}${added.toFixed(0)} µs)`
      const name = workers === 1 ? "one process" : `${workers} workers`
      return `  ${name.padEnd(12)} ${us.toFixed(0).padStart(5)} µs${more}${parts}; ${perSecond.toFixed(0)} a second, load generator ${loadCores.toFixed(2)} cores`
    })
  ].join("\n")
