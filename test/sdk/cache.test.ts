/** Kept answers through the official SDKs of all wires: in the form that was kept, and in the other one. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { makeAsk } from "../faults/wall/Clients.ts"
import * as Wires from "../faults/wall/Wires.ts"
import { eventually } from "../support/eventually.ts"
import * as Fake from "../support/FakeUpstream.ts"
import * as TestGateway from "../support/TestGateway.ts"

const clientWires = ["chat", "messages", "responses", "gemini", "ollama"] as const
const upstreamWires = ["chat", "messages", "responses"] as const

const upstreamOf =
  (wire: Wires.WallWire): Fake.Answer =>
  async (response, request) => {
    const { stream, tools = [] } = JSON.parse(request.body) as { stream?: boolean; tools?: ReadonlyArray<unknown> }
    const telling = { tool: tools.length > 0 }
    const answer =
      stream === true ? Fake.sse(Wires.all(Wires.streamed(wire, telling))) : Fake.json(Wires.whole(wire, telling))
    await answer(response, request)
  }

describe("answers from the cache", () => {
  for (const upstreamWire of upstreamWires) {
    it.scopedLive(`read by the SDKs of five wires; first made by a ${upstreamWire} upstream`, () =>
      Effect.gen(function* () {
        const gateway = yield* TestGateway.start()
        const upstream = yield* Fake.start
        upstream.always(upstreamOf(upstreamWire))
        yield* Effect.promise(async () => {
          await gateway.connect("up", upstream, upstreamWire)
          await gateway.manage("PATCH", "/api/settings", { cache: { enabled: true, anyTemperature: true } })
          const ask = makeAsk(gateway.url)
          let kept = 0
          for (const wire of clientWires) {
            for (const streamed of [true, false]) {
              const label = `${wire}, first ${streamed ? "streamed" : "whole"}`
              const question = { wire, model: "up/m", prompt: `Tell it, ${label}`, withTool: false }
              const first = await ask({ ...question, streamed })
              assert.isNull(first.error, label)
              kept += 1
              await eventually(
                `${kept} kept answers`,
                () => gateway.manage("GET", "/api/cache/stats"),
                ({ semanticCache }) => semanticCache.memorySize === kept
              )
              const calls = upstream.requests.length
              for (const again of [streamed, !streamed]) {
                const given = await ask({ ...question, streamed: again })
                assert.isNull(given.error, label)
                assert.isTrue(given.isClean, label)
                assert.strictEqual(given.text, first.text, label)
              }
              assert.strictEqual(upstream.requests.length, calls, label)
            }
            const called = { wire, model: "up/m", prompt: "Call it", withTool: true, streamed: true }
            const first = await ask(called)
            const again = await ask(called)
            assert.strictEqual(again.toolArguments, first.toolArguments)
            // None of these clients has asked for calls from the cache.
            assert.strictEqual((await gateway.manage("GET", "/api/cache/stats")).semanticCache.memorySize, kept)
          }
        })
      })
    )
  }
})
