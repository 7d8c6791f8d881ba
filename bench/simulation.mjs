// Simulations of 100,000 requests, and replays of 50,000: how long each takes, and how long the event loop of the gateway stood still meanwhile, by a probe
// in it; and how soon the next one has its turn when a client leaves. Prints every try, because a simulation is long enough for other work on the machine to
// come into each. Usage: node bench/simulation.mjs [tries]
import { setTimeout as delay } from "node:timers/promises"
import {
  addUsage,
  databaseOf,
  makeFolder,
  standstill,
  startGateway,
  stopGateway,
  whenSummed
} from "./lib/managedGateway.mjs"
import { ADMIN_KEY } from "./lib/servers.mjs"

const tries = Number(process.argv[2] ?? 3)
const { folder, remove } = makeFolder("simulation")
await stopGateway(await startGateway(folder))
const filled = databaseOf(folder)
addUsage(filled, 60_000, { keys: ["key"], connections: ["c0", "c1", "c2"] })
filled.close()
const gateway = await startGateway(folder)

const ask = async (path, body) => {
  const headers = { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" }
  const answer = await fetch(gateway.url + path, { method: "POST", headers, body: JSON.stringify(body) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
  return JSON.parse(text)
}

const simulation = "/api/routing/simulate"
const replay = "/api/routing/replay"
const monthMs = 31 * 86_400_000

/** Leaves when the work has begun, and asks for a short one: that has its turn when the first one is over. */
const leaveOne = async (path, body) => {
  const leaving = new AbortController()
  const headers = {
    authorization: `Bearer ${ADMIN_KEY}`,
    "content-type": "application/json",
    accept: "text/event-stream"
  }
  const answer = await fetch(gateway.url + path, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
    signal: leaving.signal
  })
  const reader = answer.body.getReader()
  await reader.read()
  await delay(300)
  const begun = performance.now()
  leaving.abort()
  await ask(simulation, { model: "auto", requests: 1 })
  return performance.now() - begun
}

try {
  const providers = ["openai", "groq", "mistral", "deepseek", "together", "openrouter"]
  for (const provider of providers) {
    for (let n = 0; n < 3; n += 1) {
      await ask("/api/providers", {
        provider,
        apiKey: `key-${n}-0123456789`,
        baseUrl: "http://127.0.0.1:9",
        models: [`m-${n}`]
      })
    }
  }
  await whenSummed(folder)
  await delay(3_000)
  for (const [name, path, body] of [
    ["idle", null, null],
    ["auto", simulation, { model: "auto" }],
    ["auto, groups of 1,000", simulation, { model: "auto", burst: 1_000 }],
    ["auto, compared", simulation, { model: "auto", compareWith: "auto/fast", requests: 50_000 }],
    ["replay", replay, { model: "auto", sinceMs: monthMs }],
    ["replay, compared", replay, { model: "auto", compareWith: "auto/fast", sinceMs: monthMs }]
  ]) {
    for (let n = 0; n < tries; n += 1) {
      await standstill(gateway)
      const begun = performance.now()
      if (body === null) await delay(5_000)
      else await ask(path, path === simulation ? { requests: 100_000, ratePerSecond: 100, ...body } : body)
      const tookMs = performance.now() - begun
      process.stdout.write(
        `${name.padEnd(24)} ${tookMs.toFixed(0).padStart(7)} ms   stood still ${(await standstill(gateway)).toFixed(1)} ms\n`
      )
    }
  }
  for (const [name, path, body] of [
    ["simulation", simulation, { model: "auto", requests: 100_000 }],
    ["replay", replay, { model: "auto", compareWith: "auto/fast", sinceMs: monthMs }]
  ]) {
    for (let n = 0; n < tries; n += 1) {
      process.stdout.write(
        `${name}, its client leaves: the next one is answered after ${(await leaveOne(path, body)).toFixed(0)} ms\n`
      )
    }
  }
} finally {
  await stopGateway(gateway)
  remove()
}
