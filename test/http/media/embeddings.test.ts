/** Embeddings over HTTP: every client's spelling, every provider's form, and more texts than a provider takes at once. */
import { assert, describe, it } from "@effect/vitest"
import { GoogleGenAI } from "@google/genai"
import { CohereClientV2 } from "cohere-ai"
import * as Effect from "effect/Effect"
import { encode } from "gpt-tokenizer/encoding/cl100k_base"
import { Ollama } from "ollama"
import OpenAI from "openai"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

/** The vector of a text: its length and its first letter. */
const vectorOf = (text: string): ReadonlyArray<number> => [text.length, text.charCodeAt(0) || 0]

/** Answers in the form of the endpoint that was asked. */
const answering: Fake.Answer = (response, request) => {
  const body = JSON.parse(request.body) as Record<string, unknown>
  if (request.url.endsWith("/v2/embed")) {
    const texts = body["texts"] as ReadonlyArray<string>
    const types = body["embedding_types"] as ReadonlyArray<string>
    const embeddings = Object.fromEntries(types.map((type) => [type, texts.map(vectorOf)]))
    const meta = { api_version: { version: "2" }, billed_units: { input_tokens: texts.length } }
    return Fake.json({ id: "e1", response_type: "embeddings_by_type", texts, embeddings, meta })(response, request)
  }
  if (request.url.endsWith(":batchEmbedContents")) {
    const requests = body["requests"] as ReadonlyArray<{ content: { parts: ReadonlyArray<{ text: string }> } }>
    const embeddings = requests.map(({ content }) => ({ values: vectorOf(content.parts[0]?.text ?? "") }))
    return Fake.json({ embeddings })(response, request)
  }
  const input = [body["input"]].flat() as unknown as ReadonlyArray<string>
  if (request.url.endsWith("/api/embed")) {
    return Fake.json({ model: "m", embeddings: input.map(vectorOf), prompt_eval_count: 2 })(response, request)
  }
  const data = input.map((text, index) => ({ object: "embedding", index, embedding: vectorOf(String(text)) }))
  const usage = { prompt_tokens: input.length, total_tokens: input.length }
  return Fake.json({ object: "list", model: "m", data, usage })(response, request)
}

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  upstream.always(answering)
  yield* Effect.promise(async () => {
    await gateway.connect("chat", upstream, "chat", { models: ["m"] })
    await gateway.connect("goo", upstream, "gemini", { models: ["m"] })
    await gateway.connect("runner", upstream, "ollama", { models: ["m"] })
    for (const provider of ["cohere", "voyage-ai"]) {
      await gateway.manage("POST", "/api/providers", {
        provider,
        name: provider,
        apiKey: "k",
        baseUrl: upstream.origin,
        models: ["m"]
      })
    }
  })
  return { gateway, upstream }
})

type SetUp = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

const texts = ["Hello", "a gateway"]
const vectors = texts.map(vectorOf)
const providers = ["chat", "goo", "runner", "cohere", "voyage-ai"] as const

