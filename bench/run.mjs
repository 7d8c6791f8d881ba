/**
 * `npm run bench`: the bare floor, this gateway and Portkey's gateway side by side, in one run, against the same fixed-answer
 * upstream on loopback. Absolute figures belong to the machine and the hour; the ratios are what is compared.
 */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { openNative } from "./lib/native.mjs"
import { readOptions, usage } from "./lib/options.mjs"
import { PORTKEY_VERSION } from "./lib/portkey.mjs"
import { openProcesses } from "./lib/processes.mjs"
import { writeBaseline } from "./lib/parts.mjs"
import { profileGateway, profileText } from "./lib/profile.mjs"
import { problemLines, table, verdictLine } from "./lib/report.mjs"
import { measureServer } from "./lib/scenarios.mjs"
import { newestUsageRow, SERVER_CORE, servers } from "./lib/servers.mjs"
import { verdicts } from "./lib/verdicts.mjs"

const resultsFolder = fileURLToPath(new URL("./results/", import.meta.url))

/** The order of a run: the floor first and last, so that a drift of the machine shows. */
const rounds = [
  { key: "floorBefore", server: "floor" },
  { key: "gateway", server: "gateway", inspect: newestUsageRow },
  { key: "portkey", server: "portkey" },
  { key: "floorAfter", server: "floor" }
]

const say = (text) => process.stderr.write(`${text}\n`)

const openBench = async (options, processes, folder) => {
  const native = await openNative({ processes, folder, plan: options.plan })
  const endsAt = performance.now() + options.plan.deadlineSeconds * 1000
  return {
    ...native,
    processes,
    folder,
    plan: options.plan,
    core: SERVER_CORE,
    say,
    outOfTime: () => performance.now() > endsAt
  }
}

const measureAll = async (bench, options) => {
  const results = {}
  for (const { key, server, inspect } of rounds) {
    if (options.servers.has(server))
      results[key] = await measureServer(bench, server, servers[server], options.scenarios, inspect)
  }
  return results
}

const usageNote = ({ gateway }) => {
  if (gateway === undefined || !("inspected" in gateway)) return []
  const row = gateway.inspected
  if (row === undefined) return ["! gateway: no usage row was written, so its figures are not those of the whole job"]
  return [
    `Newest usage row of the gateway: ${row.outcome}, ${row.tokens?.in} + ${row.tokens?.out} tokens, ${row.costUsd} USD`
  ]
}

/** The most cores that others used in any window: above this, ratios say little. */
const NOISE_LIMIT = 0.2

const noiseNote = (results) => {
  const others = Object.values(results)
    .flatMap(({ small, big, sse }) => [small?.loaded, small?.single, big, sse])
    .map((window) => window?.otherCores ?? 0)
  const most = Math.max(0, ...others)
  return most > NOISE_LIMIT
    ? [
        `! Other work used up to ${most.toFixed(2)} cores in a window: repeat on a quiet machine before trusting a ratio`
      ]
    : []
}

const profileIfAsked = async (bench, options) => {
  if (!options.profile) return undefined
  const scenario = ["small", "big", "sse"].find((name) => options.scenarios.has(name)) ?? "small"
  say(`gateway: profile of ${scenario}`)
  return profileGateway(bench, servers.gateway, scenario).catch((error) => {
    say(`! profile: ${error.message}`)
    return undefined
  })
}

