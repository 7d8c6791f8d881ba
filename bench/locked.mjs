/**
 * `node bench/locked.mjs`: another process holds the database of the built gateway for eight seconds while fifty streams run. Prints the
 * longest silence of a stream and of a ping during the lock, what management writes were answered, and how many usage rows are missing.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import fs from "node:fs"
import http from "node:http"
import os from "node:os"
import path from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const here = fileURLToPath(new URL(".", import.meta.url))
const adminKey = "locked-admin-key-of-this-run-only"
const streams = 50
const lockMs = Number(process.env.LOCK_MS ?? 8_000)
const tokenEveryMs = 50
const streamMs = lockMs + 4_000

const now = () => performance.now()
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

const chunk = (delta, rest = {}) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: null }], ...rest })}\n\n`

/** A provider that streams a word every 50 ms for as long as the prompt says, or answers at once. */
const startUpstream = async () => {
  const server = http.createServer(async (request, response) => {
    let body = ""
    for await (const part of request) body += part
    const { messages, stream } = JSON.parse(body || "{}")
    const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 }
    if (!stream) {
      response.writeHead(200, { "content-type": "application/json" })
      const message = { role: "assistant", content: "Hello" }
      return response.end(
        JSON.stringify({
          id: "c",
          object: "chat.completion",
          created: 1,
          model: "m",
          choices: [{ index: 0, message, finish_reason: "stop" }],
          usage
        })
      )
    }
    response.writeHead(200, { "content-type": "text/event-stream" })
    const untilMs = now() + (String(messages?.[0]?.content).startsWith("long") ? streamMs : 100)
    response.write(chunk({ role: "assistant", content: "a" }))
    while (now() < untilMs) {
      await pause(tokenEveryMs)
      response.write(chunk({ content: "word " }))
    }
    response.write(
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage })}\n\n`
    )
    response.end("data: [DONE]\n\n")
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    stop: () => server.closeAllConnections() ?? server.close()
  }
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "gateway-locked-"))
const upstream = await startUpstream()
const gateway = spawn(process.execPath, [path.join(here, "../bin/gateway"), "serve", "--port", "0", "--no-open"], {
  env: {
    PATH: process.env.PATH,
    HOME: folder,
    DATA_DIR: folder,
    GATEWAY_ADMIN_KEY: adminKey,
    GATEWAY_ENV_CONNECTIONS: "false"
  },
  stdio: ["ignore", "pipe", fs.openSync(path.join(folder, "log"), "w")]
})
const [line] = await once(createInterface({ input: gateway.stdout }), "line")
const url = line.replace("Gateway listening on ", "")
const agent = new http.Agent({ keepAlive: true, maxSockets: 500 })

/** Status and the longest pause between two pieces of an answer, from the first one on. */
const call = (method, where, body, within = { from: 0, until: Number.POSITIVE_INFINITY }) =>
  new Promise((resolve) => {
    const begun = now()
    const headers = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" }
    const request = http.request(url + where, { method, headers, agent }, (response) => {
      let last = now()
      let silence = 0
      let text = ""
      response.on("data", (part) => {
        const at = now()
        if (at >= within.from() && last <= within.until()) silence = Math.max(silence, at - last)
        last = at
        if (text.length < 4_000_000) text += part
      })
      response.on("end", () =>
        resolve({
          status: response.statusCode,
          retryAfter: response.headers["retry-after"],
          silence,
          text,
          ms: now() - begun
        })
      )
    })
    request.on("error", (error) => resolve({ status: 0, silence: 0, text: String(error), ms: now() - begun }))
    request.end(body === undefined ? undefined : JSON.stringify(body))
  })
let lockedFrom = Number.POSITIVE_INFINITY
let lockedUntil = Number.POSITIVE_INFINITY
const within = { from: () => lockedFrom, until: () => lockedUntil }
const ask = (content, stream) =>
  call("POST", "/v1/chat/completions", { model: "up/m", stream, messages: [{ role: "user", content }] }, within)
const manage = (method, where, body) => call(method, where, body, within)

await manage("POST", "/api/provider-nodes", {
  name: "up",
  prefix: "up",
  type: "openai-compatible",
  baseUrl: `${upstream.origin}/v1`
})
const made = await manage("POST", "/api/providers", { provider: "up", apiKey: "k-0123456789", models: ["m"] })
if (made.status !== 201) throw new Error(`no connection: ${made.text}`)
const before = await ask("warm", false)
if (before.status !== 200) throw new Error(`no answer: ${before.text}`)

const running = Array.from({ length: streams }, (_, index) => ask(`long ${index}`, true))
await pause(1_500)
const holder = spawn(
  process.execPath,
  [
    "-e",
    `const db = new (require("better-sqlite3"))(process.argv[1]); db.pragma("busy_timeout = 5000"); db.exec(process.env.NO_LOCK ? "BEGIN" : "BEGIN EXCLUSIVE"); console.log("held"); setTimeout(() => { db.exec("COMMIT"); db.close() }, ${lockMs})`,
    path.join(folder, "gateway.sqlite")
  ],
  { cwd: path.join(here, ".."), stdio: ["ignore", "pipe", "inherit"] }
)
await once(holder.stdout, "data")
lockedFrom = now()
const pings = []
const answers = []
const writes = [
  manage("POST", "/api/keys", { name: "made while locked" }),
  manage("PATCH", "/api/pricing", { up: { m: { input: 1, output: 10 } } }),
  manage("POST", "/api/combos", { name: "locked", strategy: "priority", targets: [{ model: "up/m" }] })
]
const exit = once(holder, "exit").then(() => (lockedUntil = now()))
let asked = 0
while (lockedUntil === Number.POSITIVE_INFINITY) {
  pings.push(manage("GET", "/api/health/ping"))
  answers.push(ask(`short ${asked}`, asked % 2 === 0))
  asked += 1
  await pause(50)
}
await exit
const heldMs = lockedUntil - lockedFrom
const [streamed, pinged, answered, written] = await Promise.all(
  [running, pings, answers, writes].map((all) => Promise.all(all))
)
const expected = 1 + streams + asked
let rows = 0
for (const untilMs = now() + 15_000; now() < untilMs && rows < expected; await pause(200)) {
  rows = 0
  let cursor = null
  do {
    const page = JSON.parse(
      (
        await manage(
          "GET",
          `/api/usage/logs?limit=200${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`
        )
      ).text
    )
    const list = page.logs ?? page.items ?? page.entries ?? []
    rows += list.length
    cursor = list.length === 0 ? null : (page.nextCursor ?? null)
  } while (cursor !== null)
}
const most = (list) => Math.max(...list)
console.log(
  JSON.stringify(
    {
      heldMs: Math.round(heldMs),
      streams,
      wholeStreams: streamed.filter(({ status, text }) => status === 200 && text.includes("[DONE]")).length,
      longestSilenceMs: Math.round(most(streamed.map(({ silence }) => silence))),
      pings: pinged.length,
      pingsMs: pinged.map(({ ms }) => Math.round(ms)).join(" "),
      answersMs: answered.map(({ ms }) => Math.round(ms)).join(" "),
      slowestPingMs: Math.round(most(pinged.map(({ ms }) => ms))),
      requestsDuringLock: answered.length,
      answeredOk: answered.filter(({ status }) => status === 200).length,
      slowestAnswerMs: Math.round(most(answered.map(({ ms }) => ms))),
      managementWrites: written.map(({ ms, retryAfter, status, text }) => ({
        status,
        ms: Math.round(ms),
        retryAfter,
        text: status >= 400 ? text : undefined
      })),
      usageRows: rows,
      lostRows: expected - rows
    },
    null,
    2
  )
)
gateway.kill("SIGTERM")
await once(gateway, "exit")
upstream.stop()
agent.destroy()
console.log(
  fs
    .readFileSync(path.join(folder, "log"), "utf8")
    .split("\n")
    .filter((each) => /"level":"(?:error|warn)"/.test(each))
    .slice(0, 20)
    .join("\n")
)
fs.rmSync(folder, { recursive: true, force: true })
