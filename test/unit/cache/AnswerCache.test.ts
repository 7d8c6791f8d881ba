import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import { operatorsOwn } from "../../../src/contract/domain/ContentPermission.ts"
import * as AnswerCache from "../../../src/plane/cache/AnswerCache.ts"
import type { CachedAnswer } from "../../../src/subjects/cache/entity.ts"
import * as GatewaySettings from "../../../src/subjects/flags/StoredFlags.ts"
import { StoreError } from "../../../src/store/Errors.ts"
import { AnswerCacheRepo } from "../../../src/subjects/cache/repo.ts"
import { ApiKeyRepo } from "../../../src/subjects/keys/repo.ts"
import { apiKey, reposInMemory } from "../store/fixtures.ts"
import * as TestTimers from "../../support/TestTimers.ts"

const services = Layer.mergeAll(GatewaySettings.layer, TestTimers.layer).pipe(Layer.provideMerge(reposInMemory))
const cache = AnswerCache.layer.pipe(Layer.provideMerge(services))

const answer = (text: string, createdAtMs = 0): CachedAnswer => ({
  form: "whole",
  variant: "",
  contentType: "application/json",
  body: Buffer.from(text),
  hasToolCalls: false,
  provider: "openai",
  model: "m",
  costNanoUsd: 12.5,
  createdAtMs,
  expiresAtMs: createdAtMs + 60_000
})

const textOf = (found: CachedAnswer | null): string | null => found?.body.toString() ?? null

/** A second cache over the same store: what it finds was stored. */
const stored = (key: string) =>
  Effect.flatMap(AnswerCache.make, (other) => Effect.map(other.find(key), textOf)).pipe(Effect.scoped)

