/** What a plugin in its sandbox is given of requests that are no conversation, and of turns of a WebSocket; each payload against its published schema. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { RequestHook } from "../../../src/subjects/plugins/entity.ts"
import { PluginContext, pluginPayloads } from "../../../src/contract/domain/PluginPayload.ts"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { installPlugin, linesOf } from "../../support/RealPlugins.ts"
import { tavilyAnswer } from "../../support/Searches.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import * as Ws from "../ws/support.ts"

/** Writes what it is given, without the bodies: lines of a log are short. */
const writing = RequestHook.literals.map((hook) => `${hook}: (context, payload) => write(context, payload)`).join(", ")
const before = `const seen = (body) => (body === null || body === undefined ? null : { members: Object.keys(body).sort() })
const write = (context, payload) => console.info(JSON.stringify({
  context: Object.fromEntries(Object.keys(context).map((key) => [key, key === "body" ? seen(context.body) : context[key]])),
  payload: "body" in payload ? { ...payload, body: seen(payload.body) } : payload
}))`

interface Told {
  readonly context: typeof PluginContext.Type
  readonly payload: Readonly<Record<string, unknown>>
}

const toldIn = (line: string): Told => {
  const { context, payload } = JSON.parse(line)
  const exactly = { onExcessProperty: "error" } as const
  const read = Schema.decodeUnknownSync(PluginContext, exactly)(context)
  const schema: Schema.Schema.AnyNoContext = pluginPayloads[read.hook]
  return { context: read, payload: Schema.decodeUnknownSync(schema, exactly)(payload) }
}

const models = ["gpt-image-1", "tts-1", "whisper-1", "omni-moderation-latest", "text-embedding-3-small"]

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  const { origin } = upstream
  const connect = (provider: string, baseUrl: string, its: ReadonlyArray<string>) =>
    gateway.manage("POST", "/api/providers", { provider, name: provider, apiKey: "k", baseUrl, models: its })
  yield* Effect.promise(async () => {
    await connect("openai", `${origin}/v1`, models)
    await connect("cohere", origin, ["rerank-v3.5"])
    await connect("tavily", origin, [])
    const hooks = Object.fromEntries(RequestHook.literals.map((hook) => [hook, true]))
    await installPlugin(gateway, "witness", { manifest: { hooks }, before, members: writing })
  })
  /** What it was given of a request, as soon as the last of these hooks was called. */
  const told = async (id: string, hooks: ReadonlyArray<RequestHook>): Promise<ReadonlyArray<Told>> => {
    const all = await eventually(
      `${hooks.join(", ")} of ${id}`,
      async () => (await linesOf(gateway, "witness")).map(toldIn).filter(({ context }) => context.requestId === id),
      (found) => found.length >= hooks.length
    )
    assert.deepStrictEqual(all.map(({ context }) => context.hook).toSorted(), hooks.toSorted())
    return all
  }
  return { gateway, upstream, told }
})
type Room = Effect.Effect.Success<typeof setUp>

const whole: ReadonlyArray<RequestHook> = ["onRequest", "onModelSelect", "onResponse"]
const failing: ReadonlyArray<RequestHook> = ["onRequest", "onModelSelect", "onProviderError", "onError"]

interface Case {
  readonly name: string
  readonly endpoint: string
  readonly model: string
  readonly ask: (gateway: TestGateway.TestGateway) => Promise<Response>
  readonly answer: Fake.Answer
  /** Members of the request's body that a plugin sees, among others. */
  readonly members: ReadonlyArray<string>
  /** The answer is JSON, which a plugin can read. */
  readonly isRead: boolean
}

const form = (fields: Readonly<Record<string, string>>): FormData => {
  const made = new FormData()
  for (const [name, value] of Object.entries(fields)) made.append(name, value)
  made.append(
    "file",
    new Blob([new Uint8Array(Buffer.from("recording ".repeat(100)))], { type: "audio/mpeg" }),
    "a.mp3"
  )
  return made
}

