/** The emergency fallback: when it is used, and what the client and the record show. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../../support/FakeUpstream.ts"
import * as TestGateway from "../../../support/TestGateway.ts"

const body = (more: object = {}) => ({ model: "one/m", messages: [{ role: "user", content: "Hi" }], ...more })
const noMoney = Fake.json({ error: { message: "Insufficient credits" } }, { status: 402 })
const good = Fake.json(Fake.chatCompletion({ text: "free" }))

const setUp = (flag: string | null) =>
  Effect.gen(function* () {
    const environment = new Map(flag === null ? [] : [["GATEWAY_EMERGENCY_FALLBACK", flag]])
    const gateway = yield* TestGateway.start({ environment })
    const [one, two, free] = [yield* Fake.start, yield* Fake.start, yield* Fake.start]
    yield* Effect.promise(async () => {
      await gateway.connect("one", one, "chat")
      await gateway.connect("two", two, "chat")
      await gateway.combo("both", "one/m", "two/m")
      const baseUrl = `${free.origin}/v1`
      await gateway.manage("POST", "/api/providers", { provider: "nvidia", name: "free", apiKey: "k", baseUrl })
    })
    free.always(good)
    return { gateway, one, two, free }
  })

type Scene = Effect.Effect.Success<ReturnType<typeof setUp>>

const scene = (name: string, play: (scene: Scene) => Promise<void>, flag: string | null = null) =>
  it.scopedLive(name, () => Effect.flatMap(setUp(flag), (given) => Effect.promise(() => play(given))))

describe("the emergency fallback", () => {
  for (const off of ["false", "0"]) {
    scene(
      `does nothing when its flag is ${off}`,
      async ({ gateway, one, free }) => {
        one.always(noMoney)
        const response = await gateway.post("/v1/chat/completions", body())
        assert.strictEqual(response.status, 402)
        assert.include(await response.text(), "Insufficient credits")
        assert.lengthOf(free.requests, 0)
      },
      off
    )
  }

  scene("answers in place of an account without money, and says so", async ({ gateway, one, free }) => {
    one.always(noMoney)
    const response = await gateway.post("/v1/chat/completions", body())
    assert.strictEqual(response.status, 200)
    assert.strictEqual(response.headers.get("x-gateway-provider"), "nvidia")
    assert.strictEqual(response.headers.get("x-gateway-model"), "openai/gpt-oss-120b")
    assert.strictEqual(response.headers.get("x-gateway-fallback-attempts"), "1")
    const requestId = response.headers.get("x-gateway-request-id") ?? ""
    const { decision } = await gateway.manage("GET", `/api/routing/decisions/${requestId}`)
    assert.deepStrictEqual(
      decision.attempts.map(({ outcome, provider }: { outcome: string; provider: string }) => [provider, outcome]),
      [
        ["one", "failed"],
        ["nvidia", "completed"]
      ]
    )
    assert.deepInclude(await gateway.usageRow(requestId), { provider: "nvidia", outcome: "completed", attempts: 2 })
    // The account is unusable now: it is not called again, and the fallback answers nevertheless.
    assert.strictEqual((await gateway.post("/v1/chat/completions", body())).status, 200)
    assert.lengthOf(one.requests, 1)
    assert.lengthOf(free.requests, 2)
  })

  scene("knows the words for it, whatever the status", async ({ gateway, one, free }) => {
    const quota = {
      message: "You exceeded your current quota, please check your plan and billing details.",
      code: "insufficient_quota"
    }
    one.always(Fake.json({ error: quota }, { status: 429 }))
    const response = await gateway.post("/v1/chat/completions", body())
    assert.strictEqual(response.status, 200, await response.text())
    // It rests now, and for the same reason.
    assert.strictEqual((await gateway.post("/v1/chat/completions", body())).status, 200)
    assert.lengthOf(one.requests, 1)
    assert.lengthOf(free.requests, 2)
  })

  scene("is not for a plan's window, which opens again by itself", async ({ gateway, one, free }) => {
    one.always(Fake.json({ error: { message: "5-hour usage limit reached" } }, { status: 429 }))
    assert.strictEqual((await gateway.post("/v1/chat/completions", body())).status, 429)
    assert.lengthOf(free.requests, 0)
  })

  scene("comes after every target of a combo", async ({ gateway, one, two, free }) => {
    one.always(noMoney)
    two.always(Fake.json(Fake.chatCompletion({ text: "paid" })))
    assert.include(await (await gateway.post("/v1/chat/completions", body({ model: "both" }))).text(), "paid")
    assert.lengthOf(free.requests, 0)
  })

  scene("streams", async ({ gateway, one, free }) => {
    one.always(noMoney)
    free.always(Fake.sse(Fake.chatStream(["fr", "ee"])))
    const text = await (await gateway.post("/v1/chat/completions", body({ stream: true }))).text()
    assert.include(text, "[DONE]")
    assert.strictEqual(JSON.parse(free.requests[0]?.body ?? "{}").max_tokens, 4_096)
  })

  scene("that fails too leaves the client with its own provider's answer", async ({ gateway, one, free }) => {
    one.always(noMoney)
    free.always(Fake.json({ error: { message: "broken" } }, { status: 500 }))
    const response = await gateway.post("/v1/chat/completions", body())
    assert.strictEqual(response.status, 402)
    const { error } = (await response.json()) as { error: { message: string; attempts: ReadonlyArray<object> } }
    assert.include(error.message, "Insufficient credits")
    assert.lengthOf(error.attempts, 2)
  })

  scene("is not for embeddings: another model's are worth nothing", async ({ gateway, one, free }) => {
    one.always(noMoney)
    const response = await gateway.post("/v1/embeddings", { model: "one/m", input: "Hi" })
    assert.strictEqual(response.status, 402)
    assert.lengthOf(free.requests, 0)
  })

  scene("is not for other failures", async ({ gateway, one, free }) => {
    one.always(Fake.json({ error: { message: "busy" } }, { status: 503 }))
    assert.strictEqual((await gateway.post("/v1/chat/completions", body())).status, 503)
    assert.lengthOf(free.requests, 0)
  })
})
