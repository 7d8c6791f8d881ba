/** What an answer cost, in headers of every endpoint of the gateway that asks a provider for something. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const chatAnswer = Fake.json(Fake.chatCompletion({ usage: { in: 20, out: 100 } }))
const messages = [{ role: "user", content: "Hi" }]
const file = new Blob(["sound"], { type: "audio/mpeg" })

/** A job in OpenAI's form, over with the first poll. */
const job =
  (last: object): Fake.Answer =>
  (response, request) =>
    Fake.json({ id: "job_1", status: request.method === "POST" ? "pending" : "completed", ...last })(response, request)

interface Endpoint {
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  readonly answer: Fake.Answer
  /** Sent as a form. */
  readonly isForm?: true
  readonly tokens: readonly [tokensIn: string, tokensOut: string]
  /** With the prices below. */
  readonly cost: string
}

const prices = { input: 1, output: 10, perSecond: 0.1, perCharacter: 0.001, perImage: 0.05, perSearchUnit: 0.002 }

const endpoints: ReadonlyArray<Endpoint> = [
  {
    path: "/v1/chat/completions",
    body: { messages },
    answer: chatAnswer,
    tokens: ["20", "100"],
    cost: "0.0010200000"
  },
  {
    path: "/v1/messages",
    body: { messages, max_tokens: 200 },
    answer: chatAnswer,
    tokens: ["20", "100"],
    cost: "0.0010200000"
  },
  { path: "/v1/responses", body: { input: "Hi" }, answer: chatAnswer, tokens: ["20", "100"], cost: "0.0010200000" },
  {
    path: "/v1/embeddings",
    body: { input: "Hi" },
    answer: Fake.json({
      object: "list",
      model: "m",
      data: [{ object: "embedding", index: 0, embedding: [1] }],
      usage: { prompt_tokens: 7, total_tokens: 7 }
    }),
    tokens: ["7", "0"],
    cost: "0.0000070000"
  },
  {
    path: "/v1/images/generations",
    body: { prompt: "A gate" },
    answer: Fake.json({ created: 1, data: [{ b64_json: "AAAA" }] }),
    tokens: ["0", "0"],
    cost: "0.0500000000"
  },
  {
    path: "/v1/audio/speech",
    body: { input: "Hello", voice: "alloy" },
    answer: (response) => void response.writeHead(200, { "content-type": "audio/mpeg" }).end("sound"),
    tokens: ["0", "0"],
    cost: "0.0050000000"
  },
  {
    path: "/v1/audio/transcriptions",
    body: {},
    isForm: true,
    answer: Fake.json({ text: "Hello", usage: { type: "duration", seconds: 3 } }),
    tokens: ["0", "0"],
    cost: "0.3000000000"
  },
  {
    path: "/v1/rerank",
    body: { query: "What?", documents: ["a", "b"] },
    answer: Fake.json({
      results: [{ index: 0, relevance_score: 0.9 }],
      meta: { billed_units: { search_units: 1 } }
    }),
    tokens: ["0", "0"],
    cost: "0.0020000000"
  },
  {
    path: "/v1/moderations",
    body: { input: "Hi" },
    answer: Fake.json({ id: "modr_1", model: "m", results: [{ flagged: false, categories: {}, category_scores: {} }] }),
    tokens: ["1", "0"],
    cost: "0.0000000000"
  },
  {
    path: "/v1/videos/generations",
    body: { prompt: "A gate opens." },
    answer: job({ seconds: "6", data: [{ url: "https://cdn.test/film.mp4" }] }),
    tokens: ["0", "0"],
    cost: "0.6000000000"
  },
  {
    path: "/v1/music/generations",
    body: { prompt: "A waltz." },
    answer: job({ duration: 3, output: [{ audio_url: "https://cdn.test/song.mp3" }] }),
    tokens: ["0", "0"],
    cost: "0.3000000000"
  }
]

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const [one, two] = yield* Effect.all([Fake.start, Fake.start])
  two.always(Fake.json({ error: { message: "down" } }, { status: 503 }))
  yield* Effect.promise(async () => {
    await gateway.connect("one", one, "chat", { models: ["m"] })
    await gateway.manage("PATCH", "/api/pricing", { one: { m: prices } })
    // An account that has failed is left out for a while: each endpoint has one of its own.
    for (const index of endpoints.keys()) {
      await gateway.connect(`down${index}`, two, "chat", { models: ["m"] })
      await gateway.combo(`both${index}`, `down${index}/m`, "one/m")
    }
  })
  return { gateway, one }
})

const formOf = (fields: Readonly<Record<string, unknown>>): FormData => {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value))
  form.append("file", file, "a.mp3")
  return form
}

describe("the headers of an answer", () => {
  it.scopedLive(
    "tell its cost on every endpoint, and how many targets failed before",
    () =>
      Effect.gen(function* () {
        const { gateway, one } = yield* setUp
        for (const [index, { answer, body, cost, isForm, path, tokens }] of endpoints.entries()) {
          one.always(answer)
          for (const [model, fallbacks] of [
            ["one/m", null],
            [`both${index}`, "1"]
          ] as const) {
            const name = `${path}, ${model}`
            const response = yield* Effect.promise(() =>
              isForm === true
                ? fetch(gateway.url + path, { method: "POST", body: formOf({ model, ...body }) })
                : gateway.post(path, { model, ...body })
            )
            const text = yield* Effect.promise(() => response.text())
            assert.strictEqual(response.status, 200, `${name}: ${text.slice(0, 300)}`)
            const header = (key: string): string | null => response.headers.get(`x-gateway-${key}`)
            assert.strictEqual(header("response-cost"), cost, name)
            assert.deepStrictEqual([header("tokens-in"), header("tokens-out")], [...tokens], name)
            assert.deepStrictEqual([header("provider"), header("model")], ["one", "m"], name)
            assert.match(header("latency-ms") ?? "", /^\d+$/, name)
            assert.strictEqual(header("cache-hit"), "false", name)
            assert.strictEqual(header("fallback-attempts"), fallbacks, name)
            assert.isNotNull(header("version"), name)
            const row = yield* Effect.promise(() => gateway.usageRow(header("request-id") ?? ""))
            assert.strictEqual(row.costUsd.toFixed(10), cost, name)
          }
        }
      }),
    60_000
  )
})
