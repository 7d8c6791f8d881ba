/** Who is asked after a failure, seen from outside: the whole gateway over two fake upstreams. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../../support/FakeUpstream.ts"
import * as TestGateway from "../../../support/TestGateway.ts"

const ask = { messages: [{ role: "user", content: "Hi" }] }
const event = (error: unknown): string => `data: ${JSON.stringify({ error })}\n\n`
const begun = Fake.chatStream(["some text"]).slice(0, 2)
const noQuota = { code: "insufficient_quota", type: "insufficient_quota", message: "You exceeded your current quota" }

/** Chat upstreams `bad` and `good`, alone and as the combo `two`. */
const pair = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const bad = yield* Fake.start
  const good = yield* Fake.start
  good.always(Fake.sse(Fake.chatStream(["fine"])))
  bad.always(Fake.sse(Fake.chatStream(["well again"])))
  const connection = yield* Effect.promise(async () => {
    await gateway.connect("good", good, "chat")
    const { id } = await gateway.connect("bad", bad, "chat", { models: ["m", "n"] })
    await gateway.combo("two", "bad/m", "good/m")
    return id
  })
  const stream = async (model: string) => {
    const response = await gateway.post("/v1/chat/completions", { ...ask, model, stream: true })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  const health = async () => {
    const { connection: seen } = await gateway.manage("GET", `/api/providers/${connection}`)
    return { testStatus: seen.testStatus, until: seen.rateLimitedUntil, type: seen.lastErrorType }
  }
  return { gateway, bad, good, stream, health }
})

describe("an error event inside a stream", () => {
  const events: Readonly<Record<string, readonly [type: string, body: unknown]>> = {
    "insufficient quota": ["insufficient_quota", noQuota],
    "no credits": ["credits_exhausted", { type: "billing_error", message: "insufficient credits" }],
    "a rate limit": ["rate_limit", { code: "rate_limit_exceeded", message: "Rate limit exceeded" }],
    "a suspended account": ["banned", { message: "Your account has been suspended" }]
  }
  for (const [name, [type, error]] of Object.entries(events)) {
    for (const [place, before] of [
      ["first", []],
      ["after content", begun]
    ] as const) {
      it.scopedLive(`${name} ${place}: others are asked instead, again and again`, () =>
        Effect.gen(function* () {
          const { bad, good, health, stream } = yield* pair
          bad.enqueue(Fake.sse([...before, event(error)]))
          yield* Effect.promise(async () => {
            const first = await stream("two")
            assert.include(first.text, place === "first" ? "fine" : "some text")
            for (let turn = 0; turn < 3; turn += 1) assert.include((await stream("two")).text, "fine")
            assert.strictEqual(bad.requests.length, 1)
            assert.strictEqual(good.requests.length, place === "first" ? 4 : 3)
            const seen = await health()
            assert.deepInclude(seen, { testStatus: "unavailable", type })
            assert.isNotNull(seen.until)
          })
        })
      )
    }

    it.scopedLive(`${name}: who is alone is asked again, and its good answer clears it`, () =>
      Effect.gen(function* () {
        const { bad, health, stream } = yield* pair
        bad.enqueue(Fake.sse([event(error)]))
        yield* Effect.promise(async () => {
          const first = await stream("bad/m")
          assert.isAtLeast(first.status, 400)
          assert.include((await stream("bad/m")).text, "well again")
          assert.deepStrictEqual(await health(), { testStatus: "active", until: null, type: null })
          assert.include((await stream("two")).text, "well again")
        })
      })
    )
  }

  it.scopedLive("of the provider's own trouble cools it: others are asked instead, and who is alone all the same", () =>
    Effect.gen(function* () {
      const { bad, health, stream } = yield* pair
      bad.enqueue(Fake.sse([event({ type: "overloaded_error", message: "Overloaded" })]))
      yield* Effect.promise(async () => {
        await stream("bad/m")
        assert.deepInclude(await health(), { testStatus: "unavailable", type: "capacity" })
        assert.include((await stream("two")).text, "fine")
        assert.strictEqual(bad.requests.length, 1)
        assert.include((await stream("bad/m")).text, "well again")
        assert.deepInclude(await health(), { testStatus: "active", until: null })
      })
    })
  )

  it.scopedLive("is settled by the next refusal by status", () =>
    Effect.gen(function* () {
      const { bad, health, stream } = yield* pair
      bad.enqueue(Fake.sse([event(noQuota)]))
      bad.enqueue(Fake.json(Fake.errorBody("chat", "insufficient credits"), { status: 402 }))
      yield* Effect.promise(async () => {
        await stream("bad/m")
        assert.strictEqual((await stream("bad/m")).status, 402)
        assert.deepInclude(await health(), { testStatus: "credits_exhausted" })
        // Who is not asked any more still tells the client what it may wait for: nothing.
        const out = await stream("bad/m")
        assert.strictEqual(out.status, 402)
        assert.deepInclude(JSON.parse(out.text).error, { code: "insufficient_quota", type: "insufficient_quota" })
        assert.include(out.text, "insufficient credits")
        assert.deepStrictEqual([out.headers.get("x-should-retry"), out.headers.get("retry-after")], ["false", null])
        assert.strictEqual(bad.requests.length, 2)
      })
    })
  )
})

