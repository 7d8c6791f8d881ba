/** What a browser may make the gateway do while no API key is required, on every route of the table and on the WebSocket. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { request as httpRequest } from "node:http"
import { routes } from "../../../src/contract/Routes.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as RawRequest from "../../support/RawRequest.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import * as Ws from "../ws/support.ts"

const ask = (
  gateway: TestGateway.TestGateway,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body = ""
) => RawRequest.ask(gateway.url, { method, path, headers, body })

const json = { "content-type": "application/json" }
const chat = JSON.stringify({ model: "up/m", messages: [{ role: "user", content: "Hi" }] })

const foreign: ReadonlyArray<Readonly<Record<string, string>>> = [
  { origin: "https://evil.example" },
  { origin: "null" },
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
  { host: "rebound.example:20128" }
]

const setUp = (config: Parameters<typeof TestGateway.start>[0] = {}) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start(config)
    const upstream = yield* Fake.start
    upstream.always(Fake.json(Fake.chatCompletion({ text: "served" })))
    yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
    return { gateway, upstream }
  })

describe("while no key is required", () => {
  it.scopedLive("every route of the table refuses pages of other sites and names that are not its own", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp()
      const asked = upstream.requests.length
      yield* Effect.promise(async () => {
        const paths = routes.map(({ method, path }) => [method, path.replaceAll(/:\w+/g, "x")] as const)
        for (const [method, path] of [...paths, ["GET", "/no/such/route"] as const, ["OPTIONS", "/metrics"] as const]) {
          for (const headers of foreign) {
            const answer = await ask(gateway, method, path, headers)
            const why = `${method} ${path} ${JSON.stringify(headers)}`
            assert.strictEqual(answer.status, 403, why)
            assert.strictEqual(answer.headers["x-content-type-options"], "nosniff", why)
            assert.isString(answer.headers["x-gateway-request-id"], why)
          }
        }
      })
      assert.strictEqual(upstream.requests.length, asked)
    })
  )

  it.scopedLive(
    "one page may be visited from another site, where providers send browsers back, and nothing else of it",
    () =>
      Effect.gen(function* () {
        const { gateway } = yield* setUp()
        const visit = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }
        const callback = "/api/oauth/codex/callback?code=c&state=s"
        yield* Effect.promise(async () => {
          const answer = await ask(gateway, "GET", callback, visit)
          assert.strictEqual(answer.status, 404)
          assert.strictEqual(answer.headers["content-type"], "text/html; charset=utf-8")
          const refused: ReadonlyArray<readonly [string, string, Readonly<Record<string, string>>]> = [
            ["GET", "/", visit],
            ["GET", "/v1/models", visit],
            ["POST", "/api/oauth/codex/authorize", visit],
            ["POST", callback, visit],
            ["GET", callback, { ...visit, "sec-fetch-dest": "iframe" }],
            ["GET", callback, { ...visit, "sec-fetch-mode": "no-cors" }],
            ["GET", callback, { ...visit, origin: "https://evil.example" }],
            ["GET", callback, { ...visit, host: "rebound.example:20128" }]
          ]
          for (const [method, path, headers] of refused) {
            const { status } = await ask(gateway, method, path, headers)
            assert.strictEqual(status, 403, `${method} ${path} ${JSON.stringify(headers)}`)
          }
        })
      })
  )

  it.scopedLive("the refusal is told in the route's own wire, before the body has come", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp()
      yield* Effect.promise(async () => {
        const announced = { ...json, "content-length": "1000000", origin: "null" }
        const answer = await new Promise<string>((resolve, reject) => {
          const { port } = new URL(gateway.url)
          const headers = { ...announced }
          const asked = httpRequest({ host: "127.0.0.1", port, method: "POST", path: "/v1/messages", headers })
          asked.on("response", (response) => {
            response.setEncoding("utf8")
            response.once("data", (text: string) => {
              resolve(text)
              asked.destroy()
            })
          })
          asked.on("error", reject)
          asked.flushHeaders()
        })
        assert.deepInclude(JSON.parse(answer), { type: "error" })
        const gemini = await ask(
          gateway,
          "POST",
          "/v1beta/models/up%2Fm:generateContent",
          { host: "evil.example" },
          "{}"
        )
        assert.strictEqual(JSON.parse(gemini.body).error.code, 403)
      })
    })
  )

  it.scopedLive("a form or plain text with an Origin is no inference body", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp()
      yield* Effect.promise(async () => {
        const origin = gateway.url
        const host = new URL(origin).host
        for (const type of [
          "text/plain",
          "application/x-www-form-urlencoded",
          "multipart/form-data; boundary=x",
          "application/jsonx"
        ]) {
          const answer = await ask(
            gateway,
            "POST",
            "/v1/chat/completions",
            { origin, host, "content-type": type },
            chat
          )
          assert.strictEqual(answer.status, 415, type)
        }
        const served = await ask(
          gateway,
          "POST",
          "/v1/chat/completions",
          { origin, host, "content-type": "application/json; charset=utf-8" },
          chat
        )
        assert.strictEqual(served.status, 200, served.body)
        // A client that is no browser may call its JSON what it likes.
        const plain = await ask(gateway, "POST", "/v1/chat/completions", { "content-type": "text/plain" }, chat)
        assert.strictEqual(plain.status, 200, plain.body)
      })
    })
  )

  it.scopedLive("a WebSocket is refused as well", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp()
      yield* Effect.promise(async () => {
        for (const headers of foreign)
          assert.strictEqual((await Ws.refused(gateway, "/v1/responses", headers)).status, 403)
      })
    })
  )

  it.scopedLive("CORS_ORIGINS opens by name: the page may ask before, ask, and read", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp({ corsOrigins: ["https://chat.example"] })
      yield* Effect.promise(async () => {
        const origin = "https://chat.example"
        const before = await ask(gateway, "OPTIONS", "/v1/chat/completions", {
          origin,
          "access-control-request-method": "POST",
          "access-control-request-headers": "content-type,authorization"
        })
        assert.strictEqual(before.status, 204)
        assert.strictEqual(before.headers["access-control-allow-origin"], origin)
        assert.strictEqual(before.headers["access-control-allow-headers"], "content-type,authorization")
        const sent = { ...json, origin, "sec-fetch-site": "cross-site" }
        const answer = await ask(gateway, "POST", "/v1/chat/completions", sent, chat)
        assert.strictEqual(answer.status, 200, answer.body)
        assert.strictEqual(answer.headers["access-control-allow-origin"], origin)
        assert.strictEqual(answer.headers["vary"], "Origin")
        const ping = await ask(gateway, "GET", "/api/health/ping", { origin })
        assert.strictEqual(ping.headers["access-control-allow-origin"], origin)
        assert.strictEqual((await ask(gateway, "GET", "/v1/models", { origin: "https://other.example" })).status, 403)
      })
      yield* Ws.open(gateway, "/v1/responses", { origin: "https://chat.example" })
    })
  )

  it.scopedLive(
    "a preflight from a page of the internet gets all a browser asks for, and nothing for its cookies",
    () =>
      Effect.gen(function* () {
        const { gateway } = yield* setUp({ corsOrigins: ["https://chat.example"] })
        yield* Effect.promise(async () => {
          const names =
            "anthropic-dangerous-direct-browser-access,anthropic-version,authorization,content-type,x-api-key,x-stainless-lang"
          const origin = "https://chat.example"
          const { headers, status } = await ask(gateway, "OPTIONS", "/v1/messages", {
            origin,
            "access-control-request-method": "POST",
            "access-control-request-headers": names,
            "access-control-request-private-network": "true",
            "sec-fetch-site": "cross-site"
          })
          assert.strictEqual(status, 204)
          assert.strictEqual(headers["access-control-allow-headers"], names)
          assert.include(headers["access-control-allow-methods"] ?? "", "POST")
          assert.strictEqual(headers["access-control-allow-private-network"], "true")
          assert.match(headers["access-control-max-age"] ?? "", /^\d+$/)
          assert.match(headers["vary"] ?? "", /^Origin, Access-Control-Request-Headers/)
          assert.isUndefined(headers["access-control-allow-credentials"])
          assert.strictEqual(headers["access-control-allow-origin"], origin)
          // What a cache keeps of a request without an Origin must not be given to a page.
          assert.strictEqual((await ask(gateway, "GET", "/v1/models")).headers["vary"], "Origin, Accept-Encoding")
        })
      })
  )

  it.scopedLive("the setting corsOrigins opens at once, and closes again", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp()
      yield* Effect.promise(async () => {
        const origin = "https://chat.example"
        const asked = () => ask(gateway, "POST", "/v1/chat/completions", { ...json, origin }, chat)
        assert.strictEqual((await asked()).status, 403)
        assert.strictEqual((await ask(gateway, "GET", "/v1/models")).headers["vary"], "Accept-Encoding")
        await gateway.manage("PATCH", "/api/settings", { corsOrigins: ["https://Chat.example:443"] })
        const answer = await asked()
        assert.strictEqual(answer.status, 200, answer.body)
        assert.strictEqual(answer.headers["access-control-allow-origin"], origin)
        assert.strictEqual(answer.headers["access-control-expose-headers"], "*")
        await gateway.manage("PATCH", "/api/settings", { corsOrigins: [] })
        assert.strictEqual((await asked()).status, 403)
      })
    })
  )

  it.scopedLive("allowedHosts opens at once, and closes again", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp()
      yield* Effect.promise(async () => {
        const status = async () => (await ask(gateway, "GET", "/v1/models", { host: "gateway.example:8080" })).status
        assert.strictEqual(await status(), 403)
        await gateway.manage("PATCH", "/api/settings", { allowedHosts: ["gateway.example"] })
        assert.strictEqual(await status(), 200)
        await gateway.manage("PATCH", "/api/settings", { allowedHosts: [] })
        assert.strictEqual(await status(), 403)
      })
    })
  )
})

describe("while keys are required", () => {
  it.scopedLive("a key in a header suffices, wherever the page comes from", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp({ environment: new Map([["REQUIRE_API_KEY", "true"]]) })
      yield* Effect.promise(async () => {
        for (const headers of foreign) {
          const keyed = { ...json, ...headers, authorization: `Bearer ${TestGateway.adminKey}` }
          assert.strictEqual((await ask(gateway, "POST", "/v1/chat/completions", keyed, chat)).status, 200)
          assert.strictEqual(
            (await ask(gateway, "POST", "/v1/chat/completions", { ...json, ...headers }, chat)).status,
            401
          )
        }
      })
    })
  )

  it.scopedLive("a rebound name does not read the metrics; a key of the scope does, and metricsPublic opens them", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp({ environment: new Map([["REQUIRE_API_KEY", "true"]]) })
      yield* Effect.promise(async () => {
        const host = "rebound.example"
        const authorization = `Bearer ${TestGateway.adminKey}`
        assert.strictEqual((await ask(gateway, "GET", "/metrics")).status, 200)
        for (const elsewhere of [{ host }, { "x-forwarded-for": "10.0.0.9" }]) {
          assert.strictEqual((await ask(gateway, "GET", "/metrics", elsewhere)).status, 401)
          assert.strictEqual((await ask(gateway, "GET", "/metrics", { ...elsewhere, authorization })).status, 200)
          for (const [scopes, status] of [
            [[], 403],
            [["read:usage"], 403],
            [["read:metrics"], 200],
            [["manage"], 200]
          ] as const) {
            const { secret } = await gateway.manage("POST", "/api/keys", {
              name: `with ${scopes.join()} from ${Object.keys(elsewhere).join()}`,
              scopes
            })
            const asked = await ask(gateway, "GET", "/metrics", {
              ...elsewhere,
              authorization: `Bearer ${String(secret)}`
            })
            assert.strictEqual(asked.status, status, scopes.join())
          }
        }
        await gateway.manage("PATCH", "/api/settings", { metricsPublic: true })
        assert.strictEqual((await ask(gateway, "GET", "/metrics", { host })).status, 200)
      })
    })
  )
})
