/**
 * What the limits of a key cost a request from end to end: the same requests by a key without limits, by one with a budget and by one with
 * every kind of limit, in windows that follow each other at once. Each difference of CPU is taken between two neighbours: a machine that
 * slows down slows both.
 */
import { callAdmin, servers } from "./lib/servers.mjs"
import { withServer } from "./lib/scenarios.mjs"
import { median } from "./lib/statistics.mjs"

const model = "limits/fixed"
/** So large that no request of the run is refused. */
const muchUsd = 1_000_000
const manyTokens = 1_000_000_000_000
/** Most of a key's CPU that a budget may add. */
const goal = 0.05

const setUp = async (port, upstreamPort) => {
  const admin = (method, route, body) => callAdmin(port, method, route, body)
  const baseUrl = `http://127.0.0.1:${upstreamPort}/v1`
  await admin("POST", "/api/provider-nodes", {
    name: "limits",
    prefix: "limits",
    type: "openai-compatible",
    baseUrl,
    wires: ["chat"]
  })
  await admin("POST", "/api/providers", { provider: "limits", apiKey: "sk-bench-key-of-limits", models: ["fixed"] })
  await admin("PATCH", "/api/pricing", { limits: { fixed: { input: 0.15, output: 0.6 } } })
  const key = async (name, settings) => (await admin("POST", "/api/keys", { name, ...settings })) ?? {}
  const plain = await key("plain")
  const again = await key("plain again")
  const budget = await key("budget")
  await admin("POST", "/api/usage/budget", { apiKeyId: budget.key.id, dailyLimitUsd: muchUsd })
  const all = await key("all", { rateLimits: [{ limit: 1_000_000, window: 1 }] })
  await admin("POST", "/api/usage/budget", {
    apiKeyId: all.key.id,
    dailyLimitUsd: muchUsd,
    weeklyLimitUsd: muchUsd,
    monthlyLimitUsd: muchUsd
  })
  const tokens = { apiKeyId: all.key.id, tokenLimit: manyTokens }
  await admin("POST", "/api/usage/token-limits", { ...tokens, scopeType: "global" })
  await admin("POST", "/api/usage/token-limits", { ...tokens, scopeType: "provider", scopeValue: "limits" })
  return { plain: plain.secret, again: again.secret, budget: budget.secret, all: all.secret }
}

const gateway = {
  start: async (bench, variant) => {
    const server = await servers.gateway.start(bench, variant)
    server.setUp = async () => {
      server.secrets = await setUp(server.port, bench.upstreamPort)
    }
    return server
  }
}

const cpuOf = async (bench, server, name, seconds) => {
  const { connections } = bench.plan.small
  const as = { ...server, headers: [`Authorization: Bearer ${server.secrets[name]}`], modelId: () => model }
  const window = await bench.window(as, "small", { connections, seconds })
  return (window.serverCpuSeconds / window.requests) * 1e6
}

const shown = new Map([
  ["again", "another key without limits"],
  ["budget", "a budget"],
  ["all", "three budgets, two token limits, a rate"]
])

/** `{ name, plainUs, addedUs, pairs }`: medians over pairs of neighbouring windows. */
export const measureLimits = (bench) =>
  withServer(bench, gateway, undefined, async (server) => {
    const { pairs, seconds, warmUpSeconds } = bench.plan.auto
    bench.say("gateway: keys with limits")
    for (const name of ["plain", ...shown.keys()]) await cpuOf(bench, server, name, warmUpSeconds)
    const rows = []
    for (const name of shown.keys()) {
      const added = []
      const plain = []
      for (let pair = 0; pair < pairs * 2; pair++) {
        const order = pair % 2 === 0 ? ["plain", name] : [name, "plain"]
        const cpu = {}
        for (const each of order) cpu[each] = await cpuOf(bench, server, each, seconds)
        plain.push(cpu.plain)
        added.push(cpu[name] - cpu.plain)
      }
      rows.push({ name, plainUs: median(plain), addedUs: median(added), pairs: pairs * 2 })
    }
    return rows
  })

export const limitsText = (rows) => {
  const lines = rows.map(({ addedUs, name, plainUs }) => {
    const part = addedUs / plainUs
    const words = `${addedUs >= 0 ? "+" : ""}${addedUs.toFixed(1)} µs (${(part * 100).toFixed(1)} %)`
    return `  ${shown.get(name).padEnd(42)}${words.padStart(20)}   of ${plainUs.toFixed(0)} µs`
  })
  const budget = rows.find(({ name }) => name === "budget")
  const part = budget === undefined ? 0 : budget.addedUs / budget.plainUs
  return [
    "CPU per request beside a key without limits, from end to end (median of neighbouring windows)",
    ...lines,
    "",
    `${(part <= goal ? "meets the goal" : "falls short").padEnd(15)} a budget adds ${(part * 100).toFixed(1)} % (≤ ${goal * 100} %)`
  ].join("\n")
}
