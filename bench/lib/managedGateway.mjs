/** The built gateway over a folder of its own with a probe in it, and rows for its database that would take too long to make by requests. */
import Sqlite from "better-sqlite3"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, openSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as delay } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { ADMIN_KEY } from "./servers.mjs"

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const dayMs = 86_400_000

export const makeFolder = (name) => {
  const folder = mkdtempSync(join(tmpdir(), `gateway-${name}-`))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Resolves when it listens. `PROFILE` names a folder for a profile of its CPU. */
export const startGateway = async (folder) => {
  const profile = process.env.PROFILE === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${process.env.PROFILE}`]
  const args = [
    ...profile,
    "--import",
    at("stallProbe.mjs"),
    at("../../bin/gateway"),
    "serve",
    "--port",
    "0",
    "--no-open"
  ]
  const child = spawn(process.execPath, args, {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      DATA_DIR: folder,
      GATEWAY_ADMIN_KEY: ADMIN_KEY,
      GATEWAY_ENV_CONNECTIONS: "false"
    },
    stdio: ["ignore", "pipe", openSync(join(folder, "log"), "w"), "ipc"]
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^Gateway listening on (http:\S+)$/.exec(line)?.[1]
    if (url !== undefined) return { child, url }
  }
  throw new Error("the gateway did not start")
}

export const stopGateway = async ({ child }) => {
  const over = once(child, "exit")
  child.kill("SIGTERM")
  await over
}

/** The longest standstill since it was asked last, in milliseconds. */
export const standstill = ({ child }) =>
  new Promise((resolve) => {
    child.once("message", resolve)
    child.send("stall")
  })

/** Waits until the work of the start, and of what was added, is done. */
export const whenQuiet = async (gateway, looks = 120) => {
  let quiet = 0
  for (let n = 0; n < looks && quiet < 3; n++) {
    await standstill(gateway)
    await delay(500)
    quiet = (await standstill(gateway)) < 8 ? quiet + 1 : 0
  }
}

/** @type {(folder: string, options?: object) => import("better-sqlite3").Database} */
export const databaseOf = (folder, options) => new Sqlite(join(folder, "gateway.sqlite"), options)

/** Adds copies of the newest row of a table; `change` says in what the copy `n` differs. */
export const addCopies = (database, table, count, change) => {
  const model = database.prepare(`SELECT * FROM ${table} ORDER BY rowid DESC LIMIT 1`).get()
  const columns = Object.keys(model)
  const insert = database.prepare(
    `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map((name) => `@${name}`).join(", ")})`
  )
  database.transaction(() => {
    for (let n = 0; n < count; n++) insert.run({ ...model, ...change(n) })
  })()
}

/** Adds rows of the last 30 days to the log, of keys and connections by their ids. */
export const addUsage = (database, rows, { connections, keys }) => {
  database.exec(
    "CREATE TEMP TABLE of_keys (n INTEGER PRIMARY KEY, id TEXT); CREATE TEMP TABLE of_connections (n INTEGER PRIMARY KEY, id TEXT)"
  )
  for (const [table, ids] of [
    ["of_keys", keys],
    ["of_connections", connections]
  ]) {
    const insert = database.prepare(`INSERT INTO ${table} VALUES (?, ?)`)
    database.transaction(() => ids.forEach((id, n) => insert.run(n, id)))()
  }
  const now = Date.now()
  const step = Math.floor((30 * dayMs) / rows)
  database.exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows - 1}),
    t(i, ms) AS (SELECT i, ${now - rows * step} + i * ${step} FROM n)
    INSERT INTO usage_log (id, timestamp_ms, request_id, api_key_id, requested_model, combo, provider, connection_id, model, source_wire,
      target_wire, streamed, outcome, status, latency_ms, ttft_ms, attempts, tokens_in, tokens_out, tokens_cache_read,
      tokens_cache_write, tokens_reasoning, cost_nano_usd, priced, usage_source, error)
    SELECT printf('%08x-%04x-7000-8000-%012x', ms >> 16, ms & 65535, i), ms,
      printf('%08x-%04x-7000-8000-%012x', ms >> 16, ms & 65535, i), (SELECT id FROM of_keys WHERE n = i % ${keys.length}), 'auto',
      CASE WHEN i % 4 = 0 THEN 'fast' END, 'p' || (i % 3), (SELECT id FROM of_connections WHERE n = i % ${connections.length}), 'm' || (i % 5),
      'chat', 'chat', 0, CASE WHEN i % 50 = 0 THEN 'failed' ELSE 'completed' END, CASE WHEN i % 50 = 0 THEN 503 ELSE 200 END,
      200 + (i * 7919) % 9000, 300, 1, 1000, 200, 0, 0, 0, i % 1000000, 1, 'upstream', CASE WHEN i % 50 = 0 THEN 'upstream_error' END FROM t`)
}

/** Waits until the gateway has made the sums of all rows; `look` is called twice a second. */
export const whenSummed = async (folder, look) => {
  const database = databaseOf(folder, { readonly: true })
  const done = database
    .prepare(
      "SELECT MIN(a.seq, b.seq) >= (SELECT IFNULL(MAX(seq), 0) FROM usage_log) FROM usage_summed a, usage_series_summed b"
    )
    .pluck()
  while (done.get() !== 1) {
    await delay(500)
    await look?.()
  }
  database.close()
}
