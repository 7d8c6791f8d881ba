/** Every client wire over HTTP: its routes in all spellings, its listings, its errors. Translation itself is tested with the codecs. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  upstream.always(async (response, request) => {
    const stream = (JSON.parse(request.body) as { stream?: boolean }).stream === true
    const answer = stream
      ? Fake.sse(Fake.chatStream(["Bon", "jour"]))
      : Fake.json(Fake.chatCompletion({ text: "Bonjour" }))
    await answer(response, request)
  })
  yield* Effect.promise(() => gateway.connect("up", upstream, "chat", { models: ["org/m", "m"] }))
  return { gateway, upstream }
})

const gemini = { contents: [{ role: "user", parts: [{ text: "Hi" }] }] }
const ollama = { model: "up/m", messages: [{ role: "user", content: "Hi" }] }

const cases: ReadonlyArray<readonly [path: string, body: unknown, holds: RegExp]> = [
  ["/chat/completions", { ...ollama }, /"content":"Bonjour"/],
  ["/v1/messages?beta=true", { ...ollama, max_tokens: 9 }, /"text":"Bonjour"/],
  ["/v1/responses", { model: "up/m", input: "Hi" }, /"type":"output_text".*Bonjour/],
  ["/responses", { model: "up/m", input: "Hi", stream: true }, /event: response\.completed/],
  ["/api/v1/responses", { model: "up/m", input: [{ role: "user", content: "Hi" }] }, /Bonjour/],
  ["/v1beta/models/up/m:generateContent", gemini, /"text":"Bonjour"/],
  ["/v1beta/models/up%2Fm:generateContent", gemini, /"text":"Bonjour"/],
  ["/v1beta/up/org/m:generateContent", gemini, /"text":"Bonjour"/],
  ["/v1beta/models/up/m:streamGenerateContent?alt=sse", gemini, /"finishReason":"STOP"/],
  ["/v1beta/models/up/m:countTokens", gemini, /"totalTokens":\d+/],
  ["/api/chat", ollama, /"done":true/],
  ["/v1/api/chat", { ...ollama, stream: false }, /"content":"Bonjour".*"done":true/],
  ["/api/chat", { model: "up/m", messages: [] }, /"done_reason":"load"/],
  ["/api/generate", { model: "up/m", prompt: "Hi", stream: false }, /"response":"Bonjour"/],
  ["/api/show", { model: "up/m" }, /"capabilities":\["completion"/],
  ["/v1/messages/count_tokens", ollama, /^\{"input_tokens":\d+\}$/]
]

describe("client wires", () => {
  for (const [path, body, holds] of cases) {
    it.scopedLive(`POST ${path} ${JSON.stringify(body).slice(0, 60)}`, () =>
      Effect.gen(function* () {
        const { gateway } = yield* setUp
        yield* Effect.promise(async () => {
          const response = await gateway.post(path, body)
          const text = await response.text()
          assert.strictEqual(response.status, 200, text)
          assert.match(text, holds)
        })
      })
    )
  }

  it.scopedLive("streams to Ollama clients are lines of JSON", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp
      yield* Effect.promise(async () => {
        const response = await gateway.post("/api/chat", ollama)
        assert.include(response.headers.get("content-type"), "application/x-ndjson")
        const lines = (await response.text()).trim().split("\n")
        assert.isAbove(lines.length, 1)
        for (const line of lines) JSON.parse(line)
      })
    })
  )

  it.scopedLive("listings speak each wire's own words", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp
      yield* Effect.promise(async () => {
        const get = async (path: string): Promise<unknown> => (await fetch(gateway.url + path)).json()
        const names = (list: unknown, key: string): ReadonlyArray<unknown> =>
          (list as ReadonlyArray<Record<string, unknown>>).map((entry) => entry[key])
        const { models } = (await get("/v1beta/models")) as { models: unknown }
        assert.includeMembers([...names(models, "name")], ["models/up/m"])
        for (const path of ["/api/tags", "/v1/api/tags"]) {
          const tags = (await get(path)) as { models: unknown }
          assert.includeMembers([...names(tags.models, "name")], ["up/m", "up/org/m"])
        }
        assert.match(JSON.stringify(await get("/api/version")), /^\{"version":"\d/)
        assert.include(JSON.stringify(await get("/v1beta/models/up/org/m")), '"name":"models/up/org/m"')
        assert.include(JSON.stringify(await get("/v1/models/up/org/m")), '"id":"up/org/m"')
        assert.strictEqual((await fetch(`${gateway.url}/v1/models/nobody/m`)).status, 404)
      })
    })
  )

  it.scopedLive("what is declared about a model wins, and a hidden one is listed nowhere but still answers", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp
      const claude = yield* Fake.start
      claude.always(Fake.json(Fake.messagesAnswer()))
      yield* Effect.promise(async () => {
        const declare = (provider: string, modelId: string, more: object) =>
          gateway.manage("POST", "/api/provider-models", { provider, modelId, ...more })
        await declare("up", "m", { name: "Em", contextLength: 1234, maxOutputTokens: 77 })
        await declare("up", "extra", { contextLength: 5 })
        await declare("up", "org/m", { hidden: true })
        const { data } = (await (await fetch(`${gateway.url}/v1/models`)).json()) as {
          data: ReadonlyArray<{ id: string } & Record<string, unknown>>
        }
        const listed = new Map<string, Record<string, unknown>>(data.map((entry) => [entry.id, entry]))
        assert.deepInclude(listed.get("up/m"), { display_name: "Em", context_length: 1234, max_output_tokens: 77 })
        assert.deepInclude(listed.get("up/extra"), { context_length: 5 })
        assert.isFalse(listed.has("up/org/m"))
        assert.strictEqual((await gateway.post("/v1/chat/completions", { ...ollama, model: "up/org/m" })).status, 200)
        await gateway.connect("anthropics", claude, "messages")
        await declare("anthropics", "m", { maxOutputTokens: 4321 })
        await gateway.post("/v1/chat/completions", { ...ollama, model: "anthropics/m" })
        assert.strictEqual(JSON.parse(claude.requests[0]!.body).max_tokens, 4321)
      })
    })
  )

  it.scopedLive("errors have each wire's own shape", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp
      yield* Effect.promise(async () => {
        const failed = async (path: string, body: unknown) => {
          const response = await gateway.post(path, body)
          return { status: response.status, body: JSON.stringify(await response.json()) }
        }
        const onGemini = await failed("/v1beta/models/nobody/m:generateContent", gemini)
        assert.strictEqual(onGemini.status, 404)
        assert.match(onGemini.body, /"code":404.*"status":"NOT_FOUND"/)
        const onOllama = await failed("/api/chat", { ...ollama, model: "nobody/m" })
        assert.strictEqual(onOllama.status, 404)
        assert.match(onOllama.body, /^\{"error":"/)
        const onResponses = await failed("/v1/responses", { model: "nobody/m", input: "Hi" })
        assert.strictEqual(onResponses.status, 404)
        assert.match(onResponses.body, /"code":"model_not_found"/)
        assert.strictEqual((await failed("/v1beta/models/up/m", gemini)).status, 400)
      })
    })
  )

  it.scopedLive("a free-form tool of a responses client works on a messages upstream", () =>
    Effect.gen(function* () {
      const { gateway } = yield* setUp
      const claude = yield* Fake.start
      const call = { id: "toolu_1", name: "apply_patch", arguments: '{"input":"*** Begin Patch"}' }
      claude.always(Fake.json(Fake.messagesAnswer({ toolCalls: [call] })))
      yield* Effect.promise(async () => {
        await gateway.connect("anthropics", claude, "messages")
        const tools = [{ type: "custom", name: "apply_patch", description: "Edits files" }]
        const response = await gateway.post("/v1/responses", { model: "anthropics/m", input: "Edit", tools })
        const { output } = (await response.json()) as { output: ReadonlyArray<Record<string, unknown>> }
        assert.deepInclude(
          output.find((item) => item["type"] === "custom_tool_call"),
          {
            name: "apply_patch",
            input: "*** Begin Patch"
          }
        )
        const sent = JSON.parse(claude.requests[0]!.body)
        assert.deepStrictEqual(Object.keys(sent.tools[0].input_schema.properties), ["input"])
      })
    })
  )
})
