/** The service over a real usage log, and the words of the command line for it. */
import { assert, layer } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Catalog from "../../../src/plane/providers/Catalog.ts"
import { unknownFacts } from "../../../src/plane/providers/ModelFacts.ts"
import * as GatewaySettings from "../../../src/subjects/flags/StoredFlags.ts"
import * as Settings from "../../../src/plane/resilience/Settings.ts"
import * as RouterStrategies from "../../../src/plane/routing/auto/RouterStrategies.ts"
import * as RoutingSettings from "../../../src/plane/routing/RoutingSettings.ts"
import * as QuotaWindows from "../../../src/plane/routing/quota/QuotaWindows.ts"
import { noBehaviours } from "../../../src/observe/simulation/Behaviour.ts"
import * as Simulator from "../../../src/observe/simulation/Simulator.ts"
import * as PerformanceStats from "../../../src/plane/routing/stats/PerformanceStats.ts"
import * as UsageJournal from "../../../src/store/usage/UsageJournal.ts"
import * as PriceBook from "../../../src/observe/usage/PriceBook.ts"
import * as Timers from "../../../src/platform/Timers.ts"
import { noLeaderboard } from "../../support/Leaderboard.ts"
import { combo, connection } from "../../support/Records.ts"
import { reposInMemory } from "../store/fixtures.ts"
import { row } from "./support.ts"

const snapshot = Catalog.snapshot(
  [
    connection({ id: "two", provider: "groq", models: ["m"] }),
    connection({ id: "three", provider: "mistral", models: ["m"] })
  ],
  [],
  [
    combo({
      name: "own",
      strategy: "auto",
      targets: [{ model: "groq/m" }, { model: "mistral/m" }],
      config: { routerStrategy: "only-mistral", explorationRate: 0 }
    })
  ]
)

const plain = { combo: null, compareWith: null }

/** Checks and works at once, and tells nobody. */
const silently = Effect.map(Simulator.Simulator, ({ replay, simulate }) => ({
  simulate: (request: Omit<Simulator.SimulationRequest, "combo" | "compareWith">) =>
    Effect.flatMap(simulate({ ...plain, ...request }), (work) =>
      Effect.map(
        work(() => Effect.void),
        ({ report }) => report
      )
    ),
  replay: (request: Omit<Simulator.ReplayRequest, "combo" | "compareWith">) =>
    Effect.flatMap(replay({ ...plain, ...request }), (work) =>
      Effect.map(
        work(() => Effect.void),
        ({ report }) => report
      )
    )
}))

const catalog = Layer.succeed(
  Catalog.Catalog,
  Catalog.Catalog.of({
    current: () => snapshot,
    refresh: Effect.void,
    onChange: () => () => {},
    replaceTokens: () => {},
    modelsOf: ({ connection: { models } }) => models,
    factsOf: () => unknownFacts
  })
)

const services = Layer.provideMerge(
  Simulator.layer,
  Layer.mergeAll(
    catalog,
    Timers.layer,
    PriceBook.layerMemory,
    PerformanceStats.layer,
    RouterStrategies.layer,
    noLeaderboard,
    Layer.mergeAll(
      Settings.layer,
      GatewaySettings.layer,
      RoutingSettings.layer,
      QuotaWindows.layer,
      UsageJournal.layerMemory
    ).pipe(Layer.provideMerge(reposInMemory))
  )
)

