/** Signing in at a provider, against an authorization server on a real socket. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createHash } from "node:crypto"
import { SignInTable } from "../../../src/plane/providers/registry/signIn.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { type Answer, layerOf, logIn, TestApp } from "./TestApp.ts"

const tokens = Fake.json({ access_token: "at-5up3r-secret", refresh_token: "rt-5up3r-secret", expires_in: 3600 })

const rowsAt = (origin: string) =>
  Layer.succeed(
    SignInTable,
    new Map([
      [
        "codex",
        {
          tokens: { tokenUrl: `${origin}/token`, style: "form" as const },
          scopes: ["openid", "offline_access"],
          authorize: {
            url: "https://auth.example.com/authorize",
            redirectUri: "http://localhost:1455/auth/callback",
            parameters: { extra: "1" },
            pageParameters: { shown: "1" },
            sendsState: false
          },
          deviceUrl: null
        }
      ],
      [
        "github",
        {
          tokens: { tokenUrl: `${origin}/token`, style: "form" as const },
          scopes: ["read:user"],
          authorize: null,
          deviceUrl: `${origin}/device`
        }
      ]
    ])
  )

const environment = new Map([["GATEWAY_OAUTH_GITHUB_CLIENT_ID", "client-of-the-env"]])

/** The gateway before a fake authorization server. */
const inside = <A, E>(
  name: string,
  test: (server: Fake.FakeUpstream) => Effect.Effect<A, E, TestApp>,
  signInUrl: string | null = null
) =>
  it.live(name, () =>
    Effect.scoped(
      Effect.flatMap(Fake.start, (server) =>
        test(server).pipe(
          Effect.provide(layerOf({ environment, signInUrl }).pipe(Layer.provide(rowsAt(server.origin))))
        )
      )
    )
  )

const act = (provider: string, action: string, body?: unknown) =>
  Effect.flatMap(TestApp, (app) =>
    app.admin(`/api/oauth/${provider}/${action}`, { method: "POST", ...(body === undefined ? {} : { body }) })
  )

const connectionOf = (id: unknown) => Effect.flatMap(TestApp, (app) => app.admin(`/api/providers/${String(id)}`))

inside("exchanges a pasted address for tokens by PKCE, once, and stores them as a connection", (server) =>
  Effect.gen(function* () {
    const app = yield* TestApp
    const missing = yield* act("codex", "authorize")
    assert.strictEqual(missing.status, 400)
    assert.include(missing.text, "GATEWAY_OAUTH_CODEX_CLIENT_ID")
    const begun = yield* act("codex", "authorize", { clientId: "my-client", name: "work" })
    assert.strictEqual(begun.status, 200, begun.text)
    const url = new URL(String(begun.at("authUrl")))
    const asked = url.searchParams
    assert.strictEqual(url.origin, "https://auth.example.com")
    assert.strictEqual(asked.get("client_id"), "my-client")
    assert.strictEqual(asked.get("code_challenge_method"), "S256")
    assert.strictEqual(asked.get("scope"), "openid offline_access")
    assert.strictEqual(asked.get("redirect_uri"), "http://localhost:1455/auth/callback")
    assert.strictEqual(asked.get("shown"), "1")
    assert.strictEqual(begun.at("comesBack"), false)
    const state = asked.get("state") ?? ""

    const page = (given: string) => `http://localhost:1455/auth/callback?code=the-code&state=${given}`
    const sessionId = begun.at("sessionId")
    // Neither another state nor another caller may use it.
    assert.strictEqual((yield* act("codex", "exchange", { sessionId, code: page("made-up") })).status, 400)
    const session = yield* logIn
    const stranger = yield* app.call("/api/oauth/codex/exchange", {
      method: "POST",
      headers: { ...session.cookie, ...session.csrf },
      body: { sessionId, code: page(state) }
    })
    assert.strictEqual(stranger.status, 404)
    assert.strictEqual((yield* act("github", "exchange", { sessionId, code: page(state) })).status, 404)
    assert.lengthOf(server.requests, 0)

    server.always(tokens)
    const done = yield* act("codex", "exchange", { sessionId, code: page(state) })
    assert.strictEqual(done.status, 200, done.text)
    assert.strictEqual(done.at("status"), "connected")
    const [sent] = server.requests
    const fields = new URLSearchParams(sent?.body)
    assert.strictEqual(fields.get("grant_type"), "authorization_code")
    assert.strictEqual(fields.get("code"), "the-code")
    assert.strictEqual(
      createHash("sha256")
        .update(fields.get("code_verifier") ?? "")
        .digest("base64url"),
      asked.get("code_challenge")
    )
    const again = yield* act("codex", "exchange", { sessionId, code: page(state) })
    assert.strictEqual(again.status, 404)
    assert.lengthOf(server.requests, 1)

    const stored = yield* connectionOf(done.at("connection.id"))
    assert.strictEqual(stored.at("connection.authType"), "oauth")
    assert.strictEqual(stored.at("connection.name"), "work")
    const audit = yield* app.admin("/api/compliance/audit-log?action=provider.credentials.imported")
    assert.strictEqual(audit.at("0.target"), done.at("connection.id"))
    for (const { text } of [begun, done, stored, audit]) {
      assert.notInclude(text, "5up3r-secret")
      assert.notInclude(text, String(fields.get("code_verifier")))
    }
  })
)

