// Series, filters and facets of a log of 1,000,000 rows while the gateway answers pings. Prints how long each takes (the median of some), the longest
// ping meanwhile, and how long the sums take to be made. Usage: node bench/usage.mjs [rows] [keys] [connections]
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
const dayMs = 86_400_000

const start = async () => {
  const child = spawn(program, ["serve", "--port", "0", "--no-open"], {
    env: { PATH: process.env.PATH, DATA_DIR: folder, GATEWAY_ADMIN_KEY: ADMIN_KEY, GATEWAY_ENV_CONNECTIONS: "false" },
    stdio: ["ignore", "pipe", "ignore"]
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

/** Runs `work` beside pings. */
const beside = async (url, name, work) => {
  const over = new AbortController()
  const pings = []
  const pinging = (async () => {
    while (!over.signal.aborted) {
      const begun = performance.now()
      await (await fetch(`${url}/api/health/ping`)).text()
      pings.push(performance.now() - begun)
      await delay(2)
    }
  })()
  await delay(50)
  const tookMs = await work()
  over.abort()
  await pinging
  pings.sort((one, other) => one - other)
  const ping = (part) => (pings[Math.floor(part * (pings.length - 1))] ?? 0).toFixed(1)
  process.stdout.write(
    `${name.padEnd(64)} ${tookMs.toFixed(1).padStart(8)} ms   ping p99 ${ping(0.99)}, longest ${ping(1)} ms\n`
  )
}

/** The median of some asks, the first one left out; and what the last one said. */
const asks = async (url, path, say) => {
  let said = ""
  await beside(url, path, async () => {
    const took = []
    for (let n = 0; n < 8; n += 1) {
      const begun = performance.now()
      const answer = await ask(url, path)
      took.push(performance.now() - begun)
      said = say?.(answer) ?? ""
    }
    return took.slice(1).toSorted((one, other) => one - other)[3]
  })
  if (said !== "") process.stdout.write(`  ${said}\n`)
}

const sum = (all) => all.reduce((one, other) => one + other, 0)
const series = ({ basis, inexact, series: all, starts, total }) =>
  `${starts.length} steps, ${all.length} series, ${sum(total.requests)} requests, basis ${basis} ${inexact.join(" ")}`

try {
  await stop(await start())
  fill()
  const gateway = await start()
  const { url } = gateway
  await beside(url, `make the sums of ${rows} rows`, async () => {
    const begun = performance.now()
    const database = new Sqlite(join(folder, "gateway.sqlite"), { readonly: true })
    const done = database
      .prepare(
        "SELECT MIN(a.seq, b.seq) >= (SELECT MAX(seq) FROM usage_log) FROM usage_summed a, usage_series_summed b"
      )
      .pluck()
    while (done.get() !== 1) await delay(50)
    const size = database.prepare("SELECT SUM(pgsize) FROM dbstat WHERE name = ?").pluck()
    for (const table of ["usage_log", "usage_series", "usage_kinds"]) {
      process.stdout.write(`  ${table}: ${((size.get(table) ?? 0) / 1_048_576).toFixed(1)} MiB\n`)
    }
    database.close()
    return performance.now() - begun
  })
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
    await asks(url, `/api/usage/series?${query}`, series)
  }
  await stop(gateway)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
