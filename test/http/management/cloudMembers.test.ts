/** `/api/cloud`: what other gateways and programs of the operator ask. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const routes = [
  ["POST", "/api/cloud/auth", undefined],
  ["PUT", "/api/cloud/credentials/update", { provider: "openai", credentials: { apiKey: "sk-new-0123456789" } }],
  ["POST", "/api/cloud/credentials/update", { provider: "openai", credentials: { apiKey: "sk-new-0123456789" } }],
  ["POST", "/api/cloud/model/resolve", { alias: "small" }],
  ["GET", "/api/cloud/models/alias", undefined],
  ["PUT", "/api/cloud/models/alias", { alias: "small", model: "openai/gpt-4o" }],
  ["POST", "/api/cloud/models/alias", { alias: "small", model: "openai/gpt-4o" }]
] as const

const call = async (url: string, key: string | null, method: string, path: string, body?: object) => {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" })
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  // eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
  return { status: response.status, text, json: JSON.parse(text) as any }
}

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start({})
  const upstream = yield* Fake.start
  upstream.always(Fake.json(Fake.chatCompletion({ text: "served" })))
  const by = (key: string | null) => (method: string, path: string, body?: object) =>
    call(gateway.url, key, method, path, body)
  return { gateway, upstream, by, admin: by(TestGateway.adminKey) }
})

describe("/api/cloud", () => {
  it.scopedLive("is for who manages, and tells what is connected without a credential", () =>
    Effect.gen(function* () {
      const { admin, by, gateway } = yield* setUp
      yield* Effect.promise(async () => {
        await gateway.manage("POST", "/api/providers", { provider: "openai", name: "w", apiKey: "sk-old-0123456789" })
        await gateway.manage("POST", "/api/models/alias", { alias: "small", model: "openai/gpt-4o-mini" })
        const { secret } = await gateway.manage("POST", "/api/keys", { name: "ordinary" })
        for (const [method, path, body] of routes) {
          assert.strictEqual((await by(null)(method, path, body)).status, 401, path)
          assert.strictEqual((await by("nobody")(method, path, body)).status, 401, path)
          assert.strictEqual((await by(secret)(method, path, body)).status, 403, path)
        }
        const { json, text } = await admin("POST", "/api/cloud/auth")
        assert.strictEqual(json.authenticated, true)
        const [{ id, ...shown }] = json.connections
        assert.isString(id)
        assert.deepStrictEqual(shown, { provider: "openai", name: "w", authType: "apikey", isActive: true })
        assert.deepStrictEqual(json.modelAliases, { small: "openai/gpt-4o-mini" })
        assert.notInclude(text, "0123456789")
      })
    })
  )

  it.scopedLive("sets aliases, and resolves names as requests are routed", () =>
    Effect.gen(function* () {
      const { admin, gateway, upstream } = yield* setUp
      yield* Effect.promise(async () => {
        await gateway.connect("up", upstream, "chat")
        for (const [method, alias] of [
          ["PUT", "one"],
          ["POST", "two"]
        ] as const) {
          const set = await admin(method, "/api/cloud/models/alias", { alias, model: "up/m" })
          assert.deepStrictEqual(set.json, { success: true, alias, model: "up/m" })
        }
        const { json } = await admin("GET", "/api/cloud/models/alias")
        assert.deepStrictEqual(json, { aliases: { one: "up/m", two: "up/m" } })
        assert.strictEqual((await admin("PUT", "/api/cloud/models/alias", { alias: "one", model: "one" })).status, 400)
        await gateway.combo("both", "up/m", "up/n")
        const resolved = async (body: object) => (await admin("POST", "/api/cloud/model/resolve", body)).json
        assert.deepStrictEqual(await resolved({ alias: "one" }), {
          alias: "one",
          provider: "up",
          model: "m",
          combo: null,
          strategy: "priority",
          targets: [{ provider: "up", model: "m" }]
        })
        assert.deepInclude(await resolved({ model: "up/m" }), { provider: "up", model: "m" })
        assert.deepInclude(await resolved({ alias: "both" }), {
          combo: "both",
          targets: [
            { provider: "up", model: "m" },
            { provider: "up", model: "n" }
          ]
        })
        assert.strictEqual((await admin("POST", "/api/cloud/model/resolve", {})).status, 400)
        const unknown = await admin("POST", "/api/cloud/model/resolve", { alias: "no-such-model" })
        assert.deepEqual([unknown.status, unknown.json.error.code], [404, "model_not_found"])
        const off = await admin("POST", "/api/cloud/model/resolve", { alias: "openai/gpt-4o" })
        assert.strictEqual(off.status, 404, off.text)
        await gateway.manage("POST", "/api/providers", { provider: "openai", apiKey: "sk-0123456789", isActive: false })
        const later = await admin("POST", "/api/cloud/model/resolve", { alias: "openai/gpt-4o" })
        assert.strictEqual(later.status, 503, later.text)
      })
    })
  )

  it.scopedLive("puts new credentials in the place of the stored ones, for the one connection that is meant", () =>
    Effect.gen(function* () {
      const { admin, gateway, upstream } = yield* setUp
      const update = (body: object, method = "PUT") => admin(method, "/api/cloud/credentials/update", body)
      const ask = (model: string) =>
        gateway.post("/v1/chat/completions", { model, messages: [{ role: "user", content: "Hi" }] })
      const sent = () => upstream.requests.at(-1)?.headers["authorization"]
      yield* Effect.promise(async () => {
        const at = { provider: "openai", baseUrl: `${upstream.origin}/v1`, models: ["m"] }
        const one = await gateway.manage("POST", "/api/providers", { ...at, name: "one", apiKey: "sk-old-0123456789" })
        const key = { apiKey: "sk-new-0123456789" }
        const done = await update({ provider: "openai", credentials: key })
        assert.deepStrictEqual(done.json, {
          success: true,
          provider: "openai",
          connectionId: one.connection.id
        })
        assert.strictEqual((await ask("openai/m")).status, 200)
        assert.strictEqual(sent(), "Bearer sk-new-0123456789")

        const two = await gateway.manage("POST", "/api/providers", { ...at, name: "two", apiKey: "sk-two-0123456789" })
        const unclear = await update({ provider: "openai", credentials: key })
        assert.strictEqual(unclear.status, 400)
        assert.include(unclear.text, "connectionId")
        const named = { provider: "openai", connectionId: two.connection.id }
        assert.strictEqual((await update({ ...named, credentials: key }, "POST")).status, 200)
        for (const [body, status] of [
          [{ ...named, credentials: { accessToken: "at-0123456789" } }, 400],
          [{ ...named, credentials: {} }, 400],
          [{ ...named, credentials: { ...key, accessToken: "at-0123456789" } }, 400],
          [{ ...named, credentials: { ...key, baseUrl: "https://evil.example" } }, 400],
          [{ provider: "openai", connectionId: "none", credentials: key }, 404],
          [{ provider: "codex", credentials: { accessToken: "at-0123456789" } }, 404],
          [{ provider: "nobody", credentials: key }, 400]
        ] as const) {
          assert.strictEqual((await update(body)).status, status, JSON.stringify(body))
        }

        const oauth = { accessToken: "at-old-0123456789", refreshToken: "rt-old-0123456789", clientId: "mine" }
        const node = { prefix: "plan", name: "plan", baseUrl: `${upstream.origin}/v1`, type: "openai-compatible" }
        await gateway.manage("POST", "/api/provider-nodes", node)
        await gateway.manage("POST", "/api/providers", {
          provider: "plan",
          name: "account",
          authType: "oauth",
          oauth: { ...oauth, tokenUrl: `${upstream.origin}/token` },
          models: ["m"]
        })
        const renewed = await update({
          provider: "plan",
          credentials: { accessToken: "at-new-0123456789", expiresIn: 60 }
        })
        assert.strictEqual(renewed.status, 200, renewed.text)
        assert.strictEqual((await ask("plan/m")).status, 200)
        assert.strictEqual(sent(), "Bearer at-new-0123456789")

        const audit = await admin("GET", "/api/compliance/audit-log?action=provider.credentials.updated")
        assert.deepInclude(audit.json[0], { status: "success", target: "plan", actor: "admin-key" })
        assert.lengthOf(audit.json, 11)
        for (const { text } of [done, renewed, audit]) assert.notInclude(text, "0123456789")
      })
    })
  )
})
