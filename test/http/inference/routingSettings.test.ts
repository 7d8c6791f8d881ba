/** The routing settings as requests feel them. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const ask = (model: string) => ({ model, messages: [{ role: "user", content: "Hi" }] })
const answering = Fake.json(Fake.chatCompletion({ text: "Hello" }))

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const one = yield* Fake.start
  const two = yield* Fake.start
  yield* Effect.promise(async () => {
    for (const [name, upstream] of Object.entries({ one, two })) {
      upstream.always(answering)
      await gateway.connect(name, upstream, "chat")
    }
  })
  const status = async (model: string) => (await gateway.post("/v1/chat/completions", ask(model))).status
  const change = (patch: unknown) => gateway.manage("PATCH", "/api/settings/routing", patch)
  return { gateway, one, two, status, change }
})

type Scene = Effect.Effect.Success<typeof setUp>
const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

describe("routing settings", () => {
  scene("freeTierStrict makes :free a condition", async ({ change, gateway, status }) => {
    const price = { m: { input: 5, output: 5 } }
    await gateway.manage("PATCH", "/api/pricing", { one: price, two: price })
    assert.strictEqual(await status("auto/chat:free"), 200)
    await change({ freeTierStrict: true })
    assert.strictEqual(await status("auto/chat:free"), 503)
    await change({ freeTierStrict: false })
    assert.strictEqual(await status("auto/chat:free"), 200)
  })

  scene("without lkgpEnabled lkgp is priority", async ({ change, gateway, one, status }) => {
    await gateway.manage("POST", "/api/combos", {
      name: "good",
      strategy: "lkgp",
      targets: [{ model: "one/m" }, { model: "two/m" }]
    })
    const first = async () =>
      (await gateway.manage("POST", "/api/routing/explain", { model: "good" })).decision.order[0]
    one.always(Fake.json({ error: { message: "busy" } }, { status: 503 }))
    assert.strictEqual(await status("good"), 200)
    await gateway.manage("DELETE", "/api/resilience/cooldowns", { all: true })
    assert.strictEqual(await first(), "two/m")
    await change({ lkgpEnabled: false })
    assert.strictEqual(await first(), "one/m")
  })
})
