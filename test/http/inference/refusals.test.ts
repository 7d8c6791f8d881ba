/** Bad input and bad keys: the right status in the caller's own format, and nothing sent upstream. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { request as nodeRequest } from "node:http"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const ask = { model: "up/m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] }
const paths = ["/v1/chat/completions", "/v1/messages"] as const

const setUp = (config: Parameters<typeof TestGateway.start>[0] = {}) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start(config)
    const upstream = yield* Fake.start
    upstream.always(Fake.json(Fake.chatCompletion()))
    yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
    return { gateway, upstream }
  })

const required = { environment: new Map([["REQUIRE_API_KEY", "true"]]) }

/** The error of an answer, whichever of the two shapes it has. */
const errorOf = async (response: Response, path: string) => {
  const body = (await response.json()) as Record<string, unknown>
  if (path === "/v1/messages") {
    assert.strictEqual(body["type"], "error")
    assert.isString(body["request_id"])
  }
  return body["error"] as { message: string; type: string; param?: string; code?: string }
}

describe("bad bodies", () => {
  const bodies: Readonly<Record<string, readonly [body: unknown, status: number, names: RegExp]>> = {
    "no JSON": ["{", 400, /JSON/],
    "an empty body": ["", 400, /JSON/],
    "an array": [[], 400, /object/],
    "no model": [{ ...ask, model: undefined }, 400, /model/],
    "a model that is a number": [{ ...ask, model: 5 }, 400, /model/],
    "no messages": [{ ...ask, messages: undefined }, 400, /messages/],
    "messages that are text": [{ ...ask, messages: "Hi" }, 400, /messages/],
    "a message without a role": [{ ...ask, messages: [{ content: "Hi" }] }, 400, /role/],
    "a stream flag that is text": [{ ...ask, stream: "yes" }, 400, /stream/],
    "a negative max_tokens": [{ ...ask, max_tokens: -2 }, 400, /max_tokens/],
    "an unknown provider": [{ ...ask, model: "nobody/m" }, 404, /nobody\/m/],
    "a provider without a connection": [{ ...ask, model: "openai/gpt-4o" }, 404, /no connection/]
  }
  for (const [name, [body, status, names]] of Object.entries(bodies)) {
    for (const path of paths) {
      it.scopedLive(`${name} on ${path}`, () =>
        Effect.gen(function* () {
          const { gateway, upstream } = yield* setUp()
          yield* Effect.promise(async () => {
            const response = await gateway.post(path, body)
            assert.strictEqual(response.status, status)
            const error = await errorOf(response, path)
            assert.match(`${error.message} ${error.param ?? ""}`, names)
            assert.strictEqual(upstream.requests.length, 0)
          })
        })
      )
    }
  }

  it.scopedLive("max_tokens is needed on the messages route", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp()
      yield* Effect.promise(async () => {
        const response = await gateway.post("/v1/messages", { ...ask, max_tokens: undefined })
        assert.strictEqual(response.status, 400)
        assert.include((await errorOf(response, "/v1/messages")).message, "max_tokens")
      })
    })
  )

  for (const path of paths) {
    it.scopedLive(`a body over the limit is a 413 on ${path}, announced or not`, () =>
      Effect.gen(function* () {
        const { gateway, upstream } = yield* setUp({ maxBodyBytes: 20_000 })
        yield* Effect.promise(async () => {
          const large = JSON.stringify({ ...ask, padding: "x".repeat(300_000) })
          const announced = await gateway.post(path, large)
          assert.strictEqual(announced.status, 413)
          assert.include((await errorOf(announced, path)).message, "GATEWAY_MAX_BODY_MB")
          assert.strictEqual(await chunked(`${gateway.url}${path}`, large), 413)
          assert.strictEqual((await gateway.post(path, ask)).status, 200)
          assert.strictEqual(upstream.requests.length, 1)
        })
      })
    )
  }

  const chunked = (url: string, body: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const request = nodeRequest(url, { method: "POST", headers: { "transfer-encoding": "chunked" } }, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      request.on("error", reject)
      for (let at = 0; at < body.length; at += 10_000) request.write(body.slice(at, at + 10_000))
      request.end()
    })

  it.scopedLive("a wrong method is a 405 in the route's format", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp()
      yield* Effect.promise(async () => {
        const response = await fetch(`${gateway.url}/v1/messages`)
        assert.strictEqual(response.status, 405)
        assert.strictEqual(response.headers.get("allow"), "POST")
        await errorOf(response, "/v1/messages")
      })
    })
  )
})

