/** Who may call what: every management route of the table with every kind of credential, and spellings that try to slip past. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { routes } from "../../../src/contract/Routes.ts"
import { rights } from "../../../src/contract/tiers/Rights.ts"
import { userRoles } from "../../../src/subjects/users/entity.ts"
import { adminKey, adminPassword, type Call, layerOf, logIn, TestApp } from "./TestApp.ts"

// Routes of a directory are served by the edge: test/http/scim and test/http/doors/routes have their callers.
const management = routes.filter(
  ({ tier, wire, key }) =>
    wire === null &&
    tier !== "inference" &&
    tier !== "scim" &&
    !["system.dashboard", "system.metrics", "system.root"].includes(key)
)

const safe = (method: string) => method === "GET"

layer(layerOf(), { excludeTestServices: true })("access", (it) => {
  const createKey = (scopes: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const answer = yield* app.admin("/api/keys", { method: "POST", body: { name: "a key", scopes } })
      return String(answer.at("secret"))
    })

  it.effect(
    "every route × every credential",
    () =>
      Effect.gen(function* () {
        const app = yield* TestApp
        const { cookie, csrf } = yield* logIn
        const credentials: Readonly<Record<string, NonNullable<Call["headers"]>>> = {
          none: {},
          wrong: { authorization: "Bearer wrong" },
          inference: { authorization: `Bearer ${yield* createKey([])}` },
          manage: { authorization: `Bearer ${yield* createKey(["manage"])}` },
          adminKey: { authorization: `Bearer ${adminKey}` },
          otherHeader: { "x-api-key": adminKey, "x-goog-api-key": adminKey, "api-key": adminKey },
          cookieOnly: cookie,
          crossSite: { ...cookie, ...csrf, origin: "https://evil.example" },
          session: { ...cookie, ...csrf }
        }
        /** What a refusal looks like; null when the gate lets the request pass, whatever the handler then says. */
        const refusal = (tier: string, method: string, name: string): number | null => {
          if (tier === "public" || tier === "local") return name === "crossSite" && !safe(method) ? 403 : null
          // None of these is the token for captures.
          if (tier === "ingest") return 403
          // None of these is the owner's token; test/faults/program/ownerToken has that.
          if (tier === "owner" && ["manage", "adminKey", "session"].includes(name)) return 403
          if (name === "session") return null
          if (name === "cookieOnly" || name === "crossSite") return safe(method) ? null : 403
          if (tier === "session") return 401
          // While no key is required, anybody may ask what anybody may.
          if (tier === "known") return name === "wrong" ? 401 : null
          // A new key may always ask about itself.
          if (tier === "self" && name === "inference") return null
          return { none: 401, wrong: 401, inference: 403, otherHeader: 401 }[name] ?? null
        }
        const gateCodes = new Set([
          "missing_api_key",
          "invalid_api_key",
          "key_scope",
          "session_required",
          "csrf_token_invalid",
          "cross_site_request"
        ])
        // The routes that end or begin sessions come last.
        const ordered = management
          // Where it can, it would capture the machine that the tests run on; and the end of all sessions is tried in `sessions.test.ts`.
          // The other way to log out is tried in test/http/signIn.
          .filter(({ key }) => !["agentBridge.startTproxy", "auth.endSessions", "signIn.logout"].includes(key))
          .toSorted((a, b) => Number(a.key.startsWith("auth.log")) - Number(b.key.startsWith("auth.log")))
        for (const route of ordered) {
          for (const [name, headers] of Object.entries(credentials)) {
            const answer = yield* app.call(route.path.replace(":id", "none").replace(":requestId", "none"), {
              method: route.method,
              headers,
              ...(safe(route.method) ? {} : { body: "{}" })
            })
            const expected = refusal(route.tier, route.method, name)
            const label = `${route.key} with ${name}: ${answer.status} ${answer.text}`
            if (expected === null) assert.isFalse(gateCodes.has(String(answer.at("error.code"))), label)
            else assert.strictEqual(answer.status, expected, label)
            assert.isString(answer.headers["x-gateway-request-id"], label)
            assert.isString(answer.headers["x-gateway-version"], label)
            assert.notStrictEqual(answer.status, 500, label)
          }
        }
      }),
    // Some thousand requests.
    { timeout: 180_000 }
  )

  it.effect(
    "every route × every role of a person whose key has no scope",
    () =>
      Effect.gen(function* () {
        const app = yield* TestApp
        /** Where they can, they would end what the other tests need, or capture the machine that they run on. */
        const left = new Set(["agentBridge.startTproxy", "auth.endSessions"])
        for (const role of userRoles) {
          const { at } = yield* app.admin("/api/users", {
            method: "POST",
            body: { name: role, email: `${role}@example.com`, role }
          })
          const key = yield* app.admin("/api/keys", { method: "POST", body: { name: role, userId: at("user.id") } })
          const headers = { authorization: `Bearer ${key.at("secret")}` }
          for (const route of management) {
            if (route.plane !== "management" || route.tier !== "manage" || left.has(route.key)) continue
            const answer = yield* app.call(route.path.replace(":id", "none").replace(":requestId", "none"), {
              method: route.method,
              headers,
              ...(safe(route.method) ? {} : { body: "{}" })
            })
            const isOpen = rights[route.operation][role] !== "none"
            const label = `${route.key} for ${role}: ${answer.status} ${answer.text}`
            assert.strictEqual(answer.at("error.code") === "key_scope", !isOpen, label)
            if (!isOpen) assert.strictEqual(answer.status, 403, label)
            assert.notStrictEqual(answer.status, 500, label)
          }
        }
      }),
    // Some thousand requests.
    { timeout: 180_000 }
  )

  it.effect("a key in the address opens no management route", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const manager = yield* createKey(["admin"])
      for (const key of [adminKey, manager]) {
        for (const name of ["token", "apiKey", "api_key", "key"]) {
          const answer = yield* app.call(`/api/keys?${name}=${key}`)
          assert.strictEqual(answer.status, 401, name)
          assert.strictEqual(answer.at("error.code"), "missing_api_key")
          assert.include(String(answer.at("error.message")), "Authorization: Bearer")
        }
      }
    })
  )

  it.effect("no spelling of a path skips the gate", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      for (const path of [
        "/API/KEYS",
        "//api/keys",
        "/api//keys",
        "/api/keys/",
        "/v1/../api/keys",
        "/v1/%2e%2e/api/keys",
        "/api/health/ping/../../keys",
        "/api/health/%2e%2e/keys",
        "/api%2fkeys",
        "/%61pi/keys",
        "/openapi.json/../api/keys",
        "/./api/./keys",
        "/api/keys?search=/api/health/ping",
        "/api/keys;x"
      ]) {
        const answer = yield* app.call(path)
        assert.include([401, 404], answer.status, `${path}: ${answer.text}`)
        const allowed = yield* app.admin(path)
        assert.include([200, 404], allowed.status, `${path}: ${allowed.text}`)
      }
    })
  )

  it.effect("spellings without a legitimate meaning are 400", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      for (const path of ["/api/%00", "/api/%252e%252e/keys", "/api/%zz", "/api\\keys", "/api/%5c..%5ckeys"]) {
        const answer = yield* app.admin(path)
        assert.strictEqual(answer.status, 400, path)
        assert.strictEqual(answer.at("error.code"), "malformed_path", path)
      }
    })
  )

  it.effect("a login answers a CSRF token and an HttpOnly cookie", () =>
    Effect.gen(function* () {
      const { answer } = yield* logIn
      assert.strictEqual(answer.status, 200)
      const [cookie = ""] = answer.headers["set-cookie"] ?? []
      assert.match(cookie, /^gateway_session=[\w-]{43};/)
      for (const attribute of ["HttpOnly", "SameSite=Strict", "Path=/"]) assert.include(cookie, attribute)
      assert.notInclude(answer.text, cookie.slice(16, 59))
    })
  )

  it.effect("a logout ends the session and clears the cookie", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const { cookie, csrf } = yield* logIn
      assert.strictEqual((yield* app.call("/api/providers", { headers: cookie })).status, 200)
      const out = yield* app.call("/api/auth/logout", { method: "POST", headers: { ...cookie, ...csrf } })
      assert.strictEqual(out.status, 204)
      assert.include(String(out.headers["set-cookie"]), "Max-Age=0")
      assert.strictEqual((yield* app.call("/api/providers", { headers: cookie })).status, 401)
    })
  )

  it.effect("a wrong password is 401, and a login from another site 403", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const wrong = yield* app.call("/api/auth/login", { method: "POST", body: { password: "wrong" } })
      assert.strictEqual(wrong.status, 401)
      assert.strictEqual(wrong.at("error.param"), "password")
      const foreign = yield* app.call("/api/auth/login", {
        method: "POST",
        body: { password: adminPassword },
        headers: { origin: "https://evil.example" }
      })
      assert.strictEqual(foreign.status, 403)
    })
  )

  it.effect("an expired and an inactive key are 401 and say so", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      for (const [settings, code] of [
        [{ expiresAt: "2020-01-01T00:00:00Z" }, "key_expired"],
        [{ isActive: false }, "key_inactive"]
      ] as const) {
        const created = yield* app.admin("/api/keys", {
          method: "POST",
          body: { name: "barred", scopes: ["manage"] }
        })
        const changed = yield* app.admin(`/api/keys/${created.at("key.id")}`, { method: "PUT", body: settings })
        assert.strictEqual(changed.status, 200, changed.text)
        const answer = yield* app.call("/api/keys", { headers: { authorization: `Bearer ${created.at("secret")}` } })
        assert.strictEqual(answer.status, 401)
        assert.strictEqual(answer.at("error.code"), code)
      }
    })
  )
})

