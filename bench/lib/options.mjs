/** The command line of the benchmark, and how long each part runs. */
import { parseArgs } from "node:util"

export const serverNames = ["floor", "gateway", "portkey"]
export const scenarioNames = ["small", "big", "turns", "sse", "idle", "start", "usageLogging"]

export const usage = `npm run bench -- [options]
  --quick               shorter warm-up and windows: for a look, not for figures to report
  --only a,b            of: ${serverNames.join(", ")}
  --scenario a,b        of: ${scenarioNames.join(", ")}
  --decision            only the CPU of routing decisions; needs no built gateway
  --compression         only the CPU of each engine of the compression; needs no built gateway
  --auto                only what auto adds to a request of a direct model, over 10 to 1,000 connections; needs a built gateway
  --limits              only what the limits of a key add to a request; needs a built gateway
  --workers             only what a request costs with one process, 2 and 4 workers; needs a built gateway
  --nodes               only what a request costs on Postgres beside one process (BENCH_POSTGRES_URL: an empty database), and with Valkey
                        (BENCH_POSTGRES_URL_2: another one, and BENCH_VALKEY_URL); needs a built gateway
  --features            only what cache, guardrails, memory and compression add to a request; needs a built gateway
  --traffic             only what the recording of own traffic adds to a request, to 1,000 streams and to the event loop's delay, and its
                        memory over a long run (--input memory); needs a built gateway
  --plugins             only what plugins add to a request, and requests beside those that do not end; needs a built gateway
  --batch               only what a batch of 10,000 lines costs a client beside it; needs a built gateway
  --proxies             only the throughput through egress proxies, as a ratio to direct; needs root on Linux and Debian's proxies
  --gate                only this build beside the last release's (bench/release.json), in rounds of at most four minutes: ends with 1 where a
                        figure is worse; needs a built gateway
  --bound 1.03          with --gate: the ratio beyond which a figure is worse
  --keep                with --gate: adds the figures to bench/history.jsonl
  --against folder      with --gate: beside the build in this checkout instead; with --features: also a request of it, as it is installed
  --connections a,b     with --auto: these numbers of connections instead
  --stall               only the longest stall of the event loop over hostile inputs; needs a built gateway, no compiler
  --input text          with --stall, --features, --plugins and --traffic: only those whose name holds the text
  --profile             also run the gateway under --cpu-prof and print what a request costs by part, beside bench/baseline.json;
                        build with GATEWAY_SOURCEMAP=1 first, so that functions are known by their files
  --keep-baseline       with --profile: keep the shares as the new baseline
  --help
Results are written to bench/results. BENCH_CACHE_DIR names the folder that keeps the peer's installation.`

const chosen = (option, text, known) => {
  if (text === undefined) return new Set(known)
  const names = text.split(",").map((name) => name.trim())
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new RangeError(`--${option}: unknown ${unknown.join(", ")}; known are ${known.join(", ")}`)
  return new Set(names)
}

const boundOf = (text) => {
  const bound = Number(text)
  if (!(bound >= 1 && bound <= 10)) throw new RangeError("--bound: a number from 1 to 10")
  return bound
}

const counts = (text) => {
  if (text === undefined) return undefined
  const numbers = text.split(",").map(Number)
  if (numbers.some((number) => !Number.isInteger(number) || number < 1 || number > 10_000))
    throw new RangeError("--connections: whole numbers from 1 to 10,000, with commas between them")
  return numbers
}

/** Seconds, counts and connections of a run. */
const plan = (quick) => ({
  streams: 1000,
  chunksPerStream: 100,
  chunkIntervalMs: 20,
  warmUpSeconds: quick ? 5 : 16,
  small: { connections: 32, seconds: quick ? 2 : 2.5, windows: quick ? 2 : 4 },
  single: { connections: 1, seconds: quick ? 1.5 : 3, windows: 1 },
  big: { connections: 8, seconds: quick ? 2 : 2.5, windows: quick ? 2 : 3, warmUpSeconds: quick ? 2 : 4 },
  turns: {
    warmUpSeconds: quick ? 1 : 2,
    alone: { connections: 1, seconds: quick ? 1 : 2 },
    together: { connections: 16, seconds: quick ? 1 : 2 }
  },
  sse: { warmUpSeconds: 4, seconds: quick ? 4 : 8 },
  idle: { warmUpSeconds: quick ? 3 : 8, settleSeconds: 2 },
  start: { runs: quick ? 3 : 5 },
  auto: { warmUpSeconds: quick ? 2 : 3, seconds: quick ? 0.8 : 1.2, pairs: quick ? 5 : 9 },
  nodes: {
    warmUpSeconds: quick ? 3 : 5,
    seconds: quick ? 1 : 1.5,
    pairs: quick ? 12 : 60,
    connections: 64,
    rate: 2_000
  },
  features: { warmUpSeconds: quick ? 2 : 4, seconds: 0.5, rounds: quick ? 2 : 5, pairs: quick ? 6 : 10 },
  gate: { warmUpSeconds: 1, seconds: 0.5, starts: 3, deadlineSeconds: quick ? 100 : 240 },
  batch: { seconds: quick ? 1.5 : 2, pairs: quick ? 3 : 7 },
  traffic: {
    feedExchanges: quick ? 300 : 1_000,
    hugeSeconds: 8,
    lostSeconds: 6,
    exchanges: quick ? 20_000 : 100_000,
    deadlineSeconds: quick ? 100 : 600
  },
  deadlineSeconds: 420
})

/** Reads the arguments; throws `RangeError` or `TypeError` with a text for the user. */
export const readOptions = (args) => {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      scenario: { type: "string" },
      profile: { type: "boolean", default: false },
      "keep-baseline": { type: "boolean", default: false },
      decision: { type: "boolean", default: false },
      compression: { type: "boolean", default: false },
      auto: { type: "boolean", default: false },
      limits: { type: "boolean", default: false },
      workers: { type: "boolean", default: false },
      nodes: { type: "boolean", default: false },
      features: { type: "boolean", default: false },
      traffic: { type: "boolean", default: false },
      plugins: { type: "boolean", default: false },
      batch: { type: "boolean", default: false },
      proxies: { type: "boolean", default: false },
      gate: { type: "boolean", default: false },
      bound: { type: "string", default: "1.03" },
      keep: { type: "boolean", default: false },
      against: { type: "string" },
      connections: { type: "string" },
      stall: { type: "boolean", default: false },
      input: { type: "string" },
      help: { type: "boolean", default: false }
    }
  })
  return {
    help: values.help,
    quick: values.quick,
    profile: values.profile,
    keepBaseline: values["keep-baseline"],
    decision: values.decision,
    compression: values.compression,
    auto: values.auto,
    limits: values.limits,
    workers: values.workers,
    nodes: values.nodes,
    features: values.features,
    traffic: values.traffic,
    plugins: values.plugins,
    batch: values.batch,
    proxies: values.proxies,
    gate: values.gate,
    bound: boundOf(values.bound),
    keep: values.keep,
    against: values.against,
    connections: counts(values.connections),
    stall: values.stall,
    input: values.input,
    servers: chosen("only", values.only, serverNames),
    scenarios: chosen("scenario", values.scenario, scenarioNames),
    plan: plan(values.quick)
  }
}
