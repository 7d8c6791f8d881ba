/**
 * What plugins cost requests of the built gateway, from end to end: CPU of the event loop's thread, p50 and p99 of one client, and the delay of
 * the event loop; a router strategy over 50 members; requests beside plugins that do not end; and what a start without plugins reads. One
 * gateway is switched between windows that follow each other at once, and each figure is taken between two neighbours. `bench/plugins.ts`
 * measures the sandbox alone.
 */
import fs from "node:fs"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { mainThreadSeconds, residentKb } from "./lib/procfs.mjs"
import { withServer } from "./lib/scenarios.mjs"
import { callAdmin, servers } from "./lib/servers.mjs"
import { median } from "./lib/statistics.mjs"

const probe = fileURLToPath(new URL("./lib/pluginProbe.cjs", import.meta.url))
const routed = 50
const timeoutMs = 1_000

const gateway = {
  start: async (bench) => {
    const file = path.join(bench.folder, `probe-${process.hrtime.bigint()}.json`)
    const server = await servers.gateway.start(bench, { nodeFlags: ["--require", probe], env: { PROBE_FILE: file } })
    let told = 0
    server.probe = async () => {
      told += 1
      process.kill(server.pid, "SIGUSR2")
      for (let tries = 0; tries < 200; tries++) {
        const seen = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : { told: 0 }
        if (seen.told === told) return seen
        await sleep(10)
      }
      throw new Error("the probe did not answer")
    }
    return server
  }
}

const module = (name, members, before = "") =>
  `import { addMetadata, definePlugin, modifyBody } from "gateway/plugin"\n${before}\nexport default definePlugin({ name: "${name}", ${members} })\n`

const install = (server, name, hooks, members, before) =>
  callAdmin(server.port, "POST", "/api/plugins", {
    manifest: { name, version: "1.0.0", main: "index.js", hooks, timeoutMs },
    files: { "index.js": module(name, members, before) }
  })

const turn = (server, name, isOn) =>
  callAdmin(server.port, "POST", `/api/plugins/${name}/${isOn ? "activate" : "deactivate"}`, isOn ? {} : undefined)

const events = ["onModelSelect", "onComboResolve", "onProviderError", "onStreamStart", "onStreamEnd", "onError"]
const withBody = { onRequest: { enabled: true, body: true } }

/** By name: what is listened to, the plugin's functions, the request, and the goals of issue and contract. */
const cases = [
  {
    name: "listens only, 4 KB",
    plugin: "listens",
    hooks: Object.fromEntries(events.map((event) => [event, true])),
    members: events.map((event) => `${event}: () => { count += 1 }`).join(", "),
    before: "let count = 0",
    kind: "four",
    goals: [["main-thread CPU ≤ 1.10×", ({ mainRatio }) => mainRatio <= 1.1]]
  },
  {
    name: "waits, 4 KB",
    plugin: "waits",
    hooks: withBody,
    members: "onRequest: () => addMetadata({ seen: true })",
    kind: "four",
    goals: [
      ["p50 ≤ +1 ms", ({ addedP50Us }) => addedP50Us <= 1_000],
      ["p99 ≤ +5 ms", ({ addedP99Us }) => addedP99Us <= 5_000]
    ]
  },
  {
    name: "100 KB, not touched",
    plugin: "untouched",
    hooks: withBody,
    members: "onRequest: () => addMetadata({ seen: true })",
    kind: "hundred",
    goals: [["p50 ≤ +1 ms", ({ addedP50Us }) => addedP50Us <= 1_000]]
  },
  {
    name: "100 KB, changed",
    plugin: "touched",
    hooks: withBody,
    members: "onRequest: ({ body }) => modifyBody({ ...body, temperature: 0 })",
    kind: "hundred",
    goals: [["p50 ≤ +25 ms", ({ addedP50Us }) => addedP50Us <= 25_000]]
  }
]

const delayGoal = ["event-loop delay p99 ≤ +5 ms", ({ addedDelayMs }) => addedDelayMs <= 5]

const loaded = async (bench, server, kind, seconds) => {
  const before = mainThreadSeconds(server.pid)
  const window = await bench.window(server, kind, { connections: bench.plan.big.connections, seconds })
  return {
    mainUs: ((mainThreadSeconds(server.pid) - before) / window.requests) * 1e6,
    allUs: (window.serverCpuSeconds / window.requests) * 1e6
  }
}

