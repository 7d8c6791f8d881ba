import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { operatorsOwn } from "../../../src/contract/domain/ContentPermission.ts"
import { maxEntriesPerKey, type Memory } from "../../../src/subjects/memory/entity.ts"
import { ApiKeyRepo } from "../../../src/subjects/keys/repo.ts"
import { MemoryRepo } from "../../../src/subjects/memory/repo.ts"
import { apiKey, reposInMemory } from "./fixtures.ts"

const memoryOf = (id: string, more: Partial<Memory> = {}): Memory => ({
  id,
  apiKeyId: "k1",
  type: "factual",
  source: "added",
  key: `key-${id}`,
  content: `content of ${id}`,
  sessionId: null,
  createdAtMs: 1_000,
  updatedAtMs: 1_000,
  lastUsedAtMs: 1_000,
  ...more
})

const saved = (memory: Memory, ...terms: ReadonlyArray<string>) =>
  Effect.flatMap(MemoryRepo, (repo) => repo.save(operatorsOwn, { memory, terms }))

const found = (apiKeyId: string | null | undefined, ...terms: ReadonlyArray<string>) =>
  Effect.flatMap(MemoryRepo, (repo) =>
    Effect.map(repo.search(apiKeyId === undefined ? {} : { apiKeyId }, terms, 10), (memories) =>
      memories.map(({ id }) => id)
    )
  )

