/** Pictures that a request only links to, on their way to upstreams that need the bytes. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const png = Buffer.concat([Buffer.from("\u0089PNG\r\n\u001a\n", "latin1"), Buffer.alloc(40, 7)])
const unguarded = { environment: new Map([["OUTBOUND_SSRF_GUARD_ENABLED", "false"]]) }

const asking = (url: string) => ({
  model: "up/m",
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "What is this?" },
        { type: "image_url", image_url: { url } }
      ]
    }
  ]
})

const geminiAnswer = Fake.json({
  candidates: [{ content: { role: "model", parts: [{ text: "A cat." }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
})

const setUp = (wire: "gemini" | "chat", config: Parameters<typeof TestGateway.start>[0]) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start(config)
    const upstream = yield* Fake.start
    upstream.always(wire === "gemini" ? geminiAnswer : Fake.json(Fake.chatCompletion()))
    const pictures = yield* Fake.start
    pictures.always(Fake.text(png, { headers: { "content-type": "image/png" } }))
    yield* Effect.promise(() => gateway.connect("up", upstream, wire))
    return { gateway, upstream, pictures }
  })

describe("linked pictures", () => {
  it.scopedLive("are fetched for a gemini upstream, once for two turns", () =>
    Effect.gen(function* () {
      const { gateway, pictures, upstream } = yield* setUp("gemini", unguarded)
      yield* Effect.promise(async () => {
        for (let turn = 0; turn < 2; turn += 1) {
          const response = await gateway.post("/v1/chat/completions", asking(`${pictures.origin}/cat.png`))
          assert.strictEqual(response.status, 200, await response.text())
        }
        const { contents } = JSON.parse(upstream.requests[1]?.body ?? "")
        assert.deepInclude(contents[0].parts, {
          inlineData: { mimeType: "image/png", data: png.toString("base64") }
        })
        assert.strictEqual(pictures.requests.length, 1)
      })
    })
  )

  it.scopedLive("stay links where the client's wire is the upstream's", () =>
    Effect.gen(function* () {
      const { gateway, pictures, upstream } = yield* setUp("chat", unguarded)
      yield* Effect.promise(async () => {
        const asked = asking(`${pictures.origin}/cat.png`)
        assert.strictEqual((await gateway.post("/v1/chat/completions", asked)).status, 200)
        assert.deepStrictEqual(JSON.parse(upstream.requests[0]?.body ?? "").messages, asked.messages)
        assert.strictEqual(pictures.requests.length, 0)
      })
    })
  )

  it.scopedLive("on private addresses are a 400 in the client's wire; no upstream is called", () =>
    Effect.gen(function* () {
      const { gateway, pictures, upstream } = yield* setUp("gemini", {})
      yield* Effect.promise(async () => {
        const response = await gateway.post("/v1/chat/completions", asking(`${pictures.origin}/cat.png?token=secret`))
        assert.strictEqual(response.status, 400)
        const { error } = (await response.json()) as { error: { message: string } }
        assert.include(error.message, `${pictures.origin}/cat.png could not be fetched`)
        assert.notInclude(error.message, "secret")
        assert.strictEqual(pictures.requests.length + pictures.openSockets() + upstream.requests.length, 0)
      })
    })
  )

  it.scopedLive("a client that leaves while one is fetched ends the fetch", () =>
    Effect.gen(function* () {
      const { gateway, pictures, upstream } = yield* setUp("gemini", unguarded)
      pictures.always(Fake.hang())
      yield* Effect.promise(async () => {
        const controller = new AbortController()
        const asked = gateway
          .post("/v1/chat/completions", asking(`${pictures.origin}/cat.png`), {}, controller.signal)
          .catch(() => null)
        const request = await pictures.received(1)
        controller.abort()
        await asked
        await request.closed
        assert.strictEqual(upstream.requests.length, 0)
      })
    })
  )
})