/** Of one client, with the event loop's delay. */
const single = async (bench, server, kind, seconds) => {
  await server.probe()
  const { latencyUs } = await bench.window(server, kind, { connections: 1, seconds })
  const { p99Ms } = await server.probe()
  return { p50Us: latencyUs.p50, p99Us: latencyUs.p99, delayMs: p99Ms }
}

const measured = async (bench, server, kind, seconds) => ({
  ...(await loaded(bench, server, kind, seconds)),
  ...(await single(bench, server, kind, seconds))
})

const compare = async (bench, server, { before, hooks, kind, members, name, plugin }) => {
  bench.say(`gateway: plugin ${name}`)
  const { pairs, seconds, warmUpSeconds } = bench.plan.auto
  await install(server, plugin, hooks, members, before)
  const windows = { off: [], on: [] }
  for (const isOn of [false, true]) {
    if (isOn) await turn(server, plugin, true)
    await loaded(bench, server, kind, warmUpSeconds)
  }
  let isOn = true
  for (let pair = 0; pair < pairs; pair++) {
    for (const state of pair % 2 === 0 ? ["on", "off"] : ["off", "on"]) {
      if (isOn !== (state === "on")) await turn(server, plugin, !isOn)
      isOn = state === "on"
      windows[state].push(await measured(bench, server, kind, seconds))
    }
  }
  if (!isOn) await turn(server, plugin, true)
  const { plugin: seen } = await callAdmin(server.port, "GET", `/api/plugins/${plugin}`)
  if (seen.status !== "active") throw new Error(`${name}: the plugin is ${seen.status}: ${seen.lastError}`)
  await turn(server, plugin, false)
  const ratio = (field) => median(windows.on.map((on, at) => on[field] / windows.off[at][field]))
  const added = (field) => median(windows.on.map((on, at) => on[field] - windows.off[at][field]))
  return {
    name,
    pairs,
    offMainUs: median(windows.off.map(({ mainUs }) => mainUs)),
    offP50Us: median(windows.off.map(({ p50Us }) => p50Us)),
    offP99Us: median(windows.off.map(({ p99Us }) => p99Us)),
    mainRatio: ratio("mainUs"),
    allRatio: ratio("allUs"),
    addedP50Us: added("p50Us"),
    addedP99Us: added("p99Us"),
    addedDelayMs: added("delayMs"),
    dropped: seen.stats.dropped
  }
}

/** `auto` over 50 connections: a strategy of a plugin, beside the built-in one that does the same. */
const measureStrategy = async (bench, server) => {
  bench.say("gateway: a router strategy over 50 members")
  const admin = (method, route, body) => callAdmin(server.port, method, route, body)
  const prices = {}
  for (let index = 0; index < routed; index++) {
    const prefix = `routed-${index}`
    const baseUrl = `http://127.0.0.1:${bench.upstreamPort}/v1`
    await admin("POST", "/api/provider-nodes", {
      name: prefix,
      prefix,
      type: "openai-compatible",
      baseUrl,
      wires: ["chat"]
    })
    await admin("POST", "/api/providers", { provider: prefix, apiKey: `sk-bench-${prefix}`, models: ["fixed"] })
    prices[prefix] = { fixed: { input: 1 + index, output: 1 + index } }
  }
  await admin("PATCH", "/api/pricing", prices)
  const cheapest =
    "(pool) => pool.reduce((a, b) => ((b.costPer1MTokens ?? Infinity) < (a.costPer1MTokens ?? Infinity) ? b : a))"
  await install(server, "router", {}, `strategies: { cheapest: ${cheapest} }`)
  await turn(server, "router", true)
  for (const routerStrategy of ["cost", "cheapest"])
    await admin("POST", "/api/combos", {
      name: `by-${routerStrategy}`,
      strategy: "auto",
      config: { explorationRate: 0, routerStrategy },
      targets: Object.keys(prices).map((prefix) => ({ model: `${prefix}/fixed` }))
    })
  const { modelId } = server
  const of = async (name) => {
    server.modelId = () => `by-${name}`
    return measured(bench, server, "small", bench.plan.auto.seconds)
  }
  const pairs = []
  await of("cheapest")
  for (let pair = 0; pair < bench.plan.auto.pairs; pair++) {
    const own = await of("cost")
    pairs.push({ own, brought: await of("cheapest") })
  }
  server.modelId = modelId
  const { logs } = await admin("GET", "/api/plugins/router/logs")
  await turn(server, "router", false)
  return {
    addedMainUs: median(pairs.map(({ brought, own }) => brought.mainUs - own.mainUs)),
    addedP50Us: median(pairs.map(({ brought, own }) => brought.p50Us - own.p50Us)),
    addedP99Us: median(pairs.map(({ brought, own }) => brought.p99Us - own.p99Us)),
    failures: logs.length
  }
}

