import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import type { MediaAdapter } from "../../../../src/contract/domain/MediaKind.ts"
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import { embeddings } from "../../../../src/wire/media/embeddings/Codec.ts"
import { inFormat } from "../../../../src/wire/media/embeddings/Vector.ts"
import type { Json, JsonObject } from "../../../../src/wire/json/Json.ts"
import { context, options } from "../support.ts"

const base64 = (numbers: ReadonlyArray<number>): string =>
  Buffer.from(new Float32Array(numbers).buffer).toString("base64")

const peerOf = (wire: WireName, body: JsonObject) => {
  const peer = embeddings.peer?.(wire, body, null) ?? null
  assert.isNotNull(peer, wire)
  return peer ?? embeddings
}

const sent = (wire: WireName, body: JsonObject) =>
  Either.getOrThrow(
    Either.map(embeddings.decodeRequest(body), (conversation) =>
      peerOf(wire, body).encodeRequest(conversation, { ...options, model: "up" })
    )
  )

/** An upstream's answer as the client gets it. */
const told = (wire: WireName, request: JsonObject, answer: JsonObject): JsonObject =>
  embeddings.encodeResponse(Either.getOrThrow(peerOf(wire, request).decodeResponse(answer)), {
    ...context,
    model: "up",
    request
  })

const vectors = (answer: JsonObject): ReadonlyArray<Json | undefined> =>
  (answer["data"] as ReadonlyArray<JsonObject>).map((item) => item["embedding"])

describe("embeddings requests", () => {
  it("go to an OpenAI-style upstream as they are, but for the model", () => {
    for (const input of ["a", ["a", "b"], [1, 2], [[1], [2, 3]]]) {
      for (const wire of ["chat", "responses"] as const) {
        const { body, dropped } = sent(wire, { model: "m", input, encoding_format: "base64", dimensions: 3, task: "x" })
        assert.deepStrictEqual(body, { model: "up", input, encoding_format: "base64", dimensions: 3, task: "x" })
        assert.deepStrictEqual(dropped, [])
      }
    }
  })

  it("speak the generative-language and the local-runner endpoint", () => {
    const asked = { model: "m", input: ["a", "b"], dimensions: 3, encoding_format: "base64", user: "u" }
    assert.deepStrictEqual(sent("gemini", asked), {
      body: {
        requests: ["a", "b"].map((text) => ({
          model: "models/up",
          content: { parts: [{ text }] },
          outputDimensionality: 3
        }))
      },
      dropped: ["user"],
      mapped: []
    })
    assert.deepStrictEqual(sent("ollama", { ...asked, truncate: true }), {
      body: { model: "up", input: ["a", "b"], dimensions: 3, truncate: true },
      dropped: ["user"],
      mapped: []
    })
  })

  it("cannot be asked where there is no such endpoint", () => {
    assert.isNull(embeddings.peer?.("messages", { input: "a" }, null) ?? null)
  })

  it("with token ids go as texts to endpoints that take no ids, and as they are to those that do", () => {
    const inTexts = (wire: WireName, adapter: MediaAdapter | null, input: Json) => {
      const peer = embeddings.peer?.(wire, { input }, adapter)
      const conversation = Either.getOrThrow(embeddings.decodeRequest({ model: "m", input }))
      return peer?.inTexts?.tokensOf(conversation) ?? null
    }
    for (const [wire, adapter] of [
      ["gemini", null],
      ["ollama", null],
      ["chat", "cohere"],
      ["chat", "voyage"],
      ["chat", "jina"],
      ["chat", "nvidia"]
    ] as const) {
      assert.deepStrictEqual(inTexts(wire, adapter, [1, 2]), [[1, 2]])
      assert.deepStrictEqual(inTexts(wire, adapter, [[1, 2], [3]]), [[1, 2], [3]])
      assert.isNull(inTexts(wire, adapter, ["a"]))
      assert.isNull(inTexts(wire, adapter, "a"))
    }
    assert.isNull(inTexts("chat", null, [1, 2]))
  })

  for (const [what, body, param] of [
    ["no model", { input: "a" }, "model"],
    ["no input", { model: "m" }, "input"],
    ["an empty input", { model: "m", input: "" }, "input"],
    ["an empty list", { model: "m", input: [] }, "input"],
    ["an object", { model: "m", input: {} }, "input"],
    ["a mixed list", { model: "m", input: ["a", 1] }, "input[1]"],
    ["an empty list of tokens", { model: "m", input: [[1], []] }, "input[1]"],
    ["a fraction among token ids", { model: "m", input: [1, 1.5] }, "input[0]"],
    ["an unknown format", { model: "m", input: "a", encoding_format: "int8" }, "encoding_format"],
    ["no positive dimensions", { model: "m", input: "a", dimensions: 0 }, "dimensions"]
  ] as ReadonlyArray<readonly [string, JsonObject, string]>) {
    it(`are refused with ${what}`, () => {
      assert.strictEqual(Either.getOrThrow(Either.flip(embeddings.checkEnvelope(body))).param, param)
    })
  }
})

