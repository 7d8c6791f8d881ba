/** Ranking and moderation over HTTP: providers of different forms behind one address. */
import { assert, describe, it } from "@effect/vitest"
import { CohereClientV2 } from "cohere-ai"
import * as Effect from "effect/Effect"
import OpenAI from "openai"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const cohere = yield* Fake.start
  const voyage = yield* Fake.start
  const connect = (provider: string, baseUrl: string, models: ReadonlyArray<string>) =>
    Effect.promise(() =>
      gateway.manage("POST", "/api/providers", { provider, name: provider, apiKey: "k", baseUrl, models })
    )
  yield* connect("cohere", cohere.origin, ["rerank-v3.5", "embed-v4.0"])
  yield* connect("voyage-ai", voyage.origin, ["rerank-2.5"])
  return { gateway, cohere, voyage }
})

type SetUp = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

const documents = ["Bread is baked.", "A gateway passes requests on."]
const question = { query: "What is a gateway?", documents }

const cohereAnswer = Fake.json({
  id: "r1",
  results: [
    { index: 1, relevance_score: 0.98 },
    { index: 0, relevance_score: 0.01 }
  ],
  meta: { api_version: { version: "2" }, billed_units: { search_units: 1 } }
})
const voyageAnswer = Fake.json({
  object: "list",
  data: [
    { relevance_score: 0.9, index: 1 },
    { relevance_score: 0.2, index: 0 }
  ],
  model: "rerank-2.5",
  usage: { total_tokens: 26 }
})

describe("POST /v1/rerank", () => {
  scenario("asks Cohere at its own path and answers in one form", async ({ cohere, gateway }) => {
    cohere.always(cohereAnswer)
    for (const path of ["/v1/rerank", "/rerank", "/v2/rerank"]) {
      const response = await gateway.post(path, { model: "cohere/rerank-v3.5", ...question, top_n: 1 })
      assert.strictEqual(response.status, 200)
      assert.strictEqual(response.headers.get("x-gateway-provider"), "cohere")
      assert.isNotNull(response.headers.get("x-gateway-response-cost"))
      const { results } = (await response.json()) as { results: unknown }
      assert.deepStrictEqual(results, [{ index: 1, relevance_score: 0.98 }])
    }
    const [asked] = cohere.requests
    assert.strictEqual(asked?.url, "/v2/rerank")
    assert.strictEqual(asked?.headers.authorization, "Bearer k")
    assert.deepStrictEqual(JSON.parse(asked?.body ?? ""), { ...question, model: "rerank-v3.5", top_n: 1 })
  })

  scenario("is had with Cohere's SDK, whatever the provider's form", async ({ cohere, gateway, voyage }) => {
    cohere.always(cohereAnswer)
    voyage.always(voyageAnswer)
    const sdk = new CohereClientV2({ token: "any", environment: gateway.url })
    for (const [model, scores] of [
      ["cohere/rerank-v3.5", [0.98, 0.01]],
      ["voyage-ai/rerank-2.5", [0.9, 0.2]]
    ] as const) {
      const { results } = await sdk.rerank({ model, ...question, topN: 2 })
      assert.deepStrictEqual(
        results.map(({ index, relevanceScore }) => [index, relevanceScore]),
        [
          [1, scores[0]],
          [0, scores[1]]
        ]
      )
    }
    assert.strictEqual(JSON.parse(voyage.requests[0]?.body ?? "").top_k, 2)
  })

  scenario("costs its search units where they have a price", async ({ cohere, gateway }) => {
    cohere.always(cohereAnswer)
    const pricing = async (price: object): Promise<number> => {
      const response = await fetch(`${gateway.url}/api/pricing`, {
        method: "PATCH",
        headers: { authorization: `Bearer ${TestGateway.adminKey}`, "content-type": "application/json" },
        body: JSON.stringify({ cohere: { "rerank-v3.5": price } })
      })
      return response.status
    }
    for (const wrong of [{}, { input: 1, perSearchUnit: 0.002 }, { perSearchUnit: -1 }, { perSearchUnit: null }]) {
      assert.strictEqual(await pricing(wrong), 400, JSON.stringify(wrong))
    }
    assert.strictEqual(await pricing({ perSearchUnit: 0.002 }), 200)
    const response = await gateway.post("/v1/rerank", { model: "cohere/rerank-v3.5", ...question })
    assert.strictEqual(response.headers.get("x-gateway-response-cost"), "0.0020000000")
    const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
    assert.deepInclude(row, { costUsd: 0.002, priced: true, usageSource: "upstream" })
    const { entries } = (await gateway.manage("GET", "/api/usage/ledger?limit=1")) as {
      entries: ReadonlyArray<{ price: unknown }>
    }
    assert.deepInclude(entries[0]?.price, { input: 0, perSearchUnit: 0.002 })
  })

  scenario("goes on at a provider of another form, with one usage row", async ({ cohere, gateway, voyage }) => {
    await gateway.manage("POST", "/api/combos", {
      name: "rankers",
      strategy: "priority",
      targets: [{ model: "cohere/rerank-v3.5" }, { model: "voyage-ai/rerank-2.5" }]
    })
    cohere.always(Fake.json({ message: "overloaded" }, { status: 503 }))
    voyage.always(voyageAnswer)
    const response = await gateway.post("/v1/rerank", { model: "rankers", ...question, return_documents: true })
    assert.strictEqual(response.status, 200)
    assert.strictEqual(response.headers.get("x-gateway-fallback-attempts"), "1")
    assert.deepStrictEqual(((await response.json()) as { results: unknown }).results, [
      { index: 1, relevance_score: 0.9, document: { text: documents[1] } },
      { index: 0, relevance_score: 0.2, document: { text: documents[0] } }
    ])
    assert.strictEqual(voyage.requests[0]?.url, "/v1/rerank")
    const row = await gateway.usageRow(response.headers.get("x-gateway-request-id") ?? "")
    assert.deepInclude(row, { outcome: "completed", provider: "voyage-ai", model: "rerank-2.5", attempts: 2 })
  })

  scenario("refuses what is no question, and asks nobody", async ({ cohere, gateway }) => {
    const response = await gateway.post("/v1/rerank", { model: "cohere/rerank-v3.5", query: "q", documents: [1] })
    assert.strictEqual(response.status, 400)
    assert.strictEqual(((await response.json()) as { error: { param: string } }).error.param, "documents[0]")
    assert.strictEqual(cohere.requests.length, 0)
  })

  scenario("says that a provider of another kind has no such endpoint", async ({ gateway, voyage }) => {
    const nodes = { name: "n", prefix: "claude-like", type: "anthropic-compatible", baseUrl: `${voyage.origin}/v1` }
    await gateway.manage("POST", "/api/provider-nodes", nodes)
    await gateway.manage("POST", "/api/providers", { provider: "claude-like", name: "c", apiKey: "k", models: ["m"] })
    const response = await gateway.post("/v1/rerank", { model: "claude-like/m", ...question })
    assert.strictEqual(response.status, 400)
    assert.match(((await response.json()) as { error: { message: string } }).error.message, /no endpoint for this kind/)
  })

  scenario("goes where a node says", async ({ gateway, voyage }) => {
    voyage.always(cohereAnswer)
    await gateway.manage("POST", "/api/provider-nodes", {
      name: "own",
      prefix: "own",
      type: "openai-compatible",
      baseUrl: `${voyage.origin}/v1`,
      mediaPaths: { rerank: "/ranking/now" }
    })
    await gateway.manage("POST", "/api/providers", { provider: "own", name: "own", apiKey: "k", models: ["m"] })
    assert.strictEqual((await gateway.post("/v1/rerank", { model: "own/m", ...question })).status, 200)
    assert.strictEqual(voyage.requests[0]?.url, "/v1/ranking/now")
  })
})

