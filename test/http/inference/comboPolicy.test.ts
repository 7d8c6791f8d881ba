/** Retries, waits, limits and queues of a combo's `config`, over HTTP: every saved key has its effect. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { eventuallyFound } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const body = (model: string, more: Record<string, unknown> = {}) => ({
  model,
  messages: [{ role: "user", content: "Hi" }],
  ...more
})
const good = (text: string) => Fake.json(Fake.chatCompletion({ text }))
const refused = (status: number, message: string) => Fake.json({ error: { message } }, { status })
const busy = refused(503, "busy")

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const [one, two] = [yield* Fake.start, yield* Fake.start]
  yield* Effect.promise(async () => {
    await gateway.connect("one", one, "chat", { models: ["m", "n"] })
    await gateway.connect("two", two, "chat")
  })
  const combo = (config: Record<string, unknown>, models = ["one/m", "two/m"], name = "c") =>
    gateway.manage("POST", "/api/combos", {
      name,
      strategy: "priority",
      targets: models.map((model) => ({ model })),
      config
    })
  const ask = async (model = "c", more: Record<string, unknown> = {}) => {
    const response = await gateway.post("/v1/chat/completions", body(model, more))
    const text = await response.text()
    return {
      status: response.status,
      text,
      headers: response.headers,
      by: response.headers.get("x-gateway-provider"),
      requestId: response.headers.get("x-gateway-request-id") ?? ""
    }
  }
  const decision = async (requestId: string) =>
    (await gateway.manage("GET", `/api/routing/decisions/${requestId}`)).decision
  return { gateway, combo, ask, decision, one, two }
})

type Scene = Effect.Effect.Success<typeof setUp>
const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

describe("a combo's own policy", () => {
  scene("maxRetries: the same target again, when no other is left", async ({ ask, combo, one, two }) => {
    await combo({ maxRetries: 1, retryDelayMs: 0 })
    one.always(busy)
    two.enqueue(busy, good("second try"))
    const answer = await ask()
    assert.strictEqual(answer.status, 200, answer.text)
    assert.include(answer.text, "second try")
    assert.deepStrictEqual([one.requests.length, two.requests.length], [1, 2])
  })

  scene("maxRetries 0 wins over the resilience settings", async ({ ask, combo, gateway, one }) => {
    await gateway.manage("PATCH", "/api/resilience", { retry: { maxRetries: 3, delayMs: 0 } })
    await combo({ maxRetries: 0 }, ["one/m"])
    one.always(busy)
    assert.strictEqual((await ask()).status, 503)
    assert.lengthOf(one.requests, 1)
  })

  scene("failoverBeforeRetry false: the same target first", async ({ ask, combo, gateway, one, two }) => {
    const providerBreaker = { local: { degradationThreshold: 3, failureThreshold: 4 } }
    await gateway.manage("PATCH", "/api/resilience", { providerBreaker })
    await combo({ failoverBeforeRetry: false, maxRetries: 2, retryDelayMs: 0 })
    one.enqueue(busy, busy, good("third try"))
    two.always(good("two"))
    assert.include((await ask()).text, "third try")
    assert.lengthOf(two.requests, 0)
  })

  scene("fallbackDelayMs: a wait before the next target", async ({ ask, combo, decision, one, two }) => {
    await combo({ fallbackDelayMs: 120 })
    one.always(busy)
    two.always(good("two"))
    const { by, requestId } = await ask()
    assert.strictEqual(by, "two")
    const [first, second] = (await decision(requestId)).attempts
    // A timer may fire a millisecond early by the wall clock.
    assert.isAtLeast(Date.parse(second.startedAt) - Date.parse(first.startedAt) - first.latencyMs, 115)
  })

  scene("no wait outlasts the request, or a client that left", async ({ ask, combo, gateway, one, two }) => {
    await gateway.manage("PATCH", "/api/resilience", { timeouts: { totalMs: 5_000 } })
    await combo({ fallbackDelayMs: 60_000 })
    one.always(busy)
    const answer = await ask()
    assert.strictEqual(answer.status, 503)
    assert.include(answer.text, "busy")
    assert.lengthOf(two.requests, 0)
    await combo({ setRetryDelayMs: 4_000, maxSetRetries: 1 }, ["two/m"], "d")
    two.always(busy)
    const leaving = new AbortController()
    const left = gateway.post("/v1/chat/completions", body("d"), {}, leaving.signal).catch(() => null)
    await two.received(1)
    leaving.abort()
    await left
    const row = await eventuallyFound("the usage row of the combo d", async () => {
      const { logs } = await gateway.manage("GET", "/api/usage/logs?limit=10")
      return logs.find((entry: { combo: string }) => entry.combo === "d")
    })
    assert.deepInclude(row, { outcome: "aborted", attempts: 1 })
    assert.lengthOf(two.requests, 1)
  })

  scene("maxSetRetries: another round over all of them", async ({ ask, combo, one, two }) => {
    await combo({ maxSetRetries: 1, setRetryDelayMs: 0 })
    one.enqueue(busy, good("second round"))
    two.always(busy)
    const answer = await ask()
    assert.include(answer.text, "second round")
    assert.deepStrictEqual([one.requests.length, two.requests.length], [2, 1])
  })

  scene("a further round skips targets whose answer would be the same", async ({ ask, combo, one, two }) => {
    await combo({ maxSetRetries: 5, setRetryDelayMs: 0 })
    one.always(refused(400, "messages: too clever"))
    two.enqueue(busy, good("two"))
    const answer = await ask()
    assert.include(answer.text, "two")
    assert.deepStrictEqual([one.requests.length, two.requests.length], [1, 2])
  })

  scene("no request is answered by more than 400 calls", async ({ ask, combo, decision, gateway, one }) => {
    const breaker = { degradationThreshold: 1_000, failureThreshold: 1_000 }
    await gateway.manage("PATCH", "/api/resilience", {
      providerBreaker: { oauth: breaker, apikey: breaker, local: breaker }
    })
    const models = Array.from({ length: 50 }, (_, index) => `one/m${index}`)
    await combo({ maxRetries: 10, retryDelayMs: 0, maxSetRetries: 10, setRetryDelayMs: 0 }, models)
    one.always(busy)
    const { requestId, status } = await ask()
    assert.strictEqual(status, 503)
    assert.lengthOf(one.requests, 400)
    assert.lengthOf((await decision(requestId)).attempts, 400)
  })

  for (const stream of [false, true]) {
    scene(
      `targetTimeoutMs: a silent target is left (stream: ${stream})`,
      async ({ ask, combo, decision, one, two }) => {
        await combo({ targetTimeoutMs: 100 })
        one.always(Fake.silence())
        two.always(stream ? Fake.sse(Fake.chatStream(["two"])) : good("two"))
        const { by, requestId } = await ask("c", { stream })
        assert.strictEqual(by, "two")
        const { attempts } = await decision(requestId)
        assert.deepInclude(attempts[0], { provider: "one", reason: "first_byte_timeout" })
      }
    )
  }

  scene("targetTimeoutMs: a whole answer that does not end is left, too", async ({ ask, combo, one, two }) => {
    await combo({ targetTimeoutMs: 150 })
    one.always((response) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.write('{"id":"x",')
    })
    two.always(good("two"))
    assert.strictEqual((await ask()).by, "two")
    await (
      await one.received(1)
    ).closed
  })

  scene("targetTimeoutMs: a stream that has begun takes its time", async ({ ask, combo, one, two }) => {
    await combo({ targetTimeoutMs: 100 })
    const latch = Fake.makeLatch()
    const [role = "", first = "", ...rest] = Fake.chatStream(["slow", " but", " whole"])
    one.always(Fake.sse([role, first, latch, ...rest]))
    setTimeout(latch.open, 300)
    const answer = await ask("c", { stream: true })
    assert.strictEqual(answer.by, "one")
    assert.include(answer.text, "whole")
    assert.notInclude(answer.text, "error")
    assert.lengthOf(two.requests, 0)
  })

  scene("concurrencyPerModel with queueDepth 0: the next target at once", async ({ ask, combo, one, two }) => {
    await combo({ concurrencyPerModel: 1, queueDepth: 0 })
    const latch = Fake.makeLatch()
    one.enqueue(async (response, request) => {
      await latch.opened
      await good("one")(response, request)
    })
    two.always(good("two"))
    const first = ask()
    await one.received(1)
    assert.strictEqual((await ask()).by, "two")
    assert.lengthOf(one.requests, 1)
    latch.open()
    assert.strictEqual((await first).by, "one")
    one.always(good("one"))
    assert.strictEqual((await ask()).by, "one", "the place was given back")
  })

  scene("concurrencyPerModel: a line, one after the other, for so long", async ({ ask, combo, one }) => {
    await combo({ concurrencyPerModel: 1 }, ["one/m"])
    await combo({ concurrencyPerModel: 1, queueTimeoutMs: 50 }, ["one/m"], "short")
    const latch = Fake.makeLatch()
    let running = 0
    let most = 0
    one.always(async (response, request) => {
      running += 1
      most = Math.max(most, running)
      await latch.opened
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      await good("one")(response, request)
    })
    const all = [ask(), ask(), ask()]
    const other = [ask("short"), ask("short")]
    await one.received(2)
    const late = await Promise.race(other)
    assert.strictEqual(late.status, 503)
    assert.include(late.text, "queue")
    assert.lengthOf(one.requests, 2, "one of each combo")
    latch.open()
    for (const { status, text } of await Promise.all(all)) assert.strictEqual(status, 200, text)
    await Promise.all(other)
    assert.isAtMost(most, 2)
  })

  scene("queueTimeoutMs: the line before a full connection, too", async ({ ask, combo, gateway, one, two }) => {
    const { connections } = await gateway.manage("GET", "/api/providers")
    const { id } = connections.find((connection: { provider: string }) => connection.provider === "one")
    await gateway.manage("PUT", `/api/providers/${id}`, { max_concurrent: 1 })
    await combo({ queueTimeoutMs: 50 }, ["one/m"])
    await combo({ queueDepth: 0 }, ["one/m"], "never")
    const latch = Fake.makeLatch()
    one.always(async (response, request) => {
      await latch.opened
      await good("one")(response, request)
    })
    const first = ask("one/m")
    await one.received(1)
    assert.strictEqual((await ask("never")).status, 503)
    assert.strictEqual((await ask()).status, 503)
    latch.open()
    assert.strictEqual((await first).status, 200)
    assert.deepStrictEqual([one.requests.length, two.requests.length], [1, 0])
  })

  scene("hedging: the second target is asked, too", async ({ ask, combo, one, two }) => {
    await combo({ hedging: true, hedgeDelayMs: 20 })
    one.always(Fake.silence())
    two.always(good("two"))
    const answer = await ask()
    assert.deepStrictEqual([answer.status, answer.by], [200, "two"])
    await (
      await one.received(1)
    ).closed
  })

  scene("hedging false wins over the resilience settings", async ({ ask, combo, gateway, one, two }) => {
    await gateway.manage("PATCH", "/api/resilience", { hedging: { enabled: true, delayMs: 50 } })
    await combo({ hedging: false })
    one.always(async (response, request) => {
      await new Promise((resolve) => setTimeout(resolve, 200))
      await good("one")(response, request)
    })
    assert.strictEqual((await ask()).by, "one")
    assert.lengthOf(two.requests, 0)
  })

  scene("predictiveTtftMs and trackMetrics: who is known to be slow comes last", async (given) => {
    const { ask, combo, decision, one, two } = given
    await combo({ predictiveTtftMs: 20 })
    await combo({ trackMetrics: false }, ["one/m"], "unmeasured")
    await combo({ predictiveTtftMs: 20 }, ["one/m", "one/m", "combo:unmeasured"], "all slow")
    const slow: Fake.Answer = async (response, request) => {
      await new Promise((resolve) => setTimeout(resolve, 60))
      await Fake.sse(Fake.chatStream(["one"]))(response, request)
    }
    one.always(slow)
    two.always(Fake.sse(Fake.chatStream(["two"])))
    for (let call = 0; call < 5; call += 1) await ask("unmeasured", { stream: true })
    assert.strictEqual((await ask("c", { stream: true })).by, "one", "those calls were not measured")
    for (let call = 0; call < 4; call += 1) await ask("one/m", { stream: true })
    const answer = await ask("c", { stream: true })
    assert.strictEqual(answer.by, "two")
    const { candidates, order } = await decision(answer.requestId)
    assert.strictEqual(candidates[0].excluded.rule, "predictive_ttft")
    assert.deepStrictEqual(order, ["two/m", "one/m"])
  })
})
