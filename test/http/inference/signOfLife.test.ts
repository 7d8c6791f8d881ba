/** Streams whose model thinks for longer than what stands between bears: they send signs of life, fail over as before, and fail in their own wire. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import { codecs } from "../../../src/wire/Codec.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const user = { role: "user", content: "Hi" }
const asks: Readonly<Record<WireName, readonly [path: string, body: object]>> = {
  chat: ["/v1/chat/completions", { model: "two", stream: true, messages: [user] }],
  messages: ["/v1/messages", { model: "two", stream: true, max_tokens: 20, messages: [user] }],
  responses: ["/v1/responses", { model: "two", stream: true, input: "Hi" }],
  gemini: [
    "/v1beta/models/two:streamGenerateContent?alt=sse",
    { contents: [{ role: "user", parts: [{ text: "Hi" }] }] }
  ],
  ollama: ["/api/chat", { model: "two", stream: true, messages: [user] }]
}
const speaking = ["chat", "messages", "responses", "gemini"] as const

const setUp = (heartbeatMs: number) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start()
    const first = yield* Fake.start
    const second = yield* Fake.start
    second.always(Fake.sse(Fake.chatStream(["from the second"])))
    yield* Effect.promise(async () => {
      await gateway.manage("PATCH", "/api/settings", { streams: { heartbeatMs } })
      await gateway.connect("first", first, "chat")
      await gateway.connect("second", second, "chat")
      await gateway.combo("two", "first/m", "second/m")
    })
    return { gateway, first, second }
  })

/** Reads until `isEnough`, or to the end. */
const readUntil = async (
  reader: ReadableStreamDefaultReader<Uint8Array>,
  isEnough: (text: string) => boolean
): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ""
  while (!isEnough(text)) {
    const { done, value } = await reader.read()
    if (done) break
    text += decoder.decode(value, { stream: true })
  }
  return text
}

const readerOf = (response: Response) => response.body?.getReader() ?? assert.fail("no body")
const toTheEnd = (): boolean => false

