/** The attempt loop over HTTP: who is asked, who is spared, who may come late. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const body = (model: string, more: Record<string, unknown> = {}) => ({
  model,
  messages: [{ role: "user", content: "Hi" }],
  ...more
})
const good = (text: string) => Fake.json(Fake.chatCompletion({ text }))
const refused = (status: number, message: string) => Fake.json({ error: { message } }, { status })

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const [one, two] = [yield* Fake.start, yield* Fake.start]
  yield* Effect.promise(async () => {
    await gateway.connect("one", one, "chat", { models: ["m", "n"] })
    await gateway.connect("two", two, "chat")
    await gateway.combo("both", "one/m", "two/m")
  })
  return { gateway, one, two }
})

type Scene = Effect.Effect.Success<typeof setUp>

const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

const answerOf = async (response: Response): Promise<string> => {
  const text = await response.text()
  assert.strictEqual(response.status, 200, text)
  return (JSON.parse(text) as { choices: ReadonlyArray<{ message: { content: string } }> }).choices[0]?.message
    .content as string
}

describe("the attempt loop", () => {
  scene("spares a connection that is cooling down, and says so", async ({ gateway, one, two }) => {
    one.always(refused(503, "busy"))
    two.always(good("two"))
    assert.strictEqual(await answerOf(await gateway.post("/v1/chat/completions", body("both"))), "two")
    const second = await gateway.post("/v1/chat/completions", body("both"))
    const requestId = second.headers.get("x-gateway-request-id") ?? ""
    assert.strictEqual(await answerOf(second), "two")
    assert.lengthOf(one.requests, 1)
    const { decision } = await gateway.manage("GET", `/api/routing/decisions/${requestId}`)
    assert.strictEqual(decision.candidates[0].excluded.rule, "cooldown")
    // Alone it is asked all the same.
    const alone = await gateway.post("/v1/chat/completions", body("one/m"))
    assert.strictEqual(alone.status, 503)
    assert.isAtLeast(Number(alone.headers.get("retry-after")), 1)
    assert.include(await alone.text(), "busy")
    assert.lengthOf(one.requests, 2)
  })

  scene("asks another model of the same account before it gives up", async ({ gateway, one }) => {
    await gateway.combo("models", "one/m", "one/n")
    one.enqueue(refused(500, "broken"), good("n"))
    assert.strictEqual(await answerOf(await gateway.post("/v1/chat/completions", body("models"))), "n")
  })

  scene("goes to the emergency model when the money is used up, never with tools", async ({ gateway, one, two }) => {
    one.always(refused(402, "Insufficient credits"))
    const before = await gateway.post("/v1/chat/completions", body("one/m"))
    assert.strictEqual(before.status, 402, "no emergency provider is connected")
    // Its registry address is not asked: the connection names another.
    const baseUrl = `${two.origin}/v1`
    await gateway.manage("POST", "/api/providers", { provider: "nvidia", name: "free", apiKey: "k", baseUrl })
    two.always(good("free"))
    const response = await gateway.post("/v1/chat/completions", body("one/m", { max_tokens: 9_000 }))
    assert.include(response.headers.get("x-gateway-decision"), "emergency")
    assert.strictEqual(await answerOf(response), "free")
    const sent = JSON.parse((await two.received(1)).body) as { model: string; max_tokens: number }
    assert.deepInclude(sent, { model: "openai/gpt-oss-120b", max_tokens: 4_096 })
    const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }]
    const withTools = await gateway.post("/v1/chat/completions", body("one/m", { tools }))
    assert.strictEqual(withTools.status, 402)
    assert.include(await withTools.text(), "credits exhausted")
    assert.lengthOf(one.requests, 1, "an exhausted account is not asked again")
  })

  scene("waits in line for a free place, in order", async ({ gateway, one }) => {
    const { connections } = await gateway.manage("GET", "/api/providers")
    const { id } = connections.find((connection: { provider: string }) => connection.provider === "one")
    await gateway.manage("PUT", `/api/providers/${id}`, { max_concurrent: 1 })
    const latch = Fake.makeLatch()
    one.enqueue(async (response, request) => {
      await latch.opened
      await good("first")(response, request)
    }, good("second"))
    const first = gateway.post("/v1/chat/completions", body("one/m"))
    await one.received(1)
    const second = gateway.post("/v1/chat/completions", body("one/m"))
    await eventually(
      "the second request to wait",
      async () => {
        const { connections: limits } = await gateway.manage("GET", "/api/rate-limits")
        return limits.find((entry: { connectionId: string }) => entry.connectionId === id).waiting
      },
      (waiting) => waiting === 1
    )
    assert.lengthOf(one.requests, 1)
    latch.open()
    assert.deepStrictEqual([await answerOf(await first), await answerOf(await second)], ["first", "second"])
  })

  for (const stream of [false, true]) {
    scene(`with hedging, the faster of two answers (stream: ${stream})`, async ({ gateway, one, two }) => {
      await gateway.manage("PATCH", "/api/resilience", { hedging: { enabled: true, delayMs: 50 } })
      one.always(Fake.silence())
      two.always(stream ? Fake.sse(Fake.chatStream(["t", "wo"])) : good("two"))
      const response = await gateway.post("/v1/chat/completions", body("both", { stream }))
      const text = await response.text()
      assert.strictEqual(response.status, 200, text)
      assert.strictEqual(response.headers.get("x-gateway-provider"), "two")
      await (
        await one.received(1)
      ).closed
      const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
      assert.deepInclude(row, { provider: "two", outcome: "completed", attempts: 2, targetWire: "chat" })
      const { connections } = await gateway.manage("GET", "/api/providers")
      assert.isTrue(connections.every((connection: { testStatus: string }) => connection.testStatus !== "unavailable"))
    })
  }

  scene("with hedging, a second target that fails leaves the first its time", async ({ gateway, one, two }) => {
    await gateway.manage("PATCH", "/api/resilience", { hedging: { enabled: true, delayMs: 50 } })
    const latch = Fake.makeLatch()
    one.always(async (response, request) => {
      await latch.opened
      await good("one")(response, request)
    })
    two.always(refused(500, "broken"))
    const asked = gateway.post("/v1/chat/completions", body("both"))
    await two.received(1)
    latch.open()
    assert.strictEqual(await answerOf(await asked), "one")
  })

  scene("tells who is throttled when the throttle lets a request through again", async ({ gateway, one }) => {
    one.always(good("one"))
    const requestQueue = { enabled: true, requestsPerMinute: 1, maxWaitMs: 0 }
    await gateway.manage("PATCH", "/api/resilience", { requestQueue })
    assert.strictEqual(await answerOf(await gateway.post("/v1/chat/completions", body("one/m"))), "one")
    const second = await gateway.post("/v1/chat/completions", body("one/m"))
    assert.strictEqual(second.status, 503)
    assert.include(await second.text(), "queue_full")
    const seconds = Number(second.headers.get("retry-after"))
    assert.isTrue(seconds >= 30 && seconds <= 60, String(seconds))
    assert.lengthOf(one.requests, 1)
  })
})

describe("least-used", () => {
  scene("counts the combo's own requests, not what others have sent to its targets", async ({ gateway, one, two }) => {
    one.always(good("one"))
    two.always(good("two"))
    const targets = [{ model: "one/m" }, { model: "two/m" }]
    await gateway.manage("POST", "/api/combos", { name: "fair", strategy: "least-used", targets })
    await answerOf(await gateway.post("/v1/chat/completions", body("one/m")))
    const order: Array<string> = []
    for (let turn = 0; turn < 4; turn += 1) {
      order.push(await answerOf(await gateway.post("/v1/chat/completions", body("fair"))))
    }
    assert.deepStrictEqual(order, ["one", "two", "one", "two"])
  })
})