describe("MemoryRepo", () => {
  it.effect("keeps every field, newest first, and finds by words what has most of them", () =>
    Effect.gen(function* () {
      const repo = yield* MemoryRepo
      const first = memoryOf("m1", { sessionId: "s", type: "procedural", content: "ünï \u{1F600}" })
      yield* saved(first, "tea", "green")
      yield* saved(memoryOf("m2"), "tea")
      yield* saved(memoryOf("m3"), "coffee")
      assert.deepStrictEqual(yield* repo.get("m1"), first)
      assert.deepStrictEqual(yield* repo.ids({}), ["m3", "m2", "m1"])
      assert.deepStrictEqual(yield* repo.ids({ type: "procedural" }), ["m1"])
      assert.deepStrictEqual(yield* repo.ids({ sessionId: "s", apiKeyId: "k1" }), ["m1"])
      assert.deepStrictEqual(yield* found("k1", "green", "tea"), ["m1", "m2"])
      assert.deepStrictEqual(yield* found("k1", "nothing"), [])
      assert.deepStrictEqual(yield* found("k1"), [])
      assert.isTrue(yield* repo.remove("m1"))
      assert.isFalse(yield* repo.remove("m1"))
      assert.deepStrictEqual(yield* found("k1", "green", "tea"), ["m2"])
      assert.deepStrictEqual(yield* repo.counts, { entries: 2, bytes: 38, indexed: 2 })
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("finds nothing of another owner, and callers without a key are one", () =>
    Effect.gen(function* () {
      yield* saved(memoryOf("m1"), "tea")
      yield* saved(memoryOf("m2", { apiKeyId: "k2" }), "tea")
      yield* saved(memoryOf("m3", { apiKeyId: null }), "tea")
      assert.deepStrictEqual(yield* found("k1", "tea"), ["m1"])
      assert.deepStrictEqual(yield* found(null, "tea"), ["m3"])
      assert.deepStrictEqual([...(yield* found(undefined, "tea"))].toSorted(), ["m1", "m2", "m3"])
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("replaces what has the owner, type and key, and keeps its id and words of now", () =>
    Effect.gen(function* () {
      const repo = yield* MemoryRepo
      yield* saved(memoryOf("m1", { key: "drink" }), "tea")
      const coffee = memoryOf("m2", { key: "drink", content: "coffee", updatedAtMs: 2_000 })
      const { isChanged, memory: second } = yield* saved(coffee, "coffee")
      assert.isTrue(isChanged)
      assert.strictEqual(second.id, "m1")
      assert.deepStrictEqual(yield* repo.get("m1"), second)
      const learned = memoryOf("m4", { key: "drink", source: "extracted" })
      assert.deepStrictEqual(yield* saved(learned, "tea"), { memory: second, isChanged: false })
      assert.isFalse((yield* saved({ ...coffee, id: "m5" }, "coffee")).isChanged)
      assert.deepStrictEqual(yield* found("k1", "tea"), [])
      assert.deepStrictEqual(yield* found("k1", "coffee"), ["m1"])
      yield* saved(memoryOf("m3", { key: "drink", type: "semantic" }), "water")
      assert.isFalse(yield* repo.replace(operatorsOwn, { memory: memoryOf("m3", { key: "drink" }), terms: ["water"] }))
      assert.isTrue(yield* repo.replace(operatorsOwn, { memory: memoryOf("m3", { key: "other" }), terms: ["milk"] }))
      assert.deepStrictEqual(yield* found("k1", "milk", "water"), ["m3"])
      assert.isFalse(yield* repo.replace(operatorsOwn, { memory: memoryOf("m9"), terms: [] }))
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("has no word of a memory in the file, in the table or in the index", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* saved(memoryOf("m1", { key: "secretkey", content: "secretword" }), "secretword")
      for (const table of ["memories", "memory_index_data", "memory_index_docsize", "memory_index_idx"]) {
        const rows = yield* sql.unsafe<Record<string, unknown>>(`SELECT * FROM ${table}`)
        const bytes = rows
          .flatMap((row) => Object.values(row))
          .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value)))
          .join("\n")
        assert.notInclude(bytes, "secret", table)
      }
      yield* sql`UPDATE memories SET content = NULL`
      assert.deepStrictEqual(yield* found("k1", "secretword"), [])
      assert.strictEqual(yield* Effect.flatMap(MemoryRepo, (repo) => repo.removeUnused(0)), 1)
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("makes room by what was extracted and not used for longest, and is full without such", () =>
    Effect.gen(function* () {
      const repo = yield* MemoryRepo
      yield* saved(memoryOf("old", { source: "extracted", lastUsedAtMs: 5 }), "tea")
      yield* saved(memoryOf("older", { source: "extracted", lastUsedAtMs: 4 }), "tea")
      for (let at = 2; at < maxEntriesPerKey; at += 1) yield* saved(memoryOf(`m${at}`))
      yield* repo.used(["older"], 100)
      yield* saved(memoryOf("new1"), "tea")
      assert.isNull(yield* repo.get("old"))
      assert.deepStrictEqual(yield* found("k1", "tea"), ["older", "new1"].toReversed())
      yield* saved(memoryOf("new2"))
      assert.isNull(yield* repo.get("older"))
      const error = yield* Effect.flip(saved(memoryOf("new3")))
      assert.strictEqual(error._tag, "MemoryFull")
      // One that is there already needs no room, and others are not concerned.
      yield* saved(memoryOf("again", { key: "key-new2" }))
      yield* saved(memoryOf("other", { apiKeyId: "k2" }))
      assert.lengthOf(yield* repo.ids({ apiKeyId: "k1" }), maxEntriesPerKey)
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("counts bytes, too", () =>
    Effect.gen(function* () {
      const content = "x".repeat(700_000)
      yield* saved(memoryOf("m1", { content }))
      yield* saved(memoryOf("m2", { content, source: "extracted" }))
      yield* saved(memoryOf("m3", { content }))
      assert.deepStrictEqual(yield* Effect.flatMap(MemoryRepo, (repo) => repo.ids({})), ["m3", "m1"])
      assert.strictEqual((yield* Effect.flip(saved(memoryOf("m4", { content }))))._tag, "MemoryFull")
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("goes with its API key, and when it was not used for long", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeyRepo
      const repo = yield* MemoryRepo
      yield* keys.insert(apiKey)
      yield* saved(memoryOf("m1", { apiKeyId: apiKey.id }), "tea")
      yield* saved(memoryOf("m2", { apiKeyId: null, lastUsedAtMs: 10 }), "tea")
      yield* saved(memoryOf("m3", { apiKeyId: null, lastUsedAtMs: 20 }), "tea")
      yield* keys.remove(apiKey.id)
      assert.deepStrictEqual(yield* repo.ids({}), ["m3", "m2"])
      assert.strictEqual(yield* repo.removeUnused(15), 1)
      assert.deepStrictEqual(yield* repo.counts, { entries: 1, bytes: 19, indexed: 1 })
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("makes its index anew", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* MemoryRepo
      yield* saved(memoryOf("m1"), "tea")
      yield* sql`DELETE FROM memory_index`
      assert.strictEqual((yield* repo.counts).indexed, 0)
      yield* repo.index([
        { memory: memoryOf("m1"), terms: ["coffee"] },
        { memory: memoryOf("gone"), terms: ["tea"] }
      ])
      assert.deepStrictEqual(yield* found("k1", "coffee", "tea"), ["m1"])
    }).pipe(Effect.provide(reposInMemory))
  )
})
