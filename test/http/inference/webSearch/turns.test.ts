/** Later turns: what clients send back of searches and links of an earlier answer, to targets of every wire. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { tavilyAnswer } from "../../../support/Searches.ts"
import * as Fake from "../../../support/FakeUpstream.ts"
import * as TestGateway from "../../../support/TestGateway.ts"
import { asks, page, read, said, searched, type SearchWire, tells, wires } from "../../../support/WebSearch.ts"

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const ups = {
    chat: yield* Fake.start,
    messages: yield* Fake.start,
    responses: yield* Fake.start,
    gemini: yield* Fake.start
  }
  const tavily = yield* Fake.start
  tavily.always(Fake.json(tavilyAnswer))
  const connect = (provider: string, { origin }: Fake.FakeUpstream, path = "") =>
    gateway.manage("POST", "/api/providers", {
      provider,
      name: provider,
      apiKey: `key-of-${provider}-123456`,
      baseUrl: origin + path
    })
  yield* Effect.promise(async () => {
    await gateway.connect("plain", ups.chat, "chat")
    await connect("anthropic", ups.messages, "/v1")
    await connect("openai", ups.responses, "/v1")
    await connect("gemini", ups.gemini, "/v1beta")
    await connect("tavily", tavily)
    for (const wire of wires) ups[wire].always(searched(wire))
  })
  return { gateway, ups }
})

type Scene = Effect.Effect.Success<typeof setUp>
const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

const models: Readonly<Record<SearchWire, string>> = {
  chat: "plain/m",
  messages: "anthropic/claude-sonnet-4-6",
  responses: "openai/gpt-5.4",
  gemini: "gemini/gemini-2.5-flash"
}

// eslint-disable-next-line typescript/no-explicit-any -- bodies are read as they come
type Any = any

/** The next turn, with what the client has of the answer. */
const nextTurn: Readonly<
  Record<Exclude<SearchWire, "gemini">, (model: string, body: Any) => readonly [string, object]>
> = {
  chat: (model, body) => [
    "/v1/chat/completions",
    {
      model,
      messages: [
        { role: "user", content: "What is it?" },
        body.choices[0].message,
        { role: "user", content: "And now?" }
      ]
    }
  ],
  messages: (model, body) => [
    "/v1/messages",
    {
      model,
      max_tokens: 100,
      messages: [
        { role: "user", content: "What is it?" },
        { role: "assistant", content: body.content },
        { role: "user", content: "And now?" }
      ]
    }
  ],
  responses: (model, body) => [
    "/v1/responses",
    {
      model,
      store: false,
      input: [{ role: "user", content: "What is it?" }, ...body.output, { role: "user", content: "And now?" }]
    }
  ]
}
const clients = ["chat", "messages", "responses"] as const

describe("a later turn with an answer that was searched for", () => {
  for (const client of clients) {
    for (const first of wires) {
      scene(
        `${client} client, answered by a ${first} model: goes to every wire, with its links`,
        async ({ gateway, ups }) => {
          if (first === "chat") {
            ups.chat.enqueue(
              tells("chat", { call: { name: "web_search", args: { query: "what is a gateway" } } }),
              tells("chat", { text: said })
            )
          }
          const answer = await gateway.post(...asks[client](models[first], false))
          const text = await answer.text()
          assert.strictEqual(answer.status, 200, text)
          assert.include(
            read(client, text, false).links.map(({ url }) => url),
            page.url
          )
          for (const second of wires) {
            const before = ups[second].requests.length
            const later = await gateway.post(...nextTurn[client](models[second], JSON.parse(text)))
            assert.strictEqual(later.status, 200, await later.text())
            const sent = ups[second].requests[before]?.body ?? ""
            // The client's own bytes to its own wire; else the address stands in words, or as a link.
            assert.include(sent, page.url, `${first} > ${client} > ${second}`)
            const isOwn = first === "messages" && second === "messages"
            if (!isOwn) assert.notMatch(sent, /EqgfCioIARgB|encrypted_index/)
            if (isOwn && client === "messages") assert.match(sent, /EqgfCioIARgB.*encrypted_index/)
            assert.notMatch(sent, /srvtoolu_gw_|ws_gw_/)
            assert.notInclude(later.headers.get("x-gateway-dropped") ?? "", "citations")
          }
        }
      )
    }
  }

  scene("tells the next model what the pages said that the gateway has found", async ({ gateway, ups }) => {
    ups.chat.enqueue(
      tells("chat", { call: { name: "web_search", args: { query: "what is a gateway" } } }),
      tells("chat", { text: said })
    )
    const answer = JSON.parse(await (await gateway.post(...asks.messages("plain/m", false))).text())
    for (const second of wires) {
      await (await gateway.post(...nextTurn.messages(models[second], answer))).text()
      assert.include(ups[second].requests.at(-1)?.body, "What a gateway is.")
    }
  })

  scene("goes on from an answer by its id", async ({ gateway, ups }) => {
    for (const stream of [false, true]) {
      ups.chat.enqueue(
        tells("chat", { call: { name: "web_search", args: { query: "what is a gateway" } } }),
        tells("chat", { text: said })
      )
      const { body } = read(
        "responses",
        await (await gateway.post(...asks.responses("plain/m", stream))).text(),
        stream
      )
      for (const model of [models.responses, models.chat]) {
        const later = await gateway.post("/v1/responses", { model, previous_response_id: body.id, input: "And now?" })
        assert.strictEqual(later.status, 200, await later.text())
      }
      for (const { requests } of [ups.responses, ups.chat]) {
        const sent = requests.at(-1)?.body ?? ""
        assert.include(sent, page.url)
        assert.include(sent, "what is a gateway")
        assert.notInclude(sent, "ws_gw_")
      }
    }
  })
})
