/**
 * What a large batch costs the clients that are served beside it: one client asks one request after the other, in windows without a batch and
 * while the lines of one are asked of three providers. The batch is cancelled after its window; neighbouring windows are compared.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { callAdmin, servers } from "./lib/servers.mjs"
import { withServer } from "./lib/scenarios.mjs"
import { median } from "./lib/statistics.mjs"

const lines = 10_000
const providers = ["one", "two", "three"]
/** Most times the p99 without a batch. */
const goal = 2
const overMs = 60_000

const setUp = async (port, upstreamPort) => {
  const admin = (method, route, body) => callAdmin(port, method, route, body)
  for (const prefix of providers) {
    const baseUrl = `http://127.0.0.1:${upstreamPort}/v1`
    await admin("POST", "/api/provider-nodes", {
      name: prefix,
      prefix,
      type: "openai-compatible",
      baseUrl,
      wires: ["chat"]
    })
    await admin("POST", "/api/providers", { provider: prefix, apiKey: `sk-bench-key-of-${prefix}`, models: ["fixed"] })
  }
  await admin("POST", "/api/combos", {
    name: "batched",
    strategy: "round-robin",
    targets: providers.map((prefix) => ({ model: `${prefix}/fixed` }))
  })
  const { secret } = await admin("POST", "/api/keys", { name: "batches" })
  return secret
}

const caller = (port, secret) => {
  const headers = { authorization: `Bearer ${secret}` }
  const answered = async (response) => {
    if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${await response.text()}`)
    return response.json()
  }
  return {
    upload: async () => {
      const line = (index) => {
        const body = { model: "combo:batched", messages: [{ role: "user", content: `Line ${index}` }] }
        return JSON.stringify({ custom_id: `line-${index}`, method: "POST", url: "/v1/chat/completions", body })
      }
      const form = new FormData()
      form.set("purpose", "batch")
      form.set("file", new Blob([Array.from({ length: lines }, (_, index) => line(index)).join("\n")]), "lines.jsonl")
      const sent = fetch(`http://127.0.0.1:${port}/v1/files`, { method: "POST", headers, body: form })
      return (await answered(await sent)).id
    },
    ask: async (path, body) => {
      const sent = fetch(`http://127.0.0.1:${port}/v1/batches${path}`, {
        headers: { ...headers, "content-type": "application/json" },
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) })
      })
      return answered(await sent)
    }
  }
}

const until = async (look, isThere) => {
  const endsAt = performance.now() + overMs
  for (;;) {
    const seen = await look()
    if (isThere(seen)) return seen
    if (performance.now() > endsAt) throw new Error(`The batch stays ${seen.status}.`)
    await sleep(20)
  }
}

const gateway = {
  start: async (bench, variant) => {
    const server = await servers.gateway.start(bench, variant)
    const { setUp: configure } = server
    server.setUp = async () => {
      await configure()
      server.batches = caller(server.port, await setUp(server.port, bench.upstreamPort))
    }
    return server
  }
}

/** `{ pairs, aloneUs, besideUs, times, linesPerSecond }`: p99, medians over the pairs of windows; lines that were answered in a window. */
export const measureBatch = (bench) =>
  withServer(bench, gateway, undefined, async (server) => {
    const { warmUpSeconds } = bench.plan.auto
    const { pairs, seconds } = bench.plan.batch
    const live = (duration) => bench.window(server, "small", { connections: 1, seconds: duration })
    bench.say("gateway: a batch beside a client")
    const file = await server.batches.upload()
    const begin = async () => {
      const made = await server.batches.ask("", {
        input_file_id: file,
        endpoint: "/v1/chat/completions",
        completion_window: "24h"
      })
      const look = () => server.batches.ask(`/${made.id}`)
      await until(look, ({ request_counts: counts }) => counts.completed >= 100)
      return look
    }
    const over = async (look) => {
      const { id, request_counts: counts } = await look()
      await server.batches.ask(`/${id}/cancel`, {})
      await until(look, ({ status }) => status === "cancelled")
      return counts
    }
    await live(warmUpSeconds)
    await over(await begin())
    const measured = []
    for (let pair = 0; pair < pairs; pair++) {
      const alone = await live(seconds)
      const look = await begin()
      const before = (await look()).request_counts.completed
      const beside = await live(seconds)
      const { completed, failed } = await over(look)
      if (failed > 0) throw new Error(`${failed} lines of the batch failed.`)
      if (completed >= lines) throw new Error("The batch was over before its window.")
      measured.push({
        aloneUs: alone.latencyUs.p99,
        besideUs: beside.latencyUs.p99,
        linesPerSecond: (completed - before) / seconds
      })
    }
    return {
      pairs,
      aloneUs: median(measured.map(({ aloneUs }) => aloneUs)),
      besideUs: median(measured.map(({ besideUs }) => besideUs)),
      times: median(measured.map(({ aloneUs, besideUs }) => besideUs / aloneUs)),
      linesPerSecond: median(measured.map(({ linesPerSecond }) => linesPerSecond))
    }
  })

export const batchText = ({ aloneUs, besideUs, linesPerSecond, pairs, times }) =>
  [
    `p99 of one client, median of ${pairs} windows: ${aloneUs.toFixed(0)} µs alone, ${besideUs.toFixed(0)} µs beside a batch of ${lines} lines over three providers`,
    `(${linesPerSecond.toFixed(0)} lines per second beside it)`,
    "",
    `${(times <= goal ? "meets the goal" : "falls short").padEnd(15)} ${times.toFixed(2)} × (≤ ${goal} ×)`
  ].join("\n")
