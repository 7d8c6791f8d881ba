/** The cache of answers over HTTP: who gets what again, in which form, and what is never kept. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import { codecs } from "../../../src/wire/Codec.ts"
import { readStream, readWhole } from "../../../src/plane/features/cache/KeptResponse.ts"
import type { Response as Answer } from "../../../src/wire/canonical/Response.ts"
import { eventuallyFound } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

type Json = Record<string, unknown>

const call = { id: "call_1", name: "get_weather", arguments: '{"city":"Paris"}' }

/** A chat upstream: text, or a tool call where tools are offered. */
const upstreamAnswer: Fake.Answer = async (response, request) => {
  const body = JSON.parse(request.body) as { stream?: boolean; tools?: ReadonlyArray<unknown> }
  const toolCalls = (body.tools ?? []).length > 0 ? [call] : []
  const answer = body.stream
    ? Fake.sse(Fake.chatStream(toolCalls.length > 0 ? [] : ["Bon", "jour"], { toolCalls }))
    : Fake.json(Fake.chatCompletion(toolCalls.length > 0 ? { toolCalls } : { text: "Bonjour" }))
  await answer(response, request)
}

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  upstream.always(upstreamAnswer)
  const keys = yield* Effect.promise(async () => {
    await gateway.connect("up", upstream, "chat")
    await gateway.manage("PATCH", "/api/settings", { cache: { enabled: true } })
    await gateway.manage("PATCH", "/api/pricing", { up: { m: { input: 10, output: 100 } } })
    const made = await Promise.all(["one", "other"].map((name) => gateway.manage("POST", "/api/keys", { name })))
    return made.map(({ secret }) => secret as string)
  })
  const ask = async (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}, key = 0) => {
    const response = await gateway.post(path, body, { "x-api-key": keys[key] ?? "", ...headers })
    const bytes = Buffer.from(await response.arrayBuffer())
    assert.strictEqual(response.status, 200, bytes.toString())
    return { bytes, headers: response.headers, cache: response.headers.get("x-gateway-cache") }
  }
  /** Answers are kept behind the last byte. */
  const kept = (count: number) =>
    eventuallyFound(`${count} kept answers`, async () => {
      const { semanticCache } = await gateway.manage("GET", "/api/cache/stats")
      return semanticCache.memorySize === count && semanticCache.dbSize === count ? true : undefined
    })
  return { gateway, upstream, ask, kept }
})

const chat = "/v1/chat/completions"
const user = [{ role: "user", content: "Say hello" }]
const plain = { model: "up/m", messages: user, temperature: 0 }
const tools = [{ type: "function", function: { name: "get_weather", parameters: { type: "object" } } }]

