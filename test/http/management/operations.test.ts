/** Keys, prices, usage, decisions, settings, flags and the errors every route can answer, over real HTTP. */
import * as HttpApiClient from "@effect/platform/HttpApiClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { createConnection } from "node:net"
import { byStrategy } from "../../../src/plane/routing/candidate/Reason.ts"
import { noPolicy } from "../../../src/subjects/combos/entity/ComboPolicy.ts"
import { GatewayApi } from "../../../src/contract/Api.ts"
import { DecisionLog } from "../../../src/plane/routing/records/DecisionLog.ts"
import { adminKey, layerOf, logIn, TestApp } from "./TestApp.ts"

layer(layerOf(), { excludeTestServices: true })("operations", (it) => {
  it.effect("keys: the secret is shown once and works; the list shows a prefix", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const created = yield* app.admin("/api/keys", {
        method: "POST",
        body: {
          name: "ci",
          scopes: ["manage"],
          allowedModels: null,
          expiresAt: null,
          rateLimits: [{ limit: 5, window: 60 }]
        }
      })
      assert.strictEqual(created.status, 201, created.text)
      const secret = String(created.at("secret"))
      assert.match(secret, /^gw_/)
      assert.isTrue(secret.startsWith(String(created.at("key.prefix"))))
      const path = `/api/keys/${created.at("key.id")}`
      const listed = yield* app.call("/api/keys", { headers: { authorization: `Bearer ${secret}` } })
      assert.strictEqual(listed.status, 200)
      assert.notInclude(listed.text, secret)
      const changed = yield* app.admin(path, { method: "PUT", body: { expiresAt: "2999-01-01T00:00:00Z" } })
      assert.strictEqual(changed.at("key.expiresAt"), "2999-01-01T00:00:00.000Z")
      assert.deepStrictEqual(changed.at("key.rateLimits.0.limit"), 5)
      assert.strictEqual((yield* app.admin(path, { method: "DELETE" })).status, 204)
      assert.strictEqual((yield* app.call("/api/keys", { headers: { authorization: `Bearer ${secret}` } })).status, 401)
      assert.strictEqual((yield* app.admin(path, { method: "DELETE" })).status, 404)
      const wrong = yield* app.admin("/api/keys", { method: "POST", body: { name: "x", expiresAt: "tomorrow" } })
      assert.strictEqual(wrong.at("error.param"), "expiresAt")
    })
  )

  it.effect("times: a day that is none and a time without a zone are refused in every body and query", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const made = yield* app.admin("/api/keys", { method: "POST", body: { name: "dated" } })
      const oauth = { accessToken: "t", tokenUrl: "https://example.com/token" }
      const bodies: ReadonlyArray<readonly [method: string, path: string, field: string, of: (at: string) => unknown]> =
        [
          ["POST", "/api/keys", "expiresAt", (expiresAt) => ({ name: "k", expiresAt })],
          ["PUT", `/api/keys/${made.at("key.id")}`, "expiresAt", (expiresAt) => ({ expiresAt })],
          [
            "POST",
            "/api/v1/registered-keys",
            "expiresAt",
            (expiresAt) => ({ name: "k", provider: "openai", expiresAt })
          ],
          [
            "POST",
            "/api/providers",
            "oauth.expiresAt",
            (expiresAt) => ({ provider: "openai", authType: "oauth", oauth: { ...oauth, expiresAt } })
          ],
          [
            "POST",
            "/api/providers",
            "quotas.0.resetAt",
            (resetAt) => ({
              provider: "openai",
              apiKey: "sk-1",
              quotas: [{ window: "daily", unit: "requests", limit: 5, resetAt }]
            })
          ],
          ["POST", "/api/oauth/claude/import-token", "expiresAt", (expiresAt) => ({ accessToken: "t", expiresAt })],
          [
            "POST",
            "/api/cloud/credentials/update",
            "credentials.expiresAt",
            (expiresAt) => ({ provider: "openai", credentials: { accessToken: "t", expiresAt } })
          ]
        ]
      const noTimes = ["2026-02-30T00:00:00Z", "2035-04-31T00:00:00+02:00", "2035-01-01T00:00:00", "2035-01-01", "soon"]
      for (const [method, path, field, of] of bodies) {
        for (const at of noTimes) {
          const answer = yield* app.admin(path, { method, body: of(at) })
          assert.strictEqual(answer.status, 400, `${method} ${path} ${at}: ${answer.text}`)
          assert.strictEqual(answer.at("error.param"), field, answer.text)
          assert.include(answer.text, "with its zone", answer.text)
        }
      }
      // A query may name a day: it begins in UTC.
      const queries = [
        "usage/logs?from",
        "usage/logs?to",
        "usage/export?from",
        "usage/export?to",
        "compliance/audit-log?from",
        "compliance/audit-log?to"
      ]
      for (const query of queries) {
        for (const at of ["2026-02-30", "2026-02-30T00:00:00Z", "2035-01-01T00:00:00", "soon"]) {
          const answer = yield* app.admin(`/api/${query}=${encodeURIComponent(at)}`)
          assert.strictEqual(answer.status, 400, `${query} ${at}: ${answer.text}`)
        }
        for (const at of ["2035-01-01", "2035-01-01T00:00:00+02:00"]) {
          const answer = yield* app.admin(`/api/${query}=${encodeURIComponent(at)}`)
          assert.strictEqual(answer.status, 200, `${query} ${at}: ${answer.text}`)
        }
      }
      const calls = yield* app.admin("/api/usage/calls?provider=openai&from=2026-02-01&to=2026-02-30")
      assert.strictEqual(calls.status, 400, calls.text)
      const purge = yield* app.admin("/api/settings/purge-request-history", {
        method: "POST",
        body: { before: "2026-02-30" }
      })
      assert.strictEqual(purge.status, 400, purge.text)
    })
  )

  it.effect("pricing: a patch lays over what is there and answers the whole", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const patch = (body: unknown) => app.admin("/api/pricing", { method: "PATCH", body })
      yield* patch({ openai: { a: { input: 1, output: 2, cached: null } } })
      const whole = yield* patch({ openai: { b: { input: 3, output: 4 } } })
      assert.deepStrictEqual(JSON.parse(whole.text), {
        openai: { a: { input: 1, output: 2 }, b: { input: 3, output: 4 } }
      })
      assert.deepStrictEqual((yield* app.admin("/api/pricing")).text, whole.text)
      const wrong = yield* patch({ openai: { a: { input: -1, output: 2 } } })
      assert.strictEqual(wrong.at("error.param"), "openai.a.input")
    })
  )

  it.effect("usage logs: an empty page, and limits that are checked", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      assert.deepStrictEqual(JSON.parse((yield* app.admin("/api/usage/logs?limit=5")).text), {
        logs: [],
        nextCursor: null,
        scannedTo: null
      })
      const wrong = yield* app.admin("/api/usage/logs?limit=many")
      assert.strictEqual(wrong.status, 400)
      assert.strictEqual(wrong.at("error.param"), "limit")
    })
  )

  it.effect("decisions: kept ones are answered, others are 404", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const log = yield* DecisionLog
      log.record({
        requestId: "r-1",
        requestedModel: "auto",
        resolution: {
          combo: null,
          strategy: "priority",
          targets: [],
          weights: [],
          steps: [],
          auto: null,
          quotaGroup: null,
          policy: noPolicy
        },
        decision: {
          strategy: "priority",
          seed: 7,
          order: [],
          reason: byStrategy("none"),
          weights: null,
          scores: new Map(),
          exclusions: new Map(),
          relaxedFilters: []
        },
        attempts: [],
        exclusions: new Map(),
        chosen: null
      })
      assert.strictEqual((yield* app.admin("/api/routing/decisions/r-1")).at("decision.seed"), 7)
      assert.strictEqual((yield* app.admin("/api/routing/decisions/r-2")).status, 404)
    })
  )

  it.effect("resilience: any part may be changed, within its limits", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const patch = (timeouts: unknown) => app.admin("/api/resilience", { method: "PATCH", body: { timeouts } })
      const before = yield* app.admin("/api/resilience")
      const after = yield* patch({ idleMs: 50, totalMs: null })
      assert.strictEqual(after.at("timeouts.idleMs"), 50)
      assert.strictEqual(after.at("timeouts.totalMs"), before.at("timeouts.totalMs"))
      assert.strictEqual((yield* patch({ idleMs: 49 })).at("error.param"), "timeouts.idleMs")
    })
  )

  it.effect("feature flags: a session sees, sets and clears them", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const { cookie, csrf } = yield* logIn
      const path = "/api/settings/feature-flags"
      const headers = { ...cookie, ...csrf }
      const set = (body: unknown) => app.call(path, { method: "PUT", headers, body })
      assert.strictEqual((yield* app.call(path, { headers: cookie })).at("summary.total"), 38)
      const on = yield* set({ key: "REQUIRE_API_KEY", value: "true" })
      assert.deepInclude(JSON.parse(on.text), {
        key: "REQUIRE_API_KEY",
        effectiveValue: "true",
        source: "db",
        previousValue: "false",
        previousSource: "default"
      })
      assert.strictEqual((yield* set({ key: "REQUIRE_API_KEY", value: null })).at("source"), "default")
      assert.strictEqual((yield* set({ key: "NOPE", value: "true" })).at("error.param"), "key")
      assert.strictEqual((yield* set({ key: "TOOL_POLICY_MODE", value: "maybe" })).at("error.param"), "value")
      yield* set({ key: "TOOL_POLICY_MODE", value: "warn" })
      assert.strictEqual((yield* app.call(path, { method: "DELETE", headers })).at("cleared"), 1)
    })
  )

  it.effect("health and the OpenAPI document", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const ping = yield* app.call("/api/health/ping")
      assert.strictEqual(ping.at("status"), "ok")
      assert.strictEqual(ping.at("version"), ping.headers["x-gateway-version"])
      assert.isAtLeast(Number((yield* app.admin("/api/monitoring/health")).at("catalogCount")), 90)
      const document = yield* app.call("/openapi.json")
      assert.match(String(document.headers["content-type"]), /application\/json/)
      assert.strictEqual(document.at("info.version"), ping.at("version"))
      const head = yield* app.call("/api/health/ping", { method: "HEAD" })
      assert.deepStrictEqual([head.status, head.text], [200, ""])
    })
  )

  it.effect("errors: each documented shape", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const keysPost = (body: unknown, headers = {}) => app.admin("/api/keys", { method: "POST", body, headers })

      const malformed = yield* keysPost('{"name":')
      assert.deepStrictEqual([malformed.status, malformed.at("error.code")], [400, "bad_request"])
      const empty = yield* app.admin("/api/keys", { method: "POST" })
      assert.deepStrictEqual([empty.status, empty.at("error.type")], [400, "invalid_request_error"])
      const array = yield* keysPost([])
      assert.strictEqual(array.status, 400)
      const missing = yield* keysPost({})
      assert.deepStrictEqual([missing.at("error.param"), missing.at("error.details.0.message")], ["name", "is missing"])

      // A script that forgets the content type is understood all the same.
      const untyped = yield* keysPost('{"name":"untyped"}', { "content-type": "application/x-www-form-urlencoded" })
      assert.strictEqual(untyped.status, 201, untyped.text)

      const large = yield* keysPost({ name: "x".repeat(70_000) })
      assert.deepStrictEqual([large.status, large.at("error.code")], [413, "request_too_large"])
      const unknown = yield* app.call("/api/no-such-route")
      assert.deepStrictEqual([unknown.status, unknown.at("error.code")], [404, "not_found"])
      const method = yield* app.admin("/api/keys", { method: "PATCH" })
      assert.deepStrictEqual([method.status, method.headers.allow], [405, "GET, POST"])
      for (const answer of [malformed, empty, array, missing, large, unknown, method]) {
        assert.deepStrictEqual(Object.keys(JSON.parse(answer.text)), ["error"])
        assert.isString(answer.headers["x-gateway-request-id"])
        assert.isString(answer.headers["x-gateway-version"])
      }
    })
  )

  it.effect("errors: a chunked body without a length is stopped at the limit", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const answer = yield* Effect.async<string>((resume) => {
        const socket = createConnection({ host: "127.0.0.1", port: Number(new URL(app.url).port) })
        let received = ""
        socket.on("data", (chunk: Buffer) => {
          received += chunk.toString()
        })
        socket.on("close", () => resume(Effect.succeed(received)))
        socket.on("error", () => resume(Effect.succeed(received)))
        const size = 70_000
        socket.write(
          `POST /api/keys HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${adminKey}\r\nTransfer-Encoding: chunked\r\n\r\n`
        )
        socket.write(`${size.toString(16)}\r\n${"x".repeat(size)}\r\n0\r\n\r\n`)
      })
      assert.match(answer, /^HTTP\/1\.1 413 /)
    })
  )

  it.effect("the derived client reads answers and errors as the contract's own types", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const client = yield* HttpApiClient.make(GatewayApi, {
        baseUrl: app.url,
        transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken(adminKey))
      })
      const { combo } = yield* client.combos.create({
        payload: { name: "typed", strategy: "priority", targets: [{ model: "openai/gpt" }] }
      })
      const conflict = yield* Effect.flip(
        client.combos.create({ payload: { name: "typed", targets: [{ model: "openai/gpt" }] } })
      )
      assert.strictEqual(conflict._tag, "Conflict")
      const problem = yield* Effect.flip(
        client.combos.create({ payload: { name: "other", strategy: "priority", targets: [{ model: "combo:nope" }] } })
      )
      assert.deepInclude(problem, { _tag: "BadRequest", param: "targets.0.model" })
      yield* client.combos.remove({ path: { id: combo.id } })
      const gone = yield* Effect.flip(client.combos.get({ path: { id: combo.id } }))
      assert.strictEqual(gone._tag, "NotFound")
      const logs = yield* client.usage.logs({ urlParams: { limit: 3 } })
      assert.deepStrictEqual(logs, { logs: [], nextCursor: null, scannedTo: null })
    })
  )
})

const quiet = layerOf().pipe(Layer.provide(Logger.minimumLogLevel(LogLevel.None)))

layer(quiet, { excludeTestServices: true })("a broken database", (it) => {
  it.effect("is 503 without any detail of it", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const sql = yield* SqlClient.SqlClient
      yield* sql`DROP TABLE combos`
      const answer = yield* app.admin("/api/combos/any")
      assert.deepStrictEqual([answer.status, answer.at("error.code")], [503, "service_unavailable"])
      assert.notInclude(answer.text, "combos")
    })
  )

  it.effect("is 500 without any detail where no answer was foreseen", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const { cookie, csrf } = yield* logIn
      const sql = yield* SqlClient.SqlClient
      yield* sql`DROP TABLE settings`
      const answer = yield* app.call("/api/settings/feature-flags", {
        method: "PUT",
        headers: { ...cookie, ...csrf },
        body: { key: "REQUIRE_API_KEY", value: "true" }
      })
      assert.deepStrictEqual([answer.status, answer.at("error.code")], [500, "internal_server_error"])
      assert.isString(answer.headers["x-gateway-request-id"])
      for (const detail of ["settings", "SQLITE", "at "]) assert.notInclude(answer.text, detail)
    })
  )
})