const cases: ReadonlyArray<Case> = [
  {
    name: "pictures",
    endpoint: "images",
    model: "openai/gpt-image-1",
    ask: (gateway) => gateway.post("/v1/images/generations", { model: "openai/gpt-image-1", prompt: "A gate" }),
    answer: Fake.json({
      created: 5,
      data: [{ b64_json: Buffer.from("\u0089PNG\r\n\u001a\n----", "latin1").toString("base64") }]
    }),
    members: ["model", "prompt"],
    isRead: true
  },
  {
    name: "speech",
    endpoint: "speech",
    model: "openai/tts-1",
    ask: (gateway) => gateway.post("/v1/audio/speech", { model: "openai/tts-1", input: "Hi", voice: "alloy" }),
    answer: (response) => void response.writeHead(200, { "content-type": "audio/mpeg" }).end(Buffer.alloc(1_000, 7)),
    members: ["input", "voice"],
    isRead: false
  },
  {
    name: "transcriptions",
    endpoint: "transcriptions",
    model: "openai/whisper-1",
    ask: ({ url }) =>
      fetch(`${url}/v1/audio/transcriptions`, {
        method: "POST",
        body: form({ model: "openai/whisper-1", language: "en" })
      }),
    answer: Fake.json({ text: "Hello there" }),
    members: ["language", "model"],
    isRead: true
  },
  {
    name: "moderations",
    endpoint: "moderations",
    model: "openai/omni-moderation-latest",
    ask: (gateway) => gateway.post("/v1/moderations", { model: "openai/omni-moderation-latest", input: "Hi" }),
    answer: Fake.json({
      id: "m",
      model: "omni-moderation-latest",
      results: [{ flagged: false, categories: {}, category_scores: {} }]
    }),
    members: ["input"],
    isRead: true
  },
  {
    name: "embeddings",
    endpoint: "embeddings",
    model: "openai/text-embedding-3-small",
    ask: (gateway) => gateway.post("/v1/embeddings", { model: "openai/text-embedding-3-small", input: "Hi" }),
    answer: Fake.json({
      object: "list",
      model: "text-embedding-3-small",
      data: [{ object: "embedding", index: 0, embedding: [1, 2] }],
      usage: { prompt_tokens: 2, total_tokens: 2 }
    }),
    members: ["input"],
    isRead: true
  },
  {
    name: "rankings",
    endpoint: "rerank",
    model: "cohere/rerank-v3.5",
    ask: (gateway) =>
      gateway.post("/v1/rerank", { model: "cohere/rerank-v3.5", query: "What?", documents: ["One", "Two"] }),
    answer: Fake.json({
      id: "r",
      results: [{ index: 1, relevance_score: 0.9 }],
      meta: { api_version: { version: "2" }, billed_units: { search_units: 1 } }
    }),
    members: ["documents", "query"],
    isRead: true
  },
  {
    name: "searches",
    endpoint: "search",
    model: "search",
    ask: (gateway) => gateway.post("/v1/search", { query: "gateway" }),
    answer: Fake.json(tavilyAnswer),
    members: ["query"],
    isRead: true
  }
]

