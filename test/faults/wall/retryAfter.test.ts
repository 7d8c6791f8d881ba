/** When no target can answer, clients of every wire get the earliest recovery of all targets as the time to retry. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { makeAsk } from "./Clients.ts"

const wires = ["chat", "messages", "responses", "gemini", "ollama"] as const

/** Two accounts that are refused for half a minute and for twelve seconds, asked in this order. */
const resting = (order: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start()
    const later = yield* Fake.start
    const sooner = yield* Fake.start
    const refuse = (upstream: Fake.FakeUpstream, seconds: string): void =>
      upstream.always(Fake.json(Fake.errorBody("chat", "slow"), { status: 429, headers: { "retry-after": seconds } }))
    refuse(later, "30")
    refuse(sooner, "12")
    yield* Effect.promise(async () => {
      await gateway.connect("later", later, "chat")
      await gateway.connect("sooner", sooner, "chat")
      await gateway.combo("both", ...order.map((name) => `${name}/m`))
    })
    return { ask: makeAsk(gateway.url), later, sooner }
  })

describe("two targets, both out", () => {
  for (const [i, wire] of wires.entries()) {
    for (const streamed of [false, true]) {
      const order = (i % 2 === 0) === streamed ? ["later", "sooner"] : ["sooner", "later"]
      it.scopedLive(`${wire}, ${streamed ? "streamed" : "whole"}: Retry-After is the earliest recovery`, () =>
        Effect.gen(function* () {
          const { ask, later, sooner } = yield* resting(order)
          const question = { wire, model: "both", streamed, prompt: "Hi", withTool: false }
          yield* Effect.promise(async () => {
            const first = await ask(question)
            const second = await ask(question)
            for (const { error, headers } of [first, second]) {
              assert.strictEqual(error?.status, 429)
              const seconds = Number(headers.get("retry-after"))
              assert.isTrue(seconds >= 5 && seconds <= 12, `Retry-After ${seconds}`)
            }
            // No target was called: the one that recovers first is reported.
            assert.match(second.error?.message ?? "", /sooner/)
            assert.notMatch(second.error?.message ?? "", /later/)
            const tried = first.error?.attempts?.map(({ provider, status }) => [provider, status])
            if (wire !== "ollama") {
              assert.deepStrictEqual(
                tried,
                order.map((name) => [name, 429])
              )
            }
            assert.deepStrictEqual([later.requests.length, sooner.requests.length], [1, 1])
          })
        })
      )
    }
  }
})

describe("a full queue", () => {
  it.scopedLive("says when to ask again", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const busy = yield* Fake.start
      const gate = Fake.makeLatch()
      const [head = "", ...rest] = Fake.chatStream(["Hi"])
      busy.always(Fake.sse([head, gate, ...rest]))
      yield* Effect.promise(async () => {
        await gateway.connect("busy", busy, "chat", { max_concurrent: 1 })
        await gateway.manage("PATCH", "/api/resilience", { connectionQueue: { queueDepth: 0 } })
        const ask = { model: "busy/m", stream: true, messages: [{ role: "user", content: "Hi" }] }
        const first = gateway.post("/v1/chat/completions", ask)
        await busy.received(1)
        const second = await gateway.post("/v1/chat/completions", ask)
        assert.strictEqual(second.status, 503)
        assert.strictEqual(second.headers.get("retry-after"), "1")
        gate.open()
        assert.include(await (await first).text(), "[DONE]")
      })
    })
  )
})
