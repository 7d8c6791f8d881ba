/** Budgets, token limits, rates and sessions of API keys, over real sockets. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Gateway from "../../support/TestGateway.ts"

const usage = { in: 20, out: 100 }
/** One request costs so much in USD: 20 tokens at 1 and 100 at 10 USD per million. */
const oneUsd = 0.00102
/** The prompt is estimated by its bytes, so that a reservation is a little more. */
const reservedUsd = 0.00106

interface Setup {
  readonly gateway: Gateway.TestGateway
  readonly upstream: Fake.FakeUpstream
  readonly keyId: string
  readonly secret: string
  readonly chat: (
    more?: Readonly<Record<string, unknown>>,
    headers?: Readonly<Record<string, string>>
  ) => Promise<Response>
}

const setUp = (settings: Readonly<Record<string, unknown>> = {}) =>
  Effect.gen(function* () {
    const upstream = yield* Fake.start
    upstream.always((response, request) =>
      request.body.includes('"stream":true')
        ? Fake.sse(Fake.chatStream(["Hello"], { usage }))(response, request)
        : Fake.json(Fake.chatCompletion({ usage }))(response, request)
    )
    const gateway = yield* Gateway.start()
    return yield* Effect.promise(async (): Promise<Setup> => {
      await gateway.connect("up", upstream, "chat")
      await gateway.manage("PATCH", "/api/pricing", { up: { m: { input: 1, output: 10 } } })
      const { key, secret } = await gateway.manage("POST", "/api/keys", { name: "limited", ...settings })
      return {
        gateway,
        upstream,
        keyId: key.id,
        secret,
        chat: (more = {}, headers = {}) =>
          gateway.post(
            "/v1/chat/completions",
            { model: "up/m", max_tokens: 100, messages: [{ role: "user", content: "Hi" }], ...more },
            { authorization: `Bearer ${secret}`, ...headers }
          )
      }
    })
  })

const setBudget = ({ gateway, keyId }: Setup, budget: Readonly<Record<string, unknown>>) =>
  gateway.manage("POST", "/api/usage/budget", { apiKeyId: keyId, ...budget })

const statusOf = ({ gateway, keyId }: Setup) => gateway.manage("GET", `/api/usage/budget?apiKeyId=${keyId}`)

const entriesOf = async ({ gateway, keyId }: Setup, query = "") =>
  (await gateway.manage("GET", `/api/usage/ledger?apiKeyId=${keyId}&limit=1000${query}`)).entries

const drained = async (response: Response): Promise<Response> => {
  await response.arrayBuffer()
  return response
}

const near = (actual: number, expected: number): void => assert.closeTo(actual, expected, 1e-10)

