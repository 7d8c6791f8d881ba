// Series, filters and facets of a log of 1,000,000 rows. Prints how long each takes (the median of some) and how long the event loop of the gateway
// stood still meanwhile, by a probe in it (the least of the tries: other work on the machine only ever adds), and how long the sums take to be made.
// Usage: node bench/usage.mjs [rows] [keys] [connections]
import Sqlite from "better-sqlite3"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { ADMIN_KEY } from "./lib/servers.mjs"

const [rows, keys, connections] = [2, 3, 4].map((place, n) => Number(process.argv[place] ?? [1_000_000, 10, 3][n]))
const folder = mkdtempSync(join(tmpdir(), "gateway-usage-"))
const program = fileURLToPath(new URL("../bin/gateway", import.meta.url))
const probe = fileURLToPath(new URL("lib/stallProbe.mjs", import.meta.url))
const goalMs = 20
const dayMs = 86_400_000

const start = async () => {
  const child = spawn(process.execPath, ["--import", probe, program, "serve", "--port", "0", "--no-open"], {
    env: { PATH: process.env.PATH, DATA_DIR: folder, GATEWAY_ADMIN_KEY: ADMIN_KEY, GATEWAY_ENV_CONNECTIONS: "false" },
    stdio: ["ignore", "pipe", "ignore", "ipc"]
  })
  const [line] = await once(child.stdout, "data")
  return { child, url: /http:\S+/.exec(String(line))[0] }
}
const stop = async ({ child }) => {
  child.kill("SIGTERM")
  await once(child, "exit")
}

/** Rows of the last 30 days. */
const fill = () => {
  const database = new Sqlite(join(folder, "gateway.sqlite"))
  const now = Date.now()
  const step = Math.floor((30 * dayMs) / rows)
  database.exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows - 1}),
    t(i, ms) AS (SELECT i, ${now - rows * step} + i * ${step} FROM n)
    INSERT INTO usage_log (id, timestamp_ms, request_id, api_key_id, requested_model, combo, provider, connection_id, model, source_wire,
      target_wire, streamed, outcome, status, latency_ms, ttft_ms, attempts, tokens_in, tokens_out, tokens_cache_read,
      tokens_cache_write, tokens_reasoning, cost_nano_usd, priced, usage_source, error)
    SELECT printf('%08x-%04x-7000-8000-%012x', ms >> 16, ms & 65535, i), ms,
      printf('%08x-%04x-7000-8000-%012x', ms >> 16, ms & 65535, i), 'key-' || (i % ${keys}), 'auto',
      CASE WHEN i % 4 = 0 THEN 'fast' END, 'p' || (i % 3), 'c' || (i % ${connections}), 'm' || (i % 5), 'chat', 'chat', 0,
      CASE WHEN i % 50 = 0 THEN 'failed' ELSE 'completed' END, CASE WHEN i % 50 = 0 THEN 503 ELSE 200 END, 200 + (i * 7919) % 9000, 300, 1,
      1000, 200, 0, 0, 0, i % 1000000, 1, 'upstream', CASE WHEN i % 50 = 0 THEN 'upstream_error' END FROM t`)
  database.close()
}

const ask = async (url, path) => {
  const answer = await fetch(url + path, { headers: { authorization: `Bearer ${ADMIN_KEY}` } })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
  return JSON.parse(text)
}

/** The longest standstill of the gateway since it was asked last, in milliseconds. */
const standstill = ({ child }) =>
  new Promise((resolve) => {
    child.once("message", resolve)
    child.send("stall")
  })

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
  await stop(await start())
  fill()
  const gateway = await start()
  const begun = performance.now()
  const database = new Sqlite(join(folder, "gateway.sqlite"), { readonly: true })
  const done = database
    .prepare("SELECT MIN(a.seq, b.seq) >= (SELECT MAX(seq) FROM usage_log) FROM usage_summed a, usage_series_summed b")
    .pluck()
  const stalls = []
  await standstill(gateway)
  while (done.get() !== 1) {
    await delay(500)
    stalls.push(await standstill(gateway))
  }
  print(`make the sums of ${rows} rows`, performance.now() - begun, stalls)
  process.stdout.write(`  the longest of ${stalls.length} looks: ${Math.max(...stalls).toFixed(1)} ms\n`)
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
  await stop(gateway)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