describe("the cache of answers", () => {
  it.effect("finds what it has kept, also after a restart, until it expires", () =>
    Effect.gen(function* () {
      const answers = yield* AnswerCache.AnswerCache
      const sql = yield* SqlClient.SqlClient
      answers.keep(operatorsOwn, "k", "", answer("secret words"), null)
      yield* answers.stored
      assert.deepStrictEqual(yield* answers.find("k"), answer("secret words"))
      assert.strictEqual(yield* stored("k"), "secret words")
      assert.isNull(yield* answers.find("other"))
      const rows = JSON.stringify(yield* sql`SELECT * FROM answer_cache`)
      assert.notInclude(rows, "secret words")
      assert.notInclude(rows, Buffer.from("secret words").toString("base64"))
      yield* TestClock.adjust(60_000)
      assert.isNull(yield* answers.find("k"))
      assert.isNull(yield* stored("k"))
    }).pipe(Effect.provide(cache))
  )

  it.effect("has the last one of two that were kept under a key", () =>
    Effect.gen(function* () {
      const answers = yield* AnswerCache.AnswerCache
      answers.keep(operatorsOwn, "k", "", answer("one"), null)
      answers.keep(operatorsOwn, "k", "", answer("two"), null)
      yield* answers.stored
      assert.deepStrictEqual([textOf(yield* answers.find("k")), yield* stored("k")], ["two", "two"])
    }).pipe(Effect.provide(cache))
  )

  it.effect("takes damage, another version and a moved clock for nothing, and removes it", () =>
    Effect.gen(function* () {
      const answers = yield* AnswerCache.AnswerCache
      const repo = yield* AnswerCacheRepo
      const sql = yield* SqlClient.SqlClient
      for (const key of ["damaged", "older", "foreign"]) answers.keep(operatorsOwn, key, "", answer(key), null)
      answers.keep(operatorsOwn, "future", "", answer("future", 10_000), null)
      yield* answers.stored
      yield* sql`UPDATE answer_cache SET content = SUBSTR(content, 1, 30) WHERE key = 'damaged'`
      yield* sql`UPDATE answer_cache SET version = 0 WHERE key = 'older'`
      // Encrypted for another row.
      yield* sql`UPDATE answer_cache SET content = (SELECT content FROM answer_cache WHERE key = 'future') WHERE key = 'foreign'`
      for (const key of ["damaged", "older", "foreign", "future"]) assert.isNull(yield* stored(key), key)
      assert.isNull(yield* answers.find("future"))
      assert.strictEqual(yield* repo.count, 0)
    }).pipe(Effect.provide(cache))
  )

  it.effect("goes with its API key, and is cleared", () =>
    Effect.gen(function* () {
      const answers = yield* AnswerCache.AnswerCache
      const keys = yield* ApiKeyRepo
      yield* keys.insert(apiKey)
      answers.keep(operatorsOwn, "mine", apiKey.id, answer("mine"), null)
      answers.keep(operatorsOwn, "free", "", answer("free"), null)
      yield* answers.stored
      yield* keys.remove(apiKey.id)
      assert.deepStrictEqual([yield* stored("mine"), yield* stored("free")], [null, "free"])
      assert.strictEqual(yield* answers.clear, 2)
      assert.deepStrictEqual([yield* answers.find("free"), yield* stored("free")], [null, null])
    }).pipe(Effect.provide(cache))
  )

  it.effect("keeps within its bounds, the newest", () =>
    Effect.gen(function* () {
      const repo = yield* AnswerCacheRepo
      for (let at = 0; at < 10; at += 1)
        yield* repo.put(operatorsOwn, String(at), "", answer("x".repeat(100), at), null)
      yield* repo.trim({ maxEntries: 6, maxBytes: 10_000, nowMs: 100 })
      assert.strictEqual(yield* repo.count, 6)
      yield* repo.trim({ maxEntries: 6, maxBytes: 250, nowMs: 100 })
      assert.strictEqual(yield* repo.count, 2)
      assert.isNotNull(yield* repo.get("9", 100))
      yield* repo.trim({ maxEntries: 6, maxBytes: 250, nowMs: 60_008 })
      assert.strictEqual(yield* repo.count, 1)
    }).pipe(Effect.provide(cache))
  )

  for (const maxEntries of [1, 2, 7, 40]) {
    it.effect(`never has more than ${maxEntries} entries on disk, whatever is kept at once`, () =>
      Effect.gen(function* () {
        const answers = yield* AnswerCache.AnswerCache
        const repo = yield* AnswerCacheRepo
        const settings = yield* GatewaySettings.GatewaySettings
        yield* TestClock.adjust(100)
        yield* settings.patch({ cache: { maxEntries } })
        for (let at = 0; at < 60; at += 1) {
          answers.keep(operatorsOwn, String(at), at % 2 === 0 ? "" : "one", answer("x", at), null)
          if (at % 3 !== 0) continue
          yield* answers.stored
          assert.isAtMost(yield* repo.count, maxEntries, `after ${at + 1}`)
        }
        yield* answers.stored
        const { dbSize } = yield* answers.counts
        assert.isAtMost(dbSize, maxEntries)
        assert.isAtLeast(dbSize, Math.ceil(maxEntries * 0.9))
        assert.strictEqual(yield* stored("59"), "x")
        // What replaces an entry takes no other place.
        for (let at = 0; at < 5; at += 1) answers.keep(operatorsOwn, "59", "one", answer("y", 60), null)
        yield* answers.stored
        assert.isAtMost(yield* repo.count, maxEntries)
        assert.strictEqual(yield* stored("59"), "y")
      }).pipe(Effect.provide(cache))
    )
  }

  it.effect("is brought to lower bounds when they are set, and at the start", () =>
    Effect.gen(function* () {
      const answers = yield* AnswerCache.AnswerCache
      const repo = yield* AnswerCacheRepo
      const settings = yield* GatewaySettings.GatewaySettings
      const fill = Effect.gen(function* () {
        for (let at = 0; at < 30; at += 1)
          yield* repo.put(operatorsOwn, String(at), "", answer("x".repeat(1_000), at), null)
      })
      yield* fill
      assert.strictEqual((yield* answers.counts).dbSize, 30)
      yield* settings.patch({ cache: { maxEntries: 4 } })
      assert.strictEqual((yield* answers.counts).dbSize, 4)
      assert.isNotNull(yield* repo.get("29", 100))
      yield* fill
      const started = yield* AnswerCache.make
      assert.strictEqual((yield* started.counts).dbSize, 4)
      yield* settings.patch({ cache: { maxEntries: 1_000, maxBytes: 1_048_576 } })
      yield* fill
      yield* settings.patch({ cache: { maxEntries: 2 } })
      assert.isNull(yield* started.find("none"))
      yield* started.stored
      assert.strictEqual(yield* repo.count, 2)
    }).pipe(Effect.scoped, Effect.provide(cache))
  )

  it.effect("makes room by the oldest of the owner with the most, whatever is older", () =>
    Effect.gen(function* () {
      const repo = yield* AnswerCacheRepo
      yield* repo.put(operatorsOwn, "mine", "one", answer("x".repeat(100), 0), null)
      for (let at = 1; at < 40; at += 1)
        yield* repo.put(operatorsOwn, String(at), "other", answer("x".repeat(100), at), null)
      yield* repo.trim({ maxEntries: 6, maxBytes: 10_000, nowMs: 100 })
      assert.strictEqual(yield* repo.count, 6)
      assert.isNotNull(yield* repo.get("mine", 100))
      assert.isNull(yield* repo.get("34", 100))
      assert.isNotNull(yield* repo.get("35", 100))
    }).pipe(Effect.provide(cache))
  )

  it.effect("has what is in memory when the store fails", () => {
    const full = Effect.fail(new StoreError({ operation: "answerCache", cause: new Error("disk full") }))
    const broken = Layer.succeed(AnswerCacheRepo, {
      get: () => full,
      meanings: () => full,
      remove: () => full,
      put: () => full,
      trim: () => full,
      clear: full,
      count: full
    })
    return Effect.gen(function* () {
      const answers = yield* AnswerCache.AnswerCache
      answers.keep(operatorsOwn, "k", "", answer("kept"), null)
      yield* answers.stored
      assert.strictEqual(textOf(yield* answers.find("k")), "kept")
      assert.isNull(yield* answers.find("other"))
      assert.deepInclude(yield* answers.counts, { memorySize: 1, dbSize: 0 })
      assert.strictEqual(yield* answers.clear, 1)
    }).pipe(Effect.provide(AnswerCache.layer.pipe(Layer.provide(broken), Layer.provide(services))))
  })
})