describe("embeddings of every provider", () => {
  scenario("are had with Cohere's SDK", async ({ gateway, upstream }) => {
    const cohere = new CohereClientV2({ token: "any", environment: `${gateway.url}` })
    for (const provider of providers) {
      const answer = await cohere.embed({
        model: `${provider}/m`,
        texts,
        inputType: "search_query",
        embeddingTypes: ["float"]
      })
      assert.deepStrictEqual(answer.embeddings.float, vectors as Array<Array<number>>, provider)
      assert.deepStrictEqual(answer.texts, texts)
    }
    const bodies = upstream.requests.map(({ body }) => JSON.parse(body) as Record<string, unknown>)
    assert.deepInclude(bodies[1]?.["requests"], {
      model: "models/m",
      content: { parts: [{ text: "Hello" }] },
      taskType: "RETRIEVAL_QUERY"
    })
    assert.deepStrictEqual(bodies[3], {
      model: "m",
      texts,
      input_type: "search_query",
      embedding_types: ["float"]
    })
    assert.strictEqual(bodies[4]?.["input_type"], "query")
  })

  scenario("are had with Google's SDK", async ({ gateway, upstream }) => {
    const google = new GoogleGenAI({ apiKey: "any", httpOptions: { baseUrl: gateway.url } })
    for (const provider of providers) {
      const answer = await google.models.embedContent({
        model: `${provider}/m`,
        contents: texts,
        config: { taskType: "RETRIEVAL_DOCUMENT", outputDimensionality: 2 }
      })
      assert.deepStrictEqual(
        answer.embeddings?.map(({ values }) => values),
        vectors as Array<Array<number>>,
        provider
      )
    }
    const bodies = upstream.requests.map(({ body }) => JSON.parse(body) as Record<string, unknown>)
    assert.deepStrictEqual(bodies[0], { model: "m", input: texts, dimensions: 2, encoding_format: "float" })
    assert.deepInclude(bodies[3], { input_type: "search_document", output_dimension: 2 })
  })

  scenario("are had with Ollama's SDK, of one text and of several", async ({ gateway }) => {
    const ollama = new Ollama({ host: gateway.url })
    for (const provider of providers) {
      const { embeddings } = await ollama.embed({ model: `${provider}/m`, input: texts })
      assert.deepStrictEqual(embeddings, vectors as Array<Array<number>>, provider)
      const { embedding } = await ollama.embeddings({ model: `${provider}/m`, prompt: "Hello" })
      assert.deepStrictEqual(embedding, vectorOf("Hello") as Array<number>, provider)
      const plain = await gateway.post("/api/embed", { model: `${provider}/m`, input: texts })
      assert.isNull(plain.headers.get("x-gateway-dropped"), provider)
    }
  })

  scenario(
    "of one content come from :embedContent, and of more than texts only from Gemini",
    async ({ gateway, upstream }) => {
      const one = await gateway.post("/v1beta/models/chat/m:embedContent", { content: { parts: [{ text: "Hello" }] } })
      assert.deepInclude(await one.json(), { embedding: { values: vectorOf("Hello") } })
      const picture = { content: { parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }] }, title: "t" }
      assert.strictEqual((await gateway.post("/v1beta/models/goo/m:embedContent", picture)).status, 200)
      assert.deepStrictEqual(JSON.parse(upstream.requests[1]?.body ?? ""), {
        requests: [{ ...picture, model: "models/m" }]
      })
      const elsewhere = await gateway.post("/v1beta/models/chat/m:embedContent", picture)
      assert.strictEqual(elsewhere.status, 400)
      assert.match(
        ((await elsewhere.json()) as { error: { message: string } }).error.message,
        /no endpoint for this kind/
      )
    }
  )

  scenario("in other types than numbers come from Cohere only, untouched", async ({ gateway }) => {
    const asked = (provider: string) =>
      gateway.post("/v2/embed", { model: `${provider}/m`, texts, input_type: "clustering", embedding_types: ["int8"] })
    const answer = (await (await asked("cohere")).json()) as { embeddings: unknown }
    assert.deepStrictEqual(answer.embeddings, { int8: vectors })
    const refused = await asked("chat")
    assert.strictEqual(refused.status, 400)
    assert.isString(((await refused.json()) as { message: unknown }).message)
  })
})

describe("what LangChain sends by default", () => {
  scenario("token ids reach providers that take none as texts, named as mapped", async ({ gateway, upstream }) => {
    const input = texts.map((text) => encode(text))
    for (const provider of providers) {
      const answer = await gateway.post("/v1/embeddings", { model: `${provider}/m`, input, encoding_format: "base64" })
      assert.strictEqual(answer.status, 200, provider)
      const isMapped = provider !== "chat"
      assert.strictEqual(answer.headers.get("x-gateway-mapped"), isMapped ? "input" : null, provider)
      assert.isNull(answer.headers.get("x-gateway-dropped"), provider)
    }
    assert.deepStrictEqual((JSON.parse(upstream.requests[0]?.body ?? "") as { input: unknown }).input, input)
    assert.deepStrictEqual((JSON.parse(upstream.requests[2]?.body ?? "") as { input: unknown }).input, texts)
    assert.deepStrictEqual((JSON.parse(upstream.requests[3]?.body ?? "") as { texts: unknown }).texts, texts)
  })

  scenario("ids of another vocabulary are refused where texts are needed", async ({ gateway, upstream }) => {
    const refused = await gateway.post("/v1/embeddings", { model: "goo/m", input: [[999_999]] })
    assert.strictEqual(refused.status, 400)
    assert.match(await refused.text(), /cl100k_base/)
    assert.strictEqual(upstream.requests.length, 0)
    assert.strictEqual((await gateway.post("/v1/embeddings", { model: "goo/m", input: texts })).status, 200)
  })
})

describe("an answer with another number of vectors than texts", () => {
  scenario("is none: the next target is asked, and alone it is a 502", async ({ gateway, upstream }) => {
    upstream.always((response, request) =>
      request.url.endsWith("/v1/embeddings")
        ? Fake.json({ object: "list", model: "m", data: [{ index: 0, embedding: [1] }] })(response, request)
        : answering(response, request)
    )
    await gateway.combo("both", "chat/m", "runner/m")
    const answer = await gateway.post("/v1/embeddings", { model: "both", input: texts })
    assert.strictEqual(answer.status, 200)
    assert.lengthOf(((await answer.json()) as { data: ReadonlyArray<unknown> }).data, 2)
    const alone = await gateway.post("/v1/embeddings", { model: "chat/m", input: texts })
    assert.strictEqual(alone.status, 502)
    assert.match(await alone.text(), /result for each input/)
  })
})

