/**
 * What the parts between a client and a provider cost a request from end to end: the gateway as it is installed, with one part on, with all
 * of them on, and, with `--against`, another build of the gateway as it is installed. All run at once and are loaded in windows that follow
 * each other at once; each difference of CPU is taken between two neighbours: a machine that slows down slows both.
 */
import path from "node:path"
import { callAdmin, servers } from "./lib/servers.mjs"
import { withServer } from "./lib/scenarios.mjs"
import { median } from "./lib/statistics.mjs"

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

/** Medians over pairs of neighbouring windows. */
const compare = async (bench, plain, other, kind) => {
  const { pairs, seconds } = bench.plan.auto
  const plainUs = []
  const added = []
  for (let pair = 0; pair < pairs; pair++) {
    const order = pair % 2 === 0 ? [plain, other] : [other, plain]
    const cpu = new Map()
    for (const server of order) cpu.set(server, await cpuOf(bench, server, kind, seconds))
    plainUs.push(cpu.get(plain))
    added.push(cpu.get(other) - cpu.get(plain))
  }
  return { kind, plainUs: median(plainUs), addedUs: median(added), pairs }
}

/** `{ name, shown, kind, plainUs, addedUs, pairs }` per variant and kind of request. */
export const measureFeatures = (bench, { against, input }) =>
  withServer(bench, gateway, {}, async (plain) => {
    const before =
      against === undefined
        ? {}
        : {
            against: { shown: `the build in ${path.basename(against)}`, program: path.resolve(against, "bin/gateway") }
          }
    const rows = []
    for (const kind of kinds) await cpuOf(bench, plain, kind, bench.plan.warmUpSeconds / 2)
    for (const [name, variant] of Object.entries({ ...before, ...variants })) {
      if (input !== undefined && !name.includes(input)) continue
      bench.say(`gateway: ${variant.shown}`)
      await withServer(bench, gateway, variant, async (other) => {
        for (const kind of kinds) await cpuOf(bench, other, kind, bench.plan.warmUpSeconds / 2)
        for (const kind of kinds)
          rows.push({ name, shown: variant.shown, ...(await compare(bench, plain, other, kind)) })
      })
    }
    return rows
  })

const cell = ({ addedUs, plainUs }) =>
  `${addedUs >= 0 ? "+" : ""}${addedUs.toFixed(1)} µs (${((addedUs / plainUs) * 100).toFixed(1)} %)`

export const featuresText = (rows) => {
  const names = [...new Set(rows.map(({ name }) => name))]
  const of = (name, kind) => rows.find((row) => row.name === name && row.kind === kind)
  const base = kinds.map((kind) => median(rows.filter((row) => row.kind === kind).map(({ plainUs }) => plainUs)))
  return [
    "CPU per request beside the gateway as it is installed, from end to end (median of neighbouring windows)",
    `  ${"".padEnd(34)}${"1 KB".padStart(24)}${"91 KB".padStart(24)}`,
    `  ${"as it is installed".padEnd(34)}${base.map((us) => `${us.toFixed(0)} µs`.padStart(24)).join("")}`,
    ...names.map((name) => {
      const cells = kinds.map((kind) => cell(of(name, kind)).padStart(24))
      return `  ${of(name, kinds[0]).shown.padEnd(34)}${cells.join("")}`
    })
  ].join("\n")
}
