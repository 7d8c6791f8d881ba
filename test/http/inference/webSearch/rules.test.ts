/** What holds for a search of the web that the gateway makes for a model: limits, costs, failures, other tools, and when it makes none. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { tavilyAnswer } from "../../../support/Searches.ts"
import * as Fake from "../../../support/FakeUpstream.ts"
import * as TestGateway from "../../../support/TestGateway.ts"
import * as Ws from "../../ws/support.ts"
import {
  asks,
  page,
  read,
  searched,
  type SearchWire,
  tells,
  tellsWhole,
  type Told,
  wires
} from "../../../support/WebSearch.ts"

const roomOf = (config: Parameters<typeof TestGateway.start>[0] = {}) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start(config)
    const [upstream, second, tavily] = [yield* Fake.start, yield* Fake.start, yield* Fake.start]
    tavily.always(Fake.json(tavilyAnswer))
    const connectSearch = () =>
      gateway.manage("POST", "/api/providers", {
        provider: "tavily",
        name: "tavily",
        apiKey: "key-of-tavily",
        baseUrl: tavily.origin
      })
    yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
    return { gateway, upstream, second, tavily, connectSearch }
  })

const setUp = roomOf()

type Scene = Effect.Effect.Success<typeof setUp>
const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

const search = (query: string, id?: string): Told => ({
  call: { name: "web_search", args: { query }, ...(id === undefined ? {} : { id }) }
})
const answer: Told = { text: "An answer." }

const ask = async (
  { gateway }: Pick<Scene, "gateway">,
  client: SearchWire,
  more: object = {},
  {
    headers = {},
    model = "up/m",
    stream = false
  }: { headers?: Record<string, string>; model?: string; stream?: boolean } = {}
) => {
  const response = await gateway.post(...asks[client](model, stream, more), headers)
  const text = await response.text()
  return {
    status: response.status,
    text,
    headers: response.headers,
    id: response.headers.get("x-gateway-request-id") ?? "",
    got: () => read(client, text, stream)
  }
}

const sentTo = ({ requests }: Fake.FakeUpstream, index: number) => JSON.parse(requests[index]?.body ?? "{}")

const near = (one: number, other: number): void => assert.approximately(one, other, 1e-9)

describe("a search that the gateway makes for a model", () => {
  scene("is made as often as the client allows, and then the model is told so", async (room) => {
    const { tavily, upstream } = room
    await room.connectSearch()
    upstream.enqueue(...["a", "b", "c", "d"].map((query) => tells("chat", search(query))), tells("chat", answer))
    const { got } = await ask(room, "messages")
    assert.lengthOf(tavily.requests, 3)
    assert.deepEqual(got().queries, ["a", "b", "c", "d"])
    assert.deepEqual(got().errors, ["max_uses_exceeded"])
    assert.strictEqual(got().text, "An answer.")
    assert.include(upstream.requests[4]?.body, "No more searches")
  })

  scene("does not go on for ever with a model that only searches", async (room) => {
    const { tavily, upstream } = room
    await room.connectSearch()
    upstream.always(tells("chat", search("again")))
    for (const stream of [false, true]) {
      const before = upstream.requests.length
      const { got, status } = await ask(room, "messages", {}, { stream })
      assert.strictEqual(status, 200)
      assert.strictEqual(got().stop, "end_turn")
      assert.strictEqual(upstream.requests.length - before, 5)
    }
    assert.lengthOf(tavily.requests, 6)
  })

  scene("is on the bill of the request, with all calls of the model, and within the key's budget", async (room) => {
    const { gateway, tavily, upstream } = room
    await room.connectSearch()
    await gateway.manage("PATCH", "/api/pricing", {
      up: { m: { input: 1, output: 10 } },
      tavily: { search: { input: 0, output: 0, perSearchUnit: 0.01 } }
    })
    const { key, secret } = await gateway.manage("POST", "/api/keys", { name: "k" })
    await gateway.manage("POST", "/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd: 1 })
    const headers = { authorization: `Bearer ${secret}` }
    for (const stream of [false, true]) {
      upstream.enqueue(tells("chat", search("a")), tells("chat", search("b")), tells("chat", answer))
      const { headers: told, id } = await ask(room, "messages", {}, { headers, stream })
      const row = await gateway.usageRow(id)
      // Three calls of 20 and 7 tokens, and two searches.
      near(row.costUsd, 3 * (20 * 1e-6 + 7 * 1e-5) + 2 * 0.01)
      assert.deepInclude(row, { provider: "up", model: "m", outcome: "completed" })
      assert.deepInclude(row.tokens, { in: 60, out: 21 })
      if (!stream) near(Number(told.get("x-gateway-response-cost")), row.costUsd)
    }
    const { logs } = await gateway.manage("GET", "/api/usage/logs?limit=100")
    assert.lengthOf(logs, 2)
    const budget = await gateway.manage("GET", `/api/usage/budget?apiKeyId=${key.id}`)
    near(budget.spentUsd, 2 * (3 * 9e-5 + 0.02))
    assert.strictEqual(budget.reservedUsd, 0)
    const { entries } = await gateway.manage("GET", `/api/usage/ledger?apiKeyId=${key.id}&limit=100`)
    assert.lengthOf(entries, 10)
    // eslint-disable-next-line typescript/no-explicit-any -- entries are read as they come
    assert.isTrue(entries.every(({ reservedUsd, settledUsd }: any) => reservedUsd >= settledUsd))
    assert.lengthOf(tavily.requests, 4)
  })

  scene("is not made beyond the key's budget: the model is told that it could not be", async (room) => {
    const { gateway, tavily, upstream } = room
    await room.connectSearch()
    await gateway.manage("PATCH", "/api/pricing", {
      up: { m: { input: 0, output: 0 } },
      tavily: { search: { input: 0, output: 0, perSearchUnit: 0.6 } }
    })
    const { key, secret } = await gateway.manage("POST", "/api/keys", { name: "k" })
    await gateway.manage("POST", "/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd: 1 })
    upstream.enqueue(tells("chat", search("a")), tells("chat", search("b")), tells("chat", answer))
    const { got } = await ask(room, "messages", {}, { headers: { authorization: `Bearer ${secret}` } })
    assert.lengthOf(tavily.requests, 1)
    assert.deepEqual(got().errors, ["unavailable"])
    assert.strictEqual(got().text, "An answer.")
  })

  scene("is not made for a key that may not use the provider of searches", async (room) => {
    const { gateway, tavily, upstream } = room
    await room.connectSearch()
    const { secret } = await gateway.manage("POST", "/api/keys", { name: "k", allowedModels: ["up/*"] })
    upstream.always(tells("chat", answer))
    const { headers, status } = await ask(room, "messages", {}, { headers: { authorization: `Bearer ${secret}` } })
    assert.strictEqual(status, 200)
    assert.strictEqual(headers.get("x-gateway-dropped"), "tools.web_search_20250305")
    assert.isUndefined(sentTo(upstream, 0).tools)
    const { secret: other } = await gateway.manage("POST", "/api/keys", {
      name: "o",
      allowedModels: ["up/*", "search"]
    })
    upstream.enqueue(tells("chat", search("a")), tells("chat", answer))
    const { got } = await ask(room, "messages", {}, { headers: { authorization: `Bearer ${other}` } })
    assert.deepEqual(got().queries, ["a"])
    assert.lengthOf(tavily.requests, 1)
  })

  scene("that fails is an error for the model, not for the client", async (room) => {
    const { tavily, upstream } = room
    await room.connectSearch()
    tavily.always(Fake.json({ detail: "no" }, { status: 500 }))
    for (const stream of [false, true]) {
      upstream.enqueue(tells("chat", search("a")), tells("chat", answer))
      const { got, status } = await ask(room, "messages", {}, { stream })
      assert.strictEqual(status, 200)
      assert.deepEqual(got().errors, ["unavailable"])
      assert.strictEqual(got().text, "An answer.")
    }
    assert.include(upstream.requests[1]?.body, "could not be made")
  })

  scene("is made in the client's own format, too, for models that are known to be of another maker", async (room) => {
    const { gateway, second, tavily } = room
    await room.connectSearch()
    await gateway.connect("second", second, "messages", { models: ["m", "glm-4.6"] })
    second.enqueue(tells("messages", search("a")), tells("messages", answer))
    const { got } = await ask(room, "messages", {}, { model: "second/glm-4.6" })
    assert.deepEqual(got().queries, ["a"])
    assert.strictEqual(sentTo(second, 0).tools[0].name, "web_search")
    // What nothing is known of gets what the client wrote.
    second.always(searched("messages"))
    const { got: relayed } = await ask(room, "messages", {}, { model: "second/m" })
    assert.deepEqual(relayed().found, [page.url])
    assert.strictEqual(sentTo(second, 2).tools[0].type, "web_search_20250305")
    assert.lengthOf(tavily.requests, 1)
  })

  scene("is made for Google's models beside tools of the client, which they do not take together", async (room) => {
    const { gateway, second, tavily } = room
    await room.connectSearch()
    await gateway.manage("POST", "/api/providers", {
      provider: "gemini",
      name: "gemini",
      apiKey: "key-of-gemini-0123456789",
      baseUrl: `${second.origin}/v1beta`
    })
    const own = { name: "weather", input_schema: { type: "object" } }
    const tools = [{ type: "web_search_20250305", name: "web_search" }, own]
    second.enqueue(tells("gemini", search("a")), tells("gemini", answer))
    const { got } = await ask(room, "messages", { tools }, { model: "gemini/gemini-2.5-flash" })
    assert.deepEqual(got().queries, ["a"])
    assert.lengthOf(tavily.requests, 1)
    second.enqueue(searched("gemini"))
    await ask(room, "messages", {}, { model: "gemini/gemini-2.5-flash" })
    assert.deepEqual(sentTo(second, 2).tools, [{ googleSearch: {} }])
  })

  scene("leaves calls of the client's own tools to the client", async (room) => {
    const { tavily, upstream } = room
    await room.connectSearch()
    const own = { name: "weather", input_schema: { type: "object" } }
    const tools = [{ type: "web_search_20250305", name: "web_search" }, own]
    for (const stream of [false, true]) {
      const before = upstream.requests.length
      upstream.enqueue(tells("chat", { ...search("a"), calls: [{ name: "weather", args: {}, id: "call_w" }] }))
      const { got } = await ask(room, "messages", { tools }, { stream })
      assert.deepEqual(got().calls, ["weather"])
      assert.deepEqual(got().queries, ["a"])
      assert.strictEqual(got().stop, "tool_use")
      assert.lengthOf(upstream.requests, before + 1)
    }
    assert.lengthOf(tavily.requests, 2)
    // A function of the client's has the name already.
    const named = [...tools, { name: "web_search", input_schema: { type: "object" } }]
    upstream.enqueue(tells("chat", { call: { name: "web_search", args: { query: "x" } } }))
    const { got } = await ask(room, "messages", { tools: named })
    assert.deepEqual(got().calls, ["web_search"])
    assert.lengthOf(tavily.requests, 2)
  })

  scene("comes before calls of tools of clients that cannot carry what was found to the next turn", async (room) => {
    const { tavily, upstream } = room
    await room.connectSearch()
    const tools = {
      chat: [{ type: "function", function: { name: "weather" } }],
      gemini: [{ googleSearch: {} }, { functionDeclarations: [{ name: "weather" }] }]
    }
    const weather = { name: "weather", args: { city: "Berlin" }, id: "call_w" }
    for (const client of ["chat", "gemini"] as const) {
      for (const stream of [false, true]) {
        const before = upstream.requests.length
        upstream.enqueue(
          tells("chat", { text: "One moment. ", ...search("a"), calls: [weather] }),
          tells("chat", { call: weather, calls: [{ ...weather, id: "call_x" }] })
        )
        const { got, text } = await ask(room, client, { tools: tools[client] }, { stream })
        assert.strictEqual(got().text, "One moment. ")
        assert.lengthOf(text.split("Berlin"), 3)
        assert.deepEqual(got().calls, ["weather", "weather"])
        assert.lengthOf(upstream.requests, before + 2)
        const { messages } = sentTo(upstream, before + 1)
        assert.lengthOf(messages.at(-2).tool_calls, 1)
        assert.include(messages.at(-1).content, "What a gateway is.")
      }
    }
    assert.lengthOf(tavily.requests, 4)
  })

  scene("keeps to the client's domains, place and size, whatever the provider can be told", async (room) => {
    const { tavily, upstream } = room
    await room.connectSearch()
    upstream.enqueue(tells("chat", search("a")), tells("chat", answer))
    const tool = {
      type: "web_search_20250305",
      name: "web_search",
      allowed_domains: ["example.org"],
      user_location: { type: "approximate", city: "Berlin", country: "DE" }
    }
    const { got } = await ask(room, "messages", { tools: [tool] })
    assert.deepEqual(got().found, ["https://example.org/"])
    assert.deepEqual(sentTo(tavily, 0).include_domains, ["example.org"])
    assert.include(sentTo(upstream, 0).tools[0].function.description, "Berlin, DE")
  })

  scene("is demanded where the client demands it, once", async (room) => {
    const { upstream } = room
    await room.connectSearch()
    for (const [client, more] of [
      ["messages", { tool_choice: { type: "tool", name: "web_search" } }],
      ["messages", { tool_choice: { type: "any" } }],
      ["responses", { tool_choice: { type: "web_search" } }],
      ["responses", { tool_choice: "required" }]
    ] as const) {
      const before = upstream.requests.length
      upstream.enqueue(tells("chat", search("a")), tells("chat", answer))
      const { got, status } = await ask(room, client, more)
      assert.strictEqual(status, 200)
      assert.deepEqual(got().queries, ["a"])
      assert.deepEqual(sentTo(upstream, before).tool_choice, { type: "function", function: { name: "web_search" } })
      assert.isUndefined(sentTo(upstream, before + 1).tool_choice)
    }
  })

  for (const stream of [false, true]) {
    scene(`goes on at the next target when one fails in the middle, ${stream ? "streamed" : "whole"}`, async (room) => {
      const { gateway, second, upstream } = room
      await room.connectSearch()
      await gateway.connect("second", second, "responses")
      await gateway.combo("both", "up/m", "second/m")
      upstream.enqueue(tells("chat", { text: "One moment. ", ...search("a") }))
      second.always(tells("responses", answer))
      const { got, headers, id, status } = await ask(room, "messages", {}, { model: "both", stream })
      assert.strictEqual(status, 200)
      assert.deepEqual(got().queries, ["a"])
      assert.strictEqual(got().text, "One moment. An answer.")
      if (!stream) assert.strictEqual(headers.get("x-gateway-provider"), "second")
      const { input } = sentTo(second, 0)
      assert.include(JSON.stringify(input), "What a gateway is.")
      const row = await gateway.usageRow(id)
      assert.deepInclude(row.tokens, { in: 40, out: 14 })
    })
  }

  scene("tells a stream that has begun of its failure in the client's words", async (room) => {
    const { upstream } = room
    await room.connectSearch()
    upstream.enqueue(tells("chat", { text: "One moment. ", ...search("a") }))
    upstream.always(Fake.json({ error: { message: "it broke" } }, { status: 400 }))
    const { status, text } = await ask(room, "messages", {}, { stream: true })
    assert.strictEqual(status, 200)
    assert.include(text, "One moment.")
    assert.match(text, /event: error\ndata: \{"type":"error"/)
    assert.notInclude(text, "message_stop")
  })

  for (const last of [tells, tellsWhole]) {
    scene(`is told as a stream where models answer in one piece (${last.name} at last)`, async (room) => {
      const { upstream } = room
      await room.connectSearch()
      for (const client of wires) {
        upstream.enqueue(
          tellsWhole("chat", { text: "One moment. ", ...search("a") }),
          tellsWhole("chat", search("b")),
          last("chat", answer)
        )
        const { got } = await ask(room, client, {}, { stream: true })
        assert.strictEqual(got().text, "One moment. An answer.")
        if (client !== "chat") assert.deepEqual(got().queries, ["a", "b"])
      }
    })
  }

  scene("tells messages clients in their usage how often was searched", async (room) => {
    const { upstream } = room
    await room.connectSearch()
    for (const stream of [false, true]) {
      upstream.enqueue(tells("chat", search("a")), tells("chat", search("b")), tells("chat", answer))
      const { text } = await ask(room, "messages", {}, { stream })
      assert.match(text, /"server_tool_use":\{"web_search_requests":2\}/)
      assert.match(text, /"output_tokens":21/)
    }
  })

  scene("gives a stream signs of life while it takes its time", async (room) => {
    const { gateway, tavily, upstream } = room
    await room.connectSearch()
    await gateway.manage("PATCH", "/api/settings", { streams: { heartbeatMs: 50 } })
    upstream.enqueue(tells("chat", { text: "One moment. ", ...search("a") }), tells("chat", answer))
    const found = Fake.makeLatch()
    tavily.always(async (reply, request) => {
      await found.opened
      await Fake.json(tavilyAnswer)(reply, request)
    })
    const response = await gateway.post(...asks.messages("up/m", true))
    const reader = response.body?.getReader() ?? assert.fail("no body")
    const decoder = new TextDecoder()
    let text = ""
    const readOn = async (isEnough: () => boolean): Promise<void> => {
      while (!isEnough()) {
        const { done, value } = await reader.read()
        if (done) return
        text += decoder.decode(value, { stream: true })
      }
    }
    await readOn(() => text.includes("One moment.") && text.split("event: ping").length > 2)
    found.open()
    await readOn(() => false)
    assert.strictEqual(read("messages", text, true).text, "One moment. An answer.")
    assert.include(text, "event: message_stop")
  })

  scene("ends with the client that leaves", async (room) => {
    const { gateway, tavily, upstream } = room
    await room.connectSearch()
    upstream.enqueue(tells("chat", search("a")))
    tavily.always(Fake.hang())
    const controller = new AbortController()
    const asking = gateway.post(...asks.messages("up/m", false), {}, controller.signal).catch(() => null)
    const { closed } = await tavily.received(1)
    controller.abort()
    await closed
    await asking
    assert.lengthOf(upstream.requests, 1)
  })
})

describe("a search over a WebSocket", () => {
  it.scopedLive("is told in frames, and a later turn goes on from it", () =>
    Effect.gen(function* () {
      const room = yield* setUp
      const { gateway, upstream } = room
      yield* Effect.promise(() => room.connectSearch())
      upstream.enqueue(tells("chat", search("a")), tells("chat", answer), tells("chat", { text: "Later." }))
      const client = yield* Ws.open(gateway)
      yield* Effect.promise(async () => {
        client.send(Ws.create({ model: "up/m", tools: [{ type: "web_search" }] }))
        const frames = await client.turn()
        const { response } = frames.at(-1) as Ws.Frame
        assert.deepEqual(
          // eslint-disable-next-line typescript/no-explicit-any -- items are read as they come
          response.output.map(({ type }: any) => type),
          ["web_search_call", "message"]
        )
        assert.include(
          frames.map(({ type }) => type),
          "response.web_search_call.completed"
        )
        client.send(Ws.create({ model: "up/m", previous_response_id: response.id, input: "And now?" }))
        assert.include(JSON.stringify((await client.turn()).at(-1)), "Later.")
        assert.include(upstream.requests[2]?.body, "https://example.com/gateways")
      })
    })
  )
})

describe("what a model has searched for", () => {
  it.live("is on no disk, and nowhere else for a key with noLog", () =>
    Effect.gen(function* () {
      const dataDir = mkdtempSync(join(tmpdir(), "gateway-web-search-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dataDir, { recursive: true, force: true })))
      yield* Effect.scoped(
        Effect.flatMap(roomOf({ dataDir }), (room) =>
          Effect.promise(async () => {
            const { gateway, upstream } = room
            await room.connectSearch()
            const { secret } = await gateway.manage("POST", "/api/keys", { name: "k", noLog: true })
            const headers = { authorization: `Bearer ${secret}` }
            for (const stream of [false, true]) {
              upstream.enqueue(tells("chat", search("marmalade sandwiches")), tells("chat", answer))
              const { got, id } = await ask(room, "responses", {}, { headers, stream })
              assert.deepEqual(got().queries, ["marmalade sandwiches"])
              await gateway.usageRow(id)
              const decision = JSON.stringify(await gateway.manage("GET", `/api/routing/decisions/${id}`))
              assert.include(decision, "tavily")
              assert.notInclude(decision, "marmalade")
              const later = { previous_response_id: got().body.id, model: "up/m", input: "And now?" }
              assert.strictEqual((await gateway.post("/v1/responses", later, headers)).status, 400)
            }
          })
        )
      )
      const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
      assert.isAbove(files.length, 0)
      for (const { name, parentPath } of files) {
        assert.isFalse(readFileSync(join(parentPath, name)).includes("marmalade"), name)
      }
    }).pipe(Effect.scoped)
  )
})

describe("a search that the gateway does not make", () => {
  scene("is left out by name where no provider of searches is connected", async (room) => {
    const { upstream } = room
    upstream.always(tells("chat", answer))
    for (const [client, name] of [
      ["messages", "tools.web_search_20250305"],
      ["responses", "tools.web_search"],
      ["gemini", "tools.googleSearch"]
    ] as const) {
      const { headers, status } = await ask(room, client)
      assert.strictEqual(status, 200)
      assert.strictEqual(headers.get("x-gateway-dropped"), name)
      assert.isUndefined(sentTo(upstream, upstream.requests.length - 1).tools)
    }
  })

  scene("is offered to models of a known maker's name, and left out where they refuse it", async (room) => {
    const { gateway, second, upstream } = room
    await gateway.connect("second", second, "messages", { models: ["claude-sonnet-4-6"] })
    const model = "second/claude-sonnet-4-6"
    second.enqueue(searched("messages"))
    const { got } = await ask(room, "responses", {}, { model })
    assert.deepEqual(got().found, [page.url])
    const no = { type: "error", error: { type: "invalid_request_error", message: "tools.0: unknown tool" } }
    for (const stream of [false, true]) {
      const before = second.requests.length
      if (!stream) second.enqueue(Fake.json(no, { status: 400 }))
      second.enqueue(tells("messages", answer))
      const { headers, got: told, status } = await ask(room, "responses", {}, { model, stream })
      assert.strictEqual(status, 200)
      assert.strictEqual(told().text, "An answer.")
      assert.strictEqual(headers.get("x-gateway-dropped"), "tools.web_search")
      // It is known from then on.
      assert.strictEqual(second.requests.length - before, stream ? 1 : 2)
      assert.isUndefined(sentTo(second, second.requests.length - 1).tools)
    }
    assert.lengthOf(upstream.requests, 0)
  })

  scene("refuses where it is forced, and goes to the target that can", async (room) => {
    const { gateway, second, upstream } = room
    const forced = { tool_choice: { type: "tool", name: "web_search" } }
    const { status, text } = await ask(room, "messages", forced)
    assert.strictEqual(status, 400)
    assert.deepInclude(JSON.parse(text), { type: "error" })
    assert.match(text, /the tool 'web_search' is the provider's own/)
    assert.lengthOf(upstream.requests, 0)
    second.always(searched("responses"))
    await gateway.manage("POST", "/api/providers", {
      provider: "openai",
      name: "openai",
      apiKey: "key-of-openai-0123456789",
      baseUrl: `${second.origin}/v1`
    })
    await gateway.combo("both", "up/m", "openai/gpt-5.4")
    const { got } = await ask(room, "messages", forced, { model: "both" })
    assert.deepEqual(got().found, [page.url])
    assert.deepEqual(sentTo(second, 0).tool_choice, { type: "web_search" })
    assert.lengthOf(upstream.requests, 0)
  })

  scene("is as the client wrote it with the setting off", async (room) => {
    const { gateway, tavily, upstream } = room
    await room.connectSearch()
    await gateway.manage("PATCH", "/api/settings", { webSearch: { bridge: false } })
    upstream.always(tells("chat", answer))
    const { headers } = await ask(room, "messages")
    assert.strictEqual(headers.get("x-gateway-dropped"), "tools.web_search_20250305")
    await ask(room, "chat")
    assert.deepEqual(sentTo(upstream, 1).web_search_options, {})
    assert.lengthOf(tavily.requests, 0)
  })

  scene("is not made for a key that may not search", async (room) => {
    const { gateway, tavily, upstream } = room
    await room.connectSearch()
    const { secret } = await gateway.manage("POST", "/api/keys", { name: "k", allowedEndpoints: ["chat"] })
    upstream.always(tells("chat", answer))
    const { headers, status } = await ask(room, "messages", {}, { headers: { authorization: `Bearer ${secret}` } })
    assert.strictEqual(status, 200)
    assert.strictEqual(headers.get("x-gateway-dropped"), "tools.web_search_20250305")
    assert.lengthOf(tavily.requests, 0)
  })
})
