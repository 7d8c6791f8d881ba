/**
 * `node bench/lists.mjs [paths]`: how long the lists and aggregates of the management make others wait. The built gateway gets 1,000 connections
 * with models and quotas, 10,000 keys with budgets and token limits, and 200 combos; then every GET of the API document that needs no parameter
 * is asked for several times, with a probe in the gateway that has its longest standstill. The best of the tries counts: other work on the
 * machine only ever adds. `IDLE` is the probe without a call.
 */
import { spawn } from "node:child_process"
import fs from "node:fs"
import http from "node:http"
import os from "node:os"
import path from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const here = fileURLToPath(new URL(".", import.meta.url))
const adminKey = "lists-admin-key-of-this-run-only"
const connections = Number(process.env.CONNECTIONS ?? 1_000)
const keys = Number(process.env.KEYS ?? 10_000)
const combos = Number(process.env.COMBOS ?? 200)
const tries = Number(process.env.TRIES ?? 5)
const goalMs = 20

const startGateway = async (folder) => {
  const program = path.join(here, "../bin/gateway")
  const profile = process.env.PROFILE === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${process.env.PROFILE}`]
  const args = [...profile, "--import", path.join(here, "lib/stallProbe.mjs"), program]
  const child = spawn(process.execPath, [...args, "serve", "--port", "0", "--no-open"], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      DATA_DIR: folder,
      GATEWAY_ADMIN_KEY: adminKey,
      GATEWAY_ENV_CONNECTIONS: "false"
    },
    stdio: ["ignore", "pipe", fs.openSync(path.join(folder, "log"), "w"), "ipc"]
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^Gateway listening on (http:\S+)$/.exec(line)?.[1]
    if (url !== undefined) return { child, url }
  }
  throw new Error("the gateway did not start")
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 8 })

const call = (url, method, target, body, headers = {}) =>
  new Promise((resolve, reject) => {
    const begun = performance.now()
    const text = body === undefined ? undefined : JSON.stringify(body)
    const asked = http.request(
      url + target,
      {
        agent,
        method,
        headers: {
          authorization: `Bearer ${adminKey}`,
          ...(text === undefined ? {} : { "content-type": "application/json" }),
          ...headers
        }
      },
      (response) => {
        const parts = []
        response.on("data", (part) => parts.push(part))
        response.on("end", () => {
          const body = Buffer.concat(parts)
          resolve({ status: response.statusCode, body, bytes: body.length, ms: performance.now() - begun })
        })
      }
    )
    asked.on("error", reject)
    asked.end(text)
  })

const inTurns = async (count, work) => {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}

/** The longest standstill since it was asked last, in milliseconds. */
const standstill = (child) =>
  new Promise((resolve) => {
    child.once("message", resolve)
    child.send("stall")
  })

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "gateway-lists-"))
const { child, url } = await startGateway(folder)
try {
  const made = async (target, body) => {
    const answer = await call(url, "POST", target, body)
    if (answer.status !== 201 && answer.status !== 200)
      throw new Error(`POST ${target}: ${answer.status} ${answer.body}`)
    return JSON.parse(answer.body)
  }
  const providers = ["openai", "groq", "mistral", "deepseek", "together", "openrouter", "anthropic", "gemini"]
  const models = Array.from({ length: 8 }, (_, n) => `model-${n}`)
  await inTurns(connections, (n) =>
    made("/api/providers", {
      provider: providers[n % providers.length],
      name: `c${n}`,
      apiKey: `key-of-${n}-0123456789`,
      baseUrl: "http://127.0.0.1:9/v1",
      models,
      quotas: [{ window: "daily", unit: "requests", limit: 1_000 }]
    })
  )
  await inTurns(keys, async (n) => {
    const { key } = await made("/api/keys", { name: `key ${n}` })
    await made("/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd: 5, monthlyLimitUsd: 80 })
    await made("/api/usage/token-limits", {
      apiKeyId: key.id,
      scopeType: "provider",
      scopeValue: "openai",
      tokenLimit: 1_000_000
    })
  })
  await inTurns(combos, (n) =>
    made("/api/combos", { name: `combo ${n}`, targets: models.map((model) => ({ model: `openai/${model}` })) })
  )
  // The gateway asks the new connections for their models in the background.
  let quiet = 0
  for (let n = 0; n < 120 && quiet < 3; n++) {
    await standstill(child)
    await new Promise((resolve) => setTimeout(resolve, 500))
    quiet = (await standstill(child)) < 8 ? quiet + 1 : 0
  }
  const paths = process.argv.slice(2)
  const document = JSON.parse((await call(url, "GET", "/openapi.json")).body)
  const isAsked = ([target, { get }]) => {
    if (get === undefined || target.includes("{")) return false
    return !(get.parameters ?? []).some(({ in: place, required }) => place === "query" && required === true)
  }
  const asked =
    paths.length > 0
      ? paths
      : [
          ...Object.entries(document.paths)
            .filter(isAsked)
            .map(([target]) => target)
            .filter((target) => !/stream|\/ws$|\/live$/.test(target)),
          "/api/providers?limit=50",
          "/api/providers?view=summary",
          "/api/providers?search=c9&sort=-name",
          "/api/combos/auto?view=summary",
          "/api/keys?limit=50",
          "/api/keys?view=summary",
          "/api/keys?search=99&sort=-name",
          "/api/usage/logs?limit=1000",
          "/v1/models",
          "/openapi.json"
        ]
  const cell = (value, width) => String(value).padStart(width)
  console.log(`${connections} connections, ${keys} keys, ${combos} combos; best of ${tries}`)
  console.log("   status     bytes    answer ms  others wait ms")
  const idle = async () => ({ status: 0, bytes: 0, ms: await new Promise((over) => setTimeout(over, 20, 0)) })
  for (const target of ["IDLE", ...asked]) {
    const all = []
    for (let n = 0; n < tries; n++) {
      await standstill(child)
      const answer = await (target === "IDLE" ? idle() : call(url, "GET", target))
      all.push({ ...answer, longestMs: await standstill(child) })
    }
    const best = (name) => Math.min(...all.map((each) => each[name]))
    const { bytes, status } = all[0]
    const mark = best("longestMs") > goalMs ? "  over" : ""
    console.log(
      `${cell(status, 9)}${cell(bytes, 10)}${cell(best("ms").toFixed(1), 13)}${cell(best("longestMs").toFixed(1), 16)}  ${target}${mark}`
    )
  }
} finally {
  const over = new Promise((resolve) => child.once("exit", resolve))
  child.kill("SIGTERM")
  await over
  fs.rmSync(folder, { recursive: true, force: true })
}
