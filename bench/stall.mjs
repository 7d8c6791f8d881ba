/**
 * `npm run bench -- --stall`: the longest time the running program's event loop stands still for one hostile input. The built gateway is
 * started with a probe in it; the inputs of `lib/stallCorpus.mjs` are sent one after the other, over every inference route and management.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import fs from "node:fs"
import http from "node:http"
import path from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { corpus } from "./lib/stallCorpus.mjs"

const here = fileURLToPath(new URL(".", import.meta.url))
const adminKey = "stall-admin-key-of-this-run-only"
/** Most milliseconds per MiB of what was sent or answered; an input below one MiB may take as much as one. */
const goalMsPerMib = 50
/** Of several tries the best counts: other work on the machine only ever adds. */
const tries = 3
const answerLimitMs = 60_000

const plainAnswer = {
  type: "application/json",
  body: JSON.stringify({
    id: "c",
    object: "chat.completion",
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  })
}

/** A provider that answers whatever the input under test says. */
const startUpstream = async () => {
  const state = { answer: plainAnswer }
  const server = http.createServer((request, response) => {
    request.resume()
    const { body, headers = {}, status = 200, type } = state.answer
    request.on("end", () => response.writeHead(status, { "content-type": type, ...headers }).end(body))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return { state, origin: `http://127.0.0.1:${server.address().port}`, stop: () => server.close() }
}

const startGateway = async (folder) => {
  const program = path.join(here, "../bin/gateway")
  const args = ["--import", path.join(here, "lib/stallProbe.mjs"), program, "serve", "--port", "0", "--no-open"]
  const child = spawn(process.execPath, args, {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      DATA_DIR: folder,
      GATEWAY_ADMIN_KEY: adminKey,
      GATEWAY_ENV_CONNECTIONS: "false"
    },
    stdio: ["ignore", "pipe", "ignore", "ipc"]
  })
  const lines = createInterface({ input: child.stdout })
  for await (const line of lines) {
    const port = /listening on http:\/\/127\.0\.0\.1:(\d+)/i.exec(line)?.[1]
    if (port !== undefined) return { child, port: Number(port) }
  }
  throw new Error("the gateway did not start")
}

const send = (agent, port, { admin = false, body = "", headers = {}, method, path: target }) =>
  new Promise((resolve) => {
    const asked = http.request(
      {
        agent,
        host: "127.0.0.1",
        port,
        method,
        path: target,
        timeout: answerLimitMs,
        headers: {
          ...(method === "GET"
            ? {}
            : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
          ...(admin ? { authorization: `Bearer ${adminKey}` } : {}),
          ...headers
        }
      },
      (response) => {
        const chunks = []
        response.on("data", (chunk) => chunks.push(chunk))
        response.on("close", () => resolve({ status: response.statusCode, body: Buffer.concat(chunks) }))
      }
    )
    asked.on("timeout", () => asked.destroy())
    asked.on("error", (error) => resolve({ status: error.code ?? error.message, body: Buffer.alloc(0) }))
    asked.end(body)
  })

/** Names the settings that keep one bad answer from closing the provider for the next input. */
const setUp = async (call, origin) => {
  await call("POST", "/api/provider-nodes", {
    name: "up",
    prefix: "up",
    type: "openai-compatible",
    baseUrl: `${origin}/v1`,
    wires: ["chat"]
  })
  const { connection } = await call("POST", "/api/providers", {
    provider: "up",
    name: "up",
    apiKey: "key",
    models: ["m"]
  })
  return connection.id
}

const calm = async (call) => {
  await call("POST", "/api/resilience/reset", {})
  await call("DELETE", "/api/resilience/model-cooldowns", { all: true })
  await call("DELETE", "/api/rate-limits/cooldowns", { all: true })
}

const worstOf = async (child) => {
  const answered = once(child, "message")
  child.send("stall")
  return (await answered)[0]
}

const measure = async ({ agent, call, child, connectionId, port, upstream }, input) => {
  const path = input.path.replace("{connection}", connectionId)
  const bytes = Buffer.byteLength(input.body ?? "") + Buffer.byteLength(input.upstream?.body ?? "")
  let best = Infinity
  let status = null
  for (let turn = 0; turn < tries && best > goalMsPerMib / 2; turn += 1) {
    await calm(call)
    upstream.state.answer = input.upstream ?? plainAnswer
    await worstOf(child)
    status = (await send(agent, port, { ...input, path })).status
    best = Math.min(best, await worstOf(child))
    upstream.state.answer = plainAnswer
  }
  const mib = bytes / 1_048_576
  return { name: input.name, status, kib: Math.round(bytes / 1024), worstMs: best, msPerMib: best / Math.max(1, mib) }
}

const line = ({ kib, msPerMib, name, status, worstMs }) =>
  `${worstMs.toFixed(1).padStart(9)} ms ${msPerMib.toFixed(1).padStart(8)} ms/MiB ${String(kib).padStart(6)} KiB  ${String(status).padEnd(11)} ${name}`

export const stallText = (results) => {
  const sorted = results.toSorted((a, b) => b.msPerMib - a.msPerMib)
  const over = sorted.filter(({ msPerMib }) => msPerMib > goalMsPerMib)
  return [
    ...sorted.slice(0, Math.max(15, over.length)).map(line),
    "",
    `${results.length} inputs; longest stall ${sorted[0].worstMs.toFixed(1)} ms, ${sorted[0].msPerMib.toFixed(1)} ms per MiB; ${over.length} over the goal of ${goalMsPerMib}`
  ].join("\n")
}

/** Runs the corpus; `only` keeps the inputs whose name holds it. */
export const measureStalls = async ({ folder, only, say }) => {
  fs.mkdirSync(folder, { recursive: true })
  const upstream = await startUpstream()
  const { child, port } = await startGateway(folder)
  const agent = new http.Agent({ keepAlive: true, maxSockets: 4 })
  try {
    const call = async (method, target, body) => {
      const answer = await send(agent, port, { method, path: target, body: JSON.stringify(body), admin: true })
      return answer.body.length === 0 ? null : JSON.parse(answer.body.toString())
    }
    const connectionId = await setUp(call, upstream.origin)
    const room = { agent, call, child, connectionId, port, upstream }
    // The first request of each kind compiles what it runs through: that is paid once.
    for (const input of corpus.filter(({ name }) => name.endsWith(": 1 MiB of blanks"))) await measure(room, input)
    const results = []
    for (const input of corpus.filter(({ name }) => only === undefined || name.includes(only))) {
      const result = await measure(room, input)
      say(line(result))
      results.push(result)
    }
    return results
  } finally {
    agent.destroy()
    upstream.stop()
    child.kill("SIGKILL")
  }
}
