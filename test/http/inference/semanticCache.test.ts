/** The semantic cache over HTTP: the same question in other words, and what is never taken for one. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { eventuallyFound } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const chat = "/v1/chat/completions"

/** Texts about France lie in one direction, all others in another one. */
const vectorOf = (text: string): ReadonlyArray<number> => (text.includes("France") ? [1, 0.1] : [0, 1])

const embeddings: Fake.Answer = (response, request) => {
  const { input } = JSON.parse(request.body) as { input: ReadonlyArray<string> }
  const data = input.map((text, index) => ({ object: "embedding", index, embedding: vectorOf(text) }))
  const usage = { prompt_tokens: 10, total_tokens: 10 }
  return Fake.json({ object: "list", model: "e", data, usage })(response, request)
}

const answering: Fake.Answer = (response, request) => {
  const { stream } = JSON.parse(request.body) as { stream?: boolean }
  const answer = stream ? Fake.sse(Fake.chatStream(["Par", "is"])) : Fake.json(Fake.chatCompletion({ text: "Paris" }))
  return answer(response, request)
}

const semantic = { enabled: true, model: "emb/e", threshold: 0.9 }

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  const embedder = yield* Fake.start
  upstream.always(answering)
  embedder.always(embeddings)
  const keys = yield* Effect.promise(async () => {
    await gateway.connect("up", upstream, "chat", { models: ["m"] })
    await gateway.connect("emb", embedder, "chat", { models: ["e"] })
    await gateway.manage("PATCH", "/api/settings", { cache: { enabled: true, semantic } })
    await gateway.manage("PATCH", "/api/pricing", {
      up: { m: { input: 10, output: 100 } },
      emb: { e: { input: 1, output: 0 } }
    })
    const made = await Promise.all(["one", "other"].map((name) => gateway.manage("POST", "/api/keys", { name })))
    return made.map(({ secret }) => secret as string)
  })
  const ask = async (text: string, more: Readonly<Record<string, unknown>> = {}, key = 0) => {
    const body = { model: "up/m", temperature: 0, messages: [{ role: "user", content: text }], ...more }
    const response = await gateway.post(chat, body, { "x-api-key": keys[key] ?? "" })
    const answer = await response.text()
    assert.strictEqual(response.status, 200, answer)
    return {
      answer,
      cache: response.headers.get("x-gateway-cache"),
      similarity: response.headers.get("x-gateway-cache-similarity"),
      cost: response.headers.get("x-gateway-response-cost"),
      requestId: response.headers.get("x-gateway-request-id") ?? ""
    }
  }
  const stats = async () => (await gateway.manage("GET", "/api/cache/stats")).semanticCache
  const kept = (count: number) =>
    eventuallyFound(`${count} kept answers`, async () => ((await stats()).dbSize === count ? true : undefined))
  return { gateway, upstream, embedder, ask, kept, stats }
})

type SetUp = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: SetUp) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

describe("the semantic cache", () => {
  scenario("answers the same question in other words", async ({ ask, gateway, kept, stats, upstream }) => {
    const first = await ask("What is the capital of France?")
    assert.deepInclude(first, { cache: "MISS", similarity: null })
    await kept(1)
    const second = await ask("Tell me the capital of France, please.")
    assert.deepInclude(second, { cache: "HIT", similarity: "1.0000", cost: "0.0000000000", answer: first.answer })
    assert.deepInclude(await gateway.usageRow(second.requestId), { cacheHit: true, costUsd: 0 })
    const streamed = await ask("Which city is the capital of France?", { stream: true })
    assert.strictEqual(streamed.cache, "HIT")
    assert.include(streamed.answer, "Paris")
    assert.include(streamed.answer, "[DONE]")
    assert.lengthOf(upstream.requests, 1)
    assert.deepInclude(await stats(), { hits: 2, semanticHits: 2, misses: 1 })
  })

  scenario(
    "asks the model for what differs in numbers, names, negations or what stands around the question",
    async ({ ask, embedder, kept, upstream }) => {
      const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }]
      await ask("How many of the 10 largest cities of France are not in the north?")
      await kept(1)
      const others: ReadonlyArray<readonly [string, Readonly<Record<string, unknown>>, number]> = [
        ["How many of the 20 largest cities of France are not in the north?", {}, 0],
        ["How many of the 10 largest cities of France are in the north?", {}, 0],
        ['How many of the 10 largest cities of "France" are not in the north?', {}, 0],
        ["How many of the 10 smallest cities of France are not in the north?", {}, 0],
        ["How many of the 10 largest cities of France are not in the north, please?", { tools }, 0],
        ["How many of the 10 largest cities of France are not in the north, please?", { top_p: 0.5 }, 0],
        ["How many of the 10 largest cities of France are not in the north, please?", {}, 1],
        ["Quite something else", {}, 0]
      ]
      for (const [text, more, key] of others) assert.strictEqual((await ask(text, more, key)).cache, "MISS", text)
      assert.lengthOf(upstream.requests, 1 + others.length)
      // Not for the one with tools.
      assert.lengthOf(embedder.requests, others.length)
      const again = await ask("How many of the 10 largest cities of France are not in the north, please?")
      assert.strictEqual(again.cache, "HIT")
    }
  )

  scenario("goes on without a model that fails, and leaves it alone", async ({ ask, embedder, kept, upstream }) => {
    embedder.always(Fake.json({ error: { message: "no" } }, { status: 400 }))
    assert.strictEqual((await ask("What is the capital of France?")).cache, "MISS")
    await kept(1)
    const asked = embedder.requests.length
    assert.isAtLeast(asked, 1)
    assert.strictEqual((await ask("Tell me the capital of France, please.")).cache, "MISS")
    assert.lengthOf(embedder.requests, asked)
    assert.lengthOf(upstream.requests, 2)
    // The exact cache is not concerned.
    assert.strictEqual((await ask("What is the capital of France?")).cache, "HIT")
  })

  scenario("forgets what was cleared, and costs nothing when it is off", async ({ ask, embedder, gateway, kept }) => {
    await ask("What is the capital of France?")
    await kept(1)
    await gateway.manage("DELETE", "/api/cache/stats")
    assert.strictEqual((await ask("Tell me the capital of France, please.")).cache, "MISS")
    await kept(1)
    const asked = embedder.requests.length
    await gateway.manage("PATCH", "/api/settings", { cache: { semantic: { enabled: false } } })
    const { cache } = await gateway.manage("GET", "/api/settings")
    assert.deepStrictEqual(cache.semantic, { ...semantic, enabled: false })
    assert.strictEqual((await ask("Which city is the capital of France?")).cache, "MISS")
    assert.lengthOf(embedder.requests, asked)
  })
})