describe("embeddings answers", () => {
  const openAi = (embedding: Json): JsonObject => ({
    object: "list",
    model: "up-1",
    data: [{ object: "embedding", index: 0, embedding, extra: true }],
    usage: { prompt_tokens: 4, total_tokens: 4, cost: 1 },
    id: "e1"
  })

  it("come in the asked format, whichever the upstream chose; all else stays", () => {
    const numbers = [0.25, -0.5, 1]
    for (const upstream of [numbers, base64(numbers)]) {
      const floats = told("chat", { input: "a" }, openAi(upstream))
      assert.deepStrictEqual(floats, openAi(numbers))
      assert.deepStrictEqual(vectors(told("chat", { input: "a", encoding_format: "float" }, openAi(upstream))), [
        numbers
      ])
      assert.deepStrictEqual(vectors(told("chat", { input: "a", encoding_format: "base64" }, openAi(upstream))), [
        base64(numbers)
      ])
    }
  })

  it("of other endpoints take the same form", () => {
    const gemini = told("gemini", { input: ["a", "b"] }, { embeddings: [{ values: [1, 2] }, { values: [3, 4] }] })
    assert.deepStrictEqual(gemini, {
      object: "list",
      data: [
        { object: "embedding", index: 0, embedding: [1, 2] },
        { object: "embedding", index: 1, embedding: [3, 4] }
      ],
      model: "up",
      usage: { prompt_tokens: 0, total_tokens: 0 }
    })
    const ollama = told(
      "ollama",
      { input: "a", encoding_format: "base64" },
      { model: "up", embeddings: [[1, 2]], prompt_eval_count: 5 }
    )
    assert.deepStrictEqual(vectors(ollama), [base64([1, 2])])
    assert.deepStrictEqual(ollama["usage"], { prompt_tokens: 5, total_tokens: 5 })
  })

  it("are put in order by their index", () => {
    const answer = (...data: ReadonlyArray<JsonObject>): JsonObject =>
      told("chat", { input: ["a", "b", "c"] }, { object: "list", data, model: "up" })
    const item = (index: number, embedding: number): JsonObject => ({
      object: "embedding",
      index,
      embedding: [embedding]
    })
    assert.deepStrictEqual(answer(item(2, 3), item(0, 1), item(1, 2))["data"], [item(0, 1), item(1, 2), item(2, 3)])
    // One-based, and all alike: the order tells.
    assert.deepStrictEqual(vectors(answer(item(3, 3), item(1, 1), item(2, 2))), [[1], [2], [3]])
    assert.deepStrictEqual(answer(item(0, 1), item(0, 2), item(0, 3))["data"], [item(0, 1), item(1, 2), item(2, 3)])
    assert.deepStrictEqual(vectors(answer({ embedding: [1] }, { embedding: [2] })), [[1], [2]])
  })

  it("are complete with one vector for each input", () => {
    const isComplete = (wire: WireName, input: Json, answer: JsonObject): boolean | undefined => {
      const peer = peerOf(wire, { input })
      const conversation = Either.getOrThrow(embeddings.decodeRequest({ model: "m", input }))
      return peer.isComplete?.(Either.getOrThrow(peer.decodeResponse(answer)), conversation)
    }
    const data = (...items: ReadonlyArray<Json>): JsonObject => ({ data: items.map((embedding) => ({ embedding })) })
    assert.isTrue(isComplete("chat", ["a", "b"], data([1], [2])))
    assert.isTrue(isComplete("chat", "a", data("AACAPw==")))
    assert.isTrue(isComplete("chat", [1, 2, 3], data([1])))
    assert.isTrue(isComplete("chat", [[1, 2], [3]], data([1], [2])))
    assert.isFalse(isComplete("chat", ["a", "b"], data([1])))
    assert.isFalse(isComplete("chat", ["a", "b"], data([1], [2], [3])))
    assert.isFalse(isComplete("chat", ["a", "b"], data([1], [])))
    assert.isFalse(isComplete("chat", ["a", "b"], data([1], null)))
    assert.isFalse(isComplete("gemini", ["a", "b"], { embeddings: [{ values: [1] }] }))
    assert.isFalse(isComplete("ollama", ["a", "b"], { embeddings: [[1]] }))
  })

  it("leave alone what is no list of floats", () => {
    assert.deepStrictEqual(inFormat("base64", [[1], [2]]), [[1], [2]])
    assert.strictEqual(inFormat("float", "AAA="), "AAA=")
    assert.isNull(inFormat("float", null))
  })

  it("have the facts for the usage row", () => {
    const { readAnswer } = peerOf("chat", { input: "a" })
    assert.deepInclude(readAnswer(openAi([1])), { hasContent: true })
    assert.strictEqual(readAnswer(openAi([1])).usage?.in, 4)
    assert.isFalse(readAnswer({ data: [] }).hasContent)
    assert.isNull(readAnswer({ data: [] }).usage)
    assert.isNull(readAnswer({ error: { message: "no" } }).stop)
    assert.isTrue(Either.isLeft(peerOf("chat", { input: "a" }).decodeResponse({ choices: [] })))
  })
})
