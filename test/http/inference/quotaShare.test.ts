/** Quota shares over HTTP: who is asked, who waits in line, who is let in at last; and what headers of answers teach of quotas. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const body = (model: string, more: Record<string, unknown> = {}) => ({
  model,
  messages: [{ role: "user", content: "Hi" }],
  ...more
})

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  upstream.always(Fake.json(Fake.chatCompletion({ text: "fine" })))
  const ask = async (model: string, more: Record<string, unknown> = {}) => {
    const response = await gateway.post("/v1/chat/completions", body(model, more))
    const text = await response.text()
    return { status: response.status, headers: response.headers, text }
  }
  const share = (name: string, ...ids: ReadonlyArray<string>) =>
    gateway.manage("POST", "/api/quota/groups", {
      name,
      members: ids.map((connectionId) => ({ connectionId, weight: 1 }))
    })
  return { gateway, upstream, ask, share }
})

type Scene = Effect.Effect.Success<typeof setUp>
const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

describe("the line before a member of a quota share", () => {
  scene(
    "is as long as its settings say, and lets in who has no room in it",
    async ({ ask, gateway, share, upstream }) => {
      const { id } = await gateway.connect("up", upstream, "chat", { max_concurrent: 1 })
      await share("solo", id)
      await gateway.manage("PATCH", "/api/resilience", { quotaShareConcurrencyLimit: { queueDepth: 1 } })
      const gate = Fake.makeLatch()
      upstream.always(async (response, request) => {
        await gate.opened
        await Fake.json(Fake.chatCompletion({ text: "fine" }))(response, request)
      })
      const first = ask("qtSd/solo/up/m")
      await upstream.received(1)
      // One of these waits; there is no room for the other, so it is asked at once.
      const others = [ask("qtSd/solo/up/m"), ask("qtSd/solo/up/m")]
      await upstream.received(2)
      assert.lengthOf(upstream.requests, 2)
      gate.open()
      for (const { status } of await Promise.all([first, ...others])) assert.strictEqual(status, 200)
      assert.lengthOf(upstream.requests, 3)
    }
  )

  scene("lets in who has waited long enough", async ({ ask, gateway, share, upstream }) => {
    const { id } = await gateway.connect("up", upstream, "chat", { max_concurrent: 1 })
    await share("solo", id)
    await gateway.manage("PATCH", "/api/resilience", { quotaShareConcurrencyLimit: { waitTimeoutMs: 50 } })
    const gate = Fake.makeLatch()
    upstream.always(async (response, request) => {
      await gate.opened
      await Fake.json(Fake.chatCompletion({ text: "fine" }))(response, request)
    })
    const asked = [ask("qtSd/solo/up/m"), ask("qtSd/solo/up/m")]
    await upstream.received(2)
    gate.open()
    for (const { status } of await Promise.all(asked)) assert.strictEqual(status, 200)
  })
})

const limits = (left: number, reset: string) => ({
  "x-ratelimit-limit-requests": "100",
  "x-ratelimit-remaining-requests": String(left),
  "x-ratelimit-reset-requests": reset
})

describe("what headers teach", () => {
  scene(
    "rate limits are shown, weigh in the quota factor, and order by headroom and reset",
    async ({ ask, gateway, upstream }) => {
      const plain = { text: "fine" }
      const ids: Record<string, string> = {}
      for (const [name, headers] of [
        ["low", limits(5, "30s")],
        ["high", limits(90, "10m")]
      ] as const) {
        ids[name] = (await gateway.connect(name, upstream, "chat")).id
        upstream.enqueue(Fake.json(Fake.chatCompletion(plain), { headers }))
        await ask(`${name}/m`)
      }
      const { quotas } = await gateway.manage("GET", `/api/usage/${ids["low"]}`)
      assert.deepInclude(quotas.requests, { used: 95, total: 100, remaining: 5, remainingPercentage: 5 })
      const explained = async (strategy: string) => {
        const targets = ["low/m", "high/m"].map((model) => ({ model }))
        await gateway.manage("POST", "/api/combos", { name: `by-${strategy}`, strategy, targets })
        return (await gateway.manage("POST", "/api/routing/explain", { model: `by-${strategy}` })).decision
      }
      assert.deepStrictEqual((await explained("headroom")).order, ["high/m", "low/m"])
      assert.deepStrictEqual((await explained("reset-window")).order, ["low/m", "high/m"])
      const { candidates } = await explained("auto")
      assert.deepStrictEqual(
        candidates.map((each: { factors: { quota: number } }) => each.factors.quota),
        [0.05, 0.9]
      )
    }
  )
})
