/** Models that an agent asks for by name and that are not served: the hint, and the setting that maps them. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const helper = "claude-haiku-4-5-20251001"

interface Answer {
  readonly input_tokens?: number
  readonly error?: { readonly type: string; readonly message: string }
}

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  yield* Effect.promise(async () => {
    upstream.always(Fake.json(Fake.chatCompletion({ text: "ok" })))
    await gateway.connect("up", upstream, "chat", { models: ["small", "claude-haiku-4-1"] })
    await gateway.combo("helpers", "up/small")
  })
  const map = (modelFallbacks: Record<string, string>) => gateway.manage("PATCH", "/api/settings", { modelFallbacks })
  const send = async (path: string, model: string, key: string | null) => {
    const body = { model, max_tokens: 50, messages: [{ role: "user", content: "A title, please." }] }
    const response = await gateway.post(path, body, key === null ? {} : { "x-api-key": key })
    const answer = (await response.json()) as Answer
    return { status: response.status, answer, headers: response.headers }
  }
  const ask = (model: string, key: string | null = null) => send("/v1/messages", model, key)
  const count = (model: string, key: string | null = null) => send("/v1/messages/count_tokens", model, key)
  const key = async (...allowedModels: ReadonlyArray<string>): Promise<string> =>
    (await gateway.manage("POST", "/api/keys", { name: allowedModels.join(" "), allowedModels })).secret
  return { gateway, upstream, map, ask, count, key }
})

type Scene = Effect.Effect.Success<typeof setUp>
const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

describe("a model that is not served", () => {
  scene("is a 404 with the nearest ids, and says what maps it", async ({ ask, upstream }) => {
    const { answer, status } = await ask(helper.slice(0, 16))
    assert.strictEqual(status, 404)
    assert.strictEqual(answer.error?.type, "not_found_error")
    assert.match(
      answer.error?.message ?? "",
      /modelFallbacks of PATCH \/api\/settings.*Did you mean: .*claude-haiku-4-1/
    )
    assert.lengthOf(upstream.requests, 0)
  })

  scene("is asked of what modelFallbacks says, and the decision shows it", async ({ ask, gateway, map, upstream }) => {
    await map({ "claude-haiku-*": "helpers" })
    const { headers, status } = await ask(helper)
    assert.strictEqual(status, 200)
    assert.strictEqual(headers.get("x-gateway-model"), "small")
    assert.strictEqual(JSON.parse(upstream.requests[0]!.body).model, "small")
    const id = headers.get("x-gateway-request-id") ?? ""
    const shown = { requestedModel: helper, fallbackModel: "helpers", combo: "helpers", chosen: "up/small" }
    assert.deepInclude((await gateway.manage("GET", `/api/routing/decisions/${id}`)).decision, shown)
    const { decision } = await gateway.manage("POST", "/api/routing/explain", { model: helper })
    assert.deepInclude(decision, { ...shown, chosen: null, order: ["up/small"] })
    const { simulation } = await gateway.manage("POST", "/api/routing/simulate", { model: helper, requests: 5 })
    assert.strictEqual(simulation.combo, "helpers")
    const row = await gateway.usageRow(id)
    assert.deepInclude(row, { requestedModel: helper, model: "small", combo: "helpers" })
  })

  scene("is mapped only where it resolves to nothing, and at once", async ({ ask, map }) => {
    await map({ "*": "helpers" })
    assert.strictEqual((await ask("claude-haiku-4-1")).headers.get("x-gateway-model"), "claude-haiku-4-1")
    assert.strictEqual((await ask(helper)).status, 200)
    assert.strictEqual((await ask(`${helper}[1m]`)).status, 200)
    await map({ [helper]: "up/other" })
    assert.strictEqual((await ask(helper)).headers.get("x-gateway-model"), "other")
    assert.strictEqual((await ask(`${helper}[1m]`)).headers.get("x-gateway-model"), "other")
    await map({ [helper]: "nothing-of-the-kind" })
    const { answer, status } = await ask(helper)
    assert.strictEqual(status, 404)
    assert.include(answer.error?.message ?? "", "modelFallbacks maps it to 'nothing-of-the-kind', and")
    await map({})
    assert.strictEqual((await ask(helper)).status, 404)
  })

  scene("is judged by a key's list twice: as it was asked for, and as it is asked in the end", async (given) => {
    const { ask, count, key, map, upstream } = given
    await map({ "claude-haiku-*": "helpers" })
    const both = await key("claude-*", "helpers")
    const requested = await key("claude-*")
    const mapped = await key("helpers")
    assert.strictEqual((await ask(helper, both)).status, 200)
    assert.strictEqual((await count(helper, both)).status, 200)
    const before = upstream.requests.length
    // On the messages wire it is a wrong request.
    for (const send of [ask, count]) {
      const late = await send(helper, requested)
      assert.strictEqual(late.status, 400)
      assert.include(late.answer.error?.message ?? "", "'helpers', which is asked in the place of")
      const early = await send(helper, mapped)
      assert.strictEqual(early.status, 400)
      assert.include(early.answer.error?.message ?? "", `may not use the model '${helper}'.`)
    }
    assert.strictEqual(upstream.requests.length, before)
  })
})
