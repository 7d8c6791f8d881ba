/** Attempts to have a stored credential sent to an address of the attacker's, who may manage but does not know it. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import { layerOf, TestApp } from "./TestApp.ts"

const key = "sk-stored-0123456789-wxyz"
const header = "header-secret-0123456789"
const elsewhere = "http://127.0.0.1:9/v1"

const send = (method: string, path: string, body?: unknown) =>
  Effect.flatMap(TestApp, (app) => app.admin(path, { method, ...(body === undefined ? {} : { body }) }))

const node = Effect.fnUntraced(function* (prefix: string, baseUrl: string, more: object = {}) {
  const answer = yield* send("POST", "/api/provider-nodes", {
    name: prefix,
    prefix,
    type: "openai-compatible",
    baseUrl,
    ...more
  })
  assert.strictEqual(answer.status, 201, answer.text)
  return `/api/provider-nodes/${answer.at("node.id")}`
})

const connection = Effect.fnUntraced(function* (provider: string, more: object = {}) {
  const answer = yield* send("POST", "/api/providers", { provider, defaultModel: "m", ...more })
  assert.strictEqual(answer.status, 201, answer.text)
  return `/api/providers/${answer.at("connection.id")}`
})

const refused = Effect.fnUntraced(function* (path: string, body: unknown, field: string) {
  const before = (yield* send("GET", path)).text
  const answer = yield* send("PUT", path, body)
  assert.strictEqual(answer.status, 400, `${JSON.stringify(body)}: ${answer.text}`)
  assert.strictEqual(answer.at("error.param"), field, answer.text)
  assert.strictEqual((yield* send("GET", path)).text, before, "nothing has changed")
})

const accepted = Effect.fnUntraced(function* (path: string, body: unknown) {
  const answer = yield* send("PUT", path, body)
  assert.strictEqual(answer.status, 200, `${JSON.stringify(body)}: ${answer.text}`)
})

/** Everything an upstream was told, in one text. */
const told = (upstream: FakeUpstream.FakeUpstream): string => JSON.stringify([upstream.requests, upstream.listRequests])

