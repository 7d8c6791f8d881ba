/** Answers whose end is not as it should be, and what is billed for them. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const chatAsk = { messages: [{ role: "user", content: "Hi" }], stream: true }
const geminiAsk = { contents: [{ role: "user", parts: [{ text: "Hi" }] }] }
const chatPath = "/v1/chat/completions"
const geminiPath = "/v1beta/models/up/m:streamGenerateContent?alt=sse"

const piece = (text: string, finishReason?: string): string =>
  `data: ${JSON.stringify({
    candidates: [
      { index: 0, content: { role: "model", parts: [{ text }] }, ...(finishReason ? { finishReason } : {}) }
    ],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 7, totalTokenCount: 12 },
    modelVersion: "m",
    responseId: "r"
  })}\n\n`
const story = [piece("Hello "), piece("world", "STOP")]

const id = (response: Response): string => response.headers.get("x-gateway-request-id") ?? assert.fail("no request id")

const house = (wire: "chat" | "gemini" | "messages") =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start()
    const up = yield* Fake.start
    const timeouts = { firstByteMs: 5_000, idleMs: 300, totalMs: 30_000 }
    yield* Effect.promise(async () => {
      await gateway.manage("PATCH", "/api/resilience", { timeouts })
      await gateway.connect("up", up, wire)
    })
    return { gateway, up }
  })

describe("a wire without an end mark", () => {
  const left: Readonly<Record<string, Fake.Answer>> = {
    "left open after the finish reason": Fake.silence(story),
    "cut after the finish reason": Fake.cutOff(story)
  }
  for (const [name, answer] of Object.entries(left)) {
    for (const [path, ask] of [
      [geminiPath, geminiAsk],
      [chatPath, { ...chatAsk, model: "up/m" }]
    ] as const) {
      it.scopedLive(`${name}, an answer is whole (${path})`, () =>
        Effect.gen(function* () {
          const { gateway, up } = yield* house("gemini")
          up.always(answer)
          yield* Effect.promise(async () => {
            const response = await gateway.post(path, ask)
            const text = await response.text()
            assert.include(text, "world")
            assert.notInclude(text, '"error"')
            assert.include(text, path === chatPath ? '"finish_reason":"stop"' : '"STOP"')
            assert.deepInclude(await gateway.usageRow(id(response)), { outcome: "completed", usageSource: "upstream" })
            const [{ testStatus }] = (await gateway.manage("GET", "/api/providers")).connections
            assert.strictEqual(testStatus, "active")
          })
        })
      )
    }
  }

  it.scopedLive("is not believed when it says more behind a finish reason and then breaks", () =>
    Effect.gen(function* () {
      const { gateway, up } = yield* house("gemini")
      up.always(Fake.silence([piece("Hello ", "STOP"), piece("wor", "STOP")]))
      yield* Effect.promise(async () => {
        const response = await gateway.post(chatPath, { ...chatAsk, model: "up/m" })
        const text = await response.text()
        assert.include(text, '"error"')
        assert.notInclude(text, "[DONE]")
        assert.deepInclude(await gateway.usageRow(id(response)), { outcome: "failed" })
      })
    })
  )
})

describe("the bill", () => {
  it.scopedLive("of a cut stream counts what was seen, not what the upstream had said at its beginning", () =>
    Effect.gen(function* () {
      const { gateway, up } = yield* house("messages")
      const words = Array.from({ length: 30 }, (_, i) => `word${i} `)
      const stream = Fake.messagesStream(words, { usage: { in: 50, out: 60 } })
      up.always(Fake.silence(stream.slice(0, 25)))
      yield* Effect.promise(async () => {
        const response = await gateway.post(chatPath, { ...chatAsk, model: "up/m" })
        assert.include(await response.text(), '"error"')
        const { outcome, tokens, usageSource } = await gateway.usageRow(id(response))
        assert.strictEqual(outcome, "failed")
        assert.strictEqual(usageSource, "estimated")
        assert.strictEqual(tokens.in, 50)
        assert.isAbove(tokens.out, 20)
      })
    })
  )

  const lies = { "less than none": -7, "absurdly many": 1e18, nothing: 0 }
  for (const [name, count] of Object.entries(lies)) {
    it.scopedLive(`of a usage that counts ${name} is an estimate`, () =>
      Effect.gen(function* () {
        const { gateway, up } = yield* house("chat")
        up.always(Fake.sse(Fake.chatStream(["Some words of an answer."], { usage: { in: count, out: count } })))
        yield* Effect.promise(async () => {
          const response = await gateway.post(chatPath, { ...chatAsk, model: "up/m" })
          assert.include(await response.text(), "[DONE]")
          const { outcome, tokens, usageSource } = await gateway.usageRow(id(response))
          assert.strictEqual(outcome, "completed")
          assert.strictEqual(usageSource, "estimated")
          assert.isTrue(tokens.in > 0 && tokens.in < 1_000 && tokens.out > 0 && tokens.out < 1_000)
        })
      })
    )
  }
})

describe("a client whose wire tells a tool call in one piece", () => {
  it.scopedLive("gets it from the next target when the first breaks in the middle of it", () =>
    Effect.gen(function* () {
      const { gateway, up } = yield* house("chat")
      const good = yield* Fake.start
      const stream = Fake.chatStream([], { toolCalls: [{ id: "c1", name: "bake", arguments: '{"what":"bread"}' }] })
      up.always(Fake.cutOff(stream.slice(0, 2)))
      good.always(Fake.sse(stream))
      yield* Effect.promise(async () => {
        await gateway.connect("good", good, "chat")
        await gateway.combo("two", "up/m", "good/m")
        const response = await gateway.post("/v1beta/models/two:streamGenerateContent?alt=sse", geminiAsk)
        const text = await response.text()
        assert.strictEqual(response.headers.get("x-gateway-provider"), "good")
        assert.include(text, '"what":"bread"')
        assert.notInclude(text, '"error"')
      })
    })
  )
})

describe("an event that cannot be read", () => {
  const torn = 'data: {"choices":[{"index":0,"delta":{"content":"half\n\n'
  for (const path of [chatPath, "/v1/messages"]) {
    it.scopedLive(`may have held a part of the answer: told as an error on ${path}`, () =>
      Effect.gen(function* () {
        const { gateway, up } = yield* house("chat")
        const [role = "", word = "", ...rest] = Fake.chatStream(["Hello ", "world"])
        up.always(Fake.sse([role, word, torn, ...rest]))
        yield* Effect.promise(async () => {
          const response = await gateway.post(path, { ...chatAsk, model: "up/m", max_tokens: 9 })
          const text = await response.text()
          assert.include(text, '"error"')
          assert.notInclude(text, "half")
          assert.notMatch(text, /\[DONE\]|message_stop/)
          assert.deepInclude(await gateway.usageRow(id(response)), { outcome: "failed" })
        })
      })
    )
  }

  it.scopedLive("behind the finish reason nothing is lost with it", () =>
    Effect.gen(function* () {
      const { gateway, up } = yield* house("gemini")
      up.always(Fake.sse([...story, torn]))
      yield* Effect.promise(async () => {
        const response = await gateway.post(geminiPath, geminiAsk)
        assert.strictEqual(await response.text(), story.join(""))
        assert.deepInclude(await gateway.usageRow(id(response)), { outcome: "completed" })
      })
    })
  )
})

describe("a stream of events that is called JSON", () => {
  it.scopedLive("is a stream of events", () =>
    Effect.gen(function* () {
      const { gateway, up } = yield* house("gemini")
      up.always(Fake.sse(story, { headers: { "content-type": "application/json" } }))
      yield* Effect.promise(async () => {
        const response = await gateway.post(geminiPath, geminiAsk)
        assert.strictEqual(await response.text(), story.join(""))
      })
    })
  )
})
