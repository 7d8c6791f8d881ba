/** `/api/settings` over real HTTP. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { defaultGatewaySettings } from "../../../src/subjects/settings/entity.ts"
import { layerOf, TestApp } from "./TestApp.ts"

interface Origins {
  readonly settings: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly variables: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly listener: object
}

const path = "/api/settings"
const issues = { repository: null, apiUrl: "https://api.github.com", token: null }
/** With the settings of the cloud sync and the issue tracker, which are kept apart because some are secret. */
const defaults = { ...defaultGatewaySettings, cloudUrl: null, sharedKey: null, issues }
const get = Effect.flatMap(TestApp, (app) => app.admin(path))
const change = (method: "PATCH" | "PUT", body: unknown) =>
  Effect.flatMap(TestApp, (app) => app.admin(path, { method, body }))

layer(layerOf(), { excludeTestServices: true })("gateway settings", (it) => {
  it.effect("are whole, and any part may be changed by PATCH and PUT", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(JSON.parse((yield* get).text), defaults)
      const hosts = ["gateway.example", "192.168.1.7", "[fd00::1]"]
      const changed = yield* change("PATCH", { allowedHosts: [" gateway.example ", ...hosts.slice(1)] })
      assert.strictEqual(changed.status, 200, changed.text)
      const wanted = { ...defaults, allowedHosts: hosts }
      assert.deepStrictEqual(JSON.parse(changed.text), wanted)
      const next = yield* change("PUT", { metricsPublic: true })
      assert.deepStrictEqual(JSON.parse(next.text), { ...wanted, metricsPublic: true })
      const modelFallbacks = { "claude-haiku-*": "combo:small", ["a".repeat(512)]: "openai/gpt-4o-mini" }
      const mapped = yield* change("PATCH", { modelFallbacks: { gone: "m" } })
      assert.strictEqual(mapped.status, 200, mapped.text)
      yield* change("PATCH", { modelFallbacks })
      assert.deepStrictEqual(JSON.parse((yield* get).text), { ...wanted, metricsPublic: true, modelFallbacks })
      yield* change("PATCH", { allowedHosts: [], metricsPublic: false, modelFallbacks: {} })
      assert.deepStrictEqual(JSON.parse((yield* get).text), defaults)
    })
  )

  it.effect(
    "as they were read are taken by PATCH and PUT, and change nothing, also where the key of a sync is set",
    () =>
      Effect.gen(function* () {
        const app = yield* TestApp
        const bundle = Effect.map(app.admin("/api/sync/bundle"), ({ headers }) => headers["x-gateway-signature"])
        const cloudUrl = "https://sync.example.com/team"
        const some = { corsOrigins: ["https://chat.example"], pricingUrl: "https://prices.example/p.json" }
        const tracker = { repository: "octo/issues", token: "ghp_0123456789abcdef" }
        for (const setting of [some, { cloudUrl, sharedKey: "a-long-key-of-the-tests" }, { issues: tracker }]) {
          assert.strictEqual((yield* change("PATCH", setting)).status, 200)
          const before = (yield* get).text
          const signature = "sharedKey" in setting ? yield* bundle : undefined
          for (const method of ["PATCH", "PUT"] as const) {
            const answer = yield* change(method, JSON.parse(before))
            assert.strictEqual(answer.status, 200, answer.text)
            assert.strictEqual(answer.text, before)
            assert.strictEqual((yield* get).text, before)
            if (signature !== undefined) assert.strictEqual(yield* bundle, signature)
          }
        }
        for (const sharedKey of ["…", "…ests1", "short"]) {
          const refused = yield* change("PATCH", { sharedKey })
          assert.strictEqual(refused.status, 400)
          assert.strictEqual(refused.at("error.param"), "sharedKey")
        }
        for (const token of ["ghp_…9abc", "a b", "a\r\nx-admin: 1"]) {
          const refused = yield* change("PATCH", { issues: { token }, metricsPublic: true })
          assert.deepStrictEqual([refused.status, refused.at("error.param")], [400, "issues.token"])
        }
        // One that is refused lets none of the others through.
        yield* change("PATCH", { issues: { repository: "octo/other" }, sharedKey: "short" })
        assert.strictEqual((yield* get).at("issues.repository"), "octo/issues")
        const cleared = { corsOrigins: [], pricingUrl: null, cloudUrl: null, sharedKey: null, issues }
        assert.deepStrictEqual(JSON.parse((yield* change("PATCH", cleared)).text), defaults)
      })
  )

  it.effect("name what is wrong or unknown, and change nothing then", () =>
    Effect.gen(function* () {
      const before = (yield* get).text
      for (const [body, field] of [
        [{ metricsPublic: "yes" }, "metricsPublic"],
        [{ metricsPublic: true, allowedHost: ["a"] }, "allowedHost"],
        [{ allowedHosts: ["http://a.example"] }, "allowedHosts.0"],
        [{ allowedHosts: ["a.example", "a.example:8080"] }, "allowedHosts.1"],
        [{ allowedHosts: ["*"] }, "allowedHosts.0"],
        [{ allowedHosts: "a.example" }, "allowedHosts"],
        [{ corsOrigins: ["*"] }, "corsOrigins.0"],
        [{ corsOrigins: ["https://a.example", "https://a.example/path"] }, "corsOrigins.1"],
        [{ corsOrigins: "https://a.example" }, "corsOrigins"],
        [{ modelFallbacks: ["claude-*"] }, "modelFallbacks"],
        [{ modelFallbacks: { "claude-*": 3 } }, "modelFallbacks.claude-*"],
        [{ modelFallbacks: { "claude-*": "" } }, "modelFallbacks.claude-*"],
        [{ modelFallbacks: { " a": "b" } }, "modelFallbacks. a"],
        [{ modelFallbacks: { a: "b".repeat(513) } }, "modelFallbacks.a"],
        [{ modelFallbacks: { ["a".repeat(513)]: "b" } }, `modelFallbacks.${"a".repeat(512)}`],
        [
          { modelFallbacks: Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`a${at}`, "b"])) },
          "modelFallbacks"
        ],
        [{ allowedHosts: Array.from({ length: 101 }, () => "a") }, "allowedHosts"],
        [{ decisions: { retentionDays: 0 } }, "decisions.retentionDays"],
        [{ decisions: { sampleRate: 1.5 } }, "decisions.sampleRate"],
        [{ decisions: { maxRows: 2_000_000 } }, "decisions.maxRows"],
        [{ decisions: { rows: 1 } }, "decisions.rows"]
      ] as const) {
        const refused = yield* change("PATCH", body)
        assert.strictEqual(refused.status, 400, JSON.stringify(body))
        assert.strictEqual(refused.at("error.param"), field, refused.text)
      }
      for (const body of [[], "text", undefined]) assert.strictEqual((yield* change("PUT", body)).status, 400)
      assert.strictEqual((yield* get).text, before)
    })
  )

  it.effect("are told with their defaults, who set them, and what the program was started with", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const origins = Effect.map(app.admin(`${path}/origins`), ({ text }) => JSON.parse(text) as Origins)
      const named = (all: Origins, name: string) => all.settings.find((one) => one.name === name)
      const quiet = yield* origins
      assert.deepStrictEqual(
        quiet.settings.filter(({ source }) => source !== "default").map(({ name }) => name),
        []
      )
      yield* change("PATCH", { cache: { ttlSeconds: 60 }, sharedKey: "a-long-key-of-the-tests" })
      const set = yield* origins
      const ttl = named(set, "cache.ttlSeconds")
      assert.deepInclude(ttl, { operation: "gatewaySettingsUpdate", value: 60, defaultValue: 3_600, source: "db" })
      assert.strictEqual(ttl?.changedBy, "admin-key")
      assert.isNotNull(ttl?.changedAt)
      // Another part of the group is at its default.
      assert.deepInclude(named(set, "cache.maxEntries"), { source: "default" })
      assert.notInclude(JSON.stringify(set), "a-long-key-of-the-tests")
      assert.deepInclude(set.listener, { reach: "machine" })
      const host = set.variables.find(({ name }) => name === "HOST")
      assert.deepInclude(host, { value: "127.0.0.1", source: "default", isSecret: false })
      yield* change("PATCH", { cache: { ttlSeconds: 3_600 }, sharedKey: null })
      assert.deepInclude(named(yield* origins, "cache.ttlSeconds"), { source: "default", changedBy: "admin-key" })
      assert.strictEqual((yield* app.call(`${path}/origins`)).status, 401)
    })
  )

  it.effect("are for administrators", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      for (const method of ["GET", "PATCH", "PUT"]) {
        const body = method === "GET" ? undefined : {}
        assert.strictEqual((yield* app.call(path, { method, body })).status, 401)
      }
    })
  )
})
