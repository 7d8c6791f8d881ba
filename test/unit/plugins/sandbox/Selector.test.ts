import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Timers from "../../../../src/platform/Timers.ts"
import { openSelector } from "../../../../src/agents/plugins/sandbox/Selector.ts"
import type { LogLine } from "../../../../src/agents/plugins/sandbox/Sandbox.ts"
import {
  choose,
  makeRegistry,
  type PoolMember,
  type RoutingContext,
  slowRestMs
} from "../../../../src/plane/routing/auto/RouterStrategies.ts"
import { eventually } from "../../../support/eventually.ts"
import { codeOf, pluginOf } from "../../../support/Sandboxes.ts"

const memberOf = (index: number): PoolMember => ({
  provider: `provider-${index}`,
  connectionId: `connection-${index}`,
  model: `model-${index}`,
  score: index / 50,
  factors: { health: 1, costInv: 0.5, latencyInv: 0.25, quota: 1, taskFit: 0.5, stability: 0.75, tierPriority: 0.5 },
  breaker: "CLOSED",
  costPer1MTokens: index,
  p95LatencyMs: 100 + index,
  errorRate: 0.05
})
const pool = Array.from({ length: 50 }, (_, index) => memberOf(index))
const context: RoutingContext = {
  taskType: "coding",
  hasTools: false,
  hasImages: false,
  tokenEstimate: 100,
  sla: { targetP95Ms: null, maxErrorRate: null, maxCostPer1MTokens: null, hardConstraints: false },
  lkgpEnabled: false,
  lastKnownGood: null
}

/** Timers whose clock is moved by hand. */
const movable = () => {
  let addedMs = 0
  return {
    timers: Timers.Timers.of({ ...Timers.make, monotonicMs: () => performance.now() + addedMs }),
    move: (ms: number) => {
      addedMs += ms
    }
  }
}

const opened = (members: string, before = "", timers = Timers.make) => {
  const lines: Array<LogLine> = []
  return openSelector(codeOf(pluginOf(members, before)), "mine", (_permission, line) => lines.push(line)).pipe(
    Effect.provideService(Timers.Timers, timers),
    Effect.map((strategy) => {
      const registry = makeRegistry()
      assert.strictEqual(registry.register(strategy), "registered")
      return { strategy, lines, choose: () => choose("mine", registry.lookup, pool, context) }
    })
  )
}

describe("a router strategy of a plugin", () => {
  it.scopedLive("selects one of the pool", () =>
    Effect.gen(function* () {
      const mine = yield* opened(
        `strategies: { mine: { description: "The dearest.", select: (pool, context) => {
          const best = pool.reduce((a, b) => (b.costPer1MTokens > a.costPer1MTokens ? b : a))
          return { ...best, reason: context.taskType + " " + typeof fetch + typeof process }
        } } }`
      )
      assert.strictEqual(mine.strategy.description, "The dearest.")
      assert.deepStrictEqual(mine.choose(), { index: 49, reason: "coding undefinedundefined", overruled: null })
    })
  )

  const bad: Readonly<Record<string, string>> = {
    throws: 'throw new Error("no")',
    "returns nothing": "return undefined",
    "returns a promise": "return Promise.resolve(pool[0])",
    "returns what is not in the pool": 'return { provider: "x", model: "y" }',
    "returns NaN": "return { ...pool[0], reason: NaN }",
    recurses: "const f = () => [1].map(f); return f()",
    "recurses plainly": "const f = (n) => 1 + f(n + 1); return f(0)"
  }
  for (const [what, code] of Object.entries(bad)) {
    it.scopedLive(`is passed over when it ${what}, and is asked again`, () =>
      Effect.gen(function* () {
        const mine = yield* opened(
          `strategies: { mine: (pool) => { calls += 1; if (calls > 1) return pool[3]; ${code} } }`,
          "let calls = 0"
        )
        assert.isNotNull(mine.choose().overruled)
        // A recursion that overflows the main thread's stack costs the engine; it rests then.
        const next = mine.choose()
        assert.isTrue(next.index === 3 || what.startsWith("recurses"), JSON.stringify(next))
      })
    )
  }

  const stopped: Readonly<Record<string, string>> = {
    "an endless loop": "for (;;);",
    "a memory bomb": 'const keep = []; for (;;) keep.push("x".repeat(1_000_000))',
    "a flood of microtasks": "const f = () => Promise.resolve().then(f); f(); return pool[0]"
  }
  for (const [what, code] of Object.entries(stopped)) {
    it.scopedLive(`rests after ${what}, and comes back in a new engine`, () =>
      Effect.gen(function* () {
        const clock = movable()
        const mine = yield* opened(`strategies: { mine: (pool) => { ${code} } }`, "", clock.timers)
        assert.match(mine.choose().overruled ?? "", /failed/)
        assert.strictEqual(mine.lines.length, 1)
        assert.match(mine.choose().overruled ?? "", /rests/)
        assert.strictEqual(mine.lines.length, 1, "it is not run while it rests")
        clock.move(slowRestMs + 1)
        yield* Effect.promise(() =>
          eventually(
            "the next run",
            () => {
              mine.choose()
              return mine.lines.length
            },
            (count) => count > 1
          )
        )
      })
    )
  }

  it.scopedLive("is not opened when the plugin has none of that name, or loops while it is loaded", () =>
    Effect.gen(function* () {
      assert.match((yield* Effect.flip(opened("strategies: {}"))).message, /no strategy mine/)
      assert.match((yield* Effect.flip(opened("", "for (;;);"))).message, /more than 100 ms/)
    })
  )
})