layer(layerOf({ adminPassword: null }), { excludeTestServices: true })("login throttle", (it) => {
  it.effect("too many tries are 429 with Retry-After", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const login = app.call("/api/auth/login", { method: "POST", body: { password: "guess" } })
      const first = yield* login
      assert.strictEqual(first.status, 401)
      assert.strictEqual(first.at("error.code"), "admin_not_configured")
      const answers = yield* Effect.replicateEffect(login, 8)
      const last = answers.at(-1)
      assert.strictEqual(last?.status, 429)
      assert.strictEqual(last?.at("error.type"), "rate_limit_error")
      assert.isAbove(Number(last?.headers["retry-after"]), 0)
    })
  )
})

layer(layerOf({ adminKey: null, adminPassword: null }), { excludeTestServices: true })(
  "without an administrator",
  (it) => {
    it.effect("management is locked and says how to open it", () =>
      Effect.gen(function* () {
        const app = yield* TestApp
        for (const headers of [{}, { authorization: "Bearer anything" }]) {
          const answer = yield* app.call("/api/providers", { headers })
          assert.strictEqual(answer.status, 401)
          assert.include(String(answer.at("error.message")), "gateway setup")
          assert.include(String(answer.at("error.message")), "GATEWAY_ADMIN_KEY")
        }
        assert.strictEqual((yield* app.call("/api/health/ping")).status, 200)
      })
    )
  }
)
