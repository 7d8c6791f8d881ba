/** `gateway route …`, `gateway models alias …`, `gateway quota groups …` and `gateway combo auto` as a person runs them. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { layerOf, TestApp } from "../http/management/TestApp.ts"
import { operator } from "./operator.ts"
import { program } from "./support.ts"

const cli = program()
const { gateway, json } = operator(cli)

layer(layerOf(), { excludeTestServices: true })("gateway route", (it) => {
  it.effect("explains who would be asked, by which numbers, and who is left out", () =>
    Effect.gen(function* () {
      const explained = yield* gateway("route", "explain", "known", "--seed", "7", "--header", "X-Gateway-Mode=cheap")
      assert.strictEqual(explained.code, 0, explained.stderr)
      assert.match(explained.stdout, /^Strategy +auto$/m)
      assert.match(explained.stdout, /^Seed +7$/m)
      assert.match(explained.stdout, /^Relaxed +x-gateway-mode$/m)
      assert.match(explained.stdout, /^ *1 +openai\/gpt-4o +0\.875 +- +c1$/m)
      assert.match(
        explained.stdout,
        /^ *- +groq\/llama +- +breaker until (2030-01-01|2029-12-31) \d\d:\d\d: The circuit/m
      )
      assert.match(explained.stdout, /^FACTOR +WEIGHT +#1\nhealth +0\.750 +1\.000\ncostInv +0\.250 +0\.500$/m)
      assert.strictEqual((yield* json("route", "explain", "known", "--seed", "7")).decision.seed, 7)
    })
  )

  it.effect("takes the request from a file, and says what is wrong with it", () =>
    Effect.gen(function* () {
      const file = join(cli.dataDir(), "request.json")
      writeFileSync(file, '{"messages":[]}')
      assert.strictEqual((yield* gateway("route", "explain", "known", "--body", file)).code, 0)
      writeFileSync(file, "{")
      for (const [args, words] of [
        [["known", "--body", file], "valid JSON"],
        [["known", "--body", join(cli.dataDir(), "none.json")], "cannot be read"],
        [["known", "--header", "novalue"], "name=value"],
        [["unknown"], "Did you mean: known?"]
      ] as const) {
        const wrong = yield* gateway("route", "explain", ...args)
        assert.deepStrictEqual([wrong.code, wrong.stdout], [2, ""])
        assert.include(wrong.stderr, words)
      }
    })
  )

  it.effect("explains as a key, named or by its id", () =>
    Effect.gen(function* () {
      const added = yield* json("keys", "add", "laptop")
      const { id } = added.key
      for (const key of ["laptop", String(id)]) {
        const { decision } = yield* json("route", "explain", "known", "--key", key)
        assert.strictEqual(decision.reason, `as ${id}`)
      }
      assert.isUndefined((yield* json("route", "explain", "known")).decision.reason)
      const unknown = yield* gateway("route", "explain", "known", "--key", "nobody")
      assert.deepStrictEqual([unknown.code, unknown.stdout], [2, ""])
      assert.include(unknown.stderr, "nobody")
    })
  )

  it.effect("says that a decision is not kept", () =>
    Effect.gen(function* () {
      const missing = yield* gateway("route", "decision", "nobody")
      assert.strictEqual(missing.code, 2)
      assert.include(missing.stderr, "'nobody'")
    })
  )
})

layer(layerOf(), { excludeTestServices: true })("gateway models alias, quota groups and combo auto", (it) => {
  it.effect("administers aliases", () =>
    Effect.gen(function* () {
      assert.include((yield* gateway("models", "alias", "list")).stderr, "There are no aliases.")
      const added = yield* gateway("models", "alias", "add", "best", "openai/gpt-4o")
      assert.strictEqual(added.code, 0, added.stderr)
      assert.match((yield* gateway("models", "alias", "list")).stdout, /^best +openai\/gpt-4o$/m)
      const taken = yield* gateway("models", "alias", "add", "openai", "groq/llama")
      assert.strictEqual(taken.code, 1)
      assert.include(taken.stderr, "is a provider")
      assert.strictEqual((yield* gateway("models", "alias", "remove", "best")).code, 0)
      assert.strictEqual((yield* gateway("models", "alias", "remove", "best")).code, 2)
      assert.deepStrictEqual(yield* json("models", "alias", "list"), { aliases: [] })
    })
  )

  it.effect("administers quota groups", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const made = yield* app.admin("/api/providers", {
        method: "POST",
        body: { provider: "openai", apiKey: "sk-0123456789", models: ["gpt-4o"] }
      })
      const id = String(made.at("connection.id"))
      const added = yield* gateway("quota", "groups", "add", "team", `${id}=3`)
      assert.strictEqual(added.code, 0, added.stderr)
      assert.include(added.stderr, "qtSd/team/")
      assert.include((yield* gateway("quota", "groups", "list")).stdout, `${id}=3`)
      const wrong = yield* gateway("quota", "groups", "add", "other", `${id}=none`)
      assert.strictEqual(wrong.code, 2)
      assert.strictEqual((yield* gateway("quota", "groups", "remove", "team")).code, 0)

      const quotas = [{ window: "monthly", unit: "requests", limit: 9 }]
      yield* app.admin(`/api/providers/${id}`, { method: "PUT", body: { quotas } })
      const key = String((yield* app.admin("/api/keys", { method: "POST", body: { name: "k" } })).at("key.id"))
      assert.strictEqual((yield* gateway("quota", "groups", "add", "own", id, "--allow", `${key}=2`)).code, 0)
      const listed = (yield* gateway("quota", "groups", "list")).stdout
      assert.match(listed, new RegExp(`^own +${key.slice(0, 8)} +openai +monthly +0 +9 +requests +\\d{4}-`, "m"))
      assert.strictEqual((yield* gateway("quota", "groups", "remove", "own")).code, 0)
      assert.deepStrictEqual(yield* json("quota", "groups", "list"), { groups: [] })

      const auto = yield* gateway("combo", "auto")
      assert.match(auto.stdout, /^auto\/fast +1 .*openai\/gpt-4o$/m)
    })
  )
})
