/** What another account is told when a session goes on there, on every wire; and who is told nothing. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import { refuses, requestIn, says, type Scene, type SceneOptions, setUp, summary } from "./Scene.ts"

const scene = (name: string, options: SceneOptions, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp(options), (given) => Effect.promise(() => play(given))))

const wires: ReadonlyArray<WireName> = ["chat", "messages", "responses", "gemini", "ollama"]
const told = JSON.stringify(summary)
const system = "Answer like a carpenter."

/** The system texts of a request, in their order. */
// eslint-disable-next-line typescript/no-explicit-any -- bodies are read as they come
const systemTexts = (wire: WireName, body: any): ReadonlyArray<string> => {
  // eslint-disable-next-line typescript/no-explicit-any -- as above
  const textOf = (value: any): string =>
    // eslint-disable-next-line typescript/no-explicit-any -- as above
    Array.isArray(value) ? value.map((part: any) => part.text).join("\n") : String(value ?? "")
  switch (wire) {
    case "messages":
      // eslint-disable-next-line typescript/no-explicit-any -- as above
      return typeof body.system === "string" ? [body.system] : (body.system ?? []).map((part: any) => part.text)
    case "gemini":
      return (body.systemInstruction?.parts ?? []).map((part: { text: string }) => part.text)
    case "responses":
      return [body.instructions ?? "", ...systemMessages(body.input).map(textOf)].filter((text) => text !== "")
    default:
      return systemMessages(body.messages).map(textOf)
  }
}

const systemMessages = (messages: ReadonlyArray<{ role: string; content: unknown }>) =>
  messages.filter(({ role }) => role === "system" || role === "developer").map(({ content }) => content)

/** The session `s` is known at `a`, which is used up then. */
const summedUp = async ({ a, ask, handedOff }: Scene, wire: WireName, client: WireName = wire): Promise<void> => {
  a.enqueue(says(wire, "1", 880), says(wire, told))
  await handedOff(await ask("s", requestIn(client, system), client))
  a.always(refuses)
}

const hasSummary = (texts: ReadonlyArray<string>): number =>
  texts.join("\n").split("They are building a bridge of oak.").length - 1

describe("another account is told", () => {
  for (const wire of wires) {
    scene(`by a client and an account of the ${wire} wire`, { first: wire, second: wire }, async (given) => {
      const { ask, b, sent } = given
      await summedUp(given, wire)
      const request = { ...requestIn(wire, system), made_up: { kept: true } }
      const moved = await ask("s", request, wire)
      assert.include(moved.text, "answer of b")
      assert.strictEqual(moved.headers.get("x-gateway-handoff"), "a/m")
      assert.match(await given.reasonOf(moved), /; context handed over from a\/m$/)
      const body = sent(b, 0)
      const texts = systemTexts(wire, body)
      assert.strictEqual(hasSummary(texts), 1, JSON.stringify(body))
      assert.isTrue(texts[0]?.startsWith(system))
      assert.include(texts.join("\n"), "oak, not pine")
      assert.deepStrictEqual(body.made_up, { kept: true })
      // As long as the session is there, once in every request, and also where the client has no system prompt.
      const next = await ask("s", requestIn(wire, null), wire)
      assert.strictEqual(next.headers.get("x-gateway-handoff"), "a/m")
      assert.strictEqual(hasSummary(systemTexts(wire, sent(b, 1))), 1, JSON.stringify(sent(b, 1)))
      assert.strictEqual(hasSummary([JSON.stringify(sent(b, 1))]), 1)
    })

    scene(`of the ${wire} wire, by a client of another one`, { second: wire }, async (given) => {
      const { ask, b, sent } = given
      const client: WireName = wire === "messages" ? "chat" : "messages"
      await summedUp(given, "chat", client)
      for (const [index, prompt] of [system, null].entries()) {
        const moved = await ask("s", requestIn(client, prompt), client)
        assert.include(moved.text, "answer of b")
        assert.strictEqual(moved.headers.get("x-gateway-handoff"), "a/m")
        const texts = systemTexts(wire, sent(b, index))
        assert.strictEqual(hasSummary(texts), 1, JSON.stringify(sent(b, index)))
        assert.strictEqual(texts.join("\n").includes(system), prompt !== null)
      }
    })
  }

  scene("in a stream, whose head says so", {}, async (given) => {
    const { ask, b, sent } = given
    await summedUp(given, "chat")
    const { chatStream, sse } = await import("../../../support/FakeUpstream.ts")
    b.always(sse(chatStream(["streamed"])))
    const moved = await ask("s", { ...requestIn("chat", system), stream: true })
    assert.include(moved.text, "[DONE]")
    assert.strictEqual(moved.headers.get("x-gateway-handoff"), "a/m")
    assert.strictEqual(hasSummary(systemTexts("chat", sent(b, 0))), 1)
  })
})

describe("nothing is told", () => {
  scene("to the account that knows the conversation", {}, async (given) => {
    const { a, ask, handedOff, sent } = given
    a.enqueue(says("chat", "1", 880), says("chat", told))
    await handedOff(await ask("s"))
    const stays = await ask("s")
    assert.isNull(stays.headers.get("x-gateway-handoff"))
    assert.deepStrictEqual(sent(a, -1), { model: "m", ...requestIn("chat", null) })
  })

  scene("of another session, or another key's", {}, async (given) => {
    const { ask, b, gateway, sent } = given
    await summedUp(given, "chat")
    const { secret } = await gateway.manage("POST", "/api/keys", { name: "k" })
    const strangers = [
      await ask("other"),
      await ask(null),
      await ask("s", requestIn("chat", null), "chat", { authorization: `Bearer ${secret}` })
    ]
    for (const [index, stranger] of strangers.entries()) {
      assert.include(stranger.text, "answer of b")
      assert.isNull(stranger.headers.get("x-gateway-handoff"))
      assert.deepStrictEqual(sent(b, index), { model: "m", ...requestIn("chat", null) })
    }
    assert.strictEqual((await ask("s")).headers.get("x-gateway-handoff"), "a/m")
  })

  scene("where the conversation carries it already", {}, async (given) => {
    const { ask, b, sent } = given
    await summedUp(given, "chat")
    await ask("s")
    const [added] = systemTexts("chat", sent(b, 0))
    const request = requestIn("chat", added ?? null)
    const again = await ask("s", request)
    assert.isNull(again.headers.get("x-gateway-handoff"))
    assert.deepStrictEqual(sent(b, 1), { model: "m", ...request })
  })

  scene("by an explanation, which sends nothing", {}, async (given) => {
    const { a, b, gateway, helper } = given
    await summedUp(given, "chat")
    const before = [a, b, helper].map(({ requests }) => requests.length)
    const body = requestIn("chat", null)
    await gateway.manage("POST", "/api/routing/explain", { model: "relay", body, headers: { "x-session-id": "s" } })
    assert.deepStrictEqual(
      [a, b, helper].map(({ requests }) => requests.length),
      before
    )
  })
})
