/** Memories found by meaning over HTTP: what a model is told, and what becomes of a request without vectors. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const embeddings: Fake.Answer = (response, request) => {
  const { input } = JSON.parse(request.body) as { input: ReadonlyArray<string> }
  const data = input.map((text, index) => ({
    object: "embedding",
    index,
    embedding: /tea|drink/.test(text) ? [1, 0] : [0, 1]
  }))
  return Fake.json({ object: "list", model: "e", data, usage: { prompt_tokens: 3, total_tokens: 3 } })(
    response,
    request
  )
}

describe("memories by meaning", () => {
  it.scopedLive("are told without a common word, in the caller's name, and words do where the model fails", () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const upstream = yield* Fake.start
      const embedder = yield* Fake.start
      upstream.always(Fake.json(Fake.chatCompletion({ text: "Yes" })))
      embedder.always(embeddings)
      yield* Effect.promise(async () => {
        await gateway.connect("up", upstream, "chat", { models: ["m"] })
        await gateway.connect("emb", embedder, "chat", { models: ["e"] })
        const key = await gateway.manage("POST", "/api/keys", { name: "one" })
        const settings = { enabled: true, strategy: "hybrid", model: "emb/e", minSimilarity: 0.5 }
        assert.deepInclude(await gateway.manage("PUT", "/api/settings/memory", settings), settings)
        assert.deepInclude(await gateway.manage("GET", "/api/memory/health"), { vectors: true })
        for (const content of ["I prefer green tea.", "My cat is old."]) {
          await gateway.manage("POST", "/api/memory", { apiKeyId: key.key.id, content })
        }
        const ask = async (content: string) => {
          const body = { model: "up/m", messages: [{ role: "user", content }] }
          const response = await gateway.post("/v1/chat/completions", body, { "x-api-key": key.secret })
          assert.strictEqual(response.status, 200, await response.text())
          return { sent: upstream.requests.at(-1)?.body ?? "", count: response.headers.get("x-gateway-memory") }
        }
        const first = await ask("What should I drink?")
        assert.strictEqual(first.count, "1")
        assert.include(first.sent, "green tea")
        assert.notInclude(first.sent, "cat")
        const { logs } = await gateway.manage("GET", `/api/usage/logs?apiKeyId=${key.key.id}`)
        assert.include(JSON.stringify(logs), `"provider":"emb"`)
        embedder.always(Fake.json({ error: { message: "no" } }, { status: 400 }))
        assert.strictEqual((await ask("Where may I drink?")).count, null)
        const asked = embedder.requests.length
        assert.include((await ask("How old is a cat?")).sent, "My cat is old.")
        assert.lengthOf(embedder.requests, asked)
      })
    })
  )
})