describe("more texts than a provider takes at once", () => {
  const many = Array.from({ length: 250 }, (_, index) => `${String(index).padStart(3, "0")} text`)

  scenario("are asked for in parts, and answered as one", async ({ gateway, upstream }) => {
    await gateway.manage("PATCH", "/api/pricing", { cohere: { m: { input: 1, output: 0 } } })
    const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "any", maxRetries: 0 })
    const { data, response } = await openai.embeddings.create({ model: "cohere/m", input: many }).withResponse()
    assert.deepStrictEqual(
      data.data.map(({ embedding, index }) => [index, embedding]),
      many.map((text, index) => [index, vectorOf(text) as Array<number>])
    )
    assert.strictEqual(data.usage.prompt_tokens, 250)
    assert.deepStrictEqual(
      upstream.requests.map(({ body }) => (JSON.parse(body) as { texts: ReadonlyArray<string> }).texts.length),
      [96, 96, 58]
    )
    const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
    assert.deepInclude(row, { attempts: 1, costUsd: 0.00025, usageSource: "upstream" })
  })

  scenario(
    "go to the next provider as a whole when a part fails, and the parts before are paid",
    async ({ gateway, upstream }) => {
      await gateway.manage("PATCH", "/api/pricing", {
        cohere: { m: { input: 1, output: 0 } },
        chat: { m: { input: 2, output: 0 } }
      })
      await gateway.combo("both", "cohere/m", "chat/m")
      let calls = 0
      upstream.always((response, request) => {
        calls += 1
        return calls === 2
          ? Fake.json({ message: "overloaded" }, { status: 503 })(response, request)
          : answering(response, request)
      })
      const answer = await gateway.post("/v1/embeddings", { model: "both", input: many })
      assert.strictEqual(answer.status, 200)
      assert.lengthOf(((await answer.json()) as { data: ReadonlyArray<unknown> }).data, 250)
      assert.deepStrictEqual(
        upstream.requests.map(({ url }) => url),
        ["/v2/embed", "/v2/embed", "/v1/embeddings"]
      )
      const row = await gateway.usageRow(answer.headers.get("x-gateway-request-id") ?? "")
      // 96 texts at Cohere, all 250 at the other.
      assert.deepInclude(row, { provider: "chat", attempts: 2, costUsd: 0.000_096 + 0.0005 })
    }
  )
})

describe("a key for embeddings only", () => {
  scenario("may use every spelling of them, and no conversation", async ({ gateway }) => {
    const { secret } = await gateway.manage("POST", "/api/keys", { name: "e", allowedEndpoints: ["embeddings"] })
    const { secret: talker } = await gateway.manage("POST", "/api/keys", { name: "c", allowedEndpoints: ["chat"] })
    const content = { content: { parts: [{ text: "Hello" }] } }
    const asked = [
      ["/v1/embeddings", { model: "chat/m", input: "a" }],
      ["/v2/embed", { model: "chat/m", texts: ["a"] }],
      ["/api/embed", { model: "chat/m", input: "a" }],
      ["/api/embeddings", { model: "chat/m", prompt: "a" }],
      ["/v1beta/models/chat/m:embedContent", content],
      ["/v1beta/models/chat/m:batchEmbedContents", { requests: [content] }]
    ] as const
    for (const [path, body] of asked) {
      assert.strictEqual((await gateway.post(path, body, { authorization: `Bearer ${secret}` })).status, 200, path)
      assert.strictEqual((await gateway.post(path, body, { authorization: `Bearer ${talker}` })).status, 403, path)
    }
    const chat = await gateway.post(
      "/v1beta/models/chat/m:generateContent",
      { contents: [] },
      {
        authorization: `Bearer ${secret}`
      }
    )
    assert.strictEqual(chat.status, 403)
  })

  scenario("is told what is wrong in the words of its client", async ({ gateway, upstream }) => {
    const wrong = [
      ["/v2/embed", { model: "chat/m" }, /texts/],
      ["/v2/embed", { model: "chat/m", texts: ["a", 1] }, /texts/],
      ["/api/embed", { model: "chat/m", input: [1] }, /input/],
      ["/api/embeddings", { model: "chat/m" }, /prompt/],
      ["/v1beta/models/chat/m:embedContent", { content: { parts: [] } }, /content\.parts/],
      ["/v1beta/models/chat/m:batchEmbedContents", { requests: [{}] }, /requests\[0\]\.content/],
      ["/v1beta/models/chat/m:batchEmbedContents", { requests: [] }, /requests/]
    ] as const
    for (const [path, body, message] of wrong) {
      const answer = await gateway.post(path, body)
      assert.strictEqual(answer.status, 400, path)
      assert.match(await answer.text(), message)
    }
    assert.strictEqual(upstream.requests.length, 0)
  })
})
