/** Answers in sound (chat's `audio`) at clients whose wire has no place for it: their words arrive, and what is left out is named. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const data = Buffer.from("RIFF sound of some length".repeat(20)).toString("base64")
const usage = { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 }
const head = { id: "c-1", object: "chat.completion", created: 1_700_000_000, model: "m" }

const whole = (transcript: string) => ({
  ...head,
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: null,
        refusal: null,
        audio: { id: "audio_1", data, transcript, expires_at: 1 }
      },
      finish_reason: "stop"
    }
  ],
  usage
})

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

const streamed = (...words: ReadonlyArray<string>): ReadonlyArray<string> => [
  chunk({ role: "assistant", content: null, audio: { id: "audio_1", transcript: "" } }),
  ...words.flatMap((transcript) => [
    chunk({ audio: { transcript } }),
    chunk({ audio: { data: data.slice(0, 400) } }),
    chunk({ audio: { data: data.slice(400) } })
  ]),
  chunk({ audio: { expires_at: 1 } }),
  chunk({}, "stop"),
  `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [], usage })}\n\n`,
  "data: [DONE]\n\n"
]

const messages = [{ role: "user", content: "Say it." }]
const contents = [{ role: "user", parts: [{ text: "Say it." }] }]
const clients = [
  { wire: "messages", path: () => "/v1/messages", body: { model: "up/m", max_tokens: 50, messages } },
  { wire: "responses", path: () => "/v1/responses", body: { model: "up/m", input: "Say it." } },
  {
    wire: "gemini",
    path: (stream: boolean) => `/v1beta/models/up/m:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: { contents }
  },
  { wire: "ollama", path: () => "/api/chat", body: { model: "up/m", messages } }
] as const

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
  return { gateway, upstream }
})

describe("an answer in sound", () => {
  for (const { body, path, wire } of clients) {
    for (const stream of [false, true]) {
      it.scopedLive(`is named as left out beside its words at a ${wire} client${stream ? ", streamed" : ""}`, () =>
        Effect.gen(function* () {
          const { gateway, upstream } = yield* setUp
          yield* Effect.promise(async () => {
            upstream.enqueue(stream ? Fake.sse(streamed("Good ", "morning")) : Fake.json(whole("Good morning")))
            const answer = await gateway.post(path(stream), wire === "gemini" ? body : { ...body, stream })
            const text = await answer.text()
            assert.strictEqual(answer.status, 200, text)
            assert.strictEqual(answer.headers.get("x-gateway-dropped"), "answer.audio")
            assert.include(text, stream ? "morning" : "Good morning")
            assert.notInclude(text, data.slice(0, 40))
            // Once, whatever the pieces in which it came.
            assert.isAtMost(text.split("dropped answer.audio").length, 2)
          })
        })
      )

      it.scopedLive(`without words is an error that tells why at a ${wire} client${stream ? ", streamed" : ""}`, () =>
        Effect.gen(function* () {
          const { gateway, upstream } = yield* setUp
          yield* Effect.promise(async () => {
            upstream.always(stream ? Fake.sse(streamed("")) : Fake.json(whole("")))
            const answer = await gateway.post(path(stream), wire === "gemini" ? body : { ...body, stream })
            const text = await answer.text()
            assert.strictEqual(answer.status, 502, text)
            assert.match(text, /answered with sound alone, which the \w+ wire cannot carry/u)
          })
        })
      )
    }
  }

  it.scopedLive("stays whole for a chat client that asked for a stream and is sent one answer", () =>
    Effect.gen(function* () {
      const { gateway, upstream } = yield* setUp
      yield* Effect.promise(async () => {
        upstream.enqueue(Fake.json(whole("Good morning")))
        const answer = await gateway.post("/v1/chat/completions", { model: "up/m", messages, stream: true })
        const text = await answer.text()
        assert.isNull(answer.headers.get("x-gateway-dropped"))
        assert.include(text, data)
        assert.include(text, "Good morning")
      })
    })
  )

  it.scopedLive("of a Gemini upstream is named at a chat client beside its words, and an error without", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const upstream = yield* Fake.start
      yield* Effect.promise(async () => {
        await gateway.connect("up", upstream, "gemini")
        const sound = { inlineData: { mimeType: "audio/L16;codec=pcm;rate=24000", data } }
        const answered = (parts: ReadonlyArray<object>) =>
          Fake.json({
            candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }],
            usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 9, totalTokenCount: 12 }
          })
        upstream.enqueue(answered([{ text: "Here:" }, sound]), answered([sound]))
        const ask = { model: "up/m", messages }
        const both = await gateway.post("/v1/chat/completions", ask)
        assert.strictEqual(both.headers.get("x-gateway-dropped"), "answer.inlineData")
        const alone = await gateway.post("/v1/chat/completions", ask)
        assert.strictEqual(alone.status, 502)
        assert.match(await alone.text(), /answered with sound alone, which the chat wire cannot carry/u)
      })
    })
  )
})
