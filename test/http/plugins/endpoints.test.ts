/** What a plugin in its sandbox is given of requests that are no conversation, and of turns of a WebSocket; each payload against its published schema. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { SearchAnswer } from "../../../src/api/compat/Search.ts"
import { RequestHook } from "../../../src/domain/Plugin.ts"
import { PluginContext, pluginPayloads } from "../../../src/domain/PluginPayload.ts"
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

  scenario(
    "what was found, and a picture and a search into its own; what cannot be read refuses the search",
    async ({ gateway, upstream }) => {
      upstream.always(Fake.json(tavilyAnswer))
      await installPlugin(gateway, "answering", {
        manifest: { hooks: { onRequest: true, onResponse: true } },
        members: `onRequest: ({ body }) => body.query?.startsWith("own ") ? blockRequest({ status: 200, body: JSON.parse(body.query.slice(4)) })
          : body.prompt === "own" ? blockRequest({ body: { created: 5, data: [{ b64_json: "AAAA" }] } }) : undefined,
        onResponse: (_, { body }) => ({ body: { ...body, results: body.results.slice(0, 1).map((each) => ({ ...each, title: "Changed" })) } })`
      })
      const own = (body: object) => gateway.post("/v1/search", { query: `own ${JSON.stringify(body)}` })
      for (const body of [
        {},
        { results: {} },
        { results: [{ title: "No address" }] },
        { results: [{ url: "file:///etc" }] }
      ]) {
        const refused = await own(body)
        assert.strictEqual(refused.status, 403, await refused.text())
      }
      const result = { title: "Mine", url: "https://example.com/mine", snippet: "Here.", published_at: "2035-01-01" }
      const found = await own({ results: [result], answer: "It is here." })
      assert.strictEqual(found.status, 200)
      assert.strictEqual(found.headers.get("x-gateway-plugins"), "answering")
      const read = Schema.decodeUnknownSync(SearchAnswer)(await found.json())
      assert.deepInclude(read, { provider: "plugin", answer: "It is here." })
      assert.deepInclude(read.usage, { search_cost_usd: 0 })
      assert.deepInclude(read.results[0], { ...result, display_url: "example.com/mine", position: 1 })
      const row = await gateway.usageRow(found.headers.get("x-gateway-request-id") ?? "")
      assert.deepInclude(row, { outcome: "completed", status: 200, costUsd: 0, provider: null })
      const picture = await gateway.post("/v1/images/generations", { model: "openai/gpt-image-1", prompt: "own" })
      assert.strictEqual(picture.status, 200)
      assert.deepStrictEqual(await picture.json(), { created: 5, data: [{ b64_json: "AAAA" }] })
      assert.strictEqual(upstream.requests.length, 0)
      const changed = await gateway.post("/v1/search", { query: "other" })
      const { results } = (await changed.json()) as { results: ReadonlyArray<object> }
      assert.strictEqual(results.length, 1)
      assert.deepInclude(results[0], { title: "Changed", url: "https://example.com/gateways" })
      assert.strictEqual(changed.headers.get("x-gateway-plugins"), "answering")
    }
  )
})
