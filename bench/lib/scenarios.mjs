/** What is measured. Every scenario takes a running, warmed server (or starts its own) and returns plain figures. */
import { setTimeout as sleep } from "node:timers/promises"
import { turnKinds } from "./bodies.mjs"
import { residentKb } from "./procfs.mjs"
import { median, sum } from "./statistics.mjs"

/** Times are microseconds, rates per second. Noise only ever slows a window, so ratios use the best; the median is kept beside it. */
const summarise = (windows) => {
  const best = windows.reduce((a, b) => (b.perSecond > a.perSecond ? b : a))
  return {
    perSecond: best.perSecond,
    medianPerSecond: median(windows.map((w) => w.perSecond)),
    cpuUs: Math.min(...windows.map((w) => (w.serverCpuSeconds / w.requests) * 1e6)),
    p50Us: median(windows.map((w) => w.latencyUs.p50)),
    p99Us: median(windows.map((w) => w.latencyUs.p99)),
    failures: sum(windows.map((w) => w.errors + w.non2xx)),
    otherCores: Math.max(...windows.map((w) => w.otherCores))
  }
}

const closedLoop = async (bench, server, kind, { connections, seconds, windows, warmUpSeconds }) => {
  if (warmUpSeconds !== undefined) await bench.window(server, kind, { connections, seconds: warmUpSeconds })
  const measured = []
  for (let i = 0; i < windows; i++) measured.push(await bench.window(server, kind, { connections, seconds }))
  return summarise(measured)
}

const small = async (bench, server) => ({
  loaded: await closedLoop(bench, server, "small", bench.plan.small),
  single: await closedLoop(bench, server, "small", bench.plan.single),
  residentKb: residentKb(server.pid)
})

const big = (bench, server) => closedLoop(bench, server, "big", bench.plan.big)

const sse = async (bench, server) => {
  const { streams, sse: timing } = bench.plan
  const run = await bench.window(server, "paced", { connections: streams, ...timing })
  return {
    chunksPerSecond: run.chunksPerSecond,
    cpuUsPerChunk: (run.serverCpuSeconds / run.chunks) * 1e6,
    firstByteP50Us: run.firstByteUs.p50,
    firstByteP99Us: run.firstByteUs.p99,
    streamP50Us: run.latencyUs.p50,
    longestGapMs: run.longestGapMs,
    streamsEnded: run.streamsEnded,
    lost: run.lost,
    outOfOrder: run.outOfOrder,
    stalled: run.stalled,
    unfinished: run.unfinished,
    failures: run.errors + run.non2xx,
    residentKb: residentKb(server.pid),
    otherCores: run.otherCores
  }
}

/** Turns of an agent: the first token one at a time, CPU with several at once. */
const turns = async (bench, server) => {
  const { alone, together, warmUpSeconds } = bench.plan.turns
  const figures = {}
  for (const kind of Object.keys(turnKinds)) {
    await bench.window(server, kind, { ...together, seconds: warmUpSeconds })
    const one = await bench.window(server, kind, alone)
    const many = await bench.window(server, kind, together)
    figures[kind] = {
      firstTokenP50Us: one.firstByteUs.p50,
      firstTokenP99Us: one.firstByteUs.p99,
      cpuUs: (many.serverCpuSeconds / many.requests) * 1e6,
      failures: one.errors + one.non2xx + many.errors + many.non2xx,
      otherCores: Math.max(one.otherCores, many.otherCores)
    }
  }
  return figures
}

/** Scenarios that share one warmed process, in this order. */
const onWarmServer = { small, big, turns, sse }

const warmUp = (bench, server, seconds) =>
  bench.window(server, "small", { connections: bench.plan.small.connections, seconds })

/** Starts a server, gives it to `use`, and stops it whatever happens. */
export const withServer = async (bench, definition, variant, use) => {
  const server = await definition.start(bench, variant)
  try {
    await server.setUp()
    return await use(server)
  } finally {
    await server.stop()
  }
}