describe("a budget", () => {
  it.scopedLive(
    "for ten lets ten of two hundred requests at once through, streamed or not",
    () =>
      Effect.gen(function* () {
        const setup = yield* setUp()
        yield* Effect.promise(async () => {
          const { chat, upstream } = setup
          const held = Fake.makeLatch()
          upstream.always(async (response, request) => {
            await held.opened
            await (request.body.includes('"stream":true')
              ? Fake.sse(Fake.chatStream(["Hello"], { usage }))(response, request)
              : Fake.json(Fake.chatCompletion({ usage }))(response, request))
          })
          const limit = 10 * reservedUsd
          await setBudget(setup, { dailyLimitUsd: limit })
          const asked = Array.from({ length: 200 }, (_, index) => chat({ stream: index % 2 === 0 }).then(drained))
          await upstream.received(10)
          const running = await statusOf(setup)
          assert.isAtMost(running.spentUsd + running.reservedUsd, limit)
          const open = await entriesOf(setup)
          assert.lengthOf(open, 10)
          for (const entry of open) {
            assert.deepInclude(entry, { state: "reserved", settledUsd: null, settledAt: null })
            const ofInput = { cached: null, cacheCreation: null, reasoning: null }
            assert.deepStrictEqual(entry.price, { input: 1, output: 10, ...ofInput })
          }
          held.open()
          const answers = await Promise.all(asked)
          const served = answers.filter(({ status }) => status === 200)
          assert.lengthOf(served, 10)
          assert.lengthOf(
            answers.filter(({ status }) => status === 429),
            190
          )
          assert.lengthOf(upstream.requests, 10)
          const ended = await statusOf(setup)
          assert.strictEqual(ended.reservedUsd, 0)
          near(ended.spentUsd, 10 * oneUsd)
          near(ended.remainingUsd, limit - 10 * oneUsd)
          assert.isTrue(ended.warning)
          const entries = await entriesOf(setup)
          assert.lengthOf(new Set(entries.map(({ id }: { id: string }) => id)), 10)
          for (const entry of entries) {
            assert.strictEqual(entry.state, "settled")
            near(entry.settledUsd, oneUsd)
            assert.isAtLeast(entry.reservedUsd, entry.settledUsd)
          }
          const { logs } = await setup.gateway.manage("GET", "/api/usage/logs?limit=1000")
          assert.lengthOf(logs, 200)
          const refused = logs.filter(({ status }: { status: number }) => status === 429)
          assert.lengthOf(refused, 190)
          for (const row of refused) assert.deepInclude(row, { outcome: "failed", costUsd: 0 })
        })
      }),
    30_000
  )

  it.scopedLive("is refused in every wire with the window's name, until it is renewed", () =>
    Effect.gen(function* () {
      const setup = yield* setUp()
      yield* Effect.promise(async () => {
        const { chat, gateway, secret } = setup
        await setBudget(setup, { weeklyLimitUsd: 1.2 * oneUsd })
        assert.strictEqual((await drained(await chat())).status, 200)
        const refused = await chat()
        assert.strictEqual(refused.status, 429)
        const seconds = Number(refused.headers.get("retry-after"))
        assert.isAbove(seconds, 0)
        assert.isAtMost(seconds, 7 * 86_400)
        const { error } = (await refused.json()) as { error: Record<string, unknown> }
        assert.deepInclude(error, { type: "rate_limit_error", code: "rate_limit_exceeded" })
        assert.include(String(error["message"]), "weekly budget")
        const key = { authorization: `Bearer ${secret}` }
        const messages = await gateway.post(
          "/v1/messages",
          { model: "up/m", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] },
          key
        )
        assert.strictEqual(messages.status, 429)
        const told = (await messages.json()) as { type: string; error: { type: string; message: string } }
        assert.deepInclude(told, { type: "error" })
        assert.strictEqual(told.error.type, "rate_limit_error")
        const gemini = await gateway.post(
          "/v1beta/models/up/m:generateContent",
          { contents: [{ role: "user", parts: [{ text: "Hi" }] }], generationConfig: { maxOutputTokens: 100 } },
          key
        )
        assert.strictEqual(gemini.status, 429)
        assert.strictEqual(((await gemini.json()) as { error: { status: string } }).error.status, "RESOURCE_EXHAUSTED")
        const removed = await fetch(`${gateway.url}/api/usage/budget?apiKeyId=${setup.keyId}`, {
          method: "DELETE",
          headers: { authorization: `Bearer ${Gateway.adminKey}` }
        })
        assert.strictEqual(removed.status, 204)
        assert.strictEqual((await drained(await chat())).status, 200)
      })
    })
  )

  it.scopedLive("stops Codex with its words once it is spent, and asks no client to try again at once", () =>
    Effect.gen(function* () {
      const setup = yield* setUp()
      yield* Effect.promise(async () => {
        const { chat, gateway, secret } = setup
        await setBudget(setup, { weeklyLimitUsd: 1.2 * oneUsd })
        assert.strictEqual((await drained(await chat())).status, 200)
        const ask = async (client: Readonly<Record<string, string>>) => {
          const body = { model: "up/m", max_output_tokens: 100, input: "Hi" }
          const answer = await gateway.post("/v1/responses", body, { authorization: `Bearer ${secret}`, ...client })
          const { error } = (await answer.json()) as { readonly error: Readonly<Record<string, unknown>> }
          return { answer, error }
        }
        const other = await ask({})
        assert.strictEqual(other.answer.status, 429)
        assert.strictEqual(other.answer.headers.get("x-should-retry"), "false")
        assert.isNull(other.answer.headers.get("x-codex-promo-message"))
        assert.deepInclude(other.error, { type: "rate_limit_error", code: "rate_limit_exceeded" })
        for (const client of [{ originator: "codex_cli_rs" }, { "user-agent": "codex_exec/0.169.0 (Linux)" }]) {
          const { answer, error } = await ask(client)
          assert.strictEqual(answer.status, 429)
          assert.deepInclude(error, { type: "usage_limit_reached", message: other.error["message"] })
          assert.isAbove(Number(error["resets_at"]), Date.now() / 1_000)
          assert.include(answer.headers.get("x-codex-promo-message") ?? "", "weekly budget")
        }
      })
    })
  )

  it.scopedLive("counts what a key has spent before it was set", () =>
    Effect.gen(function* () {
      const setup = yield* setUp()
      yield* Effect.promise(async () => {
        for (let request = 0; request < 3; request += 1) await drained(await setup.chat())
        const status = await setBudget(setup, { monthlyLimitUsd: 4 * oneUsd })
        near(status.spentUsd, 3 * oneUsd)
        assert.strictEqual((await drained(await setup.chat())).status, 429)
      })
    })
  )

  it.scopedLive("is charged nothing for a call that failed, and once for the one that answered", () =>
    Effect.gen(function* () {
      const setup = yield* setUp()
      yield* Effect.promise(async () => {
        const { chat, gateway, upstream } = setup
        await gateway.manage("PATCH", "/api/pricing", { other: { m: { input: 1, output: 10 } } })
        await gateway.connect("other", upstream, "chat")
        await gateway.combo("pair", "up/m", "other/m")
        await setBudget(setup, { dailyLimitUsd: 1 })
        upstream.enqueue(Fake.json({ error: { message: "broken" } }, { status: 500 }))
        const answer = await drained(await chat({ model: "pair" }))
        assert.strictEqual(answer.status, 200)
        const requestId = answer.headers.get("x-gateway-request-id") ?? ""
        const entries = await entriesOf(setup, `&requestId=${requestId}`)
        assert.deepStrictEqual(
          entries.map(({ attempt, provider, state }: Record<string, unknown>) => [attempt, provider, state]),
          [
            [2, "other", "settled"],
            [1, "up", "voided"]
          ]
        )
        assert.strictEqual(entries[1].settledUsd, 0)
        assert.isAbove(entries[1].reservedUsd, 0)
        const status = await statusOf(setup)
        near(status.spentUsd, oneUsd)
        assert.strictEqual(status.reservedUsd, 0)
      })
    })
  )

  it.scopedLive("refuses what is no amount, an unknown key and an unknown time zone, and changes nothing", () =>
    Effect.gen(function* () {
      const setup = yield* setUp()
      yield* Effect.promise(async () => {
        const { gateway, keyId } = setup
        const tried = async (body: unknown): Promise<readonly [number, string]> => {
          const response = await gateway.post("/api/usage/budget", body, {
            authorization: `Bearer ${Gateway.adminKey}`
          })
          const { error } = (await response.json()) as { error: { param?: string } }
          return [response.status, error.param ?? ""]
        }
        const bad: ReadonlyArray<readonly [object | string, number, string]> = [
          [{ apiKeyId: keyId }, 400, "dailyLimitUsd"],
          [{ apiKeyId: keyId, dailyLimitUsd: 0 }, 400, "dailyLimitUsd"],
          [{ apiKeyId: keyId, dailyLimitUsd: -1 }, 400, "dailyLimitUsd"],
          [{ apiKeyId: keyId, dailyLimitUsd: 1e300 }, 400, "dailyLimitUsd"],
          [{ apiKeyId: keyId, dailyLimitUsd: 1e-12 }, 400, "dailyLimitUsd"],
          [`{"apiKeyId":"${keyId}","dailyLimitUsd":1e999}`, 400, "dailyLimitUsd"],
          [{ apiKeyId: keyId, dailyLimitUsd: "5" }, 400, "dailyLimitUsd"],
          [{ apiKeyId: keyId, dailyLimitUsd: 1, warningThreshold: 1.5 }, 400, "warningThreshold"],
          [{ apiKeyId: keyId, dailyLimitUsd: 1, resetInterval: "hourly" }, 400, "resetInterval"],
          [{ apiKeyId: keyId, dailyLimitUsd: 1, resetTime: "24:00" }, 400, "resetTime"],
          [{ apiKeyId: keyId, dailyLimitUsd: 1, tz: "Mars/Base" }, 400, "tz"],
          [{ keyId, limit: 5, period: "daily" }, 400, ""],
          [{ apiKeyId: "none", dailyLimitUsd: 1 }, 404, "apiKeyId"]
        ]
        for (const [body, status, param] of bad) {
          const [answered, named] = await tried(body)
          assert.strictEqual(answered, status, JSON.stringify(body))
          if (param !== "") assert.strictEqual(named, param, JSON.stringify(body))
        }
        assert.deepStrictEqual(await gateway.manage("GET", "/api/usage/budget"), { budgets: [] })
      })
    })
  )
})