inside(
  "signs an account in again: the same connection has the new tokens, and one of another provider is refused",
  (server) =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const imported = yield* act("codex", "import-token", {
        accessToken: "at-old-s3cret",
        expiresAt: "2035-01-01T00:00:00.000Z",
        name: "work"
      })
      const id = String(imported.at("connection.id"))
      const before = yield* connectionOf(id)
      assert.deepStrictEqual(before.at("connection.signIn"), {
        expiresAt: "2035-01-01T00:00:00.000Z",
        isRenewed: false
      })
      const begun = yield* act("codex", "authorize", { clientId: "c", connectionId: id })
      const { searchParams } = new URL(String(begun.at("authUrl")))
      server.always(tokens)
      const done = yield* act("codex", "exchange", { code: `the-code#${String(searchParams.get("state"))}` })
      assert.strictEqual(done.at("connection.id"), id, done.text)
      const after = yield* connectionOf(id)
      assert.strictEqual(after.at("connection.name"), "work")
      assert.strictEqual(after.at("connection.signIn.isRenewed"), true)
      assert.strictEqual((yield* app.admin("/api/providers")).at("total"), 1)
      const foreign = yield* act("github", "device-code", { connectionId: id })
      assert.deepStrictEqual([foreign.status, foreign.at("error.param")], [400, "connectionId"], foreign.text)
      assert.strictEqual((yield* act("codex", "authorize", { clientId: "c", connectionId: "nobody" })).status, 404)
    })
)

inside("says what the provider refused, without its secrets, and is used up", (server) =>
  Effect.gen(function* () {
    const begun = yield* act("codex", "authorize", { clientId: "c", clientSecret: "client-s3cret-value" })
    const { searchParams } = new URL(String(begun.at("authUrl")))
    const code = `the-code-0123#${String(searchParams.get("state"))}`
    server.always(
      Fake.json(
        { error: "invalid_grant", error_description: "the-code-0123 of client-s3cret-value is over" },
        { status: 400 }
      )
    )
    const refused = yield* act("codex", "exchange", { code })
    assert.strictEqual(refused.status, 502, refused.text)
    assert.include(refused.text, "is over")
    assert.notInclude(refused.text, "the-code-0123")
    assert.notInclude(refused.text, "client-s3cret-value")
    assert.strictEqual((yield* act("codex", "exchange", { code })).status, 404)
  })
)

inside("waits for a device code at the provider's pace, and connects when it was typed", (server) =>
  Effect.gen(function* () {
    server.enqueue(
      Fake.json({
        device_code: "dc-5up3r-secret",
        user_code: "WDJB-MJHT",
        verification_uri: "https://github.com/login/device",
        interval: 0.001,
        expires_in: 900
      })
    )
    const begun = yield* act("github", "device-code", { name: "copilot" })
    assert.strictEqual(begun.status, 200, begun.text)
    assert.strictEqual(begun.at("userCode"), "WDJB-MJHT")
    assert.strictEqual(new URLSearchParams(server.requests[0]?.body).get("client_id"), "client-of-the-env")
    const sessionId = begun.at("sessionId")
    const poll = act("github", "poll", { sessionId })
    // The interval is a millisecond: until it is over, the provider is not asked.
    const pollThrough = (name: unknown) =>
      Effect.suspend(() => {
        const before = server.requests.length
        return Effect.repeat(act("github", "poll", { sessionId: name }), {
          until: () => server.requests.length > before,
          times: 1_000
        })
      })

    server.enqueue(Fake.json({ error: "authorization_pending" }))
    const waiting = yield* pollThrough(sessionId)
    assert.strictEqual(waiting.at("status"), "pending", waiting.text)
    server.enqueue(Fake.json({ error: "slow_down" }))
    const slower = yield* pollThrough(sessionId)
    assert.isAtLeast(Number(slower.at("retryAfterMs")), 5_000)
    // Asked again too soon, the provider is not called.
    const before = server.requests.length
    assert.strictEqual((yield* poll).at("status"), "pending")
    assert.strictEqual(server.requests.length, before)
    assert.notInclude(begun.text + waiting.text + slower.text, "dc-5up3r-secret")
    assert.strictEqual((yield* act("github", "cancel", { sessionId })).status, 200)
    assert.strictEqual((yield* poll).status, 404)

    server.enqueue(
      Fake.json({
        device_code: "d2",
        user_code: "AAAA-BBBB",
        verification_uri: "https://github.com/login/device",
        interval: 0.001
      }),
      tokens
    )
    const second = yield* act("github", "device-code", { name: "copilot" })
    const done = yield* pollThrough(second.at("sessionId"))
    assert.strictEqual(done.at("status"), "connected", done.text)
    const fields = new URLSearchParams(server.requests.at(-1)?.body)
    assert.strictEqual(fields.get("grant_type"), "urn:ietf:params:oauth:grant-type:device_code")
    assert.strictEqual(fields.get("device_code"), "d2")
    assert.strictEqual((yield* connectionOf(done.at("connection.id"))).at("connection.provider"), "github")
  })
)

