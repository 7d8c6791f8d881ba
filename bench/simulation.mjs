// Simulations of 100,000 requests: how long each takes, and how long the event loop of the gateway stood still meanwhile, by a probe in it. Prints every
// try, because a simulation is long enough for other work on the machine to come into each. Usage: node bench/simulation.mjs [tries]
import { setTimeout as delay } from "node:timers/promises"
import { makeFolder, standstill, startGateway, stopGateway } from "./lib/managedGateway.mjs"
import { ADMIN_KEY } from "./lib/servers.mjs"

const tries = Number(process.argv[2] ?? 3)
const { folder, remove } = makeFolder("simulation")
const gateway = await startGateway(folder)

const ask = async (path, body) => {
  const headers = { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" }
  const answer = await fetch(gateway.url + path, { method: "POST", headers, body: JSON.stringify(body) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
  return JSON.parse(text)
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
  await delay(3_000)
  for (const [name, body] of [
    ["idle", null],
    ["auto", { model: "auto" }],
    ["auto, groups of 1,000", { model: "auto", burst: 1_000 }],
    ["auto, compared", { model: "auto", compareWith: "auto/fast", requests: 50_000 }]
  ]) {
    for (let n = 0; n < tries; n += 1) {
      await standstill(gateway)
      const begun = performance.now()
      if (body === null) await delay(5_000)
      else await ask("/api/routing/simulate", { requests: 100_000, ratePerSecond: 100, ...body })
      const tookMs = performance.now() - begun
      process.stdout.write(
        `${name.padEnd(24)} ${tookMs.toFixed(0).padStart(7)} ms   stood still ${(await standstill(gateway)).toFixed(1)} ms\n`
      )
    }
  }
} finally {
  await stopGateway(gateway)
  remove()
}
