/** An OAuth account whose token is over while its token endpoint is down: nothing is sent with the dead token, and the account stays. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const question = (model: string, more: object = {}) => ({ model, messages: [{ role: "user", content: "hi" }], ...more })

const closed = "http://127.0.0.1:9"

const world = (answer: Fake.Answer | null) =>
  Effect.gen(function* () {
    const upstream = yield* Fake.start
    const tokens = yield* Fake.start
    const gateway = yield* TestGateway.start()
    const answers = Array.from({ length: 20 }, () => answer)
    tokens.enqueue(...answers.flatMap((each) => each ?? []))
    const connection = yield* Effect.promise(() =>
      gateway.connect("dead", upstream, "chat", {
        apiKey: undefined,
        authType: "oauth",
        oauth: {
          accessToken: "dead-token",
          refreshToken: "refresh-token",
          expiresAt: new Date(1_000).toISOString(),
          tokenUrl: `${answer === null ? closed : tokens.origin}/token`
        }
      })
    )
    return { connection, gateway, tokens, upstream }
  })

const faults: ReadonlyArray<readonly [string, Fake.Answer | null]> = [
  ["503", Fake.text("down", { status: 503 })],
  ["a page of HTML with 200", Fake.text("<html>Sign in</html>", { headers: { "content-type": "text/html" } })],
  ["a redirect", Fake.text("", { status: 302, headers: { location: "/elsewhere" } })],
  ["a body that is too large", Fake.text("x".repeat(200_000))],
  ["401 without a code", Fake.text("no", { status: 401 })],
  ["nothing that listens", null]
]

describe("a token endpoint that answers with", () => {
  for (const [name, answer] of faults) {
    it.scopedLive(
      `${name}: 503 with Retry-After, and nothing is sent with the dead token`,
      () =>
        Effect.gen(function* () {
          const { connection, gateway, upstream } = yield* world(answer)
          const lanes: ReadonlyArray<readonly [string, unknown]> = [
            ["/v1/chat/completions", question("dead/m")],
            ["/v1/chat/completions", question("dead/m", { stream: true })],
            ["/v1/embeddings", { model: "dead/m", input: "hi" }]
          ]
          for (const [path, body] of lanes) {
            const response = yield* Effect.promise(() => gateway.post(path, body))
            const text = yield* Effect.promise(() => response.text())
            assert.strictEqual(response.status, 503, text)
            assert.isAbove(Number(response.headers.get("retry-after")), 0)
            assert.include(text, "token could not be renewed")
          }
          const read = yield* Effect.promise(() => gateway.manage("GET", `/api/providers/${connection.id}`))
          assert.include(read.connection.lastError, "token could not be renewed")
          assert.strictEqual(read.connection.lastErrorType, "token_refresh_failed")
          assert.notInclude(["banned", "expired", "credits_exhausted"], read.connection.testStatus)
          const test = yield* Effect.promise(() => gateway.manage("POST", `/api/providers/${connection.id}/test`))
          assert.isFalse(test.ok)
          assert.include(test.error, "token could not be renewed")
          assert.include(test.modelsError, "token could not be renewed")
          assert.strictEqual(upstream.requests.length, 0)
        }),
      60_000
    )
  }

  it.scopedLive("a documented code: the account is over, and nothing is sent", () =>
    Effect.gen(function* () {
      const { connection, gateway, upstream } = yield* world(Fake.json({ error: "invalid_grant" }, { status: 400 }))
      const response = yield* Effect.promise(() => gateway.post("/v1/chat/completions", question("dead/m")))
      assert.strictEqual(response.status, 401, yield* Effect.promise(() => response.text()))
      const read = yield* Effect.promise(() => gateway.manage("GET", `/api/providers/${connection.id}`))
      assert.strictEqual(read.connection.testStatus, "expired")
      assert.strictEqual(upstream.requests.length, 0)
    })
  )

  it.scopedLive("an outage: the next target of a combo serves, and requests at once share one renewal", () =>
    Effect.gen(function* () {
      const latch = Fake.makeLatch()
      const { gateway, tokens, upstream } = yield* world(async (response, request) => {
        await latch.opened
        await Fake.text("down", { status: 503 })(response, request)
      })
      const well = yield* Fake.start
      yield* Effect.promise(() => gateway.connect("well", well, "chat"))
      yield* Effect.promise(() => gateway.combo("pair", "dead/m", "well/m"))
      well.enqueue(...Array.from({ length: 10 }, () => Fake.json(Fake.chatCompletion())))
      const asked = Array.from({ length: 10 }, () => gateway.post("/v1/chat/completions", question("pair")))
      yield* Effect.promise(() => tokens.received(1))
      latch.open()
      const responses = yield* Effect.promise(() => Promise.all(asked))
      for (const response of responses) {
        assert.strictEqual(response.status, 200, yield* Effect.promise(() => response.text()))
        assert.strictEqual(response.headers.get("x-gateway-provider"), "well")
      }
      assert.strictEqual(tokens.requests.length, 1)
      assert.strictEqual(upstream.requests.length, 0)
    })
  )

  it.scopedLive("an outage behind a refused token: 503, not the provider's 401", () =>
    Effect.gen(function* () {
      const { connection, gateway, tokens, upstream } = yield* world(Fake.text("down", { status: 503 }))
      yield* Effect.promise(() =>
        gateway.manage("PUT", `/api/providers/${connection.id}`, {
          oauth: { accessToken: "refused", refreshToken: "refresh-token", tokenUrl: `${tokens.origin}/token` }
        })
      )
      upstream.enqueue(Fake.json({ error: { message: "token expired", code: "invalid_token" } }, { status: 401 }))
      const response = yield* Effect.promise(() => gateway.post("/v1/chat/completions", question("dead/m")))
      assert.strictEqual(response.status, 503, yield* Effect.promise(() => response.text()))
      assert.isAbove(Number(response.headers.get("retry-after")), 0)
      const read = yield* Effect.promise(() => gateway.manage("GET", `/api/providers/${connection.id}`))
      assert.strictEqual(read.connection.lastErrorType, "token_refresh_failed")
    })
  )
})
