/** What a combo refers to, checked at save; and what is told when it is gone later. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  upstream.always(Fake.json(Fake.chatCompletion({ text: "here" })))
  const connection = yield* Effect.promise(() =>
    gateway.connect("near", upstream, "chat", { models: ["m", "org/listed"] })
  )
  const send = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(gateway.url + path, {
      method,
      headers: { authorization: `Bearer ${TestGateway.adminKey}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    return { status: response.status, text, ...(text === "" ? {} : JSON.parse(text)) }
  }
  const save = (more: Record<string, unknown>) =>
    send("POST", "/api/combos", { name: "c", strategy: "priority", targets: [{ model: "near/m" }], ...more })
  return { gateway, upstream, connection, send, save }
})

type Scene = Effect.Effect.Success<typeof setUp>
const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

describe("a combo that is saved", () => {
  scene("is refused when it refers to what can never be served, with the field and the reason", async (given) => {
    const { connection, gateway, save } = given
    await gateway.manage("POST", "/api/combos", { name: "inner", targets: [{ model: "near/m" }] })
    const wrong: ReadonlyArray<readonly [Record<string, unknown>, string, string]> = [
      [{ targets: [{ model: "near/m" }, { model: "openia/gpt" }] }, "targets.1.model", "did you mean 'openai'"],
      [{ targets: [{ model: "nowhere/m" }] }, "targets.0.model", "no provider 'nowhere'"],
      [{ targets: [{ model: "near/" }] }, "targets.0.model", "model name"],
      [{ targets: [{ model: "auto/warp" }] }, "targets.0.model", "no variant of 'auto'"],
      [{ targets: [{ model: "qtSd/team/near/m" }] }, "targets.0.model", "no quota group 'team'"],
      [{ targets: [{ model: "claude-3-gateway-no-thinking/nowhere/m" }] }, "targets.0.model", "no provider 'nowhere'"],
      [{ targets: [{ model: "near/m", connectionId: "gone" }] }, "targets.0.connectionId", "no connection 'gone'"],
      [
        { targets: [{ model: "openai/m", connectionId: connection.id }] },
        "targets.0.connectionId",
        "belongs to 'near'"
      ],
      [{ targets: [{ model: "combo:inner", connectionId: connection.id }] }, "targets.0.connectionId", "own targets"],
      [{ config: { judgeModel: "nowhere/m" } }, "config.judgeModel", "no provider 'nowhere'"],
      [{ config: { judgeModel: "nobody-lists-it" } }, "config.judgeModel", "nobody-lists-it"],
      [{ config: { handoffModel: "combo:none" } }, "config.handoffModel", "no combo 'none'"],
      [{ config: { maxComboDepth: 1 }, targets: [{ model: "combo:inner" }] }, "targets", "maxComboDepth is 1"]
    ]
    for (const [more, param, words] of wrong) {
      const { error, status, text } = await save(more)
      assert.deepStrictEqual([status, error?.param], [400, param], `${JSON.stringify(more)}: ${text}`)
      assert.include(error.message, words)
      assert.include(JSON.stringify(error.details), param)
    }
  })

  scene("may name what is not connected or not listed yet", async ({ connection, save }) => {
    for (const [index, more] of [
      { targets: [{ model: "openai/not-connected" }] },
      { targets: [{ model: "near/not-listed" }] },
      { targets: [{ model: "not-listed" }] },
      { targets: [{ model: "org/listed" }] },
      { targets: [{ model: "auto/coding:fast" }] },
      { targets: [{ model: "near/m", connectionId: connection.id }] },
      { targets: [{ model: "m", connectionId: connection.id }] },
      { config: { judgeModel: "m", handoffModel: "" } },
      { config: { judgeModel: "openai/gpt-4o" } }
    ].entries()) {
      const { status, text } = await save({ name: `c${index}`, ...more })
      assert.strictEqual(status, 201, `${JSON.stringify(more)}: ${text}`)
    }
  })

  scene("takes no name that means something else as a model id", async ({ save, send }) => {
    for (const name of ["auto", "AUTO", "auto/mine", "combo/x", "qtSd/a", "openai/gpt-4o", "near/m"]) {
      const { error, status, text } = await save({ name })
      assert.deepStrictEqual([status, error?.param], [400, "name"], `${name}: ${text}`)
    }
    const { combo } = await save({ name: "team/best" })
    assert.strictEqual((await send("PUT", `/api/combos/${combo.id}`, { name: "near/other" })).status, 400)
  })

  scene("tells the client which of its targets are gone, and stays changeable", async (given) => {
    const { connection, gateway, save, send } = given
    const { combo } = await save({
      targets: [{ model: "near/m", connectionId: connection.id }, { model: "near/n" }, { model: "openai/gpt" }]
    })
    const ask = async (path: string, body: unknown) => {
      const response = await gateway.post(path, body)
      return { status: response.status, text: await response.text() }
    }
    const question = { model: "c", messages: [{ role: "user", content: "Hi" }] }
    await gateway.manage("DELETE", `/api/providers/${connection.id}`)
    const first = await ask("/v1/chat/completions", question)
    assert.strictEqual(first.status, 503)
    for (const words of [`the connection ${connection.id} is gone`, "'near/n'", "'openai' has no connection yet"]) {
      assert.include(first.text, words)
    }
    const { nodes } = await gateway.manage("GET", "/api/provider-nodes")
    await gateway.manage("DELETE", `/api/provider-nodes/${nodes[0].id}`)
    const second = await ask("/v1/messages", { ...question, max_tokens: 5 })
    assert.strictEqual(second.status, 503)
    assert.strictEqual(JSON.parse(second.text).type, "error", "in the client's own wire")
    assert.include(second.text, "there is no provider 'near'")
    // What is gone must not forbid other changes.
    assert.strictEqual((await send("PUT", `/api/combos/${combo.id}`, { isActive: false })).status, 200)
    const same = { targets: [{ model: "near/m" }] }
    assert.strictEqual((await send("PUT", `/api/combos/${combo.id}`, same)).status, 400)
  })
})