describe("a token limit", () => {
  it.scopedLive("holds for its model only, and counts what was used", () =>
    Effect.gen(function* () {
      const setup = yield* setUp()
      yield* Effect.promise(async () => {
        const { chat, gateway, keyId, upstream } = setup
        await gateway.connect("other", upstream, "chat")
        const { limit } = await gateway.manage("POST", "/api/usage/token-limits", {
          apiKeyId: keyId,
          scopeType: "model",
          scopeValue: "up/m",
          tokenLimit: 300,
          resetInterval: "daily"
        })
        assert.deepInclude(limit, { tokensUsed: 0, remaining: 300 })
        assert.strictEqual((await drained(await chat())).status, 200)
        assert.strictEqual((await drained(await chat())).status, 200)
        const refused = await chat()
        assert.strictEqual(refused.status, 429)
        assert.include(await refused.text(), "daily token limit")
        assert.strictEqual((await drained(await chat({ model: "other/m" }))).status, 200)
        const { limits } = await gateway.manage("GET", `/api/usage/token-limits?apiKeyId=${keyId}`)
        assert.deepInclude(limits[0], { tokensUsed: 240, remaining: 60, tokensReserved: 0 })
        await gateway.manage("DELETE", `/api/usage/token-limits?id=${limit.id}`)
        assert.strictEqual((await drained(await chat())).status, 200)
      })
    })
  )

  it.scopedLive("leaves its model out of a combo, so that another one answers", () =>
    Effect.gen(function* () {
      const setup = yield* setUp()
      yield* Effect.promise(async () => {
        const { chat, gateway, keyId, upstream } = setup
        await gateway.connect("other", upstream, "chat")
        await gateway.combo("pair", "up/m", "other/m")
        await gateway.manage("POST", "/api/usage/token-limits", {
          apiKeyId: keyId,
          scopeType: "provider",
          scopeValue: "up",
          tokenLimit: 50
        })
        const answer = await drained(await chat({ model: "pair" }))
        assert.strictEqual(answer.headers.get("x-gateway-provider"), "other")
        const requestId = answer.headers.get("x-gateway-request-id") ?? ""
        const { decision } = await gateway.manage("GET", `/api/routing/decisions/${requestId}`)
        const left = decision.candidates.find(({ provider }: { provider: string }) => provider === "up")
        assert.strictEqual(left.excluded.rule, "limit")
      })
    })
  )
})