layer(services, { excludeTestServices: true })("the simulator", (test) => {
  test.effect("replays what was recorded since then, over pages, and by live measurements", () =>
    Effect.gen(function* () {
      const nowMs = yield* Clock.currentTimeMillis
      const simulator = yield* silently
      const journal = yield* UsageJournal.UsageJournal
      const stats = yield* PerformanceStats.PerformanceStats
      for (let index = 0; index < 1_500; index += 1) {
        const timestampMs = nowMs - (index < 300 ? 7_200_000 : 60_000)
        journal.append(row(index, { id: `row-${String(index).padStart(5, "0")}`, timestampMs }))
      }
      yield* journal.flush
      const report = yield* simulator.replay({ model: "groq/m", sinceMs: 3_600_000, seed: 1 })
      assert.deepStrictEqual([report.replayed, report.moved, report.leftOut], [1_200, 1_200, 0])
      assert.deepStrictEqual(
        report.providers.map(({ after, before, provider }) => [provider, before, after]),
        [
          ["groq", 0, 1_200],
          ["openai", 1_200, 0]
        ]
      )
      assert.deepStrictEqual(report.latency.basis, { live: 0, recorded: 0, unknown: 1_200 })
      const sample = { provider: "groq", connectionId: "two", model: "m", ttftMs: null, outputTokens: null }
      stats.record({ ...sample, ok: true, latencyMs: 40, atMs: nowMs })
      const live = yield* simulator.replay({ model: "groq/m", sinceMs: 86_400_000, seed: 1 })
      assert.deepStrictEqual(live.latency.basis, { live: 1_500, recorded: 0, unknown: 0 })
      assert.strictEqual(live.latency.meanAfterMs, 40)
    })
  )

  test.effect("refuses more than it can do, and simulates what is connected", () =>
    Effect.gen(function* () {
      const simulator = yield* silently
      const request = {
        model: "groq/m",
        requests: 100,
        seed: 1,
        ratePerSecond: 10,
        burst: 1,
        behaviours: noBehaviours,
        scenario: null,
        streamed: null,
        promptTokens: 10,
        outputTokens: 10
      }
      assert.strictEqual((yield* simulator.simulate(request)).served, 100)
      const tooMuch = yield* Effect.flip(simulator.simulate({ ...request, requests: Simulator.mostWork + 1 }))
      assert.strictEqual(tooMuch._tag, "InvalidRequest")
      assert.strictEqual(
        (yield* Effect.flip(simulator.simulate({ ...request, model: "nobody" })))._tag,
        "ModelNotFound"
      )
    })
  )

  test.effect("refuses one more than may wait, until one that waits is given up", () =>
    Effect.gen(function* () {
      const simulator = yield* Simulator.Simulator
      const long = {
        ...plain,
        model: "groq/m",
        requests: 100_000,
        seed: 1,
        ratePerSecond: 10,
        burst: 1,
        behaviours: noBehaviours,
        scenario: null,
        streamed: null,
        promptTokens: 10,
        outputTokens: 10
      }
      const begun: Array<Fiber.RuntimeFiber<unknown, unknown>> = []
      // One runs, the others wait.
      for (let count = 0; count <= Simulator.mostWaiting; count += 1) {
        const work = yield* simulator.simulate(long)
        begun.push(yield* Effect.fork(work(() => Effect.void)))
        yield* Effect.yieldNow()
      }
      assert.strictEqual((yield* Effect.flip(simulator.simulate(long)))._tag, "Overloaded")
      const refused = yield* Effect.flip(simulator.replay({ ...plain, model: "groq/m", sinceMs: 1_000, seed: 1 }))
      assert.strictEqual(refused._tag, "Overloaded")
      yield* Fiber.interrupt(begun.pop() ?? (yield* Effect.dieMessage("none waits")))
      yield* simulator.simulate(long)
      yield* Fiber.interruptAll(begun)
      const short = yield* simulator.simulate({ ...long, requests: 10 })
      assert.strictEqual((yield* short(() => Effect.void)).report.served, 10)
    })
  )
})

layer(services, { excludeTestServices: true })("the policy of the house", (test) => {
  test.effect("holds in simulations and replays: custom router strategies, and what the settings say", () =>
    Effect.gen(function* () {
      const simulator = yield* silently
      const registry = yield* RouterStrategies.RouterStrategies
      const journal = yield* UsageJournal.UsageJournal
      const nowMs = yield* Clock.currentTimeMillis
      journal.append(row(1, { timestampMs: nowMs - 1_000 }))
      registry.register({
        name: "only-mistral",
        description: "",
        select: (pool) => ({
          provider: "mistral",
          model: "m",
          strategy: "only-mistral",
          reason: "mine",
          candidatesConsidered: pool.length,
          finalScore: 1
        })
      })
      const simulated = yield* simulator.simulate({
        model: "own",
        requests: 20,
        seed: 1,
        ratePerSecond: 1,
        burst: 1,
        behaviours: noBehaviours,
        scenario: null,
        streamed: null,
        promptTokens: 10,
        outputTokens: 10
      })
      assert.deepStrictEqual(
        simulated.targets.map(({ firstChoices, provider }) => [provider, firstChoices]),
        [
          ["groq", 0],
          ["mistral", 20]
        ]
      )
      const replayed = yield* simulator.replay({ model: "own", sinceMs: 60_000, seed: 1 })
      assert.strictEqual(replayed.providers.find(({ provider }) => provider === "mistral")?.after, replayed.replayed)

      // Without any free model a strict tier has no target.
      const settings = yield* RoutingSettings.RoutingSettings
      const free = { model: "auto/chat:free", sinceMs: 60_000, seed: 1 }
      assert.strictEqual((yield* simulator.replay(free)).replayed, 1)
      yield* settings.patch({ freeTierStrict: true })
      assert.strictEqual((yield* simulator.replay(free)).replayed, 0)
    })
  )

  test.effect("names targets that a behaviour does not match", () =>
    Effect.gen(function* () {
      const simulator = yield* silently
      const refused = yield* Effect.flip(
        simulator.simulate({
          model: "own",
          requests: 1,
          seed: 1,
          ratePerSecond: 1,
          burst: 1,
          behaviours: { ...noBehaviours, errors: { nobody: 0.5 } },
          scenario: null,
          streamed: null,
          promptTokens: 10,
          outputTokens: 10
        })
      )
      assert.include(refused.message, "groq/m, mistral/m")
    })
  )
})