inside("takes tokens from elsewhere, and bounds what is pending", () =>
  Effect.gen(function* () {
    const made = yield* act("codex", "import-token", {
      accessToken: "at-5up3r-secret",
      refreshToken: "rt",
      name: "mine"
    })
    assert.strictEqual(made.status, 200, made.text)
    assert.strictEqual((yield* connectionOf(made.at("connection.id"))).at("connection.name"), "mine")
    assert.strictEqual((yield* act("openai", "authorize", { clientId: "c" })).status, 400)
    assert.strictEqual((yield* act("codex", "steal")).status, 400)
    assert.strictEqual((yield* act("codex", "exchange", { code: "no-state" })).status, 400)
    for (let n = 0; n < 64; n += 1) {
      assert.strictEqual((yield* act("codex", "authorize", { clientId: "c" })).status, 200)
    }
    assert.strictEqual((yield* act("codex", "authorize", { clientId: "c" })).status, 409)
    const app = yield* TestApp
    assert.strictEqual((yield* app.call("/api/oauth/codex/authorize", { method: "POST" })).status, 401)
  })
)

const outside = "https://gateway.tunnel.example"
const callback = `${outside}/api/oauth/codex/callback`

/** Begins a sign-in whose browser comes back. */
const begin = Effect.gen(function* () {
  const begun = yield* act("codex", "authorize", {
    clientId: "my-client",
    clientSecret: "client-s3cret-value",
    name: "<b>"
  })
  assert.strictEqual(begun.status, 200, begun.text)
  const { searchParams } = new URL(String(begun.at("authUrl")))
  return { begun, sessionId: begun.at("sessionId"), asked: searchParams, state: searchParams.get("state") ?? "" }
})

/** A browser that the provider sends back; without any credential. */
const comeBack = (query: Readonly<Record<string, string>>, provider = "codex", method = "GET") =>
  Effect.flatMap(TestApp, (app) =>
    app.call(`/api/oauth/${provider}/callback?${new URLSearchParams(query).toString()}`, { method })
  )

const assertPage = ({ headers, text }: Answer) => {
  assert.strictEqual(headers["content-type"], "text/html; charset=utf-8")
  assert.include(String(headers["content-security-policy"]), "default-src 'none'")
  assert.include(String(headers["content-security-policy"]), "frame-ancestors 'none'")
  assert.notInclude(String(headers["content-security-policy"]), "script-src")
  assert.strictEqual(headers["cache-control"], "no-store")
  assert.strictEqual(headers["referrer-policy"], "no-referrer")
  assert.strictEqual(headers["x-frame-options"], "DENY")
  assert.notMatch(text, /<b>|<script|<img/)
}

