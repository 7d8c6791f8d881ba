import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { makeMeaningIndex, maxInBucket, type MeaningSource } from "../../../../src/plane/cache/semantic/MeaningIndex.ts"
import { measured } from "../../../../src/plane/cache/semantic/Measurement.ts"
import { wordingOf } from "../../../../src/plane/cache/semantic/Wording.ts"
import { cosine } from "../../../../src/kernel/Cosine.ts"
import type { KeptMeaning, Meaning } from "../../../../src/subjects/cache/entity.ts"

const unit = (angle: number): Float32Array => Float32Array.of(Math.cos(angle), Math.sin(angle))
const meaning = (angle: number, bucket = "b", text = "Is it safe?"): Meaning => ({
  bucket,
  wording: wordingOf(text),
  vector: unit(angle)
})
const keptAs = (key: string, more: Partial<KeptMeaning> = {}) => ({ key, createdAtMs: 0, expiresAtMs: 100, ...more })

const source = (rows: ReadonlyArray<KeptMeaning> = [], pages: Array<number> = []): MeaningSource => ({
  nowMs: () => 50,
  page: (_bucket, offset, limit) =>
    Effect.sync(() => {
      pages.push(offset)
      return rows.slice(offset, offset + limit)
    }),
  pause: Effect.void
})

describe("MeaningIndex", () => {
  it.effect("finds the nearest of a bucket that is near enough and has such words", () =>
    Effect.gen(function* () {
      const index = makeMeaningIndex(source())
      assert.isNull(yield* index.nearest(meaning(0), 0.5))
      index.add(meaning(0.3), keptAs("far"))
      index.add(meaning(0.1), keptAs("near"))
      index.add(meaning(0, "b", "Is it not safe?"), keptAs("denied"))
      index.add(meaning(0, "other"), keptAs("elsewhere"))
      const near = yield* index.nearest(meaning(0), 0.9)
      assert.strictEqual(near?.key, "near")
      assert.closeTo(near?.similarity ?? 0, Math.cos(0.1), 1e-6)
      assert.isNull(yield* index.nearest(meaning(0), 0.999))
      index.remove("b", "near")
      assert.strictEqual((yield* index.nearest(meaning(0), 0.9))?.key, "far")
      index.clear()
      assert.isNull(yield* index.nearest(meaning(0), 0.9))
    })
  )

  it.effect("leaves out what has expired, or is of the future, or of another model", () =>
    Effect.gen(function* () {
      const index = makeMeaningIndex(source())
      yield* index.nearest(meaning(0), 0.5)
      index.add(meaning(0), keptAs("old", { expiresAtMs: 50 }))
      index.add(meaning(0), keptAs("future", { createdAtMs: 51 }))
      index.add({ ...meaning(0), vector: Float32Array.of(1) }, keptAs("longer"))
      assert.isNull(yield* index.nearest(meaning(0), 0.5))
      assert.strictEqual(cosine(unit(0), Float32Array.of(1)), 0)
    })
  )

  it.effect("reads a bucket from the store once, in pages, and no more than it compares", () =>
    Effect.gen(function* () {
      const rows = Array.from({ length: maxInBucket + 500 }, (_, at) => ({
        ...meaning(at / 1_000),
        ...keptAs(String(at))
      }))
      const pages: Array<number> = []
      const index = makeMeaningIndex(source(rows, pages))
      assert.strictEqual((yield* index.nearest(meaning(0.2), 0.5))?.key, "200")
      assert.strictEqual((yield* index.nearest(meaning(1.4), 0.5))?.key, String(maxInBucket - 1))
      assert.strictEqual(pages.length, maxInBucket / 100)
      index.add(meaning(1.4), keptAs("new"))
      assert.strictEqual((yield* index.nearest(meaning(1.4), 0.5))?.key, "new")
      // The oldest made room.
      assert.strictEqual((yield* index.nearest(meaning(0.999), 0.5))?.key, String(maxInBucket - 2))
    })
  )
})

describe("a measurement", () => {
  it("counts hits and wrong hits, with the words compared and without", () => {
    const vectors = new Map([
      ["How do I reset my password?", unit(0)],
      ["How can I reset my password?", unit(0.1)],
      ["How do I enable it?", unit(1)],
      ["How do I disable it?", unit(1)]
    ])
    const [a = "", b = "", c = "", d = ""] = vectors.keys()
    const pairs = [
      { one: a, other: b, isSame: true },
      { one: a, other: "no vector", isSame: true },
      { one: c, other: d, isSame: false },
      { one: a, other: c, isSame: false }
    ]
    const found = measured(pairs, (text) => vectors.get(text) ?? null)
    assert.deepInclude(found, { samePairs: 1, otherPairs: 2, threshold: 0.7 })
    assert.deepStrictEqual(found.rows[0], {
      threshold: 0.7,
      hits: 1,
      wrongHits: 0,
      vectorHits: 1,
      wrongVectorHits: 0.5
    })
  })
})
