/**
 * What the parts between a client and a provider cost a request from end to end: the gateway as it is installed, with one part on, with all
 * of them on, and, with `--against`, another build of the gateway as it is installed. Two run at once and are loaded in windows that follow
 * each other at once; each difference of CPU is taken between two neighbours: a machine that slows down slows both.
 */
import path from "node:path"
import { callAdmin, servers } from "./lib/servers.mjs"
import { withServer } from "./lib/scenarios.mjs"
import { median, percentile } from "./lib/statistics.mjs"

const guardrails = {
  PII_REDACTION_ENABLED: "true",
  PII_RESPONSE_SANITIZATION: "true",
  INJECTION_GUARD_MODE: "warn",
  INPUT_SANITIZER_ENABLED: "true"
}
const compression = ["PUT", "/api/settings/compression", { enabled: true }]
const setting = (patch) => ["PATCH", "/api/settings", patch]

/** By name: the environment and the calls that turn it on, with the settings it has by default. */
const variants = {
  again: { shown: "the same again" },
  cache: { shown: "cache", calls: [setting({ cache: { enabled: true } })] },
  guardrails: { shown: "guardrails in both directions", env: guardrails },
  memory: { shown: "memory", calls: [setting({ memory: { enabled: true } })] },
  compression: { shown: "compression", calls: [compression] },
  promptCache: { shown: "marks for prompt caches", calls: [setting({ promptCache: "auto" })] },
  all: {
    shown: "all of them",
    env: guardrails,
    calls: [setting({ cache: { enabled: true }, memory: { enabled: true }, promptCache: "auto" }), compression]
  }
}

const gateway = {
  start: async (bench, variant) => {
    const server = await servers.gateway.start(bench, variant)
    const { setUp } = server
    server.setUp = async () => {
      await setUp()
      for (const [method, route, body] of variant.calls ?? []) await callAdmin(server.port, method, route, body)
    }
    return server
  }
}

const kinds = ["small", "big"]

const cpuOf = async (bench, server, kind, seconds) => {
  const { connections } = bench.plan[kind]
  const window = await bench.window(server, kind, { connections, seconds })
  return (window.serverCpuSeconds / window.requests) * 1e6
}

const both = async (bench, variant, use) =>
  withServer(bench, gateway, {}, (plain) => withServer(bench, gateway, variant, (other) => use(plain, other)))

/** Pairs of neighbouring windows in the order ABBA, so that a machine that slows down steadily slows both alike. */
const pairsOf = async (bench, plain, other, kind) => {
  const { pairs, seconds } = bench.plan.features
  const measured = []
  for (let pair = 0; pair < pairs; pair++) {
    const order = pair % 2 === 0 ? [plain, other] : [other, plain]
    const cpu = new Map()
    for (const server of order) cpu.set(server, await cpuOf(bench, server, kind, seconds))
    measured.push({ plainUs: cpu.get(plain), otherUs: cpu.get(other) })
  }
  return measured
}

/**
 * Each round starts both anew, because two starts of one build differ by several percent for as long as they live. `low` and `high` are the
 * quartiles of the pairs' ratios: where they are wide, the machine was noisy.
 */
const compare = async (bench, name, variant) => {
  const { rounds, warmUpSeconds } = bench.plan.features
  const measured = new Map(kinds.map((kind) => [kind, []]))
  for (let round = 0; round < rounds; round++) {
    await both(bench, variant, async (plain, other) => {
      for (const kind of kinds) {
        for (const server of [plain, other]) await cpuOf(bench, server, kind, warmUpSeconds)
        measured.get(kind).push(...(await pairsOf(bench, plain, other, kind)))
      }
    })
  }
  return kinds.map((kind) => {
    const pairs = measured.get(kind)
    const ratios = pairs.map(({ otherUs, plainUs }) => otherUs / plainUs)
    return {
      name,
      shown: variant.shown,
      kind,
      pairs: pairs.length,
      plainUs: median(pairs.map(({ plainUs }) => plainUs)),
      addedUs: median(pairs.map(({ otherUs, plainUs }) => otherUs - plainUs)),
      ratio: median(ratios),
      low: percentile(ratios, 0.25),
      high: percentile(ratios, 0.75)
    }
  })
}

/** `{ name, shown, kind, pairs, plainUs, addedUs, ratio, low, high }` per variant and kind of request. */
export const measureFeatures = async (bench, { against, input }) => {
  const before =
    against === undefined
      ? {}
      : { against: { shown: `the build in ${path.basename(against)}`, program: path.resolve(against, "bin/gateway") } }
  const rows = []
  for (const [name, variant] of Object.entries({ ...before, ...variants })) {
    if (input !== undefined && name !== "against" && !name.includes(input)) continue
    bench.say(`gateway: ${variant.shown}`)
    rows.push(...(await compare(bench, name, variant)))
  }
  return rows
}

const cell = ({ addedUs, high, low, ratio }) =>
  `${addedUs >= 0 ? "+" : ""}${addedUs.toFixed(1)} µs, ${ratio.toFixed(3)}× (${low.toFixed(2)} to ${high.toFixed(2)})`

export const featuresText = (rows) => {
  const names = [...new Set(rows.map(({ name }) => name))]
  const of = (name, kind) => rows.find((row) => row.name === name && row.kind === kind)
  const base = kinds.map((kind) => median(rows.filter((row) => row.kind === kind).map(({ plainUs }) => plainUs)))
  return [
    "CPU per request beside the gateway as it is installed, from end to end (median of neighbouring windows; in brackets the quartiles)",
    `  ${"".padEnd(34)}${"1 KB".padStart(36)}${"91 KB".padStart(36)}`,
    `  ${"as it is installed".padEnd(34)}${base.map((us) => `${us.toFixed(0)} µs`.padStart(36)).join("")}`,
    ...names.map((name) => {
      const cells = kinds.map((kind) => cell(of(name, kind)).padStart(36))
      return `  ${of(name, kinds[0]).shown.padEnd(34)}${cells.join("")}`
    })
  ].join("\n")
}
