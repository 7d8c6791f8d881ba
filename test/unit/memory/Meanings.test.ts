import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import { operatorsOwn } from "../../../src/contract/domain/ContentPermission.ts"
import * as GatewaySettings from "../../../src/subjects/flags/StoredFlags.ts"
import { fused, type Vectors } from "../../../src/plane/memory/Meanings.ts"
import * as Memories from "../../../src/plane/memory/Memories.ts"
import * as IdGen from "../../../src/platform/IdGen.ts"
import { reposInMemory } from "../store/fixtures.ts"

const stored = Layer.mergeAll(GatewaySettings.layer, IdGen.layerCounting("m")).pipe(Layer.provideMerge(reposInMemory))
const memories = Memories.layer.pipe(Layer.provideMerge(stored))

const written = (content: string, apiKeyId: string | null = null): Memories.WrittenMemory => ({
  apiKeyId,
  type: "factual",
  source: "added",
  key: content,
  content,
  sessionId: null
})

/** Drinks lie in one direction, animals in another one. */
const directions: ReadonlyArray<readonly [RegExp, number]> = [
  [/tea|coffee|drink/, 0],
  [/cat|dog|pet/, 1]
]
const vectorOf = (text: string): Float32Array => {
  const at = directions.find(([words]) => words.test(text))?.[1] ?? 2
  return Float32Array.from([0, 1, 2], (each) => (each === at ? 1 : 0))
}

const counting = (model = "e") => {
  const asked: Array<ReadonlyArray<string>> = []
  const vectors: Vectors = {
    model,
    of: (texts) =>
      Effect.sync(() => {
        asked.push(texts)
        return texts.map(vectorOf)
      })
  }
  return { asked, vectors }
}

const recalled = (vectors: Vectors, text: string) =>
  Effect.flatMap(Memories.Memories, ({ recall }) =>
    Effect.map(recall({ filter: { apiKeyId: null }, text, limit: 5, vectors }), (all) =>
      all.map((each) => each.content)
    )
  )

const strategy = (word: "exact" | "semantic" | "hybrid") =>
  Effect.flatMap(GatewaySettings.GatewaySettings, (settings) =>
    settings.patch({ memory: { strategy: word, model: "e", minSimilarity: 0.5 } })
  )

describe("memories by their meaning", () => {
  it.effect("are found without a common word, and their vectors are made once", () =>
    Effect.gen(function* () {
      const { remove, replace, write } = yield* Memories.Memories
      const sql = yield* SqlClient.SqlClient
      const tea = yield* write(operatorsOwn, written("I like green tea."))
      const cat = yield* write(operatorsOwn, written("My cat is old."))
      yield* write(operatorsOwn, written("No coffee of others.", "other"))
      yield* strategy("semantic")
      const { asked, vectors } = counting()
      assert.deepStrictEqual(yield* recalled(vectors, "What may I drink?"), [tea.content])
      assert.lengthOf(asked[0] ?? [], 3)
      assert.deepStrictEqual(yield* recalled(vectors, "Which pet?"), [cat.content])
      assert.deepStrictEqual(asked[1], ["Which pet?"])
      // Another start has them from the store.
      const again = yield* Effect.scoped(Memories.make)
      yield* again.recall({ filter: { apiKeyId: null }, text: "Which pet?", limit: 5, vectors })
      assert.deepStrictEqual(asked[2], ["Which pet?"])
      assert.notInclude(JSON.stringify(yield* sql`SELECT * FROM memory_vectors`), "AAAA")
      yield* TestClock.adjust(1)
      yield* replace(operatorsOwn, { ...cat, content: "My dog is old." })
      assert.deepStrictEqual(yield* recalled(vectors, "Which pet?"), ["My dog is old."])
      assert.lengthOf(asked[3] ?? [], 2)
      yield* remove(tea.id)
      assert.deepStrictEqual(yield* recalled(vectors, "What may I drink?"), [])
      assert.lengthOf(yield* sql`SELECT * FROM memory_vectors`, 1)
      // Another model, other vectors.
      const other = counting("f")
      assert.deepStrictEqual(yield* recalled(other.vectors, "Which pet?"), ["My dog is old."])
      assert.lengthOf(other.asked[0] ?? [], 2)
    }).pipe(Effect.provide(memories))
  )

  it.effect("stand beside those with common words in hybrid, and words alone count where there are no vectors", () =>
    Effect.gen(function* () {
      const { write } = yield* Memories.Memories
      yield* write(operatorsOwn, written("I like green tea."))
      yield* write(operatorsOwn, written("The drink machine is broken."))
      yield* write(operatorsOwn, written("My cat is old."))
      yield* strategy("hybrid")
      const { vectors } = counting()
      assert.deepStrictEqual(yield* recalled(vectors, "a drink"), ["The drink machine is broken.", "I like green tea."])
      const none: Vectors = { model: "e", of: () => Effect.succeed(null) }
      assert.deepStrictEqual(yield* recalled(none, "a drink"), ["The drink machine is broken."])
      yield* strategy("exact")
      const { asked, vectors: unused } = counting()
      assert.deepStrictEqual(yield* recalled(unused, "a drink"), ["The drink machine is broken."])
      assert.lengthOf(asked, 0)
    }).pipe(Effect.provide(memories))
  )

  it.effect("of a key with many get their vectors in several requests", () =>
    Effect.gen(function* () {
      const { write } = yield* Memories.Memories
      for (let at = 0; at < 150; at += 1) yield* write(operatorsOwn, written(`Fact ${at}`))
      yield* strategy("semantic")
      const { asked, vectors } = counting()
      yield* recalled(vectors, "What may I drink?")
      yield* recalled(vectors, "What may I drink?")
      yield* recalled(vectors, "What may I drink?")
      assert.deepStrictEqual(
        asked.map(({ length }) => length),
        [101, 51, 1]
      )
    }).pipe(Effect.provide(memories))
  )

  it("are ranked by both lists", () => {
    assert.deepStrictEqual(
      fused(
        [
          ["a", "b", "c"],
          ["c", "d"]
        ],
        3
      ),
      ["c", "a", "b"]
    )
    assert.deepStrictEqual(fused([[], ["d"]], 3), ["d"])
    assert.deepStrictEqual(fused([], 3), [])
  })
})
