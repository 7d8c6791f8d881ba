/** Connections are tried before they are saved, with all that would be saved, and nothing of it stays. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { CreateConnection, UpdateConnection, ValidateConnection } from "../../../src/subjects/connections/routes.ts"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import { layerOf, TestApp } from "./TestApp.ts"

const key = "sk-stored-0123456789-wxyz"
const pass = "pass-0123456789"
const elsewhere = "http://127.0.0.1:9/v1"

const send = (method: string, path: string, body?: unknown) =>
  Effect.flatMap(TestApp, (app) => app.admin(path, { method, ...(body === undefined ? {} : { body }) }))

const validate = (body: unknown) => send("POST", "/api/providers/validate", body)

/** All that a validation might have left behind. */
const stored = Effect.map(
  Effect.all(
    ["/api/providers", "/api/provider-nodes", "/api/v1/management/proxies", "/api/models/catalog"].map((p) =>
      send("GET", p)
    )
  ),
  (answers) => answers.map(({ text }) => text.replaceAll(/"(?:lastUsedAt|updatedAt)":"[^"]*"/g, ""))
)

/** Answers only whoever has the pass in the header, with the key in its place. */
const guarded = Effect.map(FakeUpstream.start, (upstream) => {
  const judge =
    (good: FakeUpstream.Answer): FakeUpstream.Answer =>
    (response, request) =>
      request.headers["x-pass"] === pass && request.headers.authorization === `Bearer ${key}`
        ? good(response, request)
        : FakeUpstream.json({ error: { message: "no pass" } }, { status: 401 })(response, request)
  upstream.lists(judge(FakeUpstream.json(FakeUpstream.models(["m"]))))
  upstream.always(judge(FakeUpstream.json(FakeUpstream.chatCompletion())))
  return upstream
})

const nodeBody = (prefix: string, baseUrl: string, more: object = {}) => ({
  name: prefix,
  prefix,
  type: "openai-compatible",
  baseUrl,
  ...more
})

layer(layerOf(), { excludeTestServices: true })("a connection that is not saved", (it) => {
  it.effect("has every field of saving, by the same schema", () =>
    Effect.sync(() => {
      const {
        connectionId: _id,
        node: _node,
        provider: _provider,
        question: _question,
        ...fields
      } = ValidateConnection.fields
      const { provider: _required, ...ofCreating } = CreateConnection.fields
      const { provider: _optional, ...ofChanging } = UpdateConnection.fields
      for (const [name, field] of Object.entries(ofCreating)) assert.strictEqual(Reflect.get(fields, name), field, name)
      assert.deepStrictEqual(Object.keys(fields).toSorted(), Object.keys(ofCreating).toSorted())
      assert.deepStrictEqual(Object.keys(fields).toSorted(), Object.keys(ofChanging).toSorted())
    })
  )

  it.scoped("is asked with its headers, at its address, and leaves nothing", () =>
    Effect.gen(function* () {
      const upstream = yield* guarded
      yield* send("POST", "/api/provider-nodes", nodeBody("door", elsewhere))
      const before = yield* stored
      const body = { provider: "door", apiKey: key, baseUrl: `${upstream.origin}/v1` }
      const without = yield* validate(body)
      assert.deepInclude(JSON.parse(without.text), { valid: false, status: 401 })
      const whole = yield* validate({ ...body, headers: { "x-pass": pass }, models: ["m"], maxConcurrent: 3 })
      assert.deepInclude(JSON.parse(whole.text), { valid: true, status: 200, error: null })
      assert.deepStrictEqual(yield* stored, before)
      // What was accepted is accepted after saving, too.
      const saved = yield* send("POST", "/api/providers", { ...body, headers: { "x-pass": pass }, models: ["m"] })
      assert.strictEqual(saved.status, 201, saved.text)
      const tested = yield* send("POST", `/api/providers/${String(saved.at("connection.id"))}/test`)
      assert.strictEqual(tested.at("ok"), true, tested.text)
    })
  )

  it.scoped("says which models it has and how long that took, answers a first question, and leaves its cost only", () =>
    Effect.gen(function* () {
      const upstream = yield* guarded
      yield* send("POST", "/api/provider-nodes", nodeBody("asked", elsewhere))
      const before = yield* stored
      const body = { provider: "asked", apiKey: key, baseUrl: `${upstream.origin}/v1`, headers: { "x-pass": pass } }
      const silent = yield* validate(body)
      assert.deepStrictEqual(silent.at("models"), { count: 1, unpriced: 1, ids: ["m"] })
      assert.isNull(silent.at("answer"))
      assert.isAtLeast(Number(silent.at("latencyMs")), 0)
      const question = { model: "m", prompt: "Say hello in one word." }
      const asked = yield* validate({ ...body, question })
      assert.strictEqual(asked.at("answer.text"), "Hello", asked.text)
      assert.strictEqual(asked.at("answer.costUsd"), null)
      assert.include(upstream.requests.at(-1)?.body ?? "", question.prompt)
      const calls = upstream.requests.length
      const refused = yield* validate({ ...body, apiKey: "another-key-0123456789", question })
      assert.isNull(refused.at("answer"), "a refused key is asked nothing")
      assert.notInclude(
        upstream.requests
          .slice(calls)
          .map((request) => request.body)
          .join(""),
        question.prompt
      )
      const rows = yield* send("GET", "/api/usage/logs?provider=asked")
      assert.deepInclude(rows.at("logs.0"), { principal: "operator", model: "m", connectionId: null })
      assert.deepStrictEqual(yield* stored, before)
      assert.strictEqual(
        (yield* validate({ ...body, question: { ...question, prompt: "x".repeat(4_001) } })).status,
        400
      )
    })
  )

  it.scoped("may be of a node that is not saved either", () =>
    Effect.gen(function* () {
      const upstream = yield* guarded
      const before = yield* stored
      const node = nodeBody("new-door", `${upstream.origin}/v1`, { headers: { "x-pass": pass } })
      const valid = yield* validate({ node, apiKey: key })
      assert.deepInclude(JSON.parse(valid.text), { valid: true, status: 200, error: null })
      const named = yield* validate({ node, provider: "new-door", apiKey: "another-key-0123456789" })
      assert.deepInclude(JSON.parse(named.text), { valid: false, status: 401 })
      for (const [body, status, param] of [
        [{ node, provider: "openai", apiKey: key }, 400, "provider"],
        [{ node: { ...node, prefix: "openai" }, apiKey: key }, 409, "prefix"],
        [{ node: { ...node, prefix: "door" }, apiKey: key }, 409, "prefix"],
        [{ node: { ...node, baseUrl: "http://169.254.169.254/v1" }, apiKey: key }, 400, "node.baseUrl"],
        [{ node: { ...node, type: "claude-code-compatible" }, apiKey: key }, 400, "node.type"],
        [{ apiKey: key }, 400, "provider"]
      ] as const) {
        const refused = yield* validate(body)
        assert.deepStrictEqual([refused.status, refused.at("error.param")], [status, param], refused.text)
      }
      assert.deepStrictEqual(yield* stored, before)
    })
  )

  it.effect("is refused as saving it is, word for word", () =>
    Effect.gen(function* () {
      const ok = { provider: "openai", apiKey: key }
      for (const body of [
        { ...ok, provider: "no-such-provider" },
        { provider: "openai" },
        { ...ok, apiKey: "gw_0123456789" },
        { ...ok, baseUrl: "http://169.254.169.254/v1" },
        { ...ok, baseUrl: "ftp://host.example" },
        { ...ok, headers: { "bad name": "x" } },
        { ...ok, headers: { "x-key": "gw_0123456789" } },
        { ...ok, maxConcurrent: 2, max_concurrent: 3 },
        { ...ok, proxyId: "nobody" },
        { ...ok, transport: { ca: "no certificate" } },
        { ...ok, transport: { key: "-----BEGIN PRIVATE KEY-----" } },
        { ...ok, transport: { localAddress: "203.0.113.9" } },
        { ...ok, transport: { connectTimeoutMs: 1 } },
        { ...ok, authType: "oauth" },
        { ...ok, oauth: { accessToken: "t-0123456789", tokenUrl: "https://auth.example/token" } },
        { ...ok, quotas: [{ window: "day", unit: "percent", limit: 101 }] },
        { ...ok, wires: [] },
        { ...ok, priority: -1 },
        { ...ok, tier: "gold" },
        { ...ok, base_url: elsewhere },
        { provider: "azure", apiKey: key }
      ]) {
        const saved = yield* send("POST", "/api/providers", body)
        const tried = yield* validate(body)
        assert.isAtLeast(saved.status, 400, JSON.stringify(body))
        assert.strictEqual(tried.status, saved.status, JSON.stringify([body, tried.text]))
        const told = ({ text }: { readonly text: string }) => {
          const { error } = JSON.parse(text)
          return { ...error, request_id: null, requestId: null }
        }
        assert.deepStrictEqual(told(tried), told(saved), JSON.stringify(body))
      }
    })
  )

  it.scoped("may be a stored one after a change: with its own secrets, to its own address only", () =>
    Effect.gen(function* () {
      const upstream = yield* guarded
      yield* send("POST", "/api/provider-nodes", nodeBody("changed", `${upstream.origin}/v1`))
      const made = yield* send("POST", "/api/providers", { provider: "changed", apiKey: key, defaultModel: "m" })
      const connectionId = String(made.at("connection.id"))
      const before = yield* stored
      const without = yield* validate({ connectionId })
      assert.deepInclude(JSON.parse(without.text), { valid: false, status: 401 })
      const whole = yield* validate({ connectionId, headers: { "x-pass": pass } })
      assert.deepInclude(JSON.parse(whole.text), { valid: true, status: 200, error: null })

      const attacker = yield* FakeUpstream.start
      for (const change of [
        { baseUrl: `${attacker.origin}/v1` },
        { baseUrl: elsewhere, headers: {} },
        { provider: "openai" },
        { proxyId: "nobody" },
        { maxConcurrent: 2, max_concurrent: 3 },
        { transport: { ca: "no certificate" } }
      ]) {
        const saved = yield* send("PUT", `/api/providers/${connectionId}`, change)
        const tried = yield* validate({ connectionId, ...change })
        assert.isAtLeast(saved.status, 400, JSON.stringify(change))
        assert.deepStrictEqual(
          [tried.status, tried.at("error.param"), tried.at("error.message")],
          [saved.status, saved.at("error.param"), saved.at("error.message")]
        )
      }
      assert.strictEqual(attacker.requests.length + attacker.listRequests.length, 0)
      assert.strictEqual((yield* validate({ connectionId: "nobody" })).status, 404)
      assert.strictEqual((yield* validate({ connectionId, node: nodeBody("n", elsewhere) })).at("error.param"), "node")
      assert.deepStrictEqual(yield* stored, before)
    })
  )

  it.scoped("goes by the proxy that would be stored, and by none where that is cleared", () =>
    Effect.gen(function* () {
      const upstream = yield* FakeUpstream.start
      upstream.lists(FakeUpstream.json({ error: { message: "no" } }, { status: 404 }))
      upstream.always(FakeUpstream.json(FakeUpstream.chatCompletion()))
      yield* send("POST", "/api/provider-nodes", nodeBody("routed", `${upstream.origin}/v1`))
      const dead = yield* send("POST", "/api/v1/management/proxies", {
        name: "dead",
        type: "http",
        host: "127.0.0.1",
        port: 9
      })
      const proxyId = String(dead.at("proxy.id"))
      const made = yield* send("POST", "/api/providers", {
        provider: "routed",
        apiKey: key,
        defaultModel: "m",
        proxyId
      })
      assert.strictEqual(made.status, 201, made.text)
      const connectionId = String(made.at("connection.id"))
      const valid = (body: object) => Effect.map(validate(body), (answer) => answer.at("valid"))
      assert.isFalse(yield* valid({ connectionId }), "by the proxy that is stored")
      assert.isTrue(yield* valid({ connectionId, proxyId: null }))
      assert.isTrue(yield* valid({ connectionId, proxyEnabled: false }))
      assert.isTrue(yield* valid({ provider: "routed", apiKey: key }))
      assert.isFalse(yield* valid({ provider: "routed", apiKey: key, proxyId }))
      assert.strictEqual((yield* send("GET", `/api/providers/${connectionId}`)).at("connection.proxyId"), proxyId)
    })
  )

  it.scoped("keeps the tokens of an account that is not saved as they are", () =>
    Effect.gen(function* () {
      const upstream = yield* FakeUpstream.start
      upstream.lists((response, request) =>
        (request.headers.authorization === "Bearer token-0123456789"
          ? FakeUpstream.json(FakeUpstream.models(["m"]))
          : FakeUpstream.json({ error: { message: "no" } }, { status: 401 }))(response, request)
      )
      yield* send("POST", "/api/provider-nodes", nodeBody("signed", `${upstream.origin}/v1`))
      const oauth = {
        accessToken: "token-0123456789",
        refreshToken: "refresh-0123456789",
        expiresAt: "2020-01-01T00:00:00.000Z",
        tokenUrl: `${upstream.origin}/oauth/token`
      }
      const valid = yield* validate({ provider: "signed", oauth })
      assert.deepInclude(JSON.parse(valid.text), { valid: true, status: 200, error: null })
      assert.isFalse(
        upstream.requests.some(({ url }) => url.includes("token")),
        "a refresh token is used up by use"
      )
    })
  )
})

layer(layerOf({ envConnections: true, environment: new Map([["OPENAI_API_KEY", key]]) }), {
  excludeTestServices: true
})("a connection from the environment", (it) => {
  it.effect("cannot be changed, and so not be tried with a change", () =>
    Effect.gen(function* () {
      const listed = yield* send("GET", "/api/providers")
      const refused = yield* validate({ connectionId: String(listed.at("connections.0.id")), priority: 2 })
      assert.strictEqual(refused.status, 403, refused.text)
    })
  )
})
