/** Large requests are read by their outlines: what is relayed as it is, is not parsed, and what is translated arrives whole. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { vi } from "vitest"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const words = "Letters like ß, 語 and 😀 take more than a byte each. "
const turns = Array.from({ length: 120 }, (_, at) => ({
  role: at % 2 === 0 ? "user" : "assistant",
  content: at % 3 === 0 ? `${at} ${words.repeat(30)}` : [{ type: "text", text: `${at} ${words.repeat(30)}` }]
}))
const asked = { model: "up/m", max_tokens: 50, system: words.repeat(20), messages: turns }

const scene = (
  name: string,
  wire: "chat" | "messages",
  play: (at: { readonly gateway: TestGateway.TestGateway; readonly upstream: Fake.FakeUpstream }) => Promise<void>
) =>
  it.scopedLive(name, () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const upstream = yield* Fake.start
      upstream.always(
        Fake.json(wire === "chat" ? Fake.chatCompletion({ text: "fine" }) : Fake.messagesAnswer({ text: "fine" }))
      )
      yield* Effect.promise(() => gateway.connect("up", upstream, wire))
      yield* Effect.promise(() => play({ gateway, upstream }))
    })
  )

/** Letters of the request that are parsed in this process while something is done: by the gateway, as the upstream parses nothing. */
const parsedChars = async (act: () => Promise<unknown>): Promise<number> => {
  const parse = vi.spyOn(JSON, "parse")
  try {
    await act()
    const ofRequest = parse.mock.calls.map(([text]) => String(text)).filter((text) => text.includes("Letters like"))
    return ofRequest.join("").length
  } finally {
    parse.mockRestore()
  }
}

describe("a request of 200 KB", () => {
  scene("is relayed byte for byte, and hardly any of it is parsed", "messages", async ({ gateway, upstream }) => {
    const text = JSON.stringify(asked)
    const chars = await parsedChars(async () => {
      const response = await gateway.post("/v1/messages", asked)
      assert.strictEqual(response.status, 200)
    })
    assert.strictEqual(upstream.requests.at(-1)?.body, text.replace('"model":"up/m"', '"model":"m"'))
    assert.isAbove(text.length, 190_000)
    assert.isAbove(chars, 0)
    assert.isBelow(chars, 2_000)
  })

  scene("is whole in the words of another wire", "chat", async ({ gateway, upstream }) => {
    const response = await gateway.post("/v1/messages", asked)
    assert.strictEqual(response.status, 200)
    const { messages } = JSON.parse(upstream.requests.at(-1)?.body ?? "") as {
      readonly messages: ReadonlyArray<{ readonly content: string | ReadonlyArray<{ readonly text: string }> }>
    }
    const textsOf = (each: (typeof messages)[number]) =>
      typeof each.content === "string" ? each.content : each.content.map(({ text }) => text).join("")
    assert.deepStrictEqual(
      messages.map(textsOf),
      [asked.system, ...turns].map((turn) => (typeof turn === "string" ? turn : textsOf(turn)))
    )
  })

  for (const [what, change, param] of [
    ["an item that is no object", { messages: [...turns, 7] }, "messages[120]"],
    ["a role that is none", { messages: [...turns, { role: 1, content: "x" }] }, "messages[120].role"],
    ["a member of another spelling", { messages: [...turns, { role: "user", Content: "x" }] }, "messages.120.Content"]
  ] as const) {
    scene(`with ${what} names its place`, "messages", async ({ gateway }) => {
      const response = await gateway.post("/v1/messages", { ...asked, ...change })
      assert.strictEqual(response.status, 400)
      assert.include(JSON.stringify(await response.json()), param)
    })
  }
})
