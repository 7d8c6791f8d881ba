/** A limit that a key gets while a call of it is under way: what that call costs counts. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const answer = FakeUpstream.json({
  id: "c",
  object: "chat.completion",
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 100, completion_tokens: 0 }
})
/** 100 tokens at 10,000 USD a million. */
const costUsd = 1

const withCallUnderWay = (
  use: (
    gateway: TestGateway.TestGateway,
    key: { readonly id: string; readonly ask: () => Promise<number> },
    /** Lets the call go on, and waits for its answer. */
    finish: () => Promise<void>
  ) => Promise<void>
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const upstream = yield* FakeUpstream.start
      const gateway = yield* TestGateway.start()
      const { connect, manage, post } = gateway
      yield* Effect.promise(async () => {
        let goOn = (): void => {}
        let hasCome = (): void => {}
        const released = new Promise<void>((done) => (goOn = done))
        const come = new Promise<void>((done) => (hasCome = done))
        upstream.always(async (response, request) => {
          hasCome()
          await released
          await answer(response, request)
        })
        await connect("up", upstream, "chat")
        await manage("PATCH", "/api/pricing", { up: { m: { input: 10_000, output: 0 } } })
        const { key, secret } = await manage("POST", "/api/keys", { name: "free" })
        const ask = async (): Promise<number> => {
          const body = { model: "up/m", messages: [{ role: "user", content: "hi" }] }
          const response = await post("/v1/chat/completions", body, { authorization: `Bearer ${secret}` })
          await response.text()
          return response.status
        }
        const running = ask()
        await come
        await use(gateway, { id: key.id, ask }, async () => {
          goOn()
          assert.strictEqual(await running, 200)
        })
      })
    })
  )

describe("a limit that comes while a call is under way", () => {
  it.live("counts what the call costs for a budget, and refuses the next one when that is used up", () =>
    withCallUnderWay(async ({ manage }, { ask, id }, finish) => {
      await manage("POST", "/api/usage/budget", { apiKeyId: id, dailyLimitUsd: costUsd / 2 })
      await finish()
      const { spentUsd } = await manage("GET", `/api/usage/budget?apiKeyId=${id}`)
      assert.closeTo(spentUsd, costUsd, 1e-9)
      assert.strictEqual(await ask(), 429)
    })
  )

  it.live("counts it once, when the budget comes as it ends", () =>
    withCallUnderWay(async ({ manage }, { id }, finish) => {
      await Promise.all([finish(), manage("POST", "/api/usage/budget", { apiKeyId: id, dailyLimitUsd: 10 })])
      const { spentUsd } = await manage("GET", `/api/usage/budget?apiKeyId=${id}`)
      assert.closeTo(spentUsd, costUsd, 1e-9)
    })
  )

  it.live("counts its tokens for a limit of tokens, and it as a request of the day", () =>
    withCallUnderWay(async ({ manage }, { ask, id }, finish) => {
      await manage("POST", "/api/usage/token-limits", {
        apiKeyId: id,
        scopeType: "global",
        tokenLimit: 1_000,
        resetInterval: "daily"
      })
      await manage("PATCH", `/api/keys/${id}`, { maxRequestsPerDay: 1 })
      await finish()
      const { limits } = await manage("GET", `/api/usage/token-limits?apiKeyId=${id}`)
      assert.strictEqual(limits[0].tokensUsed, 100)
      assert.strictEqual(await ask(), 429)
    })
  )
})
