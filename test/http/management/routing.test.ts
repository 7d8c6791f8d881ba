/** `/api/routing/simulate` and `/api/routing/replay` over HTTP. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { layerOf, TestApp } from "./TestApp.ts"

const prepare = Effect.gen(function* () {
  const app = yield* TestApp
  const ids: Array<string> = []
  for (const name of ["one", "two"]) {
    const made = yield* app.admin("/api/providers", {
      method: "POST",
      body: { provider: "openai", name, apiKey: `sk-0123456789-${name}`, models: ["gpt-4o"] }
    })
    assert.strictEqual(made.status, 201, made.text)
    ids.push(String(made.at("connection.id")))
  }
  const combo = yield* app.admin("/api/combos", {
    method: "POST",
    body: {
      name: "both",
      strategy: "weighted",
      targets: ids.map((connectionId, index) => ({ model: "openai/gpt-4o", connectionId, weight: 3 - 2 * index }))
    }
  })
  assert.strictEqual(combo.status, 201, combo.text)
})

const post = (path: string, body: unknown) =>
  Effect.flatMap(TestApp, ({ admin }) => admin(`/api/routing/${path}`, { method: "POST", body }))

layer(layerOf(), { excludeTestServices: true })("simulations over HTTP", (it) => {
  it.effect("runs one, and says the same again for the same seed", () =>
    Effect.gen(function* () {
      yield* prepare
      const asked = { model: "both", requests: 2_000, seed: 7, errors: { two: 0.01 }, latency: { "*": [300, 900] } }
      const first = yield* post("simulate", asked)
      assert.strictEqual(first.status, 200, first.text)
      assert.strictEqual(first.at("simulation.requests"), 2_000)
      assert.strictEqual(first.at("simulation.targets.0.weightShare"), 0.75)
      assert.closeTo(Number(first.at("simulation.targets.0.share")), 0.75, 0.1)
      assert.isAbove(Number(first.at("simulation.costUsd")), 0)
      assert.strictEqual((yield* post("simulate", asked)).text, first.text)
      assert.notStrictEqual((yield* post("simulate", { ...asked, seed: 8 })).text, first.text)
    })
  )

  it.effect("plays a scenario, and faults of one's own", () =>
    Effect.gen(function* () {
      const played = yield* post("simulate", { model: "both", requests: 200, scenario: "403-banned" })
      assert.strictEqual(played.status, 200, played.text)
      assert.strictEqual(played.at("simulation.scenario"), "403-banned")
      assert.strictEqual(played.at("simulation.served"), 200)
      assert.deepStrictEqual(played.at("simulation.targets.0.lastFailure"), { kind: "banned", status: 403 })
      assert.deepStrictEqual(played.at("simulation.targets.0.left"), { rule: "banned", remainingMs: null })
      const own = yield* post("simulate", {
        model: "both",
        requests: 200,
        stream: true,
        faults: {
          one: [{ fault: "cut-mid-text", rate: 0.5, fromMs: 1_000 }],
          "*": [{ fault: "429-daily-quota", fromMs: 60_000 }]
        }
      })
      assert.strictEqual(own.status, 200, own.text)
      assert.strictEqual(own.at("simulation.streamed"), true)
      assert.isAbove(Number(own.at("simulation.broken")), 0)
      assert.strictEqual(own.at("simulation.broken"), own.at("simulation.failed"))
    })
  )

  it.effect("refuses what it cannot simulate", () =>
    Effect.gen(function* () {
      for (const [body, status, words] of [
        [{ model: "nobody/knows" }, 404, "nobody/knows"],
        [{ model: "both", errors: { three: 0.5 } }, 400, "'three'"],
        [{ model: "both", errors: { one: 2 } }, 400, "errors"],
        [{ model: "both", latency: { one: [900, 300] } }, 400, "median"],
        [{ model: "both", faults: { three: [{ fault: "402" }] } }, 400, "'three'"],
        [{ model: "both", faults: { one: [{ fault: "666" }] } }, 400, "connection-refused"],
        [{ model: "both", faults: { one: [{ fault: "402", rate: 2 }] } }, 400, "rate"],
        [{ model: "both", scenario: "doomsday" }, 400, "all-exhausted"],
        [{ model: "both", requests: 0 }, 400, "requests"],
        [{ model: "both", sessions: { count: 0 } }, 400, "sessions.count"],
        [{ model: "both", sessions: { count: 5, turnsPerPrompt: 0 } }, 400, "sessions.turnsPerPrompt"],
        [{ model: "both", ratePerSecond: -1 }, 400, "ratePerSecond"]
      ] as const) {
        const answer = yield* post("simulate", body)
        assert.strictEqual(answer.status, status, answer.text)
        assert.include(answer.text, words)
      }
      const app = yield* TestApp
      const open = yield* app.call("/api/routing/simulate", { method: "POST", body: { model: "both" } })
      assert.strictEqual(open.status, 401)
    })
  )

  it.effect("replays the record, also an empty one", () =>
    Effect.gen(function* () {
      const answer = yield* post("replay", { model: "both", sinceMs: 86_400_000 })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.at("replay.replayed"), 0)
      assert.deepStrictEqual(answer.at("replay.latency.meanAfterMs"), null)
      assert.strictEqual((yield* post("replay", { model: "both", sinceMs: 0 })).status, 400)
      assert.strictEqual((yield* post("replay", { model: "nobody/knows", sinceMs: 1 })).status, 404)
    })
  )
})
