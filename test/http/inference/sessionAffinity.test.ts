/** A session that had to leave its favourite account goes back at its next prompt, not in the middle of a tool round. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const user = { role: "user", content: "Hi" }
const call = { id: "call_1", type: "function", function: { name: "look", arguments: "{}" } }
const turns = {
  prompt: [user],
  toolResult: [
    user,
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "call_1", content: "42" }
  ],
  nextPrompt: [user, { role: "assistant", content: "Done." }, { role: "user", content: "And now?" }]
}
const headers = { "x-session-id": "s-1" }

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const [one, two] = [yield* Fake.start, yield* Fake.start]
  const first = yield* Effect.promise(async () => {
    for (const upstream of [one, two]) upstream.always(Fake.json(Fake.chatCompletion({ text: "ok" })))
    await gateway.connect("two", two, "chat")
    return gateway.connect("one", one, "chat")
  })
  const combo = (strategy: string, config: Record<string, unknown> = {}) =>
    gateway.manage("POST", "/api/combos", {
      name: "c",
      strategy,
      targets: [{ model: "one/m" }, { model: "two/m" }],
      config: { explorationRate: 0, ...config }
    })
  const ask = async (turn: keyof typeof turns): Promise<string> => {
    const body = { model: "c", messages: turns[turn] }
    const { decision } = await gateway.manage("POST", "/api/routing/explain", { model: "c", body, headers })
    const response = await gateway.post("/v1/chat/completions", body, {
      ...headers,
      authorization: `Bearer ${TestGateway.adminKey}`
    })
    const text = await response.text()
    assert.strictEqual(response.status, 200, text)
    const by = response.headers.get("x-gateway-provider") ?? ""
    return `${by}, explained ${decision.order[0]}`
  }
  /** The session begins at the favourite, loses it for one call, and the favourite is well again. */
  const driven = async (): Promise<void> => {
    assert.strictEqual(await ask("prompt"), "one, explained one/m")
    one.enqueue(Fake.json(Fake.errorBody("chat", "busy"), { status: 503 }))
    assert.strictEqual(await ask("toolResult"), "two, explained one/m")
    // A good test ends the cooldown.
    await gateway.manage("POST", `/api/providers/${first.id}/test`, { model: "m" })
  }
  return { combo, ask, driven }
})

type Scene = Effect.Effect.Success<typeof setUp>
const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

describe("a session whose favourite account is well again", () => {
  scene("goes back at its next prompt, not in the middle of a tool round", async ({ ask, combo, driven }) => {
    await combo("priority")
    await driven()
    assert.strictEqual(await ask("toolResult"), "two, explained two/m")
    assert.strictEqual(await ask("nextPrompt"), "one, explained one/m")
    assert.strictEqual(await ask("toolResult"), "one, explained one/m")
  })

  scene("stays where it is with sessionAffinity strict", async ({ ask, combo, driven }) => {
    await combo("priority", { sessionAffinity: "strict" })
    await driven()
    assert.strictEqual(await ask("toolResult"), "two, explained two/m")
    assert.strictEqual(await ask("nextPrompt"), "two, explained two/m")
  })

  scene("goes back at once with sessionAffinity off", async ({ ask, combo, driven }) => {
    await combo("priority", { sessionAffinity: "off" })
    await driven()
    assert.strictEqual(await ask("toolResult"), "one, explained one/m")
  })
})