const paths: Readonly<Record<WireName, (stream: boolean) => string>> = {
  chat: () => chat,
  messages: () => "/v1/messages",
  responses: () => "/v1/responses",
  gemini: (stream) => `/v1beta/models/up/m:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  ollama: () => "/api/chat"
}

const bodies: Readonly<Record<WireName, (stream: boolean, withTools: boolean) => Json>> = {
  chat: (stream, withTools) => ({ ...plain, stream, ...(withTools ? { tools } : {}) }),
  messages: (stream, withTools) => ({
    ...plain,
    stream,
    max_tokens: 50,
    ...(withTools ? { tools: [{ name: "get_weather", input_schema: { type: "object" } }] } : {})
  }),
  responses: (stream, withTools) => ({
    model: "up/m",
    temperature: 0,
    input: "Say hello",
    stream,
    ...(withTools ? { tools: [{ type: "function", name: "get_weather", parameters: { type: "object" } }] } : {})
  }),
  gemini: (_stream, withTools) => ({
    contents: [{ role: "user", parts: [{ text: "Say hello" }] }],
    generationConfig: { temperature: 0 },
    ...(withTools ? { tools: [{ functionDeclarations: [{ name: "get_weather" }] }] } : {})
  }),
  ollama: (stream, withTools) => ({
    model: "up/m",
    messages: user,
    stream,
    options: { temperature: 0 },
    ...(withTools ? { tools } : {})
  })
}

const saidIn = (wire: WireName, stream: boolean, bytes: Buffer) => {
  const read = stream ? readStream(codecs[wire], bytes) : readWhole(codecs[wire], bytes)
  assert(read !== null, bytes.toString())
  const { parts, stop, usage }: Answer = read.response
  return {
    text: parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""),
    calls: parts.flatMap((part) => (part.type === "tool_call" ? [[part.name, JSON.parse(part.args)]] : [])),
    stop: stop.reason,
    usage: usage === null ? null : [usage.in, usage.out]
  }
}

describe("the cache", () => {
  for (const wire of ["chat", "messages", "responses", "gemini", "ollama"] as const) {
    for (const isFirstStreamed of [false, true]) {
      it.scopedLive(`${wire}: gives ${isFirstStreamed ? "a stream" : "a whole answer"} again, in either form`, () =>
        Effect.gen(function* () {
          const { ask, gateway, kept, upstream } = yield* setUp
          yield* Effect.promise(async () => {
            const send = (stream: boolean, withTools = false) =>
              ask(
                paths[wire](stream),
                bodies[wire](stream, withTools),
                withTools ? { "x-gateway-cache-tools": "true" } : {}
              )
            const first = await send(isFirstStreamed)
            assert.strictEqual(first.cache, "MISS")
            await kept(1)
            const same = await send(isFirstStreamed)
            assert.strictEqual(same.cache, "HIT")
            assert.strictEqual(same.headers.get("content-type"), first.headers.get("content-type"))
            assert.isTrue(same.bytes.equals(first.bytes))
            const other = await send(!isFirstStreamed)
            assert.strictEqual(other.cache, "HIT")
            const expected = saidIn(wire, isFirstStreamed, first.bytes)
            const got = saidIn(wire, !isFirstStreamed, other.bytes)
            assert.deepStrictEqual({ ...got, usage: null }, { ...expected, usage: null })
            assert.strictEqual(expected.text, "Bonjour")
            assert.strictEqual(upstream.requests.length, 1)
            assert.strictEqual(same.headers.get("x-gateway-cache-hit"), "true")
            assert.strictEqual(same.headers.get("x-gateway-response-cost"), "0.0000000000")
            assert.strictEqual(same.headers.get("x-gateway-cost-saved"), "0.0003700000")
            const row = await gateway.usageRow(same.headers.get("x-gateway-request-id") ?? "")
            assert.deepInclude(row, {
              cacheHit: true,
              coalesced: false,
              costUsd: 0,
              provider: "up",
              attempts: 0,
              status: 200
            })

            const called = await send(isFirstStreamed, true)
            assert.strictEqual(called.cache, "MISS")
            await kept(2)
            const again = await send(!isFirstStreamed, true)
            assert.strictEqual(again.cache, "HIT")
            assert.deepStrictEqual(saidIn(wire, !isFirstStreamed, again.bytes).calls, [
              ["get_weather", { city: "Paris" }]
            ])
            const unasked = await ask(paths[wire](false), bodies[wire](false, true))
            assert.strictEqual(unasked.cache, "MISS")
          })
        })
      )
    }
  }

  it.scopedLive("keeps keys apart, and asks again where anything differs", () =>
    Effect.gen(function* () {
      const { ask, kept, upstream } = yield* setUp
      yield* Effect.promise(async () => {
        await ask(chat, plain)
        await kept(1)
        const others: ReadonlyArray<readonly [Json, Record<string, string>, number]> = [
          [plain, {}, 1],
          [{ ...plain, max_tokens: 9 }, {}, 0],
          [{ ...plain, seed: 1 }, {}, 0],
          [{ ...plain, messages: [{ role: "user", content: "Say hello!" }] }, {}, 0],
          [plain, { "x-gateway-no-cache": "true" }, 0],
          [plain, { "cache-control": "no-store" }, 0],
          [{ ...plain, temperature: 0.2 }, {}, 0],
          [{ model: "up/m", messages: user }, {}, 0]
        ]
        for (const [index, [body, headers, key]] of others.entries()) {
          const { cache } = await ask(chat, body, headers, key)
          assert.notStrictEqual(cache, "HIT", String(index))
          assert.strictEqual(upstream.requests.length, index + 2)
        }
        assert.strictEqual((await ask(chat, plain)).cache, "HIT")
      })
    })
  )

  it.scopedLive("keeps no half answer, no failure and none that was cut by its limit", () =>
    Effect.gen(function* () {
      const { ask, gateway, kept, upstream } = yield* setUp
      const stream = Fake.chatStream(["Bon", "jour"])
      const limited = Fake.chatCompletion({ text: "Bon" })
      const answers = [
        Fake.cutOff(stream.slice(0, 3)),
        Fake.json({ error: { message: "no" } }, { status: 400 }),
        Fake.json({
          ...limited,
          choices: limited.choices.map((choice) => Object.assign(choice, { finish_reason: "length" }))
        })
      ]
      yield* Effect.promise(async () => {
        for (const answer of answers) {
          upstream.always(answer)
          const response = await gateway.post(
            chat,
            { ...plain, stream: answer === answers[0] },
            { "x-api-key": TestGateway.adminKey }
          )
          await response.text().catch(() => "")
        }
        upstream.always(upstreamAnswer)
        assert.strictEqual((await ask(chat, plain)).cache, "MISS")
        await kept(1)
        assert.deepStrictEqual(await gateway.manage("DELETE", "/api/cache/stats"), { cleared: 1 })
        await kept(0)
        const { semanticCache } = await gateway.manage("GET", "/api/cache/stats")
        assert.deepInclude(semanticCache, { enabled: true, hits: 0, misses: 4 })
      })
    })
  )
})
