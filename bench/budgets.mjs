/**
 * `node bench/budgets.mjs`: starts the built gateway over a data folder with many keys that have budgets and have been used, and prints
 * the CPU seconds of the start, beside those of a start without keys.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import Database from "better-sqlite3"

const program = fileURLToPath(new URL("../bin/gateway", import.meta.url))
const keys = Number(process.env.KEYS ?? 100_000)
const starts = 3
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "gateway-bench-budgets-"))

const cpuSeconds = (pid) => {
  const [user, system] = fs.readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ").slice(11, 13)
  return (Number(user) + Number(system)) / 100
}

/** Until a request is answered: what is still computed behind the first line of output belongs to the start. */
const start = async () => {
  const child = spawn(program, ["serve", "--port", "0", "--no-open"], {
    env: { PATH: process.env.PATH, HOME: folder, DATA_DIR: folder, GATEWAY_ENV_CONNECTIONS: "false" },
    stdio: ["ignore", "pipe", "ignore"]
  })
  const begun = performance.now()
  let out = ""
  const url = await new Promise((resolve) =>
    child.stdout.on("data", (data) => {
      out += String(data)
      const found = /listening on (\S+)/.exec(out)
      if (found !== null) resolve(found[1])
    })
  )
  await (await fetch(`${url}/v1/models`)).arrayBuffer()
  const ms = performance.now() - begun
  const cpu = cpuSeconds(child.pid)
  child.kill("SIGTERM")
  await once(child, "exit")
  return { cpuSeconds: cpu, ms: Math.round(ms) }
}

const fill = () => {
  const database = new Database(path.join(folder, "gateway.sqlite"))
  const columns = (table) =>
    database
      .pragma(`table_info(${table})`)
      .filter(({ dflt_value, notnull, pk }) => pk > 0 || (notnull === 1 && dflt_value === null))
  const atMs = Date.now()
  const known = (id) => ({
    id,
    name: `key ${id}`,
    prefix: "gw_bench",
    hash: `hash of ${id}`,
    scopes: "[]",
    rate_limits: "[]",
    is_active: 1,
    created_at_ms: atMs,
    api_key_id: id,
    daily_limit_nano_usd: 1e9,
    weekly_limit_nano_usd: 5e9,
    monthly_limit_nano_usd: 2e10,
    warning_threshold: 0.8,
    reset_interval: "daily",
    reset_time: "00:00",
    time_zone: "UTC",
    updated_at_ms: atMs
  })
  database.transaction(() => {
    for (const table of ["api_keys", "budgets"]) {
      const names = columns(table).map(({ name }) => name)
      const insert = database.prepare(`INSERT INTO ${table} (${names.join()}) VALUES (${names.map(() => "?").join()})`)
      for (let at = 0; at < keys; at += 1) insert.run(names.map((name) => known(`key-${at}`)[name]))
    }
  })()
  database.close()
}

const median = (values) => values.toSorted((one, other) => one.cpuSeconds - other.cpuSeconds)[values.length >> 1]
const several = async () => {
  const all = []
  for (let each = 0; each < starts; each += 1) all.push(await start())
  return median(all)
}
try {
  const without = await several()
  fill()
  console.log(JSON.stringify({ keys, without, with: await several() }, null, 2))
} finally {
  fs.rmSync(folder, { recursive: true, force: true })
}
