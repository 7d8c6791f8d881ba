/** API keys over HTTP: every setting is kept and shown, what is wrong is refused with its field, secrets are replaced. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { layerOf, TestApp } from "./TestApp.ts"

const settings = {
  scopes: ["self:usage"],
  expiresAt: "2035-01-01T00:00:00.000Z",
  allowedModels: ["openai/*", "*mini*"],
  blockedModels: ["*preview*"],
  allowedEndpoints: ["chat", "web-fetch"],
  allowedCombos: ["fast*"],
  allowedProviders: ["openai"],
  allowedConnections: ["c1"],
  ipAllowlist: ["127.0.0.1", "10.0.0.0/8", "2001:db8::/32"],
  rateLimits: [{ limit: 5, window: 60 }],
  maxRequestsPerDay: 100,
  maxRequestsPerMinute: 10,
  maxSessions: 2,
  accessSchedule: { enabled: true, from: "22:00", until: "06:00", days: [1, 5], tz: "Europe/Zurich" },
  noLog: true,
  isActive: false
}

layer(layerOf(), { excludeTestServices: true })("/api/keys", (it) => {
  it.effect("keeps every setting of a creation and of a PATCH, and clears them", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const made = yield* app.admin("/api/keys", { method: "POST", body: { name: "all", ...settings } })
      assert.strictEqual(made.status, 201, made.text)
      assert.deepInclude(made.at("key"), { name: "all", ...settings })
      const plain = yield* app.admin("/api/keys", { method: "POST", body: { name: "plain" } })
      const path = `/api/keys/${String(plain.at("key.id"))}`
      const patched = yield* app.admin(path, { method: "PATCH", body: settings })
      assert.strictEqual(patched.status, 200, patched.text)
      assert.deepInclude(patched.at("key"), { name: "plain", ...settings })
      // What is absent stays.
      const renamed = yield* app.admin(path, { method: "PATCH", body: { name: "other" } })
      assert.deepInclude(renamed.at("key"), { name: "other", ...settings })
      const cleared = yield* app.admin(path, {
        method: "PATCH",
        body: { allowedModels: null, blockedModels: null, ipAllowlist: [], accessSchedule: null, maxSessions: null }
      })
      const none = { allowedModels: null, blockedModels: [], ipAllowlist: [], accessSchedule: null, maxSessions: null }
      assert.deepInclude((yield* app.admin(path)).at("key"), { ...settings, ...none })
      assert.deepInclude(cleared.at("key"), none)
    })
  )

  it.effect("refuses what is wrong at save, with its field, and changes nothing", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const made = yield* app.admin("/api/keys", { method: "POST", body: { name: "k" } })
      const path = `/api/keys/${String(made.at("key.id"))}`
      const schedule = settings.accessSchedule
      for (const [field, body] of [
        ["accessSchedule.tz", { accessSchedule: { ...schedule, tz: "Mars/Olympus" } }],
        ["accessSchedule.tz", { accessSchedule: { ...schedule, tz: "+02:00" } }],
        ["accessSchedule.from", { accessSchedule: { ...schedule, from: "24:00" } }],
        ["accessSchedule.until", { accessSchedule: { ...schedule, until: "9:00" } }],
        ["accessSchedule.days", { accessSchedule: { ...schedule, days: [] } }],
        ["accessSchedule.days.0", { accessSchedule: { ...schedule, days: [7] } }],
        ["accessSchedule.zone", { accessSchedule: { ...schedule, zone: "UTC" } }],
        ["allowedEndpoints.0", { allowedEndpoints: ["chats"] }],
        ["ipAllowlist.1", { ipAllowlist: ["10.0.0.1", "10.0.0.1/33"] }],
        ["ipAllowlist.0", { ipAllowlist: ["example.com"] }],
        ["maxRequestsPerDay", { maxRequestsPerDay: -1 }],
        ["maxSessions", { maxSessions: 1.5 }],
        ["noLog", { noLog: "yes" }],
        ["blockedModels.0", { blockedModels: [""] }],
        ["blockModels", { blockModels: [] }]
      ] as const) {
        for (const [method, target, given] of [
          ["PATCH", path, body],
          ["PUT", path, body],
          ["POST", "/api/keys", { name: "x", ...body }]
        ] as const) {
          const answer = yield* app.admin(target, { method, body: given })
          assert.strictEqual(answer.status, 400, `${method} ${field} ${answer.text}`)
          assert.strictEqual(answer.at("error.details.0.field"), field, answer.text)
        }
      }
      assert.deepStrictEqual((yield* app.admin(path)).at("key"), made.at("key"))
    })
  )

  it.effect("gives another secret; the one before works as long as it was told to", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const made = yield* app.admin("/api/keys", { method: "POST", body: { name: "k", scopes: ["manage"] } })
      const path = `/api/keys/${String(made.at("key.id"))}`
      const list = (secret: unknown) =>
        app
          .call("/api/keys", { headers: { authorization: `Bearer ${String(secret)}` } })
          .pipe(Effect.map(({ status }) => status))
      const first = made.at("secret")
      const rotated = yield* app.admin(`${path}/rotate`, { method: "POST", body: { overlapSeconds: 3_600 } })
      assert.strictEqual(rotated.status, 200, rotated.text)
      const second = rotated.at("secret")
      assert.match(String(second), /^gw_/)
      assert.strictEqual(rotated.at("key.id"), made.at("key.id"))
      assert.notStrictEqual(second, first)
      assert.deepStrictEqual([yield* list(first), yield* list(second)], [200, 200])
      const atOnce = yield* app.admin(`${path}/rotate`, { method: "POST" })
      assert.strictEqual(atOnce.status, 200, atOnce.text)
      assert.deepStrictEqual(
        [yield* list(first), yield* list(second), yield* list(atOnce.at("secret"))],
        [401, 401, 200]
      )
      assert.notInclude((yield* app.admin(path)).text, "oldSecrets")
      const wrong = yield* app.admin(`${path}/rotate`, { method: "POST", body: { overlapSeconds: -1 } })
      assert.deepStrictEqual([wrong.status, wrong.at("error.details.0.field")], [400, "overlapSeconds"])
      assert.strictEqual((yield* app.admin("/api/keys/none/rotate", { method: "POST", body: {} })).status, 404)
      for (let count = 0; count < 5; count += 1) {
        yield* app.admin(`${path}/rotate`, { method: "POST", body: { overlapSeconds: 60 } })
      }
      const full = yield* app.admin(`${path}/rotate`, { method: "POST", body: { overlapSeconds: 60 } })
      assert.deepStrictEqual([full.status, full.at("error.param")], [409, "overlapSeconds"])
    })
  )
})
