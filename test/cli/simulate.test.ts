/** `gateway route simulate` as a person and as a program runs it. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { layerOf, TestApp } from "../http/management/TestApp.ts"
import { operator } from "./operator.ts"
import { program } from "./support.ts"

const { gateway, json } = operator(program())

interface Simulated {
  readonly simulation: {
    readonly scenario: string | null
    readonly served: number
    readonly targets: ReadonlyArray<{ readonly calls: number; readonly left: { readonly rule: string } | null }>
  }
}

layer(layerOf(), { excludeTestServices: true })("gateway route simulate", (it) => {
  it.effect("plays scenarios and faults, as a table for people and as JSON for programs", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      for (const [provider, name] of [
        ["openai", "one"],
        ["groq", "two"]
      ] as const) {
        const body = { provider, name, apiKey: `sk-0123456789-${name}`, models: ["m"] }
        assert.strictEqual((yield* app.admin("/api/providers", { method: "POST", body })).status, 201)
      }
      const body = { name: "both", strategy: "priority", targets: [{ model: "openai/m" }, { model: "groq/m" }] }
      assert.strictEqual((yield* app.admin("/api/combos", { method: "POST", body })).status, 201)

      const shown = yield* gateway("route", "simulate", "both", "--requests", "100", "--scenario", "402")
      assert.strictEqual(shown.code, 0, shown.stderr)
      assert.match(shown.stdout, /^Scenario +402$/m)
      assert.match(shown.stdout, /^Served +100, 100\.0 % \(/m)
      assert.match(shown.stdout, /^openai\/m .* credits_exhausted +credits_exhausted /m)
      assert.match(shown.stdout, /^groq\/m .* well /m)

      const given = [
        "--requests",
        "100",
        "--sessions",
        "20,10",
        "--rate",
        "0.1",
        "--fault",
        "one=403-banned",
        "--fault",
        "two=503:0.5@1000+10/20"
      ]
      const { simulation } = (yield* json("route", "simulate", "both", ...given)) as Simulated
      assert.deepStrictEqual(simulation.targets[0]?.left?.rule, "banned")
      assert.strictEqual(simulation.targets[0]?.calls, 1)
      assert.strictEqual(simulation.scenario, null)
    })
  )

  it.effect("tries a combo of a file, compares it, and says the same of it as when it is stored", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const file = join(yield* temporaryFolder, "draft.json")
      const draft = { name: "draft", strategy: "priority", targets: [{ model: "groq/m" }, { model: "openai/m" }] }
      writeFileSync(file, JSON.stringify(draft))
      const given = ["--requests", "200", "--errors", "*=0.2", "--seed", "4"]
      const tried = (yield* json("route", "simulate", "--combo-file", file, ...given)) as Simulated
      assert.strictEqual((yield* gateway("route", "simulate", "draft", ...given)).code, 2)

      const compared = yield* gateway("route", "simulate", "--combo-file", file, "--compare-with", "both", ...given)
      assert.strictEqual(compared.code, 0, compared.stderr)
      assert.match(compared.stdout, /^Compared with +both \(priority\)$/m)
      assert.match(compared.stdout, /^Cost +[\d.]+ -> [\d.]+ USD, [+-]?[\d.]+$/m)
      const replayed = yield* gateway("route", "replay", "--combo-file", file, "--compare-with", "both")
      assert.strictEqual(replayed.code, 0, replayed.stderr)
      assert.match(replayed.stdout, /^Compared with +both/m)

      assert.strictEqual((yield* app.admin("/api/combos", { method: "POST", body: draft })).status, 201)
      assert.deepStrictEqual((yield* json("route", "simulate", "draft", ...given)) as Simulated, tried)

      const nothing = yield* gateway("route", "simulate")
      assert.deepStrictEqual([nothing.code, /--combo-file/.test(nothing.stderr)], [2, true])
      writeFileSync(file, JSON.stringify({ ...draft, strategy: "best" }))
      const wrong = yield* gateway("route", "simulate", "--combo-file", file)
      assert.strictEqual(wrong.code, 2)
      assert.match(wrong.stderr, /strategy/)
    }).pipe(Effect.scoped)
  )

  it.effect("names what it knows where it is asked for something else", () =>
    Effect.gen(function* () {
      for (const [flag, value, words] of [
        ["--scenario", "doomsday", "all-exhausted"],
        ["--fault", "one=doomsday", "403-banned"],
        ["--fault", "one", "name=kind:0.3"],
        ["--fault", "nobody=402", "openai/m"],
        ["--fault", "one=402:7", "--fault"],
        ["--sessions", "20", "20,10"],
        ["--sessions", "0,10", "--sessions"]
      ] as const) {
        const refused = yield* gateway("route", "simulate", "both", flag, value)
        assert.notStrictEqual(refused.code, 0, value)
        assert.include(refused.stderr, words)
        assert.strictEqual(refused.stdout, "")
      }
      const help = (yield* gateway("route", "simulate", "--help")).stdout.replaceAll(/\s+/g, " ")
      for (const name of ["first-flapping", "429-daily-quota", "cut-mid-tool-call"]) assert.include(help, name)
    })
  )
})
