import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import type { MediaAdapter } from "../../../../src/contract/domain/MediaKind.ts"
import { encodeConversation } from "../../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"
import { rerank } from "../../../../src/wire/media/rerank/Codec.ts"
import type { WireCodec } from "../../../../src/wire/WireCodec.ts"

const asked: JsonObject = {
  model: "any",
  query: "q",
  documents: ["a", { text: "b" }, "c"],
  top_n: 2,
  return_documents: true
}

const peerOf = (adapter: MediaAdapter | null): WireCodec => {
  const peer = rerank.peer?.("chat", asked, adapter) ?? null
  assert.isNotNull(peer)
  return peer ?? rerank
}

const sent = (adapter: MediaAdapter | null, body: JsonObject = asked) =>
  Either.getOrThrow(
    Either.flatMap(rerank.decodeRequest(body), (conversation) =>
      encodeConversation(rerank, peerOf(adapter), conversation, {
        model: "up",
        stream: false,
        maxOutputTokens: null,
        reasoning: null
      })
    )
  )

const answered = (adapter: MediaAdapter | null, body: JsonObject, request: JsonObject = asked): JsonObject =>
  rerank.encodeResponse(Either.getOrThrow(peerOf(adapter).decodeResponse(body)), {
    nowMs: 0,
    fallbackId: "id",
    model: "shown",
    wantsUsage: true,
    request
  })

const bestTwo = [
  { index: 2, relevance_score: 0.9, document: { text: "c" } },
  { index: 1, relevance_score: 0.5, document: { text: "b" } }
]

describe("a request to rank", () => {
  it("is Cohere's and Jina's for them and for what follows OpenAI, without asking the documents back", () => {
    for (const adapter of ["cohere", "jina", null] as const) {
      assert.deepStrictEqual(sent(adapter, { ...asked, max_tokens_per_doc: 5 }).body, {
        max_tokens_per_doc: 5,
        model: "up",
        query: "q",
        documents: ["a", "b", "c"],
        top_n: 2
      })
    }
  })

  it("says top_k to Voyage, and passages to NVIDIA", () => {
    assert.deepStrictEqual(sent("voyage").body, { model: "up", query: "q", documents: ["a", "b", "c"], top_k: 2 })
    const { body, dropped } = sent("nvidia", { ...asked, user: "u" })
    assert.deepStrictEqual(body, {
      model: "up",
      query: { text: "q" },
      passages: [{ text: "a" }, { text: "b" }, { text: "c" }]
    })
    assert.deepStrictEqual(dropped, ["user"])
  })

  for (const [what, change, param] of [
    ["no query", { query: "" }, "query"],
    ["no documents", { documents: [] }, "documents"],
    ["documents that are no array", { documents: "a" }, "documents"],
    ["a document without text", { documents: ["a", { title: "b" }] }, "documents[1]"],
    ["no model", { model: "" }, "model"],
    ["a fractional number of results", { top_n: 1.5 }, "top_n"],
    ["no results", { top_n: 0 }, "top_n"],
    ["a wish for documents that is none", { return_documents: "yes" }, "return_documents"]
  ] as const) {
    it(`is refused with ${what}`, () => {
      const refused = rerank.checkEnvelope({ ...asked, ...change })
      assert.strictEqual(Either.isLeft(refused) ? refused.left.param : null, param)
    })
  }

  it("is refused with more documents than any provider takes", () => {
    assert.isTrue(
      Either.isLeft(rerank.checkEnvelope({ ...asked, documents: Array.from({ length: 10_001 }, () => "a") }))
    )
  })
})

describe("a ranking", () => {
  it("has the best first and at most what was asked for, with the client's own documents, whatever the provider", () => {
    const cohere = answered("cohere", {
      id: "r1",
      results: [
        { index: 0, relevance_score: 0.1 },
        { index: 2, relevance_score: 0.9 },
        { index: 1, relevance_score: 0.5 }
      ],
      meta: { billed_units: { search_units: 1 } }
    })
    assert.deepStrictEqual(cohere["results"], bestTwo)
    assert.deepStrictEqual(cohere["meta"], { billed_units: { search_units: 1 } })
    assert.strictEqual(cohere["id"], "r1")
    const voyage = answered("voyage", {
      object: "list",
      data: [
        { relevance_score: 0.9, index: 2 },
        { relevance_score: 0.5, index: 1, document: "b" }
      ],
      model: "rerank-2.5",
      usage: { total_tokens: 26 }
    })
    assert.deepStrictEqual(voyage["results"], bestTwo)
    assert.deepStrictEqual(voyage["usage"], { prompt_tokens: 26, total_tokens: 26 })
    assert.strictEqual(voyage["model"], "rerank-2.5")
    const nvidia = answered("nvidia", {
      rankings: [
        { index: 1, logit: -1.5 },
        { index: 0, logit: -9 },
        { index: 2, logit: 3 }
      ]
    })
    assert.deepStrictEqual(nvidia["results"], [
      { index: 2, relevance_score: 3, document: { text: "c" } },
      { index: 1, relevance_score: -1.5, document: { text: "b" } }
    ])
    assert.strictEqual(nvidia["model"], "shown")
  })

  it("repeats no documents unless they are wanted, and none that were not sent", () => {
    const results = [{ index: 7, relevance_score: 0.9 }]
    const { return_documents: _wanted, ...without } = asked
    assert.deepStrictEqual(answered("jina", { results }, without)["results"], results)
    assert.deepStrictEqual(answered("jina", { results })["results"], results)
  })

  it("is none without a list, or with something in it that is no result", () => {
    for (const body of [
      {},
      { results: {} },
      { results: [{ index: -1, relevance_score: 1 }] },
      { results: [{ index: 0 }] }
    ]) {
      const decoded = peerOf("cohere").decodeResponse(body)
      assert.strictEqual(Either.isLeft(decoded) ? decoded.left.status : null, 502)
    }
  })
})