describe("keys", () => {
  for (const path of paths) {
    it.scopedLive(`missing, wrong, expired, barred and good keys on ${path}`, () =>
      Effect.gen(function* () {
        const { gateway, upstream } = yield* setUp(required)
        yield* Effect.promise(async () => {
          const make = async (more: Readonly<Record<string, unknown>>): Promise<string> => {
            const { key, secret } = await gateway.manage("POST", "/api/keys", { name: "k" })
            await gateway.manage("PUT", `/api/keys/${key.id}`, more)
            return secret
          }
          const status = async (headers: Readonly<Record<string, string>>): Promise<string> => {
            const response = await gateway.post(path, ask, headers)
            if (response.ok) return "200"
            const error = await errorOf(response, path)
            return `${response.status} ${error.type}`
          }
          const expired = await make({ expiresAt: "2020-01-01T00:00:00Z" })
          const barred = await make({ allowedModels: ["other/*"] })
          const good = await make({ allowedModels: ["up/*"] })
          assert.strictEqual(await status({}), "401 authentication_error")
          assert.strictEqual(await status({ authorization: "Bearer nonsense" }), "401 authentication_error")
          assert.strictEqual(await status({ "x-api-key": expired }), "401 authentication_error")
          const noModel = path === "/v1/messages" ? "400 invalid_request_error" : "403 permission_error"
          assert.strictEqual(await status({ "x-api-key": barred }), noModel)
          assert.strictEqual(upstream.requests.length, 0)
          for (const header of ["x-api-key", "x-goog-api-key", "api-key"])
            assert.strictEqual(await status({ [header]: good }), "200")
          assert.strictEqual(await status({ authorization: `Bearer ${good}` }), "200")
          assert.strictEqual((await gateway.post(`${path}?key=${good}`, ask)).status, 200)
          const { keys } = await gateway.manage("GET", "/api/keys")
          for (const { id } of keys) await gateway.manage("DELETE", `/api/keys/${id}`)
          assert.strictEqual(await status({ authorization: `Bearer ${good}` }), "401 authentication_error")
        })
      })
    )
  }

  it.scopedLive("no spelling of the path skips the check", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp(required)
      yield* Effect.promise(async () => {
        for (const path of [
          "/V1/chat/completions",
          "//v1/chat/completions",
          "/v1//chat/completions/",
          "/v1/./chat/completions",
          "/v1/%63hat/completions",
          "/v1/%2e%2e/v1/chat/completions",
          "/api/health/ping/../../../v1/chat/completions"
        ]) {
          assert.strictEqual(await rawStatus(gateway.url, path), 401, path)
        }
        assert.strictEqual(await rawStatus(gateway.url, "/v1/%252e%252e/chat/completions"), 400)
        assert.strictEqual(upstream.requests.length, 0)
      })
    })
  )

  /** `fetch` would tidy the path itself. */
  const rawStatus = (url: string, path: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(url)
      const request = nodeRequest({ hostname, port, path, method: "POST" }, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      request.on("error", reject)
      request.end(JSON.stringify(ask))
    })

  it.scopedLive("without required keys any key is accepted, and a known one keeps its limits", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp()
      yield* Effect.promise(async () => {
        const barred = (await gateway.manage("POST", "/api/keys", { name: "k", allowedModels: ["other/*"] })).secret
        assert.strictEqual((await gateway.post("/v1/chat/completions", ask)).status, 200)
        assert.strictEqual((await gateway.post("/v1/chat/completions", ask, { "x-api-key": "sk-made-up" })).status, 200)
        assert.strictEqual((await gateway.post("/v1/chat/completions", ask, { "x-api-key": barred })).status, 403)
      })
    })
  )

  it.scopedLive("the usage row names the key", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp(required)
      yield* Effect.promise(async () => {
        const { key, secret } = await gateway.manage("POST", "/api/keys", { name: "laptop" })
        const response = await gateway.post("/v1/chat/completions", ask, { "x-api-key": secret })
        const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
        assert.strictEqual(row.apiKeyId, key.id)
      })
    })
  )
})