const runaways = {
  "endless loop": "for (;;);",
  "regular expression": 'return /(a+)+$/.test("a".repeat(40) + "b")',
  "deep recursion": "const f = (n) => 1 + f(n + 1); f(0)",
  "flood of microtasks": "const f = () => Promise.resolve().then(f); f()",
  "bomb of texts": 'const chunks = []; while (true) { chunks.push("x".repeat(1024 * 1024)) }',
  "bomb of typed arrays": "const keep = []; for (;;) keep.push(new Uint8Array(512 * 1024))",
  "bomb of objects": "const keep = []; for (;;) keep.push({ a: [1, 2, 3] })",
  "promise that waits": "await new Promise((done) => setTimeout(done, 60_000))"
}

/** One after the other in sandboxes of their own, as long as a client is served beside them. */
const measureRunaways = async (bench, server) => {
  const codes = Object.entries(runaways).map(([name, code]) => `${JSON.stringify(name)}: async () => { ${code} }`)
  await install(
    server,
    "runaway",
    withBody,
    "onRequest: ({ body }) => codes[body.run]?.()",
    `const codes = { ${codes.join(",\n")} }`
  )
  const seconds = Math.max(1.5, bench.plan.auto.seconds)
  const rows = []
  for (const name of Object.keys(runaways)) {
    bench.say(`gateway: runaway, ${name}`)
    const alone = await bench.window(server, "small", { connections: 1, seconds })
    const beforeKb = residentKb(server.pid)
    let mostKb = beforeKb
    const watch = setInterval(() => (mostKb = Math.max(mostKb, residentKb(server.pid))), 10)
    const state = { isOver: false }
    const ends = []
    const running = (async () => {
      while (!state.isOver) {
        const { action, ms, result } = await callAdmin(server.port, "POST", "/api/plugins/runaway/test", {
          hook: "onRequest",
          context: { body: { run: name } }
        })
        if (action !== "failed") throw new Error(`${name} ended with ${action}: ${JSON.stringify(result)}`)
        ends.push(ms)
      }
    })()
    const beside = await bench.window(server, "small", { connections: 1, seconds })
    state.isOver = true
    await running
    clearInterval(watch)
    await sleep(1_000)
    rows.push({
      name,
      count: ends.length,
      mostMs: Math.max(...ends),
      beforeMb: beforeKb / 1024,
      mostMb: mostKb / 1024,
      afterMb: residentKb(server.pid) / 1024,
      aloneP99Us: alone.latencyUs.p99,
      besideP99Us: beside.latencyUs.p99
    })
  }
  return rows
}

/** What has no place in a start without plugins. */
const heavy = /sandbox|selector|quickjs|emscripten|plugins-|playground-|granted|globals-|sdk-|\.wasm$/i

const measureStart = async (bench) => {
  const starts = []
  for (let run = 0; run < bench.plan.start.runs; run++) {
    const server = await gateway.start({ ...bench, core: undefined })
    const kb = residentKb(server.pid)
    const { read } = await server.probe()
    await server.stop()
    const scripts = [...new Set(read.filter((file) => file.endsWith(".cjs")).map((file) => path.basename(file)))]
    starts.push({
      startMs: server.startMs,
      mb: kb / 1024,
      scripts: scripts.length,
      heavy: scripts.filter((name) => heavy.test(name))
    })
  }
  return {
    startMs: median(starts.map(({ startMs }) => startMs)),
    mb: median(starts.map(({ mb }) => mb)),
    scripts: median(starts.map(({ scripts }) => scripts)),
    heavy: [...new Set(starts.flatMap((each) => each.heavy))]
  }
}