describe("POST /v1/embeddings", () => {
  scenario("asks Cohere for texts in its own form", async ({ cohere, gateway }) => {
    cohere.always(
      Fake.json({ id: "e", embeddings: { float: [[0.25, -0.5]] }, meta: { billed_units: { input_tokens: 3 } } })
    )
    const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "any", maxRetries: 0 })
    const answer = await openai.embeddings.create({ model: "cohere/embed-v4.0", input: "Hello", dimensions: 2 })
    assert.deepStrictEqual(answer.data[0]?.embedding, [0.25, -0.5])
    assert.strictEqual(answer.usage.prompt_tokens, 3)
    const [asked] = cohere.requests
    assert.strictEqual(asked?.url, "/v2/embed")
    assert.deepStrictEqual(JSON.parse(asked?.body ?? ""), {
      input_type: "search_document",
      model: "embed-v4.0",
      texts: ["Hello"],
      embedding_types: ["float"],
      output_dimension: 2
    })
  })
})

describe("POST /v1/moderations", () => {
  scenario("is what the official SDK expects, costs nothing and has a row", async ({ gateway, voyage }) => {
    const results = [{ flagged: true, categories: { violence: true }, category_scores: { violence: 0.9 } }]
    voyage.always(Fake.json({ id: "modr-1", model: "omni-moderation-latest", results }))
    const baseUrl = `${voyage.origin}/v1`
    await gateway.manage("POST", "/api/providers", {
      provider: "openai",
      name: "openai",
      apiKey: "k",
      baseUrl,
      models: ["omni-moderation-latest"]
    })
    const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "any", maxRetries: 0 })
    for (const model of ["openai/omni-moderation-latest", undefined]) {
      const { data, response } = await openai.moderations
        .create({ input: ["I will hit you"], ...(model === undefined ? {} : { model }) })
        .withResponse()
      assert.strictEqual(data.results[0]?.flagged, true)
      assert.strictEqual(data.id, "modr-1")
      assert.strictEqual(response.headers.get("x-gateway-response-cost"), "0.0000000000")
    }
    assert.strictEqual(voyage.requests[0]?.url, "/v1/moderations")
    assert.deepStrictEqual(JSON.parse(voyage.requests[0]?.body ?? ""), {
      model: "omni-moderation-latest",
      input: ["I will hit you"]
    })
  })

  scenario("refuses an input that is none", async ({ gateway }) => {
    for (const input of [null, 5, [], [5], [{}]]) {
      const response = await gateway.post("/v1/moderations", { model: "openai/omni-moderation-latest", input })
      assert.strictEqual(response.status, 400, JSON.stringify(input))
    }
  })
})
