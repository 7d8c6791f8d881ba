/** What is continued, what is not, and what the client ends with in either case. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import * as Fake from "../../../support/FakeUpstream.ts"
import * as TestGateway from "../../../support/TestGateway.ts"
import { answer, ask, begin, cut, headOf, whole } from "./Streams.ts"

const texts = ["The quick", " brown fox"]
const rest = [" jumps over", " the lazy dog."]
const story = "The quick brown fox jumps over the lazy dog."

const setUp = (on: boolean, wire: WireName, more: ReadonlyArray<string> = []) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start({
      environment: new Map(
        [...(on ? ["STREAM_RECOVERY_MIDSTREAM_ENABLED"] : []), ...more].map((flag) => [flag, "true"])
      )
    })
    const [one, two, three] = [yield* Fake.start, yield* Fake.start, yield* Fake.start]
    yield* Effect.promise(async () => {
      await gateway.connect("one", one, wire)
      await gateway.connect("two", two, wire)
      await gateway.connect("three", three, wire)
      await gateway.combo("both", "one/m", "two/m")
      await gateway.combo("all", "one/m", "two/m", "three/m")
    })
    return { gateway, one, two, three }
  })

type Scene = Effect.Effect.Success<ReturnType<typeof setUp>>

const scene = (
  name: string,
  wire: WireName,
  play: (scene: Scene) => Promise<void>,
  { more = [], on = true }: { readonly on?: boolean; readonly more?: ReadonlyArray<string> } = {}
) => it.scopedLive(name, () => Effect.flatMap(setUp(on, wire, more), (given) => Effect.promise(() => play(given))))

const chat = (more: object = {}) => ({
  model: "both",
  stream: true,
  messages: [{ role: "user", content: "Tell me of the fox" }],
  ...more
})

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: "up_1", object: "chat.completion.chunk", created: 1, model: "fake", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

const bodyOf = (upstream: Fake.FakeUpstream, n = 0) => JSON.parse(upstream.requests[n]?.body ?? "{}")

const decisionOf = async (gateway: Scene["gateway"], requestId: string) =>
  (await gateway.manage("GET", `/api/routing/decisions/${requestId}`)).decision

const idOf = (response: Response): string => response.headers.get("x-gateway-request-id") ?? ""

describe("without the flag", () => {
  scene(
    "a cut stream ends with an error, and no other target continues it",
    "chat",
    async ({ gateway, one, two }) => {
      one.always(cut("chat", texts))
      two.always(answer("chat", rest))
      const heard = await ask("chat", gateway.url, "both")
      assert.strictEqual(heard.text, "The quick brown fox")
      assert.isFalse(heard.isClean)
      assert.include(heard.error ?? "", "APIError")
      assert.lengthOf(two.requests, 0)
    },
    { on: false }
  )
})

describe("the ways a stream is cut", () => {
  scene("missing terminator, after an orderly end of the body", "chat", async ({ gateway, one, two }) => {
    one.always(Fake.sse(begin("chat", texts), headOf("chat")))
    two.always(answer("chat", rest))
    assert.deepInclude(await ask("chat", gateway.url, "both"), { text: story, isClean: true, error: null })
  })

  scene("connection reset", "messages", async ({ gateway, one, two }) => {
    const read = Fake.makeLatch()
    one.always(Fake.resetMidBody([...begin("messages", texts), read], headOf("messages")))
    two.always(answer("messages", rest))
    const response = await gateway.post("/v1/messages", { ...chat(), max_tokens: 100 })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let seen = ""
    while (!seen.includes("brown fox")) seen += (await reader?.read())?.value ?? ""
    read.open()
    for (;;) {
      const next = await reader?.read()
      if (next?.value === undefined) break
      seen += next.value
    }
    assert.lengthOf(seen.match(/event: message_start/g) ?? [], 1)
    assert.lengthOf(seen.match(/event: content_block_start/g) ?? [], 1)
    assert.lengthOf(seen.match(/event: message_stop/g) ?? [], 1)
    assert.include(seen, ": continued by two/m\n\n")
    assert.notInclude(seen, "event: error")
  })

  scene("idle", "responses", async ({ gateway, one, two }) => {
    await gateway.manage("PATCH", "/api/resilience", { timeouts: { idleMs: 200 } })
    one.always(Fake.silence(begin("responses", texts), headOf("responses")))
    two.always(answer("responses", rest))
    assert.deepInclude(await ask("responses", gateway.url, "both"), { text: story, isClean: true, error: null })
  })

  scene("an error event of a kind that passes", "messages", async ({ gateway, one, two }) => {
    const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }
    one.always(
      Fake.sse(
        [...begin("messages", texts), `event: error\ndata: ${JSON.stringify(overloaded)}\n\n`],
        headOf("messages")
      )
    )
    two.always(answer("messages", rest))
    assert.deepInclude(await ask("messages", gateway.url, "both"), { text: story, isClean: true, error: null })
  })

  scene("not: an error event about the content", "messages", async ({ gateway, one, two }) => {
    const refused = { type: "error", error: { type: "invalid_request_error", message: "messages: not allowed" } }
    one.always(
      Fake.sse([...begin("messages", texts), `event: error\ndata: ${JSON.stringify(refused)}\n\n`], headOf("messages"))
    )
    two.always(answer("messages", rest))
    const heard = await ask("messages", gateway.url, "both")
    assert.include(heard.error ?? "", "not allowed")
    assert.lengthOf(two.requests, 0)
  })

  scene("not: after a finish reason", "chat", async ({ gateway, one, two }) => {
    await gateway.manage("PATCH", "/api/resilience", { timeouts: { idleMs: 200 } })
    one.always(Fake.silence([...begin("chat", texts), chunk({}, "stop")], headOf("chat")))
    two.always(answer("chat", rest))
    await (await gateway.post("/v1/chat/completions", chat())).text()
    assert.lengthOf(two.requests, 0)
  })
})

describe("requests and answers that are not put together of two", () => {
  const call = { index: 0, id: "call_1", type: "function", function: { name: "f", arguments: '{"a":' } }
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<string>, object]> = [
    ["an open tool call", [...begin("chat", texts), chunk({ tool_calls: [call] })], {}],
    ["a finished tool call", [chunk({ tool_calls: [{ ...call, function: { name: "f", arguments: "{}" } }] })], {}],
    ["reasoning that is not finished", [chunk({ reasoning_content: "Foxes are" })], {}],
    ["a refusal", [chunk({ refusal: "I will" })], {}],
    [
      "a schema",
      begin("chat", texts),
      { response_format: { type: "json_schema", json_schema: { name: "a", schema: { type: "object" } } } }
    ],
    ["JSON mode", begin("chat", texts), { response_format: { type: "json_object" } }],
    ["several candidates", begin("chat", texts), { n: 2 }],
    ["log probabilities", begin("chat", texts), { logprobs: true }],
    ["audio", begin("chat", texts), { modalities: ["text", "audio"] }]
  ]
  for (const [what, pieces, more] of cases) {
    scene(what, "chat", async ({ gateway, one, two }) => {
      one.always(Fake.cutOff(pieces, headOf("chat")))
      two.always(answer("chat", rest))
      const text = await (await gateway.post("/v1/chat/completions", chat(more))).text()
      assert.include(text, '"error"')
      assert.notInclude(text, "[DONE]")
      assert.lengthOf(two.requests, 0)
    })
  }

  scene("a conversation that an upstream keeps", "responses", async ({ gateway, one, two }) => {
    one.always(cut("responses", texts))
    two.always(answer("responses", rest))
    const body = { model: "both", stream: true, input: "Go on", previous_response_id: "resp_of_theirs" }
    assert.include(await (await gateway.post("/v1/responses", body)).text(), "error")
    assert.lengthOf(two.requests, 0)
  })
})

describe("the rest of the answer", () => {
  scene("comes after finished thinking", "messages", async ({ gateway, one, two }) => {
    one.always(cut("messages", texts, { thinking: "A fox." }))
    two.always(answer("messages", rest, { thinking: "Another thought." }))
    const heard = await ask("messages", gateway.url, "both")
    assert.deepInclude(heard, { text: story, thinking: "A fox.", isClean: true, error: null })
  })

  scene("is the whole answer when only thinking was sent", "messages", async ({ gateway, one, two }) => {
    one.always(cut("messages", [], { thinking: "A fox." }))
    two.always(answer("messages", [...texts, ...rest]))
    const heard = await ask("messages", gateway.url, "both")
    assert.deepInclude(heard, { text: story, thinking: "A fox.", isClean: true, error: null })
    assert.lengthOf(bodyOf(two).messages, 1)
  })

  scene("does not repeat the last words", "chat", async ({ gateway, one, two }) => {
    one.always(cut("chat", texts))
    two.always(answer("chat", ["quick", " brown", " fox jumps", " over the lazy dog."]))
    assert.deepInclude(await ask("chat", gateway.url, "both"), { text: story, isClean: true })
  })

  scene("may be one piece of JSON", "chat", async ({ gateway, one, two }) => {
    one.always(cut("chat", texts))
    two.always(Fake.json(Fake.chatCompletion({ text: rest.join("") })))
    assert.deepInclude(await ask("chat", gateway.url, "both"), { text: story, isClean: true, error: null })
  })

  scene("may call a tool", "messages", async ({ gateway, one, two }) => {
    one.always(cut("messages", texts))
    const toolCalls = [{ id: "toolu_1", name: "f", arguments: '{"a":1}' }]
    two.always(Fake.sse(Fake.messagesStream([" jumps."], { toolCalls }), headOf("messages")))
    const tools = [{ name: "f", input_schema: { type: "object" } }]
    const text = await (await gateway.post("/v1/messages", { ...chat({ tools }), max_tokens: 100 })).text()
    const starts = [...text.matchAll(/data: (\{"type":"content_block_start".*)/g)].map(([, data]) =>
      JSON.parse(data ?? "")
    )
    assert.deepStrictEqual(
      starts.map(({ content_block, index }) => [index, content_block.type]),
      [
        [0, "text"],
        [1, "tool_use"]
      ]
    )
    assert.include(text, '"stop_reason":"tool_use"')
  })

  scene("is asked for with less room, and no thinking", "messages", async ({ gateway, one, two }) => {
    one.always(cut("messages", ["The quick ", "brown fox "]))
    two.always(answer("messages", [" jumps."]))
    const thinking = { type: "enabled", budget_tokens: 1_024 }
    await (await gateway.post("/v1/messages", { ...chat({ thinking }), max_tokens: 2_000 })).text()
    const asked = bodyOf(two)
    assert.deepStrictEqual(asked.messages.at(-1), { role: "assistant", content: "The quick brown fox" })
    assert.strictEqual(asked.max_tokens, 2_000 - 6)
    assert.isUndefined(asked.thinking)
  })

  scene("comes from a model that takes no prefill", "messages", async ({ gateway, one, two }) => {
    await gateway.combo("new", "one/m", "two/claude-opus-4-6")
    one.always(cut("messages", texts))
    two.always(answer("messages", rest))
    await (await gateway.post("/v1/messages", { ...chat({ model: "new" }), max_tokens: 2_000 })).text()
    assert.strictEqual(bodyOf(two).messages.at(-1).role, "user")
  })
})

describe("who goes on", () => {
  scene("a third target, when the second breaks as well", "chat", async ({ gateway, one, two, three }) => {
    one.always(cut("chat", texts))
    two.always(cut("chat", [" jumps over"]))
    three.always(answer("chat", [" the lazy dog."]))
    const heard = await ask("chat", gateway.url, "all")
    assert.deepInclude(heard, { text: story, isClean: true, error: null })
    assert.include(JSON.stringify(bodyOf(three).messages), "The quick brown fox jumps over")
    const { attempts, chosen } = await decisionOf(gateway, heard.requestId)
    assert.deepStrictEqual(
      attempts.map(({ outcome, provider }: { outcome: string; provider: string }) => [provider, outcome]),
      [
        ["one", "failed"],
        ["two", "failed"],
        ["three", "completed"]
      ]
    )
    assert.include(chosen, "three")
  })

  scene("the next target, when the second never begins", "chat", async ({ gateway, one, two, three }) => {
    one.always(cut("chat", texts))
    two.always(Fake.json({ error: { message: "busy" } }, { status: 503 }))
    three.always(answer("chat", rest))
    assert.deepInclude(await ask("chat", gateway.url, "all"), { text: story, isClean: true, error: null })
  })

  scene("the same target, when it may be asked again and there is no other", "chat", async ({ gateway, one }) => {
    await gateway.manage("PATCH", "/api/resilience", { retry: { maxRetries: 1, delayMs: 0 } })
    one.enqueue(cut("chat", texts), answer("chat", rest))
    assert.deepInclude(await ask("chat", gateway.url, "one/m"), { text: story, isClean: true, error: null })
  })

  scene("no target: the client gets the error of the first one", "chat", async ({ gateway, one, two }) => {
    one.always(cut("chat", texts))
    two.always(Fake.json({ error: { message: "busy" } }, { status: 503 }))
    const response = await gateway.post("/v1/chat/completions", chat())
    const text = await response.text()
    assert.include(text, '"error"')
    assert.notInclude(text, "[DONE]")
    assert.notInclude(text, "continued by")
    const row = await gateway.usageRow(idOf(response))
    assert.deepInclude(row, { outcome: "failed", provider: "one", targetWire: "chat" })
    assert.isAtLeast(row.attempts, 2)
  })

  scene("no target: an empty continuation is not an end", "chat", async ({ gateway, one, two }) => {
    one.always(cut("chat", texts))
    two.always(answer("chat", []))
    const heard = await ask("chat", gateway.url, "both")
    assert.isFalse(heard.isClean)
    assert.isNotNull(heard.error)
    assert.strictEqual(heard.text, "The quick brown fox")
  })

  scene("no target: thoughts are not an end either", "messages", async ({ gateway, one, two }) => {
    one.always(cut("messages", texts))
    two.always(answer("messages", [], { thinking: "What a fox." }))
    const heard = await ask("messages", gateway.url, "both")
    assert.isFalse(heard.isClean)
    assert.isNotNull(heard.error)
  })

  scene("not for ever: the parts of an answer are limited", "chat", async ({ gateway, one }) => {
    const providerBreaker = { local: { degradationThreshold: 11, failureThreshold: 12 } }
    await gateway.manage("PATCH", "/api/resilience", { retry: { maxRetries: 10, delayMs: 0 }, providerBreaker })
    let parts = 0
    one.always(async (response, request) => {
      parts += 1
      await cut("chat", [`Part ${parts}. `])(response, request)
    })
    const heard = await ask("chat", gateway.url, "one/m")
    assert.isNotNull(heard.error)
    assert.strictEqual(heard.text, "Part 1. Part 2. Part 3. Part 4. ")
  })

  scene("no target: the client has left", "chat", async ({ gateway, one, two }) => {
    const left = new AbortController()
    one.always(cut("chat", texts))
    two.always(Fake.hang())
    const response = await gateway.post("/v1/chat/completions", chat(), {}, left.signal)
    const asked = await two.received(1)
    left.abort()
    await asked.closed
    const row = await gateway.usageRow(idOf(response))
    assert.deepInclude(row, { outcome: "aborted" })
  })
})

describe("the usage row", () => {
  scene("bill every part at its own price", "chat", async ({ gateway, one, two }) => {
    await gateway.manage("PATCH", "/api/pricing", {
      one: { m: { input: 1, output: 10 } },
      two: { m: { input: 100, output: 1_000 } }
    })
    one.always(cut("chat", texts))
    two.always(answer("chat", rest, { usage: { in: 40, out: 6 } }))
    const heard = await ask("chat", gateway.url, "both")
    const row = await gateway.usageRow(heard.requestId)
    const firstOut = 5
    assert.strictEqual(row.tokens.out, firstOut + 6)
    const firstIn = row.tokens.in - 40
    assert.isAbove(firstIn, 0)
    assert.closeTo(row.costUsd, (firstIn + firstOut * 10 + 40 * 100 + 6 * 1_000) / 1e6, 1e-9)
    assert.strictEqual(row.usageSource, "estimated", "the first one told nothing")
    assert.deepStrictEqual([heard.in, heard.out], [row.tokens.in, row.tokens.out])
    assert.isAtMost(row.ttftMs, row.latencyMs)
  })

  scene(
    "know the answer by its id",
    "chat",
    async ({ gateway, one, two }) => {
      one.enqueue(cut("chat", texts), answer("chat", ["Indeed."]))
      two.always(answer("chat", rest))
      const text = await (await gateway.post("/v1/responses", { model: "both", stream: true, input: "Hi" })).text()
      const id = /"response":\{"id":"([^"]*)"/.exec(text)?.[1] ?? ""
      const next = { model: "two/m", input: "And then?", previous_response_id: id }
      two.always(Fake.json(Fake.chatCompletion({ text: "It slept." })))
      const later = await gateway.post("/v1/responses", next)
      assert.strictEqual(later.status, 200, (await later.text()) + text)
      assert.include(two.requests[1]?.body ?? "", story)
    },
    {}
  )

  scene("are written once", "gemini", async ({ gateway, one, two }) => {
    one.always(cut("gemini", texts))
    two.always(Fake.sse(whole("gemini", rest), headOf("gemini")))
    const heard = await ask("gemini", gateway.url, "both")
    await gateway.usageRow(heard.requestId)
    const { logs } = await gateway.manage("GET", "/api/usage/logs?limit=100")
    assert.lengthOf(
      logs.filter((row: { requestId: string }) => row.requestId === heard.requestId),
      1
    )
  })
})