const writeResults = (content) => {
  fs.mkdirSync(resultsFolder, { recursive: true })
  const file = path.join(resultsFolder, `${content.at.replaceAll(":", "-")}.json`)
  fs.writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`)
  return path.relative(process.cwd(), file)
}

const print = (text) => process.stdout.write(`${text}\n`)

const run = async (options, processes, folder) => {
  const at = new Date().toISOString()
  const bench = await openBench(options, processes, folder)
  const results = await measureAll(bench, options)
  const judged = options.servers.has("gateway") ? verdicts(results) : []
  const profile = await profileIfAsked(bench, options)

  print(table(results))
  print(
    ["", ...problemLines(results), ...usageNote(results), ...noiseNote(results), "", ...judged.map(verdictLine)].join(
      "\n"
    )
  )
  if (profile !== undefined) print(`\n${profileText(profile)}`)
  if (profile !== undefined && options.keepBaseline) writeBaseline(profile.scenario, profile.parts)
  if (!processes.pinned) print("Nothing was pinned to a core (no taskset, or one core): compare with care.")
  if (options.quick) print("A quick run: for a look, not for figures to report.")
  const machine = {
    node: process.version,
    cores: os.availableParallelism(),
    cpu: os.cpus()[0]?.model,
    pinned: processes.pinned
  }
  const file = writeResults({
    at,
    quick: options.quick,
    machine,
    portkeyVersion: PORTKEY_VERSION,
    plan: options.plan,
    results,
    verdicts: judged,
    profile
  })
  print(`Written to ${file}`)
}

/** Alone: nothing is started, and the rest of the bench need not be able to run. */
const withoutGateway = {
  decision: async (options) => {
    const { decisionText, measureDecisions } = await import("./decision.mjs")
    const decisions = await measureDecisions(options)
    return { figures: { decisions }, text: decisionText(decisions) }
  },
  compression: async (options) => {
    const { compressionText, measureCompression } = await import("./compression.mjs")
    const compression = await measureCompression(options)
    return { figures: { compression }, text: compressionText(compression) }
  },
  proxies: async (options) => {
    const { measureProxies, proxiesText } = await import("./proxies.mjs")
    const proxies = await measureProxies(options)
    return { figures: { proxies }, text: proxiesText(proxies) }
  }
}

const runWithoutGateway = async (name, options) => {
  const at = new Date().toISOString()
  const { figures, text } = await withoutGateway[name](options)
  print(text)
  if (options.quick) print("A quick run: for a look, not for figures to report.")
  const machine = { node: process.version, cores: os.availableParallelism(), cpu: os.cpus()[0]?.model }
  print(`Written to ${writeResults({ at, quick: options.quick, machine, ...figures })}`)
}

/** Alone as well: one gateway, one upstream, one input after the other. */
const runStalls = async (options) => {
  const { measureStalls, stallText } = await import("./stall.mjs")
  const at = new Date().toISOString()
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "gateway-stall-"))
  try {
    const stalls = await measureStalls({ folder, only: options.input, say })
    print(stallText(stalls))
    const machine = { node: process.version, cores: os.availableParallelism(), cpu: os.cpus()[0]?.model }
    print(`Written to ${writeResults({ at, machine, stalls })}`)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** What is measured alone at gateways of its own, by option: what is measured, as figures and as a text. */
const alone = {
  auto: async (bench, { connections }) => {
    const { autoText, measureAuto } = await import("./auto.mjs")
    const figures = await measureAuto(bench, connections)
    return { figures, text: autoText(figures) }
  },
  limits: async (bench) => {
    const { limitsText, measureLimits } = await import("./limits.mjs")
    const figures = await measureLimits(bench)
    return { figures, text: limitsText(figures) }
  },
  workers: async (bench) => {
    const { measureWorkers, workersText } = await import("./workers.mjs")
    const figures = await measureWorkers(bench)
    return { figures, text: workersText(figures) }
  },
  nodes: async (bench) => {
    const { measureNodes, workersText } = await import("./workers.mjs")
    const figures = await measureNodes(bench)
    return { figures, text: workersText(figures) }
  },
  batch: async (bench) => {
    const { batchText, measureBatch } = await import("./batch.mjs")
    const figures = await measureBatch(bench)
    return { figures, text: batchText(figures) }
  },
  traffic: async (bench, options) => {
    const { measureTraffic, trafficText } = await import("./traffic.mjs")
    const figures = await measureTraffic(bench, options)
    return { figures, text: trafficText(figures) }
  },
  plugins: async (bench, options) => {
    const { measurePlugins, pluginsText } = await import("./plugins.mjs")
    const figures = await measurePlugins(bench, options)
    return { figures, text: pluginsText(figures) }
  },
  features: async (bench, options) => {
    const { featuresText, measureFeatures } = await import("./features.mjs")
    const figures = await measureFeatures(bench, options)
    return { figures, text: featuresText(figures) }
  }
}

const runAlone = async (name, options, processes, folder) => {
  const at = new Date().toISOString()
  const { figures, text } = await alone[name](await openBench(options, processes, folder), options)
  print(text)
  if (!processes.pinned) print("Nothing was pinned to a core (no taskset, or one core): compare with care.")
  if (options.quick) print("A quick run: for a look, not for figures to report.")
  const machine = { node: process.version, cores: os.availableParallelism(), cpu: os.cpus()[0]?.model }
  print(`Written to ${writeResults({ at, quick: options.quick, machine, plan: options.plan.auto, [name]: figures })}`)
}

/** Ends with 1 where this build is worse than the last release. */
const runGate = async (options, processes, folder) => {
  const at = new Date().toISOString()
  const { gateText, isWorse, keepHistory, measureGate } = await import("./gate.mjs")
  const figures = await measureGate(await openBench(options, processes, folder), options)
  print(gateText(figures))
  if (!processes.pinned) print("Nothing was pinned to a core (no taskset, or one core): compare with care.")
  const machine = { node: process.version, cores: os.availableParallelism(), cpu: os.cpus()[0]?.model }
  print(`Written to ${writeResults({ at, machine, gate: figures })}`)
  const { version } = JSON.parse(fs.readFileSync(new URL("../package.json", import.meta.url), "utf8"))
  if (options.keep) keepHistory(figures, { at, machine, version })
  if (isWorse(figures)) process.exitCode = 1
}

const main = async () => {
  const options = readOptions(process.argv.slice(2))
  if (options.help) return print(usage)
  const bare = Object.keys(withoutGateway).find((name) => options[name])
  if (bare !== undefined) return runWithoutGateway(bare, options)
  if (options.stall) return runStalls(options)
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "gateway-bench-"))
  const processes = openProcesses(folder)
  const cleanUp = () => {
    processes.stopAll()
    fs.rmSync(folder, { recursive: true, force: true })
  }
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129]
  ]) {
    process.on(signal, () => {
      cleanUp()
      process.exit(code)
    })
  }
  try {
    const name = Object.keys(alone).find((option) => options[option])
    if (options.gate) await runGate(options, processes, folder)
    else if (name === undefined) await run(options, processes, folder)
    else await runAlone(name, options, processes, folder)
  } finally {
    cleanUp()
  }
}

try {
  await main()
} catch (error) {
  say(`bench: ${error.message}`)
  process.exitCode = error instanceof RangeError || error instanceof TypeError ? 2 : 1
}