inside(
  "lets the browser bring the code where a public address is set, once, and tells who began it",
  (server) =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const { asked, begun, sessionId, state } = yield* begin
      assert.strictEqual(begun.at("comesBack"), true)
      assert.strictEqual(begun.at("redirectUri"), callback)
      assert.strictEqual(asked.get("redirect_uri"), callback)
      assert.isNull(asked.get("shown"))
      assert.strictEqual((yield* act("codex", "poll", { sessionId })).at("status"), "pending")
      // Programs that look at a link first, another provider's address, and other states change nothing.
      assert.strictEqual((yield* comeBack({ code: "the-code", state }, "codex", "HEAD")).status, 404)
      for (const [query, provider] of [
        [{ code: "the-code", state }, "github"],
        [{ code: "the-code", state: `${state}x` }, "codex"],
        [{ code: "the-code" }, "codex"]
      ] as const) {
        const refused = yield* comeBack(query, provider)
        assert.strictEqual(refused.status, 404, refused.text)
        assertPage(refused)
      }
      assert.lengthOf(server.requests, 0)

      server.always(tokens)
      const done = yield* comeBack({ code: "the-code", state, scope: "openid", iss: "https://auth.example.com" })
      assert.strictEqual(done.status, 200, done.text)
      assertPage(done)
      assert.include(done.text, "&lt;b&gt;")
      const fields = new URLSearchParams(server.requests[0]?.body)
      assert.strictEqual(fields.get("redirect_uri"), callback)
      assert.strictEqual(fields.get("code"), "the-code")
      assert.strictEqual(
        createHash("sha256")
          .update(fields.get("code_verifier") ?? "")
          .digest("base64url"),
        asked.get("code_challenge")
      )
      assert.strictEqual((yield* comeBack({ code: "the-code", state })).status, 404)
      assert.strictEqual((yield* act("codex", "exchange", { sessionId, code: `x#${state}` })).status, 400)
      assert.lengthOf(server.requests, 1)

      const polled = yield* act("codex", "poll", { sessionId })
      assert.strictEqual(polled.at("status"), "connected", polled.text)
      const session = yield* logIn
      const headers = { ...session.cookie, ...session.csrf }
      const stranger = yield* app.call("/api/oauth/codex/poll", { method: "POST", headers, body: { sessionId } })
      assert.strictEqual(stranger.status, 404)
      const audit = yield* app.admin("/api/compliance/audit-log?action=provider.credentials.imported")
      assert.strictEqual(audit.at("0.target"), polled.at("connection.id"))
      assert.strictEqual(audit.at("0.actor"), "admin-key")
      const all = yield* app.admin("/api/compliance/audit-log")
      for (const { text } of [done, polled, audit, all]) {
        for (const secret of ["5up3r-secret", "client-s3cret", "the-code", state]) assert.notInclude(text, secret)
      }
    }),
  outside
)

inside(
  "tells a refusal of the provider to the browser and to who began it, and asks for no tokens without a code",
  (server) =>
    Effect.gen(function* () {
      for (const [query, status, words] of [
        [{ error: "access_denied", error_description: "<img src=x>" }, 502, "access_denied"],
        [{ error: "<script>alert(1)</script>" }, 502, "an error"],
        [{ code: "two words" }, 400, "code"],
        [{}, 400, "code"]
      ] as const) {
        const { sessionId, state } = yield* begin
        const refused = yield* comeBack({ ...query, state })
        assert.strictEqual(refused.status, status, refused.text)
        assert.include(refused.text, words)
        assertPage(refused)
        assert.strictEqual((yield* comeBack({ code: "late", state })).status, 404)
        assert.strictEqual((yield* act("codex", "poll", { sessionId })).status, status)
      }
      assert.lengthOf(server.requests, 0)
      const { state } = yield* begin
      server.always(
        Fake.json({ error: "invalid_grant", error_description: "<b>client-s3cret-value</b>" }, { status: 400 })
      )
      const refused = yield* comeBack({ code: "the-code", state })
      assert.strictEqual(refused.status, 502)
      assertPage(refused)
      assert.notInclude(refused.text, "client-s3cret-value")
    }),
  outside
)

inside(
  "slows down who comes with states that are made up, and nobody else; what is over makes room",
  (server) =>
    Effect.gen(function* () {
      server.always(tokens)
      const { state } = yield* begin
      let last = yield* comeBack({ code: "c", state: "made-up" })
      for (let n = 0; n < 20 && last.status === 404; n += 1) last = yield* comeBack({ code: "c", state: "made-up" })
      assert.strictEqual(last.status, 429, last.text)
      assert.isAtLeast(Number(last.headers["retry-after"]), 1)
      assertPage(last)
      assert.strictEqual((yield* comeBack({ code: "c", state })).status, 200)
      for (let n = 0; n < 63; n += 1) yield* begin
      yield* begin
      assert.strictEqual((yield* act("codex", "authorize", { clientId: "c" })).status, 409)
    }),
  outside
)

inside("takes no browser where no public address is set, and says where a client is got", () =>
  Effect.gen(function* () {
    const { state } = yield* begin
    assert.strictEqual((yield* comeBack({ code: "c", state })).status, 404)
    assert.include((yield* act("codex", "authorize")).text, "https://platform.openai.com/api-keys")
  })
)
