/**
 * What `auto` costs a request from end to end: requests over HTTP through the running gateway to the fixed-answer upstream, with 10 to
 * 1,000 connections to choose from. A direct model id and the automatic ones are loaded in turn, in windows that follow each other at
 * once, and each difference of CPU is taken between two neighbours: a machine that slows down slows both.
 */
import { callAdmin, servers } from "./lib/servers.mjs"
import { withServer } from "./lib/scenarios.mjs"
import { median, ratio } from "./lib/statistics.mjs"

export const sizes = [10, 50, 200, 1000]

/** Most CPU microseconds that `auto` adds to a direct model, by number of connections. */
const goals = new Map([
  [50, 30],
  [200, 150]
])

const nodes = 10
const models = ["gpt-4o", "claude-sonnet-4", "llama-3.3-70b", "mistral-large", "deepseek-chat", "gemini-2.5-pro"]
const comboName = "bench-auto"
const direct = "node-0/fixed"

/** The first is the one the goals are about. */
const automatic = ["auto", "auto/coding", "auto/cheap", "auto/fast", comboName]

const pricesOf = (node) =>
  Object.fromEntries(
    models.map((model, index) => [model, { input: 0.1 + node / 10 + index / 5, output: 0.4 + node / 2 + index }])
  )

/** Ten nodes at one upstream; the first has one connection only, so that a direct model has no choice, the others share the rest. */
const configure = async (port, upstreamPort, size) => {
  const admin = (method, route, body) => callAdmin(port, method, route, body)
  for (let node = 0; node < nodes; node++) {
    await admin("POST", "/api/provider-nodes", {
      name: `Node ${node}`,
      prefix: `node-${node}`,
      type: "openai-compatible",
      baseUrl: `http://127.0.0.1:${upstreamPort}/v1`,
      wires: ["chat"]
    })
  }
  for (let index = 0; index < size; index++) {
    const node = index === 0 ? 0 : 1 + (index % (nodes - 1))
    await admin("POST", "/api/providers", {
      provider: `node-${node}`,
      name: `account ${index}`,
      apiKey: `sk-bench-key-of-account-${index}`,
      models: node === 0 ? ["fixed"] : models,
      defaultModel: node === 0 ? "fixed" : models[index % models.length],
      tier: ["ultra", "pro", "standard", "free"][index % 4]
    })
  }
  for (let node = 1; node < nodes; node++) await admin("PATCH", "/api/pricing", { [`node-${node}`]: pricesOf(node) })
  await admin("POST", "/api/combos", { name: comboName, strategy: "auto", targets: [] })
  const { secret } = await admin("POST", "/api/keys", { name: "bench" })
  return secret
}

/** A gateway with so many connections. */
export const gatewayOf = (size) => ({
  start: async (bench, variant) => {
    const env = { ALLOW_MULTI_CONNECTIONS_PER_COMPAT_NODE: "true", ...variant?.env }
    const server = await servers.gateway.start(bench, { ...variant, env })
    server.setUp = async () => {
      const secret = await configure(server.port, bench.upstreamPort, size)
      server.headers = [`Authorization: Bearer ${secret}`]
    }
    return server
  }
})

const cpuOf = async (bench, server, id, seconds) => {
  const { connections } = bench.plan.small
  const window = await bench.window({ ...server, modelId: () => id }, "small", { connections, seconds })
  return (window.serverCpuSeconds / window.requests) * 1e6
}

/** `{ id, size, directUs, addedUs, pairs }`: medians over the pairs of windows. */
const compare = async (bench, server, size, id) => {
  const { pairs, seconds } = bench.plan.auto
  const differences = []
  const alone = []
  for (let pair = 0; pair < pairs; pair++) {
    const order = pair % 2 === 0 ? [direct, id] : [id, direct]
    const cpu = {}
    for (const each of order) cpu[each] = await cpuOf(bench, server, each, seconds)
    alone.push(cpu[direct])
    differences.push(cpu[id] - cpu[direct])
  }
  return { id, size, directUs: median(alone), addedUs: median(differences), pairs }
}

/** One row per size and id. */
export const measureAuto = async (bench, wanted = sizes) => {
  const rows = []
  for (const size of wanted) {
    await withServer(bench, gatewayOf(size), undefined, async (server) => {
      bench.say(`gateway: auto over ${size} connections`)
      for (const id of [direct, ...automatic]) await cpuOf(bench, server, id, bench.plan.auto.warmUpSeconds)
      for (const id of automatic) rows.push(await compare(bench, server, size, id))
    })
  }
  return rows
}

const whole = (value) => value.toFixed(0)

/** The rows as a table for people, and what they say about the goals. */
export const autoText = (rows) => {
  const shown = [...new Set(rows.map(({ size }) => size))]
  const cell = (id, size) => {
    const row = rows.find((one) => one.id === id && one.size === size)
    return row === undefined
      ? "-"
      : `+${whole(row.addedUs)} (${ratio(row.addedUs + row.directUs, row.directUs).toFixed(2)}×)`
  }
  const directUs = (size) => median(rows.filter((row) => row.size === size).map((row) => row.directUs))
  const line = (label, cells) => `  ${label.padEnd(22)}${cells.map((text) => text.padStart(20)).join("")}`
  const verdicts = rows
    .filter(({ id, size }) => id === automatic[0] && goals.has(size))
    .map(({ addedUs, size }) => {
      const goalUs = goals.get(size)
      const outcome = addedUs < goalUs ? "meets the goal" : "falls short"
      return `${outcome.padEnd(15)} ${automatic[0]} over ${size} connections: +${whole(addedUs)} µs per request (< ${goalUs} µs)`
    })
  return [
    "CPU µs per request over a direct model id, from end to end (median of neighbouring windows)",
    line(
      "",
      shown.map((size) => `${size} connections`)
    ),
    line(
      `${direct}, alone`,
      shown.map((size) => whole(directUs(size)))
    ),
    ...automatic.map((id) =>
      line(
        id,
        shown.map((size) => cell(id, size))
      )
    ),
    "",
    ...verdicts
  ].join("\n")
}
