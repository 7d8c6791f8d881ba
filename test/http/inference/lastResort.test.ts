/** A passing failure never blocks the last target: a single one is called nevertheless, one request at a time. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const good = (text: string) => Fake.json(Fake.chatCompletion({ text }))
const refused = (status: number, message: string, headers?: Record<string, string>) =>
  Fake.json(Fake.errorBody("chat", message), headers === undefined ? { status } : { status, headers })

const minuteMs = 60_000

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const one = yield* Fake.start
  const connection = yield* Effect.promise(async () => {
    // Long, so that nothing is over while a test runs.
    const connectionCooldown = { apikey: { baseCooldownMs: minuteMs } }
    // The breaker stays out of it: a server at home opens its own after two failures.
    const providerBreaker = { local: { degradationThreshold: 11, failureThreshold: 12 } }
    await gateway.manage("PATCH", "/api/resilience", { connectionCooldown, providerBreaker })
    return gateway.connect("one", one, "chat", { models: ["m", "n"] })
  })
  const ask = (model: string) =>
    gateway.post("/v1/chat/completions", { model, messages: [{ role: "user", content: "Hi" }] })
  const health = async () => {
    const { connection: seen } = await gateway.manage("GET", `/api/providers/${connection.id}`)
    return seen as { testStatus: string; rateLimitedUntil: string | null; backoffLevel: number; lastError: string }
  }
  return { gateway, one, ask, health, id: connection.id }
})

type Scene = Effect.Effect.Success<typeof setUp>

const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

const statuses = async (asked: ReadonlyArray<Promise<Response>>): Promise<ReadonlyArray<number>> =>
  (await Promise.all(asked)).map(({ status }) => status)

describe("the last way", () => {
  scene("is asked again after a 500, and its good answer ends the rest that the connection shows", async (given) => {
    const { ask, health, one } = given
    one.enqueue(refused(500, "broken"), good("well again"))
    const first = await ask("one/m")
    assert.strictEqual(first.status, 500)
    assert.isAtLeast(Number(first.headers.get("retry-after")), 1)
    const seen = await health()
    assert.deepInclude(seen, { testStatus: "unavailable", backoffLevel: 1, lastError: "broken" })
    assert.isAbove(Date.parse(seen.rateLimitedUntil ?? ""), Date.now() + minuteMs / 2)
    assert.strictEqual((await ask("one/m")).status, 200)
    assert.deepInclude(await health(), { testStatus: "active", rateLimitedUntil: null, backoffLevel: 0 })
    assert.lengthOf(one.requests, 2)
  })

  scene("a 500 of one model does not hold up another of the account, and its own backoff goes on", async (given) => {
    const { ask, gateway, health, one } = given
    await gateway.combo("both", "one/m", "one/n")
    one.enqueue(refused(500, "m is broken"), good("n"), good("n"))
    assert.strictEqual((await ask("one/m")).status, 500)
    assert.strictEqual((await ask("one/n")).status, 200)
    assert.deepInclude(await health(), { testStatus: "active", rateLimitedUntil: null })
    // The broken one still rests: the combo begins with the other.
    const response = await ask("both")
    assert.strictEqual(response.headers.get("x-gateway-model"), "n")
    const id = response.headers.get("x-gateway-request-id")
    const { decision } = await gateway.manage("GET", `/api/routing/decisions/${id}`)
    assert.strictEqual(decision.candidates[0].excluded.rule, "cooldown")
    assert.lengthOf(one.requests, 3)
  })

  scene("one request at a time; the others wait for its answer and go on with it", async ({ ask, health, one }) => {
    const latch = Fake.makeLatch()
    one.enqueue(refused(503, "busy"), async (response, request) => {
      await latch.opened
      await good("first")(response, request)
    })
    one.always(good("later"))
    assert.strictEqual((await ask("one/m")).status, 503)
    const first = ask("one/m")
    await one.received(2)
    const others = [ask("one/m"), ask("one/m"), ask("one/m")]
    // Time enough for each of them to be sent on, if it were.
    for (let turn = 0; turn < 5; turn += 1) await health()
    assert.lengthOf(one.requests, 2)
    latch.open()
    assert.deepStrictEqual(await statuses([first, ...others]), [200, 200, 200, 200])
  })

  scene("a request that waits in line for too long gets the time to retry", async ({ ask, gateway, one }) => {
    const connectionQueue = { waitTimeoutMs: 50 }
    await gateway.manage("PATCH", "/api/resilience", { connectionQueue })
    const latch = Fake.makeLatch()
    one.enqueue(refused(503, "busy"), async (response, request) => {
      await latch.opened
      await good("first")(response, request)
    })
    assert.strictEqual((await ask("one/m")).status, 503)
    const first = ask("one/m")
    await one.received(2)
    const second = await ask("one/m")
    assert.strictEqual(second.status, 503)
    assert.isAtLeast(Number(second.headers.get("retry-after")), 1)
    assert.include(await second.text(), "busy")
    assert.lengthOf(one.requests, 2)
    latch.open()
    assert.strictEqual((await first).status, 200)
  })

  scene("after a bad answer the next in line asks", async ({ ask, one }) => {
    const latch = Fake.makeLatch()
    one.enqueue(
      refused(503, "busy"),
      async (response, request) => {
        await latch.opened
        await refused(503, "still busy")(response, request)
      },
      good("well again")
    )
    assert.strictEqual((await ask("one/m")).status, 503)
    const first = ask("one/m")
    await one.received(2)
    const second = ask("one/m")
    latch.open()
    assert.deepStrictEqual(await statuses([first, second]), [503, 200])
  })

  for (const [name, status, headers] of [
    ["429", 429, undefined],
    ["503 with Retry-After", 503, { "retry-after": "30" }]
  ] as const) {
    scene(`a ${name} keeps even the last way closed, for every model of the account`, async ({ ask, one }) => {
      one.enqueue(refused(status, "later", headers))
      one.always(good("too soon"))
      assert.strictEqual((await ask("one/m")).status, status)
      const again = await statuses([ask("one/m"), ask("one/n")])
      assert.deepStrictEqual(again, [status, status])
      assert.lengthOf(one.requests, 1)
    })
  }

  scene("of several the one that is ready soonest is asked first, then the others", async ({ ask, gateway, one }) => {
    await gateway.combo("both", "one/m", "one/n")
    one.enqueue(refused(500, "n"))
    assert.strictEqual((await ask("one/n")).status, 500)
    one.enqueue(refused(500, "m"))
    assert.strictEqual((await ask("one/m")).status, 500)
    one.enqueue(refused(500, "n again"), good("m"))
    const response = await ask("both")
    assert.deepStrictEqual([response.status, response.headers.get("x-gateway-model")], [200, "m"])
    const asked = one.requests.map(({ body }) => (JSON.parse(body) as { model: string }).model)
    assert.deepStrictEqual(asked, ["n", "m", "n", "m"])
  })
})

describe("an open breaker before the last way", () => {
  const open = { degradationThreshold: 1, failureThreshold: 2, resetTimeoutMs: minuteMs }
  const opening = async ({ ask, gateway, one }: Scene) => {
    await gateway.manage("PATCH", "/api/resilience", { providerBreaker: { apikey: open, local: open } })
    one.enqueue(refused(500, "broken"), refused(500, "broken"))
    assert.deepStrictEqual([(await ask("one/m")).status, (await ask("one/m")).status], [500, 500])
  }

  scene("refuses the model that has failed, with the time to come back", async (given) => {
    const { ask, one } = given
    await opening(given)
    one.always(refused(500, "still broken"))
    let refusal = await ask("one/m")
    // Each probe that fails doubles the time to the next: on a slow machine one may be due already.
    for (let probes = 0; probes < 6 && refusal.status === 500; probes += 1) refusal = await ask("one/m")
    assert.strictEqual(refusal.status, 503)
    assert.include(await refusal.text(), "provider_circuit_open")
    const seconds = Number(refusal.headers.get("retry-after"))
    assert.isTrue(seconds >= 1 && seconds <= 3, `Retry-After ${seconds}`)
  })

  scene("others wait for the answer of the probe", async (given) => {
    const { ask, one } = given
    await opening(given)
    const latch = Fake.makeLatch()
    one.enqueue(async (response, request) => {
      await latch.opened
      await good("n")(response, request)
    })
    one.always(good("after"))
    const probe = ask("one/n")
    await one.received(3)
    const meanwhile = ask("one/n")
    latch.open()
    assert.deepStrictEqual(await statuses([probe, meanwhile]), [200, 200])
    assert.strictEqual((await ask("one/m")).status, 200)
  })
})