describe("a model that thinks for long", () => {
  for (const wire of speaking) {
    const beat = codecs[wire].heartbeat
    const beats = (text: string): boolean => text.startsWith(beat.repeat(2))

    it.scopedLive(`${wire}: signs of life before the first word, then the answer and who gave it`, () =>
      Effect.gen(function* () {
        const { first, gateway } = yield* setUp(50)
        const thought = Fake.makeLatch()
        first.always(async (response, asked) => {
          await thought.opened
          await Fake.sse(Fake.chatStream(["after long thought"]))(response, asked)
        })
        yield* Effect.promise(async () => {
          const response = await gateway.post(...asks[wire])
          assert.strictEqual(response.status, 200)
          assert.include(response.headers.get("content-type"), "text/event-stream")
          assert.isNull(response.headers.get("x-gateway-provider"))
          const reader = readerOf(response)
          assert.isTrue(beats(await readUntil(reader, beats)))
          thought.open()
          const rest = await readUntil(reader, toTheEnd)
          assert.include(rest, "after long thought")
          assert.notMatch(rest, /event: error|"error":\{/)
          if (wire !== "gemini") assert.include(rest, ": X-Gateway-Provider: first\n")
          const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
          assert.deepInclude(row, { outcome: "completed", status: 200, provider: "first" })
        })
      })
    )

    it.scopedLive(`${wire}: a target that fails behind a sign of life is followed by the next`, () =>
      Effect.gen(function* () {
        const { first, gateway } = yield* setUp(50)
        const thought = Fake.makeLatch()
        first.always(async (response, asked) => {
          await thought.opened
          await Fake.json({ error: { message: "worn out" } }, { status: 503 })(response, asked)
        })
        yield* Effect.promise(async () => {
          const reader = readerOf(await gateway.post(...asks[wire]))
          await readUntil(reader, beats)
          thought.open()
          const rest = await readUntil(reader, toTheEnd)
          assert.include(rest, "from the second")
          assert.notInclude(rest, "worn out")
        })
      })
    )

    it.scopedLive(`${wire}: the failure of all targets behind a sign of life is an error event`, () =>
      Effect.gen(function* () {
        const { first, gateway, second } = yield* setUp(50)
        const thought = Fake.makeLatch()
        first.always(async (response) => {
          await thought.opened
          response.destroy()
        })
        second.always(Fake.json({ error: { message: "worn out" } }, { status: 503 }))
        yield* Effect.promise(async () => {
          const response = await gateway.post(...asks[wire])
          const reader = readerOf(response)
          await readUntil(reader, beats)
          thought.open()
          const rest = await readUntil(reader, toTheEnd)
          assert.match(rest, wire === "messages" || wire === "responses" ? /event: error\ndata: / : /data: \{"error"/)
          assert.include(rest, "worn out")
          assert.notMatch(rest, /\[DONE\]|message_stop|response\.completed|"finishReason"/)
          const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
          assert.strictEqual(row.outcome, "failed")
        })
      })
    )

    it.scopedLive(`${wire}: signs of life between two words`, () =>
      Effect.gen(function* () {
        const { first, gateway } = yield* setUp(50)
        const [head = "", word = "", ...rest] = Fake.chatStream(["one", "two"])
        const thought = Fake.makeLatch()
        first.always(Fake.sse([head, word, thought, ...rest]))
        yield* Effect.promise(async () => {
          const reader = readerOf(await gateway.post(...asks[wire]))
          const begun = await readUntil(reader, (text) => text.includes("one") && text.endsWith(beat.repeat(2)))
          assert.include(begun, "one")
          thought.open()
          assert.include(await readUntil(reader, toTheEnd), "two")
        })
      })
    )
  }

  it.scopedLive("a wire without signs of life waits, and keeps the status of its failure", () =>
    Effect.gen(function* () {
      const { first, gateway, second } = yield* setUp(50)
      const thought = Fake.makeLatch()
      first.always(async (response) => {
        await thought.opened
        response.destroy()
      })
      second.always(Fake.json({ error: { message: "worn out" } }, { status: 503 }))
      yield* Effect.promise(async () => {
        // A second stream tells that more than one heartbeat has passed.
        const chat = readerOf(await gateway.post(...asks.chat))
        const answer = gateway.post(...asks.ollama)
        await first.received(2)
        await readUntil(chat, (text) => text.length > 3 * codecs.chat.heartbeat.length)
        thought.open()
        const response = await answer
        assert.strictEqual(response.status, 503)
        assert.include(await response.text(), "worn out")
        await chat.cancel()
      })
    })
  )

  it.scopedLive("0 is off: the head waits for the target", () =>
    Effect.gen(function* () {
      const { first, gateway } = yield* setUp(0)
      const thought = Fake.makeLatch()
      first.always(async (response, asked) => {
        await thought.opened
        await Fake.sse(Fake.chatStream(["late"]))(response, asked)
      })
      yield* Effect.promise(async () => {
        const answer = gateway.post(...asks.chat)
        await first.received(1)
        thought.open()
        const response = await answer
        assert.strictEqual(response.headers.get("x-gateway-provider"), "first")
        assert.notInclude(await response.text(), codecs.chat.heartbeat.trim())
      })
    })
  )

  it.scopedLive("a proxy whose read time-out is shorter than the thinking lets the answer through", () =>
    Effect.gen(function* () {
      const { first, gateway } = yield* setUp(100)
      const thought = Fake.makeLatch()
      first.always(async (response, asked) => {
        await thought.opened
        await Fake.sse(Fake.chatStream(["after long thought"]))(response, asked)
      })
      const idleMs = 1_000
      // As nginx does with `proxy_read_timeout`: 504 for a head that is late, and a cut for a body that is silent.
      const proxy = createServer((asked, response) => {
        const { port } = new URL(gateway.url)
        const call = request(
          { host: "127.0.0.1", port, path: asked.url, method: "POST", headers: asked.headers, timeout: idleMs },
          (answer) => {
            response.writeHead(answer.statusCode ?? 502, answer.headers)
            answer.pipe(response)
          }
        )
        call.on("timeout", () => {
          if (!response.headersSent) response.writeHead(504).end()
          else response.destroy()
        })
        call.on("error", () => response.destroy())
        asked.pipe(call)
      })
      yield* Effect.acquireRelease(
        Effect.promise(() => new Promise<void>((resolve) => void proxy.listen(0, "127.0.0.1", resolve))),
        () => Effect.promise(() => new Promise<void>((resolve) => void proxy.close(() => resolve())))
      )
      const { port } = proxy.address() as AddressInfo
      yield* Effect.promise(async () => {
        const [path, body] = asks.messages
        const response = await fetch(`http://127.0.0.1:${port}${path}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body)
        })
        assert.strictEqual(response.status, 200)
        const reader = readerOf(response)
        // So many signs of life take longer than the proxy waits for one.
        await readUntil(reader, (text) => text.split("event: ping").length > 2 + idleMs / 100)
        thought.open()
        assert.include(await readUntil(reader, toTheEnd), "after long thought")
      })
    })
  )
})