export const measurePlugins = async (bench, { input }) => {
  const isAsked = (name) => input === undefined || name.includes(input)
  const start = isAsked("start") ? await measureStart(bench) : null
  return withServer(bench, gateway, undefined, async (server) => {
    await bench.window(server, "small", { connections: 32, seconds: bench.plan.warmUpSeconds })
    const rows = []
    for (const each of cases) if (isAsked(each.name)) rows.push(await compare(bench, server, each))
    return {
      start,
      rows,
      ends: isAsked("runaways") ? await measureRunaways(bench, server) : [],
      strategy: isAsked("strategy") ? await measureStrategy(bench, server) : null
    }
  })
}

const signed = (value, unit, digits = 0) => `${value >= 0 ? "+" : ""}${value.toFixed(digits)} ${unit}`
const verdict = (isMet, words) => `${(isMet ? "meets the goal" : "falls short").padEnd(15)} ${words}`

const rowsText = (rows) => [
  "Plugins, against none (median of neighbouring windows; CPU with some clients, p50 and p99 of one)",
  `  ${"".padEnd(22)}${["main µs, none", "main CPU", "all CPU", "p50, none", "p50", "p99", "loop p99", "dropped"].map((head) => head.padStart(14)).join("")}`,
  ...rows.map(
    (row) =>
      `  ${row.name.padEnd(22)}${[
        row.offMainUs.toFixed(0),
        `${row.mainRatio.toFixed(2)}×`,
        `${row.allRatio.toFixed(2)}×`,
        `${row.offP50Us.toFixed(0)} µs`,
        signed(row.addedP50Us, "µs"),
        signed(row.addedP99Us, "µs"),
        signed(row.addedDelayMs, "ms", 2),
        String(row.dropped)
      ]
        .map((cell) => cell.padStart(14))
        .join("")}`
  ),
  "",
  ...rows.flatMap((row) =>
    [...cases.find(({ name }) => name === row.name).goals, delayGoal].map(([words, isMet]) =>
      verdict(isMet(row), `${row.name}: ${words}`)
    )
  )
]

const endsText = (rows) => [
  "",
  "Runaways, one after the other beside one client",
  `  ${"".padEnd(22)}${["count", "latest end", "MB before", "at most", "then", "p99 alone", "p99 beside"].map((head) => head.padStart(13)).join("")}`,
  ...rows.map(
    (row) =>
      `  ${row.name.padEnd(22)}${[
        String(row.count),
        `${row.mostMs.toFixed(0)} ms`,
        row.beforeMb.toFixed(0),
        row.mostMb.toFixed(0),
        row.afterMb.toFixed(0),
        `${row.aloneP99Us.toFixed(0)} µs`,
        `${row.besideP99Us.toFixed(0)} µs`
      ]
        .map((cell) => cell.padStart(13))
        .join("")}`
  ),
  verdict(
    rows.every(({ mostMs }) => mostMs <= timeoutMs + 100),
    `each ends within its limit and 100 ms (${timeoutMs + 100} ms)`
  ),
  verdict(
    rows.every(({ aloneP99Us, besideP99Us }) => besideP99Us - aloneP99Us <= 5_000),
    "p99 of requests beside them ≤ +5 ms, all on one core"
  )
]

export const pluginsText = ({ ends, rows, start, strategy }) =>
  [
    ...(rows.length > 0 ? rowsText(rows) : []),
    ...(ends.length > 0 ? endsText(ends) : []),
    ...(strategy === null
      ? []
      : [
          "",
          `A router strategy over ${routed} members, beside the built-in one: main-thread CPU ${signed(strategy.addedMainUs, "µs")}, p50 ${signed(strategy.addedP50Us, "µs")}, p99 ${signed(strategy.addedP99Us, "µs")}; ${strategy.failures} failures`,
          verdict(strategy.addedP50Us <= 2_000 && strategy.failures === 0, "select over 50 members ≤ 2 ms")
        ]),
    ...(start === null
      ? []
      : [
          "",
          `A start without plugins: ${start.startMs.toFixed(0)} ms, ${start.mb.toFixed(0)} MB, ${start.scripts} scripts read`,
          verdict(start.heavy.length === 0, `reads nothing of sandbox and playground ${start.heavy.join(", ")}`)
        ])
  ].join("\n")
