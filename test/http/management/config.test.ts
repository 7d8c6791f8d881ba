/** Nodes, connections, declared models and combos over real HTTP, with an upstream on a real socket. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ComboStrategy } from "../../../src/subjects/combos/entity.ts"
import { ConnectionRepo } from "../../../src/subjects/connections/repo.ts"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import { inClear } from "../../support/headers.ts"
import { layerOf, TestApp } from "./TestApp.ts"

const secret = "sk-secret-0123456789-wxyz"

const post = (path: string, body: unknown) =>
  Effect.flatMap(TestApp, (app) => app.admin(path, { method: "POST", body }))
const put = (path: string, body: unknown) => Effect.flatMap(TestApp, (app) => app.admin(path, { method: "PUT", body }))
const del = (path: string) => Effect.flatMap(TestApp, (app) => app.admin(path, { method: "DELETE" }))
const get = (path: string) => Effect.flatMap(TestApp, (app) => app.admin(path))

const node = (prefix: string, baseUrl = "http://127.0.0.1:9/v1") =>
  post("/api/provider-nodes", { name: `Node ${prefix}`, prefix, type: "openai-compatible", baseUrl })

layer(layerOf(), { excludeTestServices: true })("connections", (it) => {
  it.effect("are created, read, changed and removed; the key is never shown", () =>
    Effect.gen(function* () {
      const created = yield* post("/api/providers", {
        provider: "openai",
        apiKey: secret,
        max_concurrent: 3,
        tier: null
      })
      assert.strictEqual(created.status, 201, created.text)
      assert.strictEqual(created.at("connection.apiKey"), "sk-…wxyz")
      assert.strictEqual(created.at("connection.max_concurrent"), 3)
      assert.strictEqual(created.at("connection.source"), "db")
      assert.strictEqual(created.at("connection.testStatus"), "unknown")
      assert.match(String(created.at("connection.createdAt")), /^\d{4}-\d\d-\d\dT.*Z$/)
      const id = String(created.at("connection.id"))

      const changed = yield* put(`/api/providers/${id}`, { name: "renamed", max_concurrent: null })
      assert.strictEqual(changed.status, 200)
      assert.strictEqual(changed.at("connection.name"), "renamed")
      assert.isNull(changed.at("connection.max_concurrent"))
      // Without a key in the change the stored one stays.
      assert.strictEqual(changed.at("connection.apiKey"), "sk-…wxyz")

      const listed = yield* get("/api/providers")
      assert.strictEqual(listed.at("connections.0.id"), id)
      assert.notInclude(listed.text + created.text + changed.text, secret)

      assert.strictEqual((yield* del(`/api/providers/${id}`)).status, 204)
      assert.strictEqual((yield* get(`/api/providers/${id}`)).status, 404)
      assert.strictEqual((yield* del(`/api/providers/${id}`)).status, 404)
    })
  )

  it.effect("name the field that is wrong", () =>
    Effect.gen(function* () {
      for (const [body, param] of [
        [{ provider: "no-such-provider", apiKey: secret }, "provider"],
        [{ provider: "openai" }, "apiKey"],
        [{ provider: "openai", apiKey: "" }, "apiKey"],
        [{ provider: "openai", apiKey: "gw_0123456789" }, "apiKey"],
        [{ provider: "openai", oauth: { accessToken: "gw_0123456789" } }, "oauth.accessToken"],
        [{ provider: "ollama", headers: { authorization: "Bearer gw_0123456789" } }, "headers"],
        [{ apiKey: secret }, "provider"],
        [{ provider: 7 }, "provider"],
        [{ provider: "openai", apiKey: secret, wires: ["morse"] }, "wires.0"],
        [{ provider: "openai", apiKey: secret, priority: "first" }, "priority"],
        [{ provider: "openai", apiKey: secret, baseUrl: "ftp://x" }, "baseUrl"],
        [{ provider: "openai", apiKey: secret, baseUrl: "http://169.254.169.254/latest" }, "baseUrl"],
        [{ provider: "openai", authType: "oauth" }, "oauth"],
        [{ provider: "openai", oauth: { accessToken: "x", tokenUrl: "https://x.example/t" } }, "oauth.tokenUrl"],
        [{ provider: "openai", apiKey: secret, headers: { "bad name": "x" } }, "headers"]
      ] as const) {
        const answer = yield* post("/api/providers", body)
        assert.strictEqual(answer.status, 400, answer.text)
        assert.strictEqual(answer.at("error.type"), "invalid_request_error")
        assert.strictEqual(answer.at("error.param"), param, answer.text)
        assert.strictEqual(answer.at("error.details.0.field"), param)
        assert.notInclude(answer.text, secret)
      }
    })
  )

  it.effect("report every wrong field at once", () =>
    Effect.gen(function* () {
      const answer = yield* post("/api/providers", { provider: "openai", isActive: "yes", models: "gpt" })
      assert.deepStrictEqual([answer.at("error.details.0.field"), answer.at("error.details.1.field")].toSorted(), [
        "isActive",
        "models"
      ])
    })
  )

  it.effect("mask secret headers and keep them when the mask comes back", () =>
    Effect.gen(function* () {
      const repo = yield* ConnectionRepo
      const created = yield* post("/api/providers", {
        provider: "openai",
        apiKey: secret,
        headers: { "x-auth-token": "very-secret-token", "x-team": "blue" }
      })
      const id = String(created.at("connection.id"))
      assert.strictEqual(created.at("connection.headers.x-auth-token"), "…oken")
      assert.strictEqual(created.at("connection.headers.x-team"), "blue")
      yield* put(`/api/providers/${id}`, { headers: { "x-auth-token": "…oken", "x-team": "red" } })
      assert.deepStrictEqual(inClear((yield* repo.get(id))?.headers), {
        "x-auth-token": "very-secret-token",
        "x-team": "red"
      })
      yield* del(`/api/providers/${id}`)
    })
  )

  it.effect("of one node are several only with the flag", () =>
    Effect.gen(function* () {
      yield* node("single")
      assert.strictEqual((yield* post("/api/providers", { provider: "single" })).status, 201)
      const second = yield* post("/api/providers", { provider: "single" })
      assert.strictEqual(second.status, 409)
      assert.include(String(second.at("error.message")), "ALLOW_MULTI_CONNECTIONS_PER_COMPAT_NODE")
    })
  )

  it.scoped("are tested, listed and validated upstream", () =>
    Effect.gen(function* () {
      const upstream = yield* FakeUpstream.start
      yield* node("fake", `${upstream.origin}/v1`)
      yield* node("fake2", `${upstream.origin}/v1`)
      const created = yield* post("/api/providers", { provider: "fake", apiKey: secret, defaultModel: "m1" })
      const id = String(created.at("connection.id"))

      upstream.enqueue(FakeUpstream.json(FakeUpstream.chatCompletion()))
      const good = yield* post(`/api/providers/${id}/test`, undefined)
      assert.deepInclude(JSON.parse(good.text), { ok: true, status: 200, model: "m1", error: null })

      upstream.enqueue(FakeUpstream.json({ error: { message: "bad key" } }, { status: 401 }))
      const bad = yield* post(`/api/providers/${id}/test`, { model: "m2" })
      assert.deepInclude(JSON.parse(bad.text), { ok: false, status: 401, model: "m2" })

      upstream.lists(FakeUpstream.json(FakeUpstream.models(["a", "b"])))
      const models = yield* get(`/api/providers/${id}/models`)
      assert.deepStrictEqual([models.at("models.0.id"), models.at("models.1.id")], ["a", "b"])
      assert.strictEqual((yield* get(`/api/providers/${id}/models`)).status, 200)
      assert.strictEqual(upstream.listRequests.length, 3, "by each test, and once by the first look at the list")

      upstream.lists(FakeUpstream.json(FakeUpstream.models(["a"])))
      upstream.enqueue(FakeUpstream.json({ error: { message: "bad key" } }, { status: 401 }))
      const wrong = yield* post("/api/providers/validate", { provider: "fake", apiKey: "a-wrong-key" })
      assert.deepInclude(
        JSON.parse(wrong.text),
        { valid: false, status: 401 },
        "a list that needs no key proves nothing"
      )
      const ours = yield* post("/api/providers/validate", { provider: "fake", apiKey: "gw_anything" })
      assert.deepStrictEqual([ours.status, ours.at("error.param")], [400, "apiKey"])
      upstream.enqueue(FakeUpstream.json(FakeUpstream.chatCompletion()))
      const valid = yield* post("/api/providers/validate", { provider: "fake", apiKey: "another-key" })
      assert.deepInclude(JSON.parse(valid.text), {
        valid: true,
        status: 200,
        error: null,
        models: { count: 1, ids: ["a"], unpriced: 1 },
        answer: null
      })
      assert.strictEqual((yield* post("/api/providers/validate", { provider: "nope", apiKey: "k" })).status, 400)

      upstream.lists(FakeUpstream.json({ error: "down" }, { status: 500 }))
      yield* post(`/api/providers/${id}/test`, undefined)
      const kept = yield* get(`/api/providers/${id}/models`)
      assert.deepStrictEqual([kept.at("models.1.id"), kept.at("error")], ["b", "500: down"], "the last list stays")
      assert.deepInclude((yield* get(`/api/providers/${id}`)).at("connection.modelList"), {
        count: 2,
        error: "500: down"
      })

      const other = yield* post("/api/providers", { provider: "fake2", apiKey: secret })
      const failed = yield* get(`/api/providers/${String(other.at("connection.id"))}/models`)
      assert.strictEqual(failed.status, 502)
      assert.strictEqual(failed.at("error.type"), "server_error")
    })
  )
})

layer(layerOf({ envConnections: true, environment: new Map([["OPENAI_API_KEY", secret]]) }), {
  excludeTestServices: true
})("connections of the environment", (it) => {
  it.effect("are listed, masked and read-only", () =>
    Effect.gen(function* () {
      const listed = yield* get("/api/providers")
      assert.strictEqual(listed.at("connections.0.source"), "env")
      assert.notInclude(listed.text, secret)
      const path = `/api/providers/${encodeURIComponent(String(listed.at("connections.0.id")))}`
      assert.strictEqual((yield* get(path)).status, 200)
      assert.strictEqual((yield* put(path, { name: "x" })).status, 403)
      assert.strictEqual((yield* del(path)).status, 403)
    })
  )
})

layer(layerOf(), { excludeTestServices: true })("provider nodes", (it) => {
  it.effect("are created, changed and removed with their connections", () =>
    Effect.gen(function* () {
      const created = yield* node("lab")
      assert.strictEqual(created.status, 201, created.text)
      const path = `/api/provider-nodes/${created.at("node.id")}`
      const connection = yield* post("/api/providers", { provider: "lab" })
      assert.strictEqual(connection.at("connection.authType"), "none")
      assert.strictEqual((yield* put(path, { prefix: "lab2" })).status, 409)
      const changed = yield* put(path, { name: "The lab", chatPath: "/chat" })
      assert.strictEqual(changed.at("node.chatPath"), "/chat")
      assert.isNull((yield* put(path, { chatPath: null })).at("node.chatPath"))
      assert.strictEqual((yield* del(path)).status, 204)
      assert.strictEqual((yield* get(`/api/providers/${connection.at("connection.id")}`)).status, 404)
      assert.strictEqual((yield* get(path)).status, 404)
    })
  )

  it.effect("have prefixes of their own", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* node("mine")).status, 201)
      assert.strictEqual((yield* node("mine")).status, 409)
      assert.strictEqual((yield* node("openai")).status, 409)
      for (const prefix of ["auto", "has/slash", ""]) {
        const answer = yield* node(prefix)
        assert.strictEqual(answer.status, 400, prefix)
        assert.strictEqual(answer.at("error.param"), "prefix")
      }
      assert.strictEqual((yield* node("meta", "http://169.254.169.254/")).at("error.param"), "baseUrl")
    })
  )
})

layer(layerOf(), { excludeTestServices: true })("provider models", (it) => {
  it.effect("are declared, hidden, listed and removed", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const created = yield* post("/api/provider-models", {
        provider: "openai",
        modelId: "gpt-x",
        contextLength: 1000,
        capabilities: { vision: true, reasoning: null }
      })
      assert.strictEqual(created.status, 201, created.text)
      assert.strictEqual(created.at("model.contextLength"), 1000)
      const hidden = yield* app.admin("/api/provider-models", {
        method: "PATCH",
        body: { provider: "openai", modelId: "gpt-x", hidden: true }
      })
      assert.deepStrictEqual([hidden.at("model.hidden"), hidden.at("model.contextLength")], [true, 1000])
      assert.strictEqual((yield* get("/api/provider-models?provider=openai")).at("models.0.modelId"), "gpt-x")
      assert.isUndefined((yield* get("/api/provider-models?provider=groq")).at("models.0"))
      assert.strictEqual((yield* post("/api/provider-models", { provider: "nope", modelId: "x" })).status, 400)
      assert.strictEqual((yield* del("/api/provider-models?provider=openai&modelId=gpt-x")).status, 204)
      assert.strictEqual((yield* del("/api/provider-models?provider=openai&modelId=gpt-x")).status, 404)
      assert.strictEqual((yield* del("/api/provider-models?provider=openai")).at("error.param"), "modelId")
      yield* post("/api/provider-models", { provider: "openai", modelId: "gpt-y" })
      const byBody = yield* app.admin("/api/provider-models", {
        method: "DELETE",
        body: { provider: "openai", modelId: "gpt-y" }
      })
      assert.strictEqual(byBody.status, 204)
    })
  )
})

layer(layerOf(), { excludeTestServices: true })("combos", (it) => {
  const combo = (name: string, ...models: ReadonlyArray<string>) =>
    post("/api/combos", { name, strategy: "priority", targets: models.map((model) => ({ model })) })

  it.effect("are created, changed and removed", () =>
    Effect.gen(function* () {
      const created = yield* post("/api/combos", {
        name: "main",
        strategy: "priority",
        targets: [{ model: "openai/gpt", weight: 2, connectionId: null, label: null }],
        config: { maxRetries: 2 }
      })
      assert.strictEqual(created.status, 201, created.text)
      assert.strictEqual(created.at("combo.config.maxRetries"), 2)
      assert.strictEqual(created.at("combo.targets.0.weight"), 2)
      const path = `/api/combos/${created.at("combo.id")}`
      assert.strictEqual((yield* put(path, { isActive: false })).at("combo.isActive"), false)
      assert.strictEqual((yield* get(path)).at("combo.strategy"), "priority")
      assert.strictEqual((yield* get("/api/combos")).at("combos.0.name"), "main")
      assert.strictEqual((yield* del(path)).status, 204)
      assert.strictEqual((yield* get(path)).status, 404)
    })
  )

  it.effect("have names and ids of their own", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* combo("twice", "openai/gpt")).status, 201)
      const again = yield* combo("twice", "openai/gpt")
      assert.strictEqual(again.status, 409)
      assert.strictEqual(again.at("error.param"), "name")
      assert.strictEqual(
        (yield* post("/api/combos", { id: "own", name: "own", targets: [{ model: "openai/b" }] })).status,
        201
      )
      assert.strictEqual(
        (yield* post("/api/combos", { id: "own", name: "other", targets: [{ model: "openai/b" }] })).status,
        409
      )
    })
  )

  it.effect("may have any of the strategies", () =>
    Effect.gen(function* () {
      for (const strategy of ComboStrategy.literals) {
        const answer = yield* post("/api/combos", {
          name: `by ${strategy}`,
          strategy,
          targets: [{ model: "openai/gpt" }]
        })
        assert.deepStrictEqual([answer.status, answer.at("combo.strategy")], [201, strategy], answer.text)
      }
      assert.strictEqual((yield* post("/api/combos", { name: "open", strategy: "auto" })).status, 201)
    })
  )

  it.effect("refuse what cannot be", () =>
    Effect.gen(function* () {
      for (const [body, param] of [
        [{ name: "x", strategy: "magic", targets: [{ model: "a/b" }] }, "strategy"],
        [{ name: "x", strategy: "weighted", targets: [{ model: "a/b", weight: 0 }] }, "targets"],
        [{ name: "x", strategy: "priority", targets: [] }, "targets"],
        [{ name: "x", strategy: "priority", targets: [{ model: "combo:nope" }] }, "targets.0.model"],
        [{ name: "x", strategy: "priority", targets: [{ model: "combo:x" }] }, "targets"],
        [{ name: "x", strategy: "priority", targets: [{ model: "a/b", weight: -1 }] }, "targets.0.weight"],
        [{ strategy: "priority", targets: [{ model: "a/b" }] }, "name"]
      ] as const) {
        const answer = yield* post("/api/combos", body)
        assert.strictEqual(answer.status, 400, answer.text)
        assert.strictEqual(answer.at("error.param"), param, answer.text)
      }
    })
  )

  it.effect("in use are not removed or renamed, and their users are named", () =>
    Effect.gen(function* () {
      const inner = `/api/combos/${(yield* combo("inner", "openai/gpt")).at("combo.id")}`
      const outer = `/api/combos/${(yield* combo("outer", "combo:inner")).at("combo.id")}`
      for (const answer of [yield* del(inner), yield* put(inner, { name: "other" })]) {
        assert.strictEqual(answer.status, 409)
        assert.include(String(answer.at("error.message")), "outer")
      }
      const cycle = yield* put(inner, { targets: [{ model: "combo:outer" }] })
      assert.strictEqual(cycle.status, 400)
      assert.strictEqual((yield* del(outer)).status, 204)
      assert.strictEqual((yield* del(inner)).status, 204)
    })
  )

  it.effect("nest ten levels, and no more", () =>
    Effect.gen(function* () {
      yield* combo("level1", "openai/gpt")
      for (let level = 2; level <= 10; level++) {
        assert.strictEqual((yield* combo(`level${level}`, `combo:level${level - 1}`)).status, 201)
      }
      assert.strictEqual((yield* combo("level11", "combo:level10")).status, 400)
    })
  )

  it.effect("of the same name created at once: one wins, the others are 409", () =>
    Effect.gen(function* () {
      const answers = yield* Effect.all(
        Array.from({ length: 6 }, () => combo("race", "openai/gpt")),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        answers.map(({ status }) => status).toSorted((a, b) => a - b),
        [201, 409, 409, 409, 409, 409]
      )
    })
  )
})
