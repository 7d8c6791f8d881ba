// Long reads beside requests: a log of 1,000,000 rows is summed up, asked for and exported while the gateway answers pings, and at last
// while it also passes on requests. Prints how long each takes, and how late the event loop was (99th percentile, from /metrics).
// Usage: node bench/analytics.mjs [rows]
import Sqlite from "better-sqlite3"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { ADMIN_KEY, callAdmin } from "./lib/servers.mjs"

const rows = Number(process.argv[2] ?? 1_000_000)
const key = ADMIN_KEY
const folder = mkdtempSync(join(tmpdir(), "gateway-analytics-"))
const program = fileURLToPath(new URL("../bin/gateway", import.meta.url))

const start = async () => {
  const child = spawn(program, ["serve", "--port", "0", "--no-open"], {
    env: { PATH: process.env.PATH, DATA_DIR: folder, GATEWAY_ADMIN_KEY: key, GATEWAY_ENV_CONNECTIONS: "false" },
    stdio: ["ignore", "pipe", "ignore"]
  })
  const [line] = await once(child.stdout, "data")
  return { child, url: /http:\S+/.exec(String(line))[0] }
}
const stop = async ({ child }) => {
  child.kill("SIGTERM")
  await once(child, "exit")
}

/** Rows of the last 30 days: 3 providers with 5 models each, 10 keys. */
const fill = () => {
  const database = new Sqlite(join(folder, "gateway.sqlite"))
  const now = Date.now()
  const step = Math.floor((30 * 86_400_000) / rows)
  database.exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows - 1}),
    t(i, ms) AS (SELECT i, ${now - rows * step} + i * ${step} FROM n)
    INSERT INTO usage_log (id, timestamp_ms, request_id, api_key_id, requested_model, provider, connection_id, model, source_wire,
      target_wire, streamed, outcome, status, latency_ms, ttft_ms, attempts, tokens_in, tokens_out, tokens_cache_read,
      tokens_cache_write, tokens_reasoning, cost_nano_usd, priced, usage_source)
    SELECT printf('%08x-%04x-7000-8000-%012x', ms >> 16, ms & 65535, i), ms, 'r', 'key-' || (i % 10), 'auto', 'p' || (i % 3), 'c' || (i % 3),
      'm' || (i % 5), 'chat', 'chat', 0, CASE WHEN i % 50 = 0 THEN 'failed' ELSE 'completed' END, 200, 1000, 300, 1, 1000, 200, 0, 0, 0,
      i % 1000000, 1, 'upstream' FROM t`)
  database.close()
}

const ask = async (url, path) => {
  const answer = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return answer
}

const lateness = async (url) =>
  Number(
    /^gateway_event_loop_delay\S*\s+([\d.e-]+)/m.exec(await (await ask(url, "/metrics")).text())?.[1] ?? Number.NaN
  )

/** Runs `work` beside pings; the time it took, and of the pings the 99th percentile and the longest. */
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
  await lateness(url)
  const begun = performance.now()
  await work()
  const tookMs = performance.now() - begun
  over.abort()
  await pinging
  pings.sort((a, b) => a - b)
  const ping = (part) => (pings[Math.floor(part * (pings.length - 1))] ?? 0).toFixed(1)
  const late = await lateness(url)
  process.stdout.write(
    `${name.padEnd(28)} ${tookMs.toFixed(0).padStart(7)} ms   ping p99 ${ping(0.99)} ms, longest ${ping(1)} ms   event loop p99 ${(late * 1000).toFixed(1)} ms late\n`
  )
}

const exportAll = async (url) => {
  let bytes = 0
  for await (const chunk of (await ask(url, "/api/usage/export?format=jsonl")).body) bytes += chunk.length
  process.stdout.write(`${(bytes / 1_048_576).toFixed(0)} MiB exported\n`)
}

const answer = JSON.stringify({
  id: "chatcmpl-bench",
  object: "chat.completion",
  created: 1_780_000_000,
  model: "fixed",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello there." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 }
})

/** An upstream that answers after 20 ms, configured as the model `bench/fixed`. */
const upstreamFor = async (url) => {
  const server = createServer((request, response) => {
    request
      .resume()
      .on("end", () =>
        setTimeout(() => response.writeHead(200, { "content-type": "application/json" }).end(answer), 20)
      )
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const port = Number(new URL(url).port)
  const baseUrl = `http://127.0.0.1:${server.address().port}/v1`
  const node = { name: "Bench", prefix: "bench", type: "openai-compatible", baseUrl, wires: ["chat"] }
  await callAdmin(port, "POST", "/api/provider-nodes", node)
  await callAdmin(port, "POST", "/api/providers", { provider: "bench", apiKey: "sk-bench-key", models: ["fixed"] })
  const { secret } = await callAdmin(port, "POST", "/api/keys", { name: "bench" })
  return { server, secret }
}

/** `work` beside so many clients that ask one after the other. */
const underLoad = async (url, secret, clients, work) => {
  const over = new AbortController()
  let answered = 0
  const body = JSON.stringify({ model: "bench/fixed", messages: [{ role: "user", content: "Hello" }] })
  const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" }
  const client = async () => {
    while (!over.signal.aborted) {
      const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body })
      if (!response.ok) throw new Error(`a request was answered ${response.status}: ${await response.text()}`)
      await response.text()
      answered += 1
    }
  }
  const begun = performance.now()
  const running = Promise.all(Array.from({ length: clients }, client))
  await work()
  over.abort()
  await running
  process.stdout.write(`${((answered / (performance.now() - begun)) * 1_000).toFixed(0)} requests a second meanwhile\n`)
}

try {
  await stop(await start())
  fill()
  const gateway = await start()
  const { url } = gateway
  await beside(url, `sum up ${rows} rows`, async () => {
    const database = new Sqlite(join(folder, "gateway.sqlite"), { readonly: true })
    const done = database.prepare("SELECT (SELECT seq FROM usage_summed) >= (SELECT MAX(seq) FROM usage_log)").pluck()
    while (done.get() !== 1) await delay(50)
    database.close()
  })
  for (const range of ["24h", "30d", "90d"]) {
    await beside(
      url,
      `analytics ${range}`,
      async () => void (await (await ask(url, `/api/usage/analytics?range=${range}`)).json())
    )
  }
  await beside(url, "analytics 30d, 50 times", async () => {
    for (let n = 0; n < 50; n += 1) await (await ask(url, "/api/usage/analytics?range=30d")).json()
  })
  await beside(url, "export of all rows", () => exportAll(url))
  const both = async () => {
    const exported = new AbortController()
    const exporting = exportAll(url).finally(() => exported.abort())
    while (!exported.signal.aborted) {
      await (await ask(url, "/api/usage/analytics?range=30d")).json()
      await delay(250)
    }
    await exporting
  }
  await beside(url, "analytics and export", both)
  const { secret, server } = await upstreamFor(url)
  const clients = 16
  await beside(url, `${clients} clients alone`, () => underLoad(url, secret, clients, () => delay(10_000)))
  await beside(url, `${clients} clients and both`, () => underLoad(url, secret, clients, both))
  server.close()
  await stop(gateway)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
