/** `GET /api/me`: who asks, by which credential, and what it may do. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { managementRoutes } from "../../../src/contract/ManagementRoutes.ts"
import { OwnerToken } from "../../../src/subjects/auth/OwnerToken.ts"
import { adminKey, layerOf, logIn, TestApp } from "./TestApp.ts"

type Headers = Readonly<Record<string, string>>

const me = (headers: Headers = {}) => Effect.flatMap(TestApp, (app) => app.call("/api/me", { headers }))

const newKey = (body: object) =>
  Effect.gen(function* () {
    const app = yield* TestApp
    const answer = yield* app.admin("/api/keys", { method: "POST", body: { name: "a key", scopes: [], ...body } })
    return { id: String(answer.at("key.id")), secret: String(answer.at("secret")) }
  })

const bearer = (secret: string): Headers => ({ authorization: `Bearer ${secret}` })

const asOwner = Effect.flatMap(OwnerToken, ({ issue }) => Effect.map(issue, (token) => bearer(Redacted.value(token))))

layer(layerOf())("who asks", (it) => {
  it.effect("is told by each credential, with the role that it comes to", () =>
    Effect.gen(function* () {
      const { cookie } = yield* logIn
      const member = yield* newKey({ name: "laptop", scopes: ["self:usage"], allowedModels: ["openai/*"] })
      const manager = yield* newKey({ scopes: ["manage"] })
      const admin = yield* newKey({ scopes: ["admin"] })
      for (const [headers, type, role, credential] of [
        [{}, "anonymous", "anonymous", "none"],
        [bearer(member.secret), "apiKey", "member", "bearer"],
        [bearer(manager.secret), "apiKey", "manager", "bearer"],
        [bearer(admin.secret), "apiKey", "admin", "bearer"],
        [bearer(adminKey), "adminKey", "admin", "bearer"],
        [yield* asOwner, "owner", "owner", "bearer"],
        [cookie, "session", "admin", "cookie"]
      ] as const) {
        const answer = yield* me(headers)
        assert.deepStrictEqual(
          [answer.status, answer.at("principal.type"), answer.at("role"), answer.at("credential.type")],
          [200, type, role, credential],
          answer.text
        )
        for (const [, value] of Object.entries(headers)) {
          const secret = value.replace(/^(?:Bearer |gateway_session=)/, "")
          assert.isFalse(answer.text.includes(secret), "no credential comes back")
        }
      }
      const own = yield* me(bearer(member.secret))
      assert.strictEqual(own.at("principal.id"), member.id)
      assert.strictEqual(own.at("principal.name"), "laptop")
      assert.deepStrictEqual(own.at("limits.allowedModels"), ["openai/*"])
      assert.deepStrictEqual(own.at("scopes"), ["self:usage"])
      const sessions = yield* Effect.flatMap(TestApp, (app) => app.admin("/api/auth/sessions"))
      assert.strictEqual((yield* me(cookie)).at("principal.id"), sessions.at("sessions.0.id"))
    })
  )

  it.effect("may read the routes of exactly the tiers that it is told", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const { cookie } = yield* logIn
      const plain = yield* newKey({})
      const self = yield* newKey({ scopes: ["self:usage"] })
      const manager = yield* newKey({ scopes: ["manage"] })
      const forwarded = { "x-forwarded-for": "203.0.113.7" }
      const gateCodes = new Set(["missing_api_key", "key_scope", "session_required", "loopback_only", "owner_only"])
      let told = 0
      for (const headers of [
        {},
        bearer(plain.secret),
        bearer(self.secret),
        bearer(manager.secret),
        bearer(adminKey),
        cookie,
        { ...bearer(manager.secret), ...forwarded }
      ]) {
        const tiers = (yield* me(headers)).at("tiers") as ReadonlyArray<string>
        for (const tier of ["public", "known", "self", "manage", "session", "loopback"]) {
          const route = managementRoutes.find(
            (each) => each.tier === tier && each.method === "GET" && !each.path.includes(":")
          )
          if (route === undefined) continue
          const answer = yield* app.call(route.path, { headers })
          const isRefused = gateCodes.has(String(answer.at("error.code"))) && [401, 403].includes(answer.status)
          assert.strictEqual(
            tiers.includes(tier),
            !isRefused,
            `${JSON.stringify(headers)} ${tier}: ${answer.text.slice(0, 200)}`
          )
          told += 1
        }
      }
      assert.isAbove(told, 30)
    })
  )

  it.effect("is refused when the credential is not good, and says why", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const wrong = yield* me(bearer("wrong"))
      assert.deepStrictEqual([wrong.status, wrong.at("error.code")], [401, "invalid_api_key"])
      const off = yield* newKey({})
      yield* app.admin(`/api/keys/${off.id}`, { method: "PATCH", body: { isActive: false } })
      const inactive = yield* me(bearer(off.secret))
      assert.deepStrictEqual([inactive.status, inactive.at("error.code")], [401, "key_inactive"])
      const elsewhere = yield* newKey({ ipAllowlist: ["203.0.113.0/24"] })
      assert.strictEqual((yield* me(bearer(elsewhere.secret))).at("error.code"), "key_ip")
    })
  )
})

layer(layerOf({ environment: new Map([["REQUIRE_API_KEY", "true"]]) }))("while keys are required", (it) => {
  it.effect("nobody is told anything without one", () =>
    Effect.gen(function* () {
      const answer = yield* me()
      assert.deepStrictEqual([answer.status, answer.at("error.code")], [401, "missing_api_key"])
      const plain = yield* newKey({})
      assert.deepStrictEqual((yield* me(bearer(plain.secret))).at("role"), "member")
    })
  )
})