/** Memory of open streams on which nothing happens, in a process of its own: 1,000 busy streams before would hide the growth. */
const idle = (bench, definition) =>
  withServer(bench, definition, undefined, async (server) => {
    const { streams, idle: timing } = bench.plan
    await warmUp(bench, server, timing.warmUpSeconds)
    await sleep(timing.settleSeconds * 1000)
    const baseKb = residentKb(server.pid)
    const held = await bench.hold(server, streams, 20)
    try {
      if (held.opened < streams)
        throw new Error(`${held.opened} of ${streams} streams opened (${held.errors} errors). ${held.refusal}`)
      await sleep(timing.settleSeconds * 1000)
      const withStreamsKb = residentKb(server.pid)
      return { baseKb, withStreamsKb, kbPerStream: (withStreamsKb - baseKb) / streams }
    } finally {
      await held.release()
    }
  })

/** From the start of the program to its line "listening", not pinned: on a new data folder, then again on the same one. */
const start = async (bench, definition) => {
  const fresh = []
  const again = []
  for (let i = 0; i < bench.plan.start.runs; i++) {
    const first = await definition.start({ ...bench, core: undefined })
    await first.stop()
    fresh.push(first.startMs)
    if (first.dataDir === undefined) continue
    const second = await definition.start({ ...bench, core: undefined }, { dataDir: first.dataDir })
    await second.stop()
    again.push(second.startMs)
  }
  return { freshMs: median(fresh), againMs: again.length > 0 ? median(again) : undefined }
}

/**
 * Hook: the environment with which the built gateway serves without writing usage rows. As long as the product knows no such
 * mode this stays null, and the scenario says that it was not measured.
 */
const withoutUsageRows = null

const usageLogging = async (bench, definition) => {
  if (withoutUsageRows === null) return undefined
  const cpuUs = {}
  for (const [name, variant] of Object.entries({ withRows: undefined, withoutRows: { env: withoutUsageRows } })) {
    const figures = await withServer(bench, definition, variant, async (server) => {
      await warmUp(bench, server, bench.plan.warmUpSeconds)
      return closedLoop(bench, server, "small", bench.plan.small)
    })
    cpuUs[name] = figures.cpuUs
  }
  return { ...cpuUs, costShare: 1 - cpuUs.withoutRows / cpuUs.withRows }
}

/** Scenarios that start their own processes, and the servers they make sense for. */
const onOwnServer = {
  idle: { run: idle, servers: ["floor", "gateway", "portkey"] },
  start: { run: start, servers: ["floor", "gateway", "portkey"] },
  usageLogging: { run: usageLogging, servers: ["gateway"] }
}

/**
 * All wanted scenarios on one server. A scenario that fails leaves its reason in `problems` and the others go on.
 * `inspect(server)` is called at the end of the warm process's life and its answer kept as `inspected`.
 */
export const measureServer = async (bench, name, definition, wanted, inspect) => {
  const figures = { problems: [] }
  const guarded = (run, prefix = "") =>
    run().catch((error) => {
      figures.problems.push(`${prefix}${error.message}`)
    })
  const attempt = async (scenario, run) => {
    if (bench.outOfTime()) {
      figures.problems.push(`${scenario}: not measured, the time of the run was over`)
      return
    }
    bench.say(`${name}: ${scenario}`)
    figures[scenario] = await guarded(run, `${scenario}: `)
  }
  const measureShared = (shared) =>
    withServer(bench, definition, undefined, async (server) => {
      bench.say(`${name}: warm-up`)
      await warmUp(bench, server, bench.plan.warmUpSeconds)
      for (const [scenario, run] of shared) await attempt(scenario, () => run(bench, server))
      figures.inspected = await inspect?.(server)
    })

  await guarded(async () => {
    await definition.prepare?.(bench)
    const shared = Object.entries(onWarmServer).filter(([scenario]) => wanted.has(scenario))
    if (shared.length > 0) await guarded(() => measureShared(shared))
    for (const [scenario, { run, servers }] of Object.entries(onOwnServer)) {
      if (wanted.has(scenario) && servers.includes(name)) await attempt(scenario, () => run(bench, definition))
    }
  })
  return figures
}
