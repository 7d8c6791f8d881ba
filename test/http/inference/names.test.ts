/** Every form of a model id, requested over HTTP (docs/reference/model-ids.md). */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const setUp = Effect.gen(function* () {
  const upstream = yield* Fake.start
  upstream.always(Fake.json(Fake.chatCompletion({ text: "Hi" })))
  const gateway = yield* TestGateway.start()
  const { id } = yield* Effect.promise(() => gateway.connect("up", upstream, "chat", { models: ["m", "large"] }))
  const ask = (model: string) =>
    gateway.post("/v1/chat/completions", { model, messages: [{ role: "user", content: "Hi" }] })
  return { ask, connectionId: id, gateway, upstream }
})

interface Refused {
  readonly error: { readonly message: string; readonly code: string; readonly param: string }
}

describe("model ids", () => {
  it.scopedLive("lead to the model by every form", () =>
    Effect.gen(function* () {
      const { ask, connectionId, gateway } = yield* setUp
      yield* Effect.promise(async () => {
        await gateway.combo("pair", "up/m")
        await gateway.manage("POST", "/api/models/alias", { alias: "best", model: "combo:pair" })
        await gateway.manage("POST", "/api/quota/groups", { name: "team", members: [{ connectionId, weight: 1 }] })
        for (const model of [
          "up/m",
          "m",
          "pair",
          "combo:pair",
          "best",
          "qtSd/team/up/m",
          "auto",
          "auto/cheap",
          "auto/vision:floor"
        ]) {
          const response = await ask(model)
          assert.strictEqual(response.status, 200, `${model}: ${await response.text()}`)
          assert.strictEqual(response.headers.get("x-gateway-model"), "m", model)
          assert.strictEqual(response.headers.get("x-gateway-provider"), "up", model)
        }
        const listed = await gateway.manage("GET", "/v1/models")
        const ids = listed.data.map((model: { readonly id: string }) => model.id)
        assert.includeMembers(ids, ["auto/smart", "auto/coding:free", "pair", "best", "up/large"])
      })
    })
  )

  it.scopedLive("that are near misses get a 404 with the nearest valid ones", () =>
    Effect.gen(function* () {
      const { ask, connectionId, gateway } = yield* setUp
      yield* Effect.promise(async () => {
        await gateway.combo("fast-pair", "up/m")
        await gateway.manage("POST", "/api/quota/groups", { name: "team", members: [{ connectionId, weight: 1 }] })
        for (const [asked, meant] of [
          ["pu/large", "up/large"],
          ["fast-pare", "fast-pair"],
          ["combo:fast-pare", "combo:fast-pair"],
          ["auto/smrt", "auto/smart"],
          ["auto/coding:cheep", "auto/coding:cheap"],
          ["qtSd/teem/up/large", "qtSd/team/up/large"]
        ] as const) {
          const response = await ask(asked)
          const { error } = (await response.json()) as Refused
          assert.deepStrictEqual([response.status, error.code, error.param], [404, "model_not_found", "model"], asked)
          assert.include(error.message, meant)
        }
      })
    })
  )

  it.scopedLive("are explained without a call to an upstream", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp
      yield* Effect.promise(async () => {
        const explain = () => gateway.manage("POST", "/api/routing/explain", { model: "auto/fast", seed: 5 })
        const { decision } = await explain()
        assert.strictEqual(decision.seed, 5)
        assert.deepStrictEqual(decision.order, ["up/m"])
        assert.deepStrictEqual((await explain()).decision.order, decision.order)
        assert.strictEqual(upstream.requests.length, 0)
        const unknown = await gateway.post(
          "/api/routing/explain",
          { model: "auto/fst" },
          { authorization: `Bearer ${TestGateway.adminKey}` }
        )
        assert.strictEqual(unknown.status, 404)
        assert.include(((await unknown.json()) as Refused).error.message, "auto/fast")
      })
    })
  )
})
