/** Names that lead to models: aliases, quota groups, automatic ids; and the explanation of where they lead, over real HTTP. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Catalog } from "../../../src/plane/providers/Catalog.ts"
import { layerOf, TestApp } from "./TestApp.ts"

const send = (method: string, path: string, body?: unknown) =>
  Effect.flatMap(TestApp, (app) => app.admin(path, { method, ...(body === undefined ? {} : { body }) }))
const get = (path: string) => send("GET", path)
const post = (path: string, body: unknown) => send("POST", path, body)

const connect = (provider: string, more: Readonly<Record<string, unknown>> = {}) =>
  Effect.map(post("/api/providers", { provider, apiKey: "sk-0123456789", ...more }), (answer) => {
    assert.strictEqual(answer.status, 201, answer.text)
    return String(answer.at("connection.id"))
  })

const alias = (name: string, model: string) => post("/api/models/alias", { alias: name, model })

layer(layerOf(), { excludeTestServices: true })("aliases", (it) => {
  it.effect("are set, replaced, listed and removed", () =>
    Effect.gen(function* () {
      const set = yield* alias("best", "openai/gpt-4o")
      assert.strictEqual(set.status, 200, set.text)
      assert.deepStrictEqual(JSON.parse(set.text), { success: true, model: "openai/gpt-4o", alias: "best" })
      assert.strictEqual((yield* alias("best", "openai/gpt-5")).status, 200)
      assert.strictEqual((yield* alias("top", "best")).status, 200)
      assert.deepStrictEqual(JSON.parse((yield* get("/api/models/alias")).text), {
        aliases: [
          { alias: "best", model: "openai/gpt-5" },
          { alias: "top", model: "best" }
        ],
        nextCursor: null,
        total: 2
      })
      // In force at once.
      assert.strictEqual((yield* Catalog).current().aliases.get("best"), "openai/gpt-5")
      assert.strictEqual((yield* send("DELETE", "/api/models/alias?alias=best")).status, 200)
      assert.strictEqual((yield* send("DELETE", "/api/models/alias?alias=best")).status, 404)
      assert.strictEqual((yield* send("DELETE", "/api/models/alias")).at("error.param"), "alias")
      assert.strictEqual((yield* send("DELETE", "/api/models/alias", { alias: "top" })).status, 200)
    })
  )

  it.effect("take no name from others and make no circles", () =>
    Effect.gen(function* () {
      const combo = yield* post("/api/combos", {
        name: "pair",
        targets: [{ model: "openai/gpt-4o" }, { model: "hidden" }]
      })
      assert.strictEqual(combo.status, 201, combo.text)
      assert.strictEqual((yield* alias("one", "two")).status, 200)
      for (const [name, model, status, param] of [
        ["pair", "openai/gpt-4o", 409, "alias"],
        ["openai/gpt-4o", "groq/llama", 409, "alias"],
        ["openai", "groq/llama", 409, "alias"],
        ["auto/fast", "groq/llama", 400, "alias"],
        ["qtSd/x/y/z", "groq/llama", 400, "alias"],
        ["", "groq/llama", 400, "alias"],
        ["x", " ", 400, "model"],
        ["x", "x", 400, "model"],
        ["two", "one", 400, "model"],
        ["x", "combo:nope", 400, "model"],
        // The combo has a target of this name.
        ["hidden", "combo:pair", 400, "model"]
      ] as const) {
        const answer = yield* alias(name, model)
        assert.deepStrictEqual([answer.status, answer.at("error.param")], [status, param], `${name}: ${answer.text}`)
      }
      assert.strictEqual((yield* post("/api/combos", { name: "one", targets: [{ model: "openai/x" }] })).status, 409)
    })
  )

  it.effect("hold the combo they stand for", () =>
    Effect.gen(function* () {
      const made = yield* post("/api/combos", { name: "held", targets: [{ model: "openai/gpt-4o" }] })
      const id = String(made.at("combo.id"))
      yield* alias("holder", "combo:held")
      const refused = yield* send("DELETE", `/api/combos/${id}`)
      assert.strictEqual(refused.status, 409)
      assert.include(String(refused.at("error.message")), "the alias holder")
      assert.strictEqual((yield* send("PUT", `/api/combos/${id}`, { name: "other" })).status, 409)
      yield* send("DELETE", "/api/models/alias?alias=holder")
      assert.strictEqual((yield* send("DELETE", `/api/combos/${id}`)).status, 204)
    })
  )
})

layer(layerOf(), { excludeTestServices: true })("quota groups", (it) => {
  it.effect("are created, read, changed and removed", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* connect("openai"), yield* connect("openai")]
      const key = String((yield* post("/api/keys", { name: "k" })).at("key.id"))
      const made = yield* post("/api/quota/groups", {
        name: "team",
        members: [
          { connectionId: one, weight: 3 },
          { connectionId: two, weight: 1 }
        ],
        allocations: [{ apiKeyId: key, weight: 0.5 }]
      })
      assert.strictEqual(made.status, 201, made.text)
      const id = String(made.at("group.id"))
      assert.strictEqual(made.at("group.members.0.weight"), 3)
      assert.strictEqual((yield* get("/api/quota/groups")).at("groups.0.id"), id)
      assert.strictEqual((yield* get(`/api/quota/groups/${id}`)).at("group.allocations.0.apiKeyId"), key)

      const changed = yield* send("PUT", `/api/quota/groups/${id}`, { name: "crew", allocations: [] })
      assert.strictEqual(changed.status, 200, changed.text)
      assert.deepStrictEqual(changed.at("group.allocations"), [])
      assert.strictEqual(changed.at("group.members.1.connectionId"), two)
      assert.deepStrictEqual([...(yield* Catalog).current().quotaGroups.keys()], ["crew"])

      assert.strictEqual((yield* send("DELETE", `/api/quota/groups/${id}`)).status, 204)
      assert.strictEqual((yield* send("DELETE", `/api/quota/groups/${id}`)).status, 404)
      assert.strictEqual((yield* send("PUT", `/api/quota/groups/${id}`, { name: "x" })).status, 404)
      assert.strictEqual((yield* get(`/api/quota/groups/${id}`)).status, 404)
    })
  )

  it.effect("name the field that is wrong", () =>
    Effect.gen(function* () {
      const one = yield* connect("openai")
      const members = [{ connectionId: one, weight: 1 }]
      for (const [body, param] of [
        [{ members }, "name"],
        [{ name: "a/b", members }, "name"],
        [{ name: "", members }, "name"],
        [{ name: "x" }, "members"],
        [{ name: "x", members: [] }, "members"],
        [{ name: "x", members: [{ connectionId: one, weight: 0 }] }, "members.0.weight"],
        [{ name: "x", members: [{ connectionId: one, weight: -2 }] }, "members.0.weight"],
        [{ name: "x", members: [{ connectionId: "nobody", weight: 1 }] }, "members.0.connectionId"],
        [{ name: "x", members: [...members, ...members] }, "members.1.connectionId"],
        [{ name: "x", members, allocations: [{ apiKeyId: "nobody", weight: 1 }] }, "allocations.0.apiKeyId"]
      ] as const) {
        const answer = yield* post("/api/quota/groups", body)
        assert.deepStrictEqual([answer.status, answer.at("error.param")], [400, param], answer.text)
      }
      assert.strictEqual((yield* post("/api/quota/groups", { name: "once", members })).status, 201)
      assert.strictEqual((yield* post("/api/quota/groups", { name: "once", members })).status, 409)
    })
  )

  it.effect("lose a connection and a key that are deleted", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* connect("openai"), yield* connect("groq")]
      const key = String((yield* post("/api/keys", { name: "k" })).at("key.id"))
      const made = yield* post("/api/quota/groups", {
        name: "shrinking",
        members: [
          { connectionId: one, weight: 1 },
          { connectionId: two, weight: 2 }
        ],
        allocations: [{ apiKeyId: key, weight: 1 }]
      })
      const path = `/api/quota/groups/${String(made.at("group.id"))}`
      yield* send("DELETE", `/api/providers/${one}`)
      yield* send("DELETE", `/api/keys/${key}`)
      const left = yield* get(path)
      assert.deepStrictEqual(left.at("group.members"), [{ connectionId: two, weight: 2 }])
      assert.deepStrictEqual(left.at("group.allocations"), [])
      assert.strictEqual((yield* Catalog).current().quotaGroups.get("shrinking")?.allocations.length, 0)
    })
  )
})

layer(layerOf(), { excludeTestServices: true })("automatic ids", (it) => {
  it.effect("are listed with their pools and the greatest limits of them", () =>
    Effect.gen(function* () {
      const empty = yield* get("/api/combos/auto")
      assert.strictEqual(empty.at("combos.0.candidateCount"), 0)
      assert.isNull(empty.at("combos.0.context_length"))
      for (const [provider, modelId, contextLength, maxOutputTokens] of [
        ["openai", "long", 900_000, 1_000],
        ["groq", "short", 8_000, 64_000]
      ] as const) {
        yield* connect(provider, { models: ["text-embedding-3-small", modelId] })
        yield* post("/api/provider-models", { provider, modelId, contextLength, maxOutputTokens })
      }
      const { combos } = JSON.parse((yield* get("/api/combos/auto")).text)
      assert.deepStrictEqual(
        combos.map(({ id }: { readonly id: string }) => id),
        ["auto", "auto/coding", "auto/fast", "auto/cheap", "auto/offline", "auto/smart", "auto/lkgp"]
      )
      for (const combo of combos) {
        assert.strictEqual(combo.type, "auto")
        assert.strictEqual(combo.candidateCount, 2)
        assert.strictEqual(combo.context_length, 900_000)
        assert.strictEqual(combo.max_output_tokens, 64_000)
        assert.sameMembers(
          combo.candidatePool.map((each: { readonly model: string }) => each.model),
          ["long", "short"]
        )
      }
      assert.strictEqual(combos[5].config.explorationRate, 0.1)
      assert.strictEqual(
        (yield* post("/api/combos", { id: "auto", name: "x", targets: [{ model: "a/b" }] })).status,
        400
      )
    })
  )
})

layer(layerOf(), { excludeTestServices: true })("combos", (it) => {
  it.effect("refuse a config that is wrong, and name every place", () =>
    Effect.gen(function* () {
      const wrong = yield* post("/api/combos", {
        name: "wrong",
        targets: [{ model: "openai/gpt-4o" }],
        config: { maxRetries: -1, auto: { weights: { luck: 1 } } }
      })
      assert.strictEqual(wrong.status, 400)
      assert.strictEqual(wrong.at("error.param"), "config.maxRetries")
      assert.strictEqual(wrong.at("error.details.1.field"), "config.auto.weights.luck")
      const kept = yield* post("/api/combos", {
        name: "kept",
        targets: [{ model: "openai/gpt-4o" }],
        config: { maxRetries: 2, note: "mine" }
      })
      assert.strictEqual(kept.status, 201, kept.text)
      assert.deepStrictEqual(kept.at("combo.config"), { maxRetries: 2, note: "mine" })
      const path = `/api/combos/${String(kept.at("combo.id"))}`
      assert.strictEqual((yield* send("PUT", path, { config: { budgetCap: 0 } })).at("error.param"), "config.budgetCap")
      // JSON has no infinity, but numbers that are read as one.
      const endless = '{"name":"endless","targets":[{"model":"openai/gpt","weight":1e999}]}'
      assert.strictEqual((yield* post("/api/combos", endless)).at("error.param"), "targets.0.weight")
    })
  )
})

layer(layerOf(), { excludeTestServices: true })("explain", (it) => {
  const explain = (body: unknown) => post("/api/routing/explain", body)

  it.effect("hands on the request, with header names in lower case", () =>
    Effect.gen(function* () {
      const answer = yield* explain({
        model: "known",
        wire: "messages",
        body: { messages: [] },
        headers: { "X-Gateway-Mode": "cheap", "x-gateway-budget": 0.01 },
        seed: 42
      })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.at("decision.seed"), 42)
      assert.deepStrictEqual(answer.at("decision.relaxedFilters"), ["x-gateway-mode", "x-gateway-budget"])
      assert.strictEqual(answer.at("decision.candidates.0.score"), 0.875)
      assert.strictEqual((yield* explain({ model: "known" })).status, 200)
    })
  )

  it.effect("answers an unknown model with 404 and near ids, and one without a usable connection with 503", () =>
    Effect.gen(function* () {
      const unknown = yield* explain({ model: "knwon" })
      assert.deepStrictEqual(
        [unknown.status, unknown.at("error.code"), unknown.at("error.param")],
        [404, "model_not_found", "model"]
      )
      assert.include(String(unknown.at("error.message")), "known")
      const asleep = yield* explain({ model: "asleep" })
      assert.deepStrictEqual([asleep.status, asleep.headers["retry-after"]], [503, "3"])
    })
  )

  it.effect("refuses what is no request, and callers without the right", () =>
    Effect.gen(function* () {
      for (const [body, param] of [
        [{}, "model"],
        [{ model: "" }, "model"],
        [{ model: "known", wire: "morse" }, "wire"],
        [{ model: "known", seed: 1.5 }, "seed"],
        [{ model: "known", body: "text" }, "body"]
      ] as const) {
        const answer = yield* explain(body)
        assert.deepStrictEqual([answer.status, answer.at("error.param")], [400, param], answer.text)
      }
      const app = yield* TestApp
      const stranger = yield* app.call("/api/routing/explain", { method: "POST", body: { model: "known" } })
      assert.strictEqual(stranger.status, 401)
    })
  )
})
