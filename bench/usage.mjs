// Series, filters and facets of a log of 1,000,000 rows. Prints how long each takes (the median of some) and how long the event loop of the gateway
// stood still meanwhile, by a probe in it (the least of the tries: other work on the machine only ever adds), and how long the sums take to be made.
// Usage: node bench/usage.mjs [rows] [keys] [connections]
import { ADMIN_KEY } from "./lib/servers.mjs"
import {
  addUsage,
  databaseOf,
  makeFolder,
  standstill,
  startGateway,
  stopGateway,
  whenSummed
} from "./lib/managedGateway.mjs"

const [rows, keys, connections] = [2, 3, 4].map((place, n) => Number(process.argv[place] ?? [1_000_000, 10, 3][n]))
const { folder, remove } = makeFolder("usage")
const goalMs = 20
const dayMs = 86_400_000

/** Rows of the last 30 days. */
const fill = () => {
  const database = databaseOf(folder)
  const named = (name, count) => Array.from({ length: count }, (_, n) => `${name}${n}`)
  addUsage(database, rows, { keys: named("key-", keys), connections: named("c", connections) })
  database.close()
}

const ask = async (url, path) => {
  const answer = await fetch(url + path, { headers: { authorization: `Bearer ${ADMIN_KEY}` } })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
  return JSON.parse(text)
}

const print = (name, tookMs, stalls) => {
  const sorted = stalls.toSorted((one, other) => one - other)
  const [least] = sorted
  const median = sorted[Math.floor(sorted.length / 2)]
  const mark = least > goalMs ? "  over" : ""
  process.stdout.write(
    `${name.padEnd(86)} ${tookMs.toFixed(1).padStart(8)} ms   stood still ${least.toFixed(1)} (median ${median.toFixed(1)}) ms${mark}\n`
  )
}

/** The median of some asks, the first one left out; and what the last one said. */
const asks = async (gateway, path, say) => {
  let said = ""
  const [took, stalls] = [[], []]
  for (let n = 0; n < 8; n += 1) {
    await standstill(gateway)
    const begun = performance.now()
    const answer = await ask(gateway.url, path)
    took.push(performance.now() - begun)
    stalls.push(await standstill(gateway))
    said = say?.(answer) ?? ""
  }
  print(path, took.slice(1).toSorted((one, other) => one - other)[3], stalls)
  if (said !== "") process.stdout.write(`  ${said}\n`)
}

const sum = (all) => all.reduce((one, other) => one + other, 0)
const series = ({ basis, inexact, series: all, starts, total }) =>
  `${starts.length} steps, ${all.length} series, ${sum(total.requests)} requests, basis ${basis} ${inexact.join(" ")}`

try {
  await stopGateway(await startGateway(folder))
  fill()
  const gateway = await startGateway(folder)
  const begun = performance.now()
  const stalls = []
  await standstill(gateway)
  await whenSummed(folder, async () => stalls.push(await standstill(gateway)))
  print(`make the sums of ${rows} rows`, performance.now() - begun, stalls)
  process.stdout.write(`  the longest of ${stalls.length} looks: ${Math.max(...stalls).toFixed(1)} ms\n`)
  const database = databaseOf(folder, { readonly: true })
  const size = database.prepare("SELECT SUM(pgsize) FROM dbstat WHERE name = ?").pluck()
  for (const table of ["usage_log", "usage_series", "usage_kinds"]) {
    process.stdout.write(`  ${table}: ${((size.get(table) ?? 0) / 1_048_576).toFixed(1)} MiB\n`)
  }
  database.close()
  const ago = (ms) => new Date(Date.now() - ms).toISOString()
  for (const query of [
    `from=${ago(30 * dayMs)}&step=day&by=provider`,
    `from=${ago(30 * dayMs)}&step=day&by=model&tz=Europe/Zurich`,
    `from=${ago(30 * dayMs)}&step=day&by=apiKey&tz=Europe/Zurich`,
    `from=${ago(30 * dayMs)}&step=day&by=model&tz=Asia/Kathmandu`,
    `from=${ago(20 * dayMs)}&step=hour&by=outcome`,
    `from=${ago(20 * dayMs)}&step=hour&by=apiKey&top=30`,
    `from=${ago(20 * dayMs)}&step=hour&by=model&combo=fast&status=5xx`,
    `from=${ago(8 * 3_600_000)}&step=minute&by=model`,
    `from=${ago(30 * dayMs)}&step=day&by=model&apiKeyId=key-3&tz=Europe/Zurich`,
    `from=${ago(30 * dayMs)}&step=day&by=model&requestedModel=auto`
  ]) {
    await asks(gateway, `/api/usage/series?${query}`, series)
  }
  for (const path of [
    "/api/usage/logs?limit=1000",
    "/api/usage/logs?limit=50&error=nothing",
    "/api/usage/logs?limit=50&combo=fast&outcome=failed",
    "/api/usage/logs?limit=50&minLatencyMs=9000",
    "/api/usage/logs/facets",
    "/api/usage/logs/facets?status=5xx",
    "/api/usage/analytics?range=30d",
    "/api/attention",
    "/api/quotas"
  ]) {
    await asks(gateway, path)
  }
  await stopGateway(gateway)
} finally {
  remove()
}
