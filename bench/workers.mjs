/**
 * What a request costs with workers, or on a database of Postgres: gateways of several kinds beside one process, all started at once and loaded in windows
 * that follow each other, free on all cores. CPU is that of all their processes; the requests are those of a key with a budget, so that leases are part
 * of it. Gateways on Postgres get as many requests a second as one process does: what they do by time is shared by as many.
 */
import fs from "node:fs"
import { withServer } from "./lib/scenarios.mjs"
import { callAdmin, servers } from "./lib/servers.mjs"
import { threadsSeconds } from "./lib/procfs.mjs"
import { addedSeconds, postgresSeconds, valkeyCommands } from "./lib/besideServers.mjs"
import { median } from "./lib/statistics.mjs"

const alone = { name: "one process", env: {} }
const ofWorkers = [2, 4].map((count) => ({ name: `${count} workers`, env: { GATEWAY_WORKERS: String(count) }, count }))

/** On the database at BENCH_POSTGRES_URL, which has to be empty; with Valkey too where BENCH_VALKEY_URL names one, on a second database of the server. */
const ofNodes = ({ BENCH_POSTGRES_URL: url, BENCH_POSTGRES_URL_2: second, BENCH_VALKEY_URL: valkey }) => {
  if (!url) throw new Error("BENCH_POSTGRES_URL has to name an empty database of Postgres")
  const onPostgres = { name: "on Postgres", env: { GATEWAY_DATABASE_URL: url } }
  if (!second || !valkey) return [onPostgres]
  return [onPostgres, { name: "and Valkey", env: { GATEWAY_DATABASE_URL: second, GATEWAY_VALKEY_URL: valkey } }]
}
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

const gatewayOf = ({ env }) => ({
  start: async (bench) => {
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

/** What the servers beside a gateway have done up to now. */
const besideNow = async ({ GATEWAY_DATABASE_URL: database, GATEWAY_VALKEY_URL: valkey }) => ({
  postgres: database === undefined ? new Map() : postgresSeconds(database),
  commands: valkey === undefined ? 0 : await valkeyCommands(valkey)
})

const windowOf = async (bench, server, load, { env }) => {
  const beside = await besideNow(env)
  const parts = processesOf(server.pid).map((pid) => ({ pid, role: roleOf(pid), before: threadsSeconds(pid) }))
  const begun = performance.now()
  const window = await bench.window(server, "small", load)
  const elapsed = (performance.now() - begun) / 1000
  const cpuOf = (role) =>
    (parts.reduce((sum, part) => sum + (part.role === role ? threadsSeconds(part.pid) - part.before : 0), 0) /
      window.requests) *
    1e6
  const [first, owner, workers] = [cpuOf("first"), cpuOf("owner"), cpuOf("worker")]
  const after = await besideNow(env)
  return {
    ofPostgres: (addedSeconds(beside.postgres, after.postgres) / window.requests) * 1e6,
    commandsPer1000: ((after.commands - beside.commands) / window.requests) * 1000,
    us: first + owner + workers,
    ofOwner: owner,
    ofWorkers: workers,
    perSecond: window.requests / load.seconds,
    loadCores: window.cpuSeconds / elapsed
  }
}

/** Starts one after the other; all run while `use` does. */
const withAll = (bench, [kind, ...more], use, opened = []) =>
  withServer(bench, gatewayOf(kind), undefined, (server) => {
    const all = [...opened, { kind, server, windows: [] }]
    return more.length === 0 ? use(all) : withAll(bench, more, use, all)
  })

/** `{ name, us, ofOwner, ofWorkers, ofPostgres, commandsPer1000, perSecond, loadCores, added, lower, upper }`: medians of windows; `added` is that of differences
 * to the neighbour of one process, `lower` and `upper` their quartiles. */
const measureBeside = (bench, kinds, { connections, pairs, rate, seconds, warmUpSeconds }) =>
  withAll(bench, [alone, ...kinds], async (opened) => {
    bench.say(`gateway: ${opened.map(({ kind }) => kind.name).join(", ")}`)
    for (const { kind, server } of opened)
      await windowOf(bench, server, { connections, seconds: warmUpSeconds * 2 * (kind.count ?? 1) }, kind)
    for (let pair = 0; pair < pairs; pair++) {
      const order = pair % 2 === 0 ? opened : opened.toReversed()
      for (const { kind, server, windows } of order)
        windows.push(await windowOf(bench, server, { connections, rate, seconds }, kind))
    }
    const [first] = opened
    return opened.map(({ kind: { name }, windows }) => {
      const of = (field) => median(windows.map((window) => window[field]))
      const differences = windows.map(({ us }, at) => us - first.windows[at].us).toSorted((a, b) => a - b)
      const added = median(differences)
      const [lower, upper] = [1, 3].map((part) => differences[Math.floor((differences.length * part) / 4)])
      const figures = ["us", "ofOwner", "ofWorkers", "ofPostgres", "commandsPer1000", "perSecond", "loadCores"]
      return { name, added, lower, upper, ...Object.fromEntries(figures.map((field) => [field, of(field)])) }
    })
  })

export const measureWorkers = (bench) => {
  const { pairs, seconds, warmUpSeconds } = bench.plan.auto
  const { connections } = bench.plan.small
  return measureBeside(bench, ofWorkers, { connections, pairs: pairs * 2, seconds, warmUpSeconds })
}

export const measureNodes = (bench) => measureBeside(bench, ofNodes(process.env), bench.plan.nodes)

export const workersText = (rows) =>
  [
    "CPU per request of a key with a budget, all processes together (medians of windows), and requests a second with the load beside it",
    ...rows.map(
      ({
        added,
        commandsPer1000,
        loadCores,
        lower,
        name,
        ofOwner,
        ofPostgres,
        ofWorkers: workers,
        perSecond,
        upper,
        us
      }) => {
        const parts =
          (workers === 0 ? "" : `, of which workers ${workers.toFixed(0)}, owner ${ofOwner.toFixed(0)}`) +
          (ofPostgres === 0 ? "" : `, beside it Postgres ${ofPostgres.toFixed(0)}`) +
          (commandsPer1000 === 0 ? "" : `, ${commandsPer1000.toFixed(1)} commands of Valkey per 1,000 requests`)
        const more =
          name === alone.name
            ? ""
            : `  (${added >= 0 ? "+" : ""}${added.toFixed(0)} µs, half of the pairs ${lower.toFixed(0)} to ${upper.toFixed(0)})`
        return `  ${name.padEnd(12)} ${us.toFixed(0).padStart(5)} µs${more}${parts}; ${perSecond.toFixed(0)} a second, load generator ${loadCores.toFixed(2)} cores`
      }
    )
  ].join("\n")