describe("how often a key may ask", () => {
  it.scopedLive("is limited by its windows, and each refusal says when to come again", () =>
    Effect.gen(function* () {
      const setup = yield* setUp({ rateLimits: [{ limit: 2, window: 3_600 }] })
      yield* Effect.promise(async () => {
        assert.strictEqual((await drained(await setup.chat())).status, 200)
        assert.strictEqual((await drained(await setup.chat({ stream: true }))).status, 200)
        const refused = await drained(await setup.chat())
        assert.strictEqual(refused.status, 429)
        assert.isAbove(Number(refused.headers.get("retry-after")), 3_500)
        assert.lengthOf(setup.upstream.requests, 2)
      })
    })
  )

  it.scopedLive("is limited by sessions that run at the same time", () =>
    Effect.gen(function* () {
      const setup = yield* setUp({ maxSessions: 1 })
      yield* Effect.promise(async () => {
        const { chat, upstream } = setup
        const held = Fake.makeLatch()
        upstream.enqueue(async (response, request) => {
          await held.opened
          await Fake.json(Fake.chatCompletion({ usage }))(response, request)
        })
        const first = chat({}, { "x-session-id": "one" })
        await upstream.received(1)
        assert.strictEqual((await drained(await chat({}, { "x-session-id": "two" }))).status, 429)
        assert.strictEqual((await drained(await chat({}, { "x-session-id": "one" }))).status, 200)
        held.open()
        assert.strictEqual((await drained(await first)).status, 200)
        assert.strictEqual((await drained(await chat({}, { "x-session-id": "two" }))).status, 200)
      })
    })
  )
})

describe("a key's own usage", () => {
  it.scopedLive("is told to every new key, unless its scope self:usage is taken away", () =>
    Effect.gen(function* () {
      const setup = yield* setUp({})
      yield* Effect.promise(async () => {
        const { chat, gateway, keyId, secret } = setup
        await setBudget(setup, { dailyLimitUsd: 1 })
        await drained(await chat())
        const ask = (key: string) =>
          fetch(`${gateway.url}/api/usage/me`, { headers: { authorization: `Bearer ${key}` } })
        const own = (await (await ask(secret)).json()) as {
          apiKeyId: string
          budget: { spentUsd: number }
          totals: { today: { requests: number; costUsd: number } }
        }
        assert.strictEqual(own.apiKeyId, keyId)
        near(own.budget.spentUsd, oneUsd)
        assert.strictEqual(own.totals.today.requests, 1)
        near(own.totals.today.costUsd, oneUsd)
        const { key: other, secret: plain } = await gateway.manage("POST", "/api/keys", { name: "plain" })
        assert.strictEqual((await drained(await ask(plain))).status, 200)
        await gateway.manage("PATCH", `/api/keys/${other.id}`, { scopes: [] })
        assert.strictEqual((await drained(await ask(plain))).status, 403)
        const others = await fetch(`${gateway.url}/api/usage/budget`, {
          headers: { authorization: `Bearer ${secret}` }
        })
        assert.strictEqual((await drained(others)).status, 403)
      })
    })
  )
})