describe("a refusal by status", () => {
  it.scopedLive("keeps even the only target out while it cools: 429 at once, with the time to come back", () =>
    Effect.gen(function* () {
      const { bad, stream } = yield* pair
      bad.enqueue(Fake.json(Fake.errorBody("chat", "slow down"), { status: 429, headers: { "retry-after": "30" } }))
      yield* Effect.promise(async () => {
        await stream("bad/m")
        const second = await stream("bad/m")
        assert.strictEqual(second.status, 429)
        assert.include(["29", "30"], second.headers.get("retry-after"))
        assert.strictEqual(bad.requests.length, 1)
      })
    })
  )

  it.scopedLive("of a model's daily quota holds that model and no other, lockouts off", () =>
    Effect.gen(function* () {
      const { bad, gateway, stream } = yield* pair
      const details = [{ violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier" }] }]
      const error = { code: 429, status: "RESOURCE_EXHAUSTED", message: "You exceeded your current quota", details }
      bad.enqueue(Fake.json({ error }, { status: 429 }))
      yield* Effect.promise(async () => {
        assert.include((await stream("two")).text, "fine")
        assert.include((await stream("two")).text, "fine")
        const held = await stream("bad/m")
        assert.strictEqual(held.status, 429)
        assert.include(held.text, "its quota is used up")
        assert.strictEqual(JSON.parse(held.text).error.code, "insufficient_quota")
        assert.strictEqual(held.headers.get("x-should-retry"), "false")
        assert.strictEqual(bad.requests.length, 1)
        assert.include((await stream("bad/n")).text, "well again")
        const { items } = await gateway.manage("GET", "/api/resilience/model-cooldowns")
        assert.deepStrictEqual(
          items.map(({ model, provider, reason }: Record<string, unknown>) => [provider, model, reason]),
          [["bad", "m", "quota_exhausted"]]
        )
        await gateway.manage("DELETE", "/api/resilience/model-cooldowns", { provider: "bad", model: "m" })
        assert.include((await stream("bad/m")).text, "well again")
      })
    })
  )

  it.scopedLive("with words that the operator knows ends the account, from the moment they are set", () =>
    Effect.gen(function* () {
      const { bad, gateway, health, stream } = yield* pair
      bad.always(Fake.json(Fake.errorBody("chat", "Closed for a Fair Use Breach"), { status: 400 }))
      yield* Effect.promise(async () => {
        await stream("bad/m")
        assert.deepInclude(await health(), { testStatus: "unknown" })
        await gateway.manage("PATCH", "/api/resilience", { customBannedSignals: ["fair use breach"] })
        await stream("bad/m")
        assert.deepInclude(await health(), { testStatus: "banned" })
        assert.include((await stream("two")).text, "fine")
        assert.strictEqual(bad.requests.length, 2)
      })
    })
  )
})

describe("a target held back by more than one thing", () => {
  const breaker = { degradationThreshold: 1, failureThreshold: 1, resetTimeoutMs: 60_000 }
  const hold = { providerBreaker: { apikey: breaker, local: breaker } }
  const lock = { modelLockout: { enabled: true, errorCodes: [503], baseCooldownMs: 60_000 } }
  // Who is alone behind an open breaker is probed before its reset timeout is over.
  for (const [name, settings, code, status, fromS, toS] of [
    ["an open breaker", hold, "provider_circuit_open", 503, 1, 3],
    ["a locked model", lock, "model_cooldown", 429, 50, 60]
  ] as const) {
    it.scopedLive(`${name} outlasts the cooldown: the client is told when it is over, not when the cooldown is`, () =>
      Effect.gen(function* () {
        const { bad, gateway, stream } = yield* pair
        bad.enqueue(Fake.json(Fake.errorBody("chat", "down"), { status: 503 }))
        yield* Effect.promise(async () => {
          await gateway.manage("PATCH", "/api/resilience", settings)
          const first = await stream("bad/m")
          const inTime = ({ headers }: typeof first): boolean => {
            const seconds = Number(headers.get("retry-after"))
            return seconds >= fromS && seconds <= toS
          }
          assert.isTrue(inTime(first))
          const second = await stream("bad/m")
          assert.strictEqual(second.status, status)
          assert.include(second.text, code)
          assert.isTrue(inTime(second))
          assert.strictEqual(bad.requests.length, 1)
        })
      })
    )
  }
})
