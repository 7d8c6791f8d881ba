/**
 * What plugins cost, and how their runaways end: the time that one waiting call adds, the time of a router strategy over 50 members, and for
 * each runaway when it ended, how much memory the process took and kept, and what calls of another plugin took meanwhile.
 * Start: node node_modules/vite-node/vite-node.mjs bench/plugins.ts
 */
import * as Effect from "effect/Effect"
import { setTimeout as delay } from "node:timers/promises"
import * as Timers from "../src/platform/Timers.ts"
import { openSelector } from "../src/agents/plugins/sandbox/Selector.ts"
import type { PoolMember, RoutingContext } from "../src/plane/routing/auto/RouterStrategies.ts"
import { callOf, codeOf, openSandbox, pluginOf } from "../test/support/Sandboxes.ts"

const quantile = (values: ReadonlyArray<number>, share: number): string => {
  const sorted = values.toSorted((a, b) => a - b)
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(2)
}

const sentence = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore. "
const bodyOf = (kilobytes: number) => ({
  model: "m",
  messages: Array.from({ length: Math.ceil((kilobytes * 1_024) / 340) }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: sentence.repeat(3)
  }))
})

const cases = [
  ["4 KB, nothing done", "onRequest: () => {}", 4],
  ["4 KB, changed", "onRequest: (context) => modifyBody({ ...context.body, temperature: 0 })", 4],
  ["100 KB, not read", "onRequest: () => addMetadata({ a: 1 })", 100],
  ["100 KB, read", "onRequest: (context) => addMetadata({ n: context.body.messages.length })", 100],
  ["100 KB, changed", "onRequest: (context) => modifyBody({ ...context.body, temperature: 0 })", 100]
] as const

const print = (line: string): void => void process.stdout.write(`${line}\n`)

const latencies = Effect.forEach(cases, ([name, members, kilobytes]) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { sandbox } = yield* openSandbox(pluginOf(members))
      const call = callOf(bodyOf(kilobytes))
      const times: Array<number> = []
      for (let round = 0; round < 1_100; round += 1) {
        const begun = performance.now()
        yield* sandbox.call(call)
        if (round >= 100) times.push(performance.now() - begun)
      }
      print(`${name}: p50 ${quantile(times, 0.5)} ms, p99 ${quantile(times, 0.99)} ms`)
    })
  )
)

const member = (index: number): PoolMember => ({
  provider: `provider-${index}`,
  connectionId: `0192f0c0-0000-7000-8000-0000000000${String(index).padStart(2, "0")}`,
  model: `model-${index}`,
  score: 0.123456 + index / 100,
  factors: {
    health: 1,
    costInv: 0.51234,
    latencyInv: 0.25123,
    quota: 1,
    taskFit: 0.5,
    stability: 0.75,
    tierPriority: 0.5
  },
  breaker: "CLOSED",
  costPer1MTokens: index,
  p95LatencyMs: 100 + index,
  errorRate: 0.05
})

const context: RoutingContext = {
  taskType: "coding",
  hasTools: false,
  hasImages: false,
  tokenEstimate: 100,
  sla: { targetP95Ms: null, maxErrorRate: null, maxCostPer1MTokens: null, hardConstraints: false },
  lkgpEnabled: false,
  lastKnownGood: null
}

const selection = Effect.scoped(
  Effect.gen(function* () {
    const strategy = yield* openSelector(
      codeOf(pluginOf("strategies: { mine: (pool) => pool.reduce((a, b) => (b.score > a.score ? b : a)) }")),
      "mine",
      () => {}
    ).pipe(Effect.provideService(Timers.Timers, Timers.make))
    const pool = Array.from({ length: 50 }, (_, index) => member(index))
    const times: Array<number> = []
    for (let round = 0; round < 1_100; round += 1) {
      const begun = performance.now()
      strategy.select(pool, context)
      if (round >= 100) times.push(performance.now() - begun)
    }
    print(`select over 50 members: p50 ${quantile(times, 0.5)} ms, p99 ${quantile(times, 0.99)} ms`)
  })
)

const runaways: Readonly<Record<string, string>> = {
  "endless loop": "for (;;);",
  "regular expression": 'return /(a+)+$/.test("a".repeat(40) + "b")',
  "deep recursion": "const f = (n) => 1 + f(n + 1); f(0)",
  "flood of microtasks": "const f = () => Promise.resolve().then(f); f()",
  "bomb of texts": 'const chunks = []; while (true) { chunks.push("x".repeat(1024 * 1024)); }',
  "bomb of typed arrays": "const keep = []; for (;;) keep.push(new Uint8Array(512 * 1024))",
  "bomb of objects": "const keep = []; for (;;) keep.push({ a: [1, 2, 3] })",
  "promise that waits": "await new Promise((done) => setTimeout(done, 60_000))"
}

const megabytes = (): number => Math.round(process.memoryUsage().rss / 1_048_576)

const ends = Effect.scoped(
  Effect.gen(function* () {
    const beside = yield* openSandbox(pluginOf("onRequest: (context) => modifyBody({ ...context.body, x: 1 })"))
    const codes = Object.entries(runaways).map(([name, code]) => `${JSON.stringify(name)}: async () => { ${code} }`)
    const { sandbox } = yield* openSandbox(
      pluginOf("onRequest: (context, { name }) => codes[name]?.()", `const codes = { ${codes.join(",\n")} }`)
    )
    for (const name of Object.keys(runaways)) {
      // The thread is there before the time runs.
      yield* sandbox.call(callOf({}, "onRequest", { name: "none" }))
      const before = megabytes()
      let most = before
      const state = { isOver: false }
      const times: Array<number> = []
      const watch = Effect.promise(async () => {
        while (!state.isOver) {
          most = Math.max(most, megabytes())
          const begun = performance.now()
          await Effect.runPromise(beside.sandbox.call(callOf(bodyOf(4))))
          times.push(performance.now() - begun)
          await delay(1)
        }
      })
      const [outcome] = yield* Effect.all(
        [
          Effect.tap(sandbox.call(callOf({}, "onRequest", { name })), () => Effect.sync(() => (state.isOver = true))),
          watch
        ],
        { concurrency: "unbounded" }
      )
      yield* Effect.promise(() => delay(300))
      print(
        `${name}: ${outcome._tag.toLowerCase()} after ${outcome.ms.toFixed(0)} ms; memory ${before} MB, at most ${most} MB, then ${megabytes()} MB; beside it p99 ${quantile(times, 0.99)} ms`
      )
    }
  })
)

await Effect.runPromise(Effect.zipRight(Effect.zipRight(latencies, selection), ends))