const scenario = (name: string, run: (room: Room) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

const idOf = (response: Response): string => response.headers.get("x-gateway-request-id") ?? ""

describe("a plugin is told of", () => {
  for (const { answer, ask, endpoint, isRead, members, model, name } of cases) {
    scenario(`${name}: what is answered and what fails`, async ({ gateway, told, upstream }) => {
      upstream.always(answer)
      const response = await ask(gateway)
      assert.strictEqual(response.status, 200, await response.clone().text())
      await response.arrayBuffer()
      const answered = await told(idOf(response), whole)
      for (const { context } of answered) assert.deepInclude(context, { endpoint, model, stream: false })
      const first = answered.find(({ context }) => context.hook === "onRequest")
      assert.includeMembers([...((first?.context.body?.["members"] as ReadonlyArray<string>) ?? [])], [...members])
      const last = answered.find(({ context }) => context.hook === "onResponse")
      assert.strictEqual(last?.payload["body"] !== null, isRead)
      assert.deepInclude(last?.payload, { status: 200, streamed: false })

      upstream.always(Fake.json({ error: { message: "no such thing" } }, { status: 400 }))
      const failed = await ask(gateway)
      assert.isAtLeast(failed.status, 400)
      const told400 = await told(idOf(failed), failing)
      assert.deepInclude(told400.find(({ context }) => context.hook === "onError")?.payload, { status: failed.status })
    })
  }

  it.scopedLive("turns of a WebSocket, each as a request of its own", () =>
    Effect.gen(function* () {
      const { gateway, told, upstream } = yield* setUp
      yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
      upstream.always(Fake.sse(Fake.chatStream(["Hello", " there"])))
      const client = yield* Ws.open(gateway)
      for (let turn = 0; turn < 2; turn += 1) {
        client.send({ type: "response.create", model: "up/m", input: "Hi" })
        const frames = yield* Effect.promise(() => client.turn())
        assert.strictEqual(frames.at(-1)?.type, "response.completed", JSON.stringify(frames.at(-1)))
      }
      yield* Effect.promise(async () => {
        const rows = await eventually(
          "two rows",
          async () => (await gateway.manage("GET", "/api/usage/logs?limit=10")).logs,
          (found) => found.length === 2
        )
        for (const { requestId } of rows) {
          const all = await told(requestId, [...whole, "onStreamStart", "onStreamEnd"])
          for (const { context } of all)
            assert.deepInclude(context, { wire: "responses", endpoint: "chat", stream: true, model: "up/m" })
        }
      })
    })
  )
})

describe("a plugin changes", () => {
  scenario("what is searched for, as the client writes it, and not who is asked", async ({ gateway, upstream }) => {
    upstream.always(Fake.json(tavilyAnswer))
    await installPlugin(gateway, "changing", {
      manifest: { hooks: { onRequest: true } },
      members: `onRequest: ({ body }) => modifyBody(body.query === "one" ? { ...body, query: "other", max_results: 2 } : JSON.parse(body.query))`
    })
    const good = await gateway.post("/v1/search", { query: "one" })
    assert.strictEqual(good.status, 200, await good.text())
    assert.deepInclude(JSON.parse(upstream.requests.at(-1)?.body ?? ""), { query: "other", max_results: 2 })
    const asked = upstream.requests.length
    const wrong: ReadonlyArray<object> = [
      {},
      { query: "" },
      { query: 5 },
      { search: { query: "own" } },
      { query: "other", max_results: 1e9 },
      { query: "other", provider: "tavily" },
      { query: "other", provider: "nothing" }
    ]
    for (const body of wrong) {
      const query = JSON.stringify(body)
      const response = await gateway.post("/v1/search", { query })
      assert.strictEqual(response.status, 400, `${query}: ${await response.text()}`)
    }
    assert.strictEqual(upstream.requests.length, asked)
  })

  scenario("what was found, as far as it can be shown", async ({ gateway, upstream }) => {
    upstream.always(Fake.json(tavilyAnswer))
    await installPlugin(gateway, "answering", {
      manifest: { hooks: { onRequest: true, onResponse: true } },
      members: `onRequest: ({ body }) => addMetadata({ query: body.query }),
      onResponse: ({ metadata: { query } }, { body }) => ({ body: { ...body, results: body.results.slice(0, 1).map((each) => ({ ...each, ...JSON.parse(query) })) } })`
    })
    const found = async (change: object) => {
      const response = await gateway.post("/v1/search", { query: JSON.stringify(change) })
      assert.strictEqual(response.status, 200, await response.clone().text())
      const { results } = (await response.json()) as { results: ReadonlyArray<object> }
      return { results, by: response.headers.get("x-gateway-plugins") }
    }
    const changed = await found({ title: "Changed" })
    assert.strictEqual(changed.results.length, 1)
    assert.deepInclude(changed.results[0], { title: "Changed", url: "https://example.com/gateways" })
    assert.strictEqual(changed.by, "answering")
    for (const wrong of [{ url: "nowhere" }, { url: "javascript:alert(1)" }, { title: { a: 1 } }]) {
      const original = await found(wrong)
      assert.strictEqual(original.results.length, 2, JSON.stringify(wrong))
      assert.isNull(original.by)
    }
  })
})

const searchAnswer = (results: number) => ({
  id: "own",
  object: "search",
  provider: "answering",
  query: "own",
  results: Array.from({ length: results }, (_, at) => ({
    title: "Own",
    url: `https://example.com/${at}`,
    display_url: "example.com",
    snippet: "Of a list of its own.",
    position: at + 1,
    score: null,
    published_at: null,
    favicon_url: null,
    content: null,
    metadata: {},
    citation: { provider: "answering", retrieved_at: "2035-01-01T00:00:00.000Z", rank: at + 1 }
  })),
  answer: null,
  usage: { queries_used: 0, search_cost_usd: 0, llm_tokens: 0 },
  metrics: { response_time_ms: 0, upstream_latency_ms: null, total_results_available: null },
  cached: false,
  errors: []
})

interface OwnAnswer {
  readonly name: string
  readonly path: string
  readonly body: object
  /** What its client can read. */
  readonly own: object | null
}

const completion = Fake.chatCompletion({ text: "Of a conversation" })

const said = [{ role: "user", content: "Hi" }]
const ownAnswers: ReadonlyArray<OwnAnswer> = [
  { name: "a search", path: "/v1/search", body: { query: "own" }, own: searchAnswer(2) },
  {
    name: "a picture",
    path: "/v1/images/generations",
    body: { model: "openai/gpt-image-1", prompt: "own" },
    own: { created: 5, data: [{ b64_json: "AAAA" }] }
  },
  {
    name: "a film",
    path: "/v1/videos/generations",
    body: { model: "openai/sora-2", prompt: "own" },
    own: { id: "own", status: "completed", data: [{ url: "https://example.com/own.mp4" }] }
  },
  {
    name: "speech",
    path: "/v1/audio/speech",
    body: { model: "openai/tts-1", input: "own", voice: "alloy" },
    own: null
  },
  {
    name: "a moderation",
    path: "/v1/moderations",
    body: { model: "openai/omni-moderation-latest", input: "own" },
    own: { id: "own", model: "own", results: [{ flagged: true, categories: {}, category_scores: {} }] }
  },
  {
    name: "an embedding",
    path: "/v1/embeddings",
    body: { model: "openai/text-embedding-3-small", input: "own" },
    own: { object: "list", model: "own", data: [{ object: "embedding", index: 0, embedding: [1, 2] }] }
  },
  {
    name: "an embedding for Cohere's client",
    path: "/v2/embed",
    body: { model: "openai/text-embedding-3-small", texts: ["own"], input_type: "search_query" },
    own: { id: "own", embeddings: { float: [[1, 2]] }, texts: ["own"] }
  },
  {
    name: "an embedding for Gemini's client",
    path: "/v1beta/models/openai/text-embedding-3-small:embedContent",
    body: { content: { parts: [{ text: "own" }] } },
    own: { embedding: { values: [1, 2] } }
  },
  {
    name: "embeddings for Gemini's client",
    path: "/v1beta/models/openai/text-embedding-3-small:batchEmbedContents",
    body: { requests: [{ content: { parts: [{ text: "own" }] } }] },
    own: { embeddings: [{ values: [1, 2] }] }
  },
  {
    name: "an embedding for Ollama's client",
    path: "/api/embed",
    body: { model: "openai/text-embedding-3-small", input: "own" },
    own: { model: "own", embeddings: [[1, 2]] }
  },
  {
    name: "an embedding for Ollama's older client",
    path: "/api/embeddings",
    body: { model: "openai/text-embedding-3-small", prompt: "own" },
    own: { embedding: [1, 2] }
  },
  {
    name: "a ranking",
    path: "/v1/rerank",
    body: { model: "cohere/rerank-v3.5", query: "own", documents: ["One", "Two"] },
    own: { id: "own", model: "own", results: [{ index: 1, relevance_score: 0.9 }] }
  },
  {
    name: "a count of tokens",
    path: "/v1/messages/count_tokens",
    body: { model: "openai/gpt-4o", messages: said },
    own: { input_tokens: 5 }
  },
  {
    name: "a count of tokens for Gemini's client",
    path: "/v1beta/models/openai/gpt-4o:countTokens",
    body: { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
    own: { totalTokens: 5 }
  },
  {
    name: "a count of tokens for a client of responses",
    path: "/v1/responses/input_tokens",
    body: { model: "openai/gpt-4o", input: "Hi" },
    own: { object: "response.input_tokens", input_tokens: 5 }
  }
]

/** Answers with what the header says. */
const told = `onRequest: ({ headers }) => headers["x-own"] === undefined ? undefined : blockRequest({ body: JSON.parse(headers["x-own"]) })`

const answeringRoom = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  yield* Effect.promise(async () => {
    const { origin } = upstream
    for (const [provider, baseUrl] of [
      ["openai", `${origin}/v1`],
      ["cohere", origin],
      ["tavily", origin]
    ])
      await gateway.manage("POST", "/api/providers", { provider, name: provider, apiKey: "k", baseUrl })
    await installPlugin(gateway, "answering", { manifest: { hooks: { onRequest: true } }, members: told })
  })
  const ask = ({ body, path }: OwnAnswer, own: object) =>
    fetch(gateway.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", "x-own": JSON.stringify(own) },
      body: JSON.stringify(body)
    })
  const row = (response: Response) =>
    eventually(
      "the row",
      async () =>
        (await gateway.manage("GET", "/api/usage/logs?limit=200")).logs.find(
          ({ requestId }: { requestId: string }) => requestId === idOf(response)
        ),
      (found) => found !== undefined
    )
  return { ask, row, upstream }
})

describe("a plugin answers", () => {
  it.scopedLive("what is not a conversation in the form of its endpoint, and in no other", () =>
    Effect.flatMap(answeringRoom, ({ ask, row, upstream }) =>
      Effect.promise(async () => {
        for (const asked of ownAnswers) {
          const { name, own } = asked
          if (own !== null) {
            const response = await ask(asked, own)
            assert.strictEqual(response.status, 200, `${name}: ${await response.clone().text()}`)
            assert.deepStrictEqual(await response.json(), own, name)
            assert.strictEqual(response.headers.get("x-gateway-plugins"), "answering", name)
            assert.deepInclude(await row(response), { status: 200, outcome: "completed", costUsd: 0 }, name)
          }
          for (const wrong of [completion, {}, { results: [{}] }]) {
            const response = await ask(asked, wrong)
            const text = await response.text()
            assert.strictEqual(response.status, 403, `${name}: ${text}`)
            assert.include(text, "cannot be read in its format", name)
            assert.strictEqual(response.headers.get("x-gateway-plugins"), "answering", name)
            assert.deepInclude(await row(response), { status: 403, outcome: "failed", costUsd: 0 }, name)
          }
        }
        assert.strictEqual(upstream.requests.length, 0)
      })
    )
  )
})
