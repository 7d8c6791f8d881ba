/**
 * `node bench/lists.mjs [paths]`, or `trials` for what is tried by POST alone: how long the lists and aggregates of the management make others wait. The built gateway gets 1,000 connections
 * with models and quotas, 10,000 keys with budgets and token limits, 200 combos and 1,000,000 rows of the log; then every GET of the API
 * document that needs no parameter is asked for several times, and what is tried by POST, with a probe in the gateway that has its longest
 * standstill, and the most memory that the gateway has meanwhile. The best of the tries counts: other work on the machine only ever adds. `IDLE`
 * is the probe without a call. Exports are files, of which `bench/analytics.mjs` measures the largest. `DATA` names a folder that keeps the data: a second run begins with its questions.
 */
import { existsSync, mkdirSync } from "node:fs"
import http from "node:http"
import { ADMIN_KEY } from "./lib/servers.mjs"
import { residentKb } from "./lib/procfs.mjs"
import {
  addCopies,
  addUsage,
  databaseOf,
  makeFolder,
  standstill,
  startGateway,
  stopGateway,
  whenQuiet,
  whenSummed
} from "./lib/managedGateway.mjs"

const [connections, keys, combos, rows, tries] = Object.entries({
  CONNECTIONS: 1_000,
  KEYS: 10_000,
  COMBOS: 200,
  ROWS: 1_000_000,
  TRIES: 5
}).map(([name, usual]) => Number(process.env[name] ?? usual))
const goalMs = 20
const ago = (days) => new Date(Date.now() - days * 86_400_000).toISOString()

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
          authorization: `Bearer ${ADMIN_KEY}`,
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

const providers = ["openai", "groq", "mistral", "deepseek", "together", "openrouter", "anthropic", "gemini"]
const models = Array.from({ length: 8 }, (_, n) => `model-${n}`)

/** Makes what there is by requests; of keys one, with a budget and a token limit. */
const fill = async ({ url }) => {
  const made = async (target, body) => {
    const answer = await call(url, "POST", target, body)
    if (answer.status !== 201 && answer.status !== 200)
      throw new Error(`POST ${target}: ${answer.status} ${answer.body}`)
    return JSON.parse(answer.body)
  }
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
  const { key } = await made("/api/keys", { name: "key" })
  await made("/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd: 5, monthlyLimitUsd: 80 })
  await made("/api/usage/token-limits", {
    apiKeyId: key.id,
    scopeType: "provider",
    scopeValue: "openai",
    tokenLimit: 1_000_000
  })
  await inTurns(combos, (n) =>
    made("/api/combos", { name: `combo ${n}`, targets: models.map((model) => ({ model: `openai/${model}` })) })
  )
}

/** Makes the other keys and the log: by requests it would take most of an hour. */
const fillDatabase = (folder) => {
  const database = databaseOf(folder)
  const idOf = (n) => `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`
  const others = keys - 1
  addCopies(database, "api_keys", others, (n) => ({ id: idOf(n), name: `key ${n}`, hash: `${n}`.padStart(64, "0") }))
  addCopies(database, "budgets", others, (n) => ({ api_key_id: idOf(n) }))
  addCopies(database, "token_limits", others, (n) => ({ id: idOf(n), api_key_id: idOf(n) }))
  const ids = (table) => database.prepare(`SELECT id FROM ${table}`).pluck().all()
  // Most of what there is is hardly used.
  addUsage(database, rows, { keys: ids("api_keys").slice(0, 200), connections: ids("connections").slice(0, 50) })
  database.close()
}

/** What a POST asks for, in whose body nothing is changed. */
const trials = [
  ["/api/routing/explain", { model: "auto" }],
  ["/api/routing/explain", { model: "combo 1" }],
  ["/api/routing/simulate", { model: "combo 1", requests: 200 }],
  ["/api/routing/replay", { model: "openai/model-1", sinceMs: 86_400_000 }]
]

const kept = process.env["DATA"]
const isFilled = kept !== undefined && existsSync(`${kept}/gateway.sqlite`)
if (kept !== undefined) mkdirSync(kept, { recursive: true })
const { folder, remove } = kept === undefined ? makeFolder("lists") : { folder: kept, remove: () => undefined }
let gateway = await startGateway(folder)
try {
  if (!isFilled) {
    await fill(gateway)
    await stopGateway(gateway)
    fillDatabase(folder)
    gateway = await startGateway(folder)
  }
  const { url } = gateway
  await whenSummed(folder)
  await whenQuiet(gateway)
  const named = process.argv.slice(2)
  const paths = named.filter((name) => name !== "trials")
  const document = JSON.parse((await call(url, "GET", "/openapi.json")).body)
  const isAsked = ([target, { get }]) => {
    if (get === undefined || target.includes("{")) return false
    return !(get.parameters ?? []).some(({ in: place, required }) => place === "query" && required === true)
  }
  const asked =
    named.length > 0
      ? paths
      : [
          ...Object.entries(document.paths)
            .filter(isAsked)
            .map(([target]) => target)
            .filter((target) => !/stream|\/ws$|\/live$|export/.test(target)),
          "/api/providers?limit=50",
          "/api/providers?view=summary",
          "/api/providers?search=c9&sort=-name",
          "/api/combos/auto?view=summary",
          "/api/keys?limit=50",
          "/api/keys?view=summary",
          "/api/keys?search=99&sort=-name",
          "/api/usage/logs?limit=1000",
          "/api/usage/logs?error=nothing",
          "/api/usage/logs/facets?outcome=failed",
          `/api/usage/series?from=${ago(30)}&step=day&by=apiKey&top=30&tz=Europe/Zurich`,
          `/api/usage/series?from=${ago(30)}&step=day&by=connection&top=30`,
          `/api/usage/series?from=${ago(20)}&step=hour&by=model`,
          `/api/usage/analytics?range=30d`,
          "/v1/models",
          "/openapi.json"
        ]
  const cell = (value, width) => String(value).padStart(width)
  console.log(`${connections} connections, ${keys} keys, ${combos} combos, ${rows} rows; best of ${tries}`)
  console.log("   status     bytes    answer ms  others wait ms   memory MB")
  const idle = async () => ({ status: 0, bytes: 0, ms: await new Promise((over) => setTimeout(over, 20, 0)) })
  const questions = [
    ["IDLE", idle],
    ...asked.map((target) => [target, () => call(url, "GET", target)]),
    ...(named.length > 0 && !named.includes("trials")
      ? []
      : trials.map(([target, body]) => [
          `POST ${target} ${JSON.stringify(body)}`,
          () => call(url, "POST", target, body)
        ]))
  ]
  for (const [name, ask] of questions) {
    const all = []
    let mostKb = 0
    const watching = setInterval(() => (mostKb = Math.max(mostKb, residentKb(gateway.child.pid))), 25)
    for (let n = 0; n < tries; n++) {
      await standstill(gateway)
      const answer = await ask()
      all.push({ ...answer, longestMs: await standstill(gateway) })
    }
    clearInterval(watching)
    const best = (figure) => Math.min(...all.map((each) => each[figure]))
    const { bytes, status } = all[0]
    const mark = best("longestMs") > goalMs ? "  over" : ""
    const memory = cell((Math.max(mostKb, residentKb(gateway.child.pid)) / 1024).toFixed(0), 12)
    console.log(
      `${cell(status, 9)}${cell(bytes, 10)}${cell(best("ms").toFixed(1), 13)}${cell(best("longestMs").toFixed(1), 16)}${memory}  ${name}${mark}`
    )
  }
} finally {
  await stopGateway(gateway)
  remove()
}
