// npm run demo: the main job, shown without an account and without a key. Starts the gateway on a free port with a throw-away data
// folder, two sample upstreams behind it (one of them always failing), and asks through the official SDKs. Stops by itself.
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import Anthropic from "@anthropic-ai/sdk"
import OpenAI from "openai"
import { failingUpstream, workingUpstream } from "./sampleUpstreams.mjs"

const adminKey = `demo-${randomBytes(16).toString("hex")}`
const dataDir = mkdtempSync(join(tmpdir(), "gateway-demo-"))
const say = (text = "") => process.stdout.write(`${text}\n`)
const title = (text) => say(`\n── ${text} ${"─".repeat(Math.max(2, 76 - text.length))}`)

/**
 * Returns the environment without variables of the gateway and of providers that this terminal may have: the demo shows
 * the same everywhere.
 */
const environment = () =>
  Object.fromEntries(
    ["PATH", "HOME", "USERPROFILE", "SYSTEMROOT", "LANG", "TMPDIR", "TEMP", "TMP"].flatMap((name) =>
      process.env[name] === undefined ? [] : [[name, process.env[name]]]
    )
  )

const startGateway = () =>
  new Promise((resolve, reject) => {
    const program = fileURLToPath(new URL("../gateway", import.meta.url))
    const child = spawn(program, ["serve", "--port", "0", "--no-open"], {
      env: { ...environment(), DATA_DIR: dataDir, GATEWAY_ADMIN_KEY: adminKey, GATEWAY_ENV_CONNECTIONS: "false" },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let complaints = ""
    child.stderr.on("data", (chunk) => (complaints = (complaints + chunk).slice(-2000)))
    child.on("exit", (code) => reject(new Error(`The gateway ended with code ${code}.\n${complaints}`)))
    createInterface({ input: child.stdout }).on("line", (line) => {
      const url = /^Gateway listening on (\S+)$/.exec(line)?.[1]
      if (url !== undefined) resolve({ child, url })
    })
  })

const manage = async (url, method, path, body) => {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
  return text === "" ? null : JSON.parse(text)
}

const setUp = async (url, failing, working) => {
  for (const [prefix, name, baseUrl] of [
    ["sample-down", "Sample upstream A (always fails)", failing.url],
    ["sample-up", "Sample upstream B (works)", working.url]
  ]) {
    await manage(url, "POST", "/api/provider-nodes", { name, prefix, type: "openai-compatible", baseUrl })
    await manage(url, "POST", "/api/providers", {
      provider: prefix,
      name,
      apiKey: "sample-key",
      models: ["sample-model"]
    })
  }
  await manage(url, "POST", "/api/combos", {
    name: "demo",
    strategy: "priority",
    targets: [{ model: "sample-down/sample-model" }, { model: "sample-up/sample-model" }]
  })
  await manage(url, "PATCH", "/api/pricing", { "sample-up": { "sample-model": { input: 3, output: 15 } } })
}

const askChat = async (url) => {
  title("POST /v1/chat/completions, streamed, with the official 'openai' package")
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "any-key" })
  const { data: stream, response } = await client.chat.completions
    .create({ model: "demo", stream: true, messages: [{ role: "user", content: "Hello, who are you?" }] })
    .withResponse()
  for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta?.content ?? "")
  say()
  return response.headers.get("x-gateway-request-id")
}

const askMessages = async (url) => {
  title("POST /v1/messages, streamed, with the official '@anthropic-ai/sdk' package")
  const client = new Anthropic({ baseURL: url, apiKey: "any-key" })
  const stream = client.messages.stream({
    model: "demo",
    max_tokens: 200,
    messages: [{ role: "user", content: "Hello, who are you?" }]
  })
  stream.on("text", (text) => process.stdout.write(text))
  const { response } = await stream.withResponse()
  await stream.finalMessage()
  say()
  return response.headers.get("x-gateway-request-id")
}

/** The row reaches the table in a batch, a moment after the answer. */
const usageOf = async (url, requestId) => {
  for (let tries = 0; tries < 50; tries++) {
    const { logs } = await manage(url, "GET", "/api/usage/logs?limit=20")
    const row = logs.find((entry) => entry.requestId === requestId)
    if (row !== undefined) return row
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`No usage row for ${requestId}.`)
}

const explain = async (url, requestId) => {
  const { decision } = await manage(url, "GET", `/api/routing/decisions/${requestId}`)
  say(`\nDecision: combo '${decision.combo}', strategy ${decision.strategy}, order ${decision.order.join(" → ")}`)
  for (const attempt of decision.attempts) {
    say(
      `  ${attempt.outcome.padEnd(9)} ${attempt.provider}/${attempt.model}  ${attempt.reason}  ${attempt.latencyMs} ms`
    )
  }
  const row = await usageOf(url, requestId)
  say(
    `Usage:    ${row.tokens.in} tokens in, ${row.tokens.out} out (${row.usageSource}), wires ${row.sourceWire} → ${row.targetWire}`
  )
  const attempts = `${row.attempts} ${row.attempts === 1 ? "attempt" : "attempts"}`
  say(`Cost:     $${row.costUsd.toFixed(6)}   first token after ${row.ttftMs} ms, ${attempts}`)
}

const main = async () => {
  const failing = await failingUpstream()
  const working = await workingUpstream()
  let gateway = null
  try {
    gateway = await startGateway()
    say(`Gateway at ${gateway.url}, with two SAMPLE upstreams (made-up answers, no account, no key):`)
    say(`  sample-down  ${failing.url}  always answers 503`)
    say(`  sample-up    ${working.url}  streams a fixed answer`)
    await setUp(gateway.url, failing, working)
    await explain(gateway.url, await askChat(gateway.url))
    await explain(gateway.url, await askMessages(gateway.url))
    say("\nThat is the main job. Next: npm start, then connect a provider of your own (see README.md).")
  } finally {
    gateway?.child.removeAllListeners("exit")
    if (gateway !== null && gateway.child.exitCode === null) {
      const ended = new Promise((resolve) => gateway.child.once("exit", resolve))
      gateway.child.kill("SIGTERM")
      await ended
    }
    failing.close()
    working.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

main().catch((error) => {
  process.stderr.write(`The demo failed: ${error.message}\n`)
  process.exitCode = 1
})