layer(layerOf(), { excludeTestServices: true })("stored credentials", (it) => {
  it.effect("a connection that keeps its key does not move", () =>
    Effect.gen(function* () {
      const path = yield* connection("openai", { apiKey: key, baseUrl: "https://host.example/v1" })
      for (const baseUrl of [
        "http://host.example/v1",
        "https://other.example/v1",
        "https://host.example:8443/v1",
        "https://host.example/v2",
        "https://host.example/v1?to=other",
        "https://host.example.other.example/v1",
        "https://host.example./v1",
        null
      ]) {
        yield* refused(path, { baseUrl }, "apiKey")
        yield* refused(path, { baseUrl, authType: "none" }, "apiKey")
        yield* refused(path, { baseUrl, headers: { "x-a": "b" } }, "apiKey")
      }
      for (const same of ["https://host.example/v1/", "https://HOST.example:443/v1", "https://host.example/v1"]) {
        yield* accepted(path, { baseUrl: same })
      }
      yield* accepted(path, { baseUrl: "https://other.example/v1", apiKey: "sk-another-0123456789" })
    })
  )

  it.effect("nor does one that keeps tokens or a secret header, also behind its mask", () =>
    Effect.gen(function* () {
      const oauth = yield* connection("anthropic", { oauth: { accessToken: "token-0123456789" } })
      yield* refused(oauth, { baseUrl: elsewhere }, "oauth")
      yield* refused(oauth, { baseUrl: elsewhere, apiKey: "sk-another-0123456789" }, "oauth")
      yield* accepted(oauth, { baseUrl: elsewhere, oauth: { accessToken: "token-9876543210" } })

      const headers = yield* connection("ollama", { headers: { "x-auth-token": header, "x-team": "blue" } })
      yield* refused(headers, { baseUrl: elsewhere }, "headers")
      yield* refused(headers, { baseUrl: elsewhere, headers: { "x-auth-token": "…6789" } }, "headers")
      yield* accepted(headers, { baseUrl: elsewhere, headers: { "x-team": "blue" } })
    })
  )

  it.effect("a connection without secrets moves freely", () =>
    Effect.gen(function* () {
      const path = yield* connection("ollama", { name: "free", headers: { "x-team": "blue" } })
      yield* accepted(path, { baseUrl: elsewhere })
      yield* accepted(path, { baseUrl: null })
    })
  )

  it.effect("a node with secret headers does not move, nor one whose connections keep credentials", () =>
    Effect.gen(function* () {
      const headed = yield* node("headed", "http://127.0.0.1:8/v1", { headers: { authorization: header } })
      yield* refused(headed, { baseUrl: elsewhere }, "headers")
      yield* refused(headed, { baseUrl: elsewhere, headers: { authorization: "…6789" } }, "headers")
      yield* accepted(headed, { baseUrl: elsewhere, headers: { authorization: "a new one" } })

      const keyed = yield* node("keyed", "http://127.0.0.1:8/v1")
      const account = yield* connection("keyed", { apiKey: key })
      yield* refused(keyed, { baseUrl: elsewhere }, "apiKey")
      yield* refused(keyed, { baseUrl: elsewhere, headers: { "x-a": "b" } }, "apiKey")
      yield* accepted(keyed, { baseUrl: "http://127.0.0.1:8/v1/" })
      yield* accepted(keyed, { baseUrl: elsewhere, apiKey: "sk-another-0123456789" })
      assert.strictEqual((yield* send("GET", account)).at("connection.apiKey"), "sk-…6789")

      const signed = yield* node("signed", "http://127.0.0.1:8/v1")
      yield* connection("signed", { headers: { cookie: header } })
      yield* refused(signed, { baseUrl: elsewhere }, "apiKey")
      yield* refused(signed, { baseUrl: elsewhere, apiKey: "sk-another-0123456789" }, "apiKey")
    })
  )

  it.effect("a node moves when its connections have addresses of their own, or no secrets", () =>
    Effect.gen(function* () {
      const path = yield* node("apart", "http://127.0.0.1:8/v1")
      const account = yield* connection("apart", { apiKey: key, baseUrl: "http://127.0.0.1:7/v1" })
      yield* accepted(path, { baseUrl: elsewhere })
      // Back to the node's address, which is another one: not with the stored key.
      yield* refused(account, { baseUrl: null }, "apiKey")
      const bare = yield* node("bare", "http://127.0.0.1:8/v1")
      yield* connection("bare")
      yield* accepted(bare, { baseUrl: elsewhere })
    })
  )

  it.scoped("a node's secret headers go to the node's address only", () =>
    Effect.gen(function* () {
      const own = yield* FakeUpstream.start
      const attacker = yield* FakeUpstream.start
      for (const upstream of [own, attacker]) {
        upstream.lists(FakeUpstream.json(FakeUpstream.models(["m"])))
        upstream.always(FakeUpstream.json(FakeUpstream.chatCompletion()))
      }
      yield* node("guarded", `${own.origin}/v1`, { headers: { "X-Auth-Token": header, "x-team": "blue" } })

      yield* send("POST", "/api/providers/validate", {
        provider: "guarded",
        apiKey: "given-key-0123456789",
        baseUrl: `${attacker.origin}/v1`
      })
      const path = yield* connection("guarded", { baseUrl: `${attacker.origin}/v1` })
      yield* send("POST", `${path}/test`)
      yield* send("GET", `${path}/models`)
      assert.isAtLeast(attacker.requests.length, 2)
      assert.isAtLeast(attacker.listRequests.length, 2)
      assert.notInclude(told(attacker), header)
      assert.include(told(attacker), "blue", "what is no secret is sent along")

      yield* send("POST", "/api/providers/validate", { provider: "guarded", apiKey: "given-key-0123456789" })
      yield* send("POST", "/api/providers/validate", {
        provider: "guarded",
        apiKey: "given-key-0123456789",
        baseUrl: `${own.origin}/v1/`
      })
      const seen = [...own.requests, ...own.listRequests]
      assert.isAtLeast(seen.length, 4)
      for (const request of seen) assert.strictEqual(request.headers["x-auth-token"], header)
    })
  )

  it.scoped("a redirect takes nothing along, and a path does not become a host", () =>
    Effect.gen(function* () {
      const own = yield* FakeUpstream.start
      const attacker = yield* FakeUpstream.start
      const redirect = FakeUpstream.json({}, { status: 307, headers: { location: `${attacker.origin}/v1/models` } })
      own.always(redirect)
      own.lists(redirect)
      const host = attacker.origin.slice("http:".length)
      yield* node("led", own.origin, { chatPath: `${host}/chat`, modelsPath: `${host}/models` })
      const path = yield* connection("led", { apiKey: key })
      yield* send("POST", `${path}/test`)
      yield* send("GET", `${path}/models`)
      assert.isAtLeast(own.requests.length + own.listRequests.length, 2)
      assert.strictEqual(attacker.requests.length + attacker.listRequests.length, 0)
    })
  )
})
