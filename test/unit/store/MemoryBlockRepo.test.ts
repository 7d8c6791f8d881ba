import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { operatorsOwn } from "../../../src/contract/domain/ContentPermission.ts"
import type { Memory, PlacedBlock } from "../../../src/subjects/memory/entity.ts"
import { ApiKeyRepo } from "../../../src/subjects/keys/repo.ts"
import { MemoryBlockRepo } from "../../../src/subjects/memory/MemoryBlockRepo.ts"
import { MemoryRepo } from "../../../src/subjects/memory/repo.ts"
import { apiKey, reposInMemory } from "./fixtures.ts"

const memoryOf = (id: string, lastUsedAtMs = 1_000): Memory => ({
  id,
  apiKeyId: null,
  type: "factual",
  source: "added",
  key: id,
  content: `secretword of ${id}`,
  sessionId: null,
  createdAtMs: 0,
  updatedAtMs: 0,
  lastUsedAtMs
})

const blockOf = (...ids: ReadonlyArray<string>): PlacedBlock => ({
  text: `secretword \u{1F600} ${ids.join(" ")}`,
  ids,
  tokens: 7,
  place: "before"
})

const all = ["one", "two", "three", "gone"]

const setUp = Effect.gen(function* () {
  const repo = yield* MemoryBlockRepo
  const memories = yield* MemoryRepo
  const sql = yield* SqlClient.SqlClient
  for (const id of ["a", "b"]) yield* memories.save(operatorsOwn, { memory: memoryOf(id), terms: [] })
  const save = (turn: string, block: PlacedBlock, lastUsedAtMs = 1_000, apiKeyId: string | null = null) =>
    repo.save({ turn, apiKeyId, block, lastUsedAtMs })
  const turns = (sinceMs = 0) => Effect.map(repo.ofTurns(all, sinceMs), (found) => [...found.keys()].toSorted())
  return { repo, memories, sql, save, turns }
})

describe("MemoryBlockRepo", () => {
  it.effect("keeps texts encrypted and turns as keyed hashes, and reads what it can", () =>
    Effect.gen(function* () {
      const { repo, save, sql, turns } = yield* setUp
      yield* save("one", blockOf("a", "a"))
      yield* save("one", blockOf("a", "b"))
      yield* save("two", blockOf("b"))
      assert.deepStrictEqual(yield* turns(), ["one", "two"])
      assert.deepStrictEqual((yield* repo.ofTurns(["one", "gone"], 0)).get("one"), blockOf("a", "b"))
      const rows = JSON.stringify(yield* sql`SELECT * FROM memory_blocks`)
      assert.notInclude(rows, "secretword")
      assert.notInclude(rows, '"one"')
      yield* sql`UPDATE memory_blocks SET content = 'broken'`
      assert.deepStrictEqual(yield* turns(), [])
      assert.strictEqual((yield* repo.ofTurns([], 0)).size, 0)
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("goes with each memory that it holds, and with its API key", () =>
    Effect.gen(function* () {
      const { memories, repo, save, sql, turns } = yield* setUp
      const keys = yield* ApiKeyRepo
      yield* keys.insert(apiKey)
      yield* save("one", blockOf("a", "b"))
      yield* save("two", blockOf("b"))
      yield* save("three", blockOf("b"), 1_000, apiKey.id)
      yield* save("gone", blockOf("a", "unknown"))
      assert.deepStrictEqual(yield* turns(), ["one", "three", "two"])
      yield* memories.remove("a")
      assert.deepStrictEqual(yield* turns(), ["three", "two"])
      yield* keys.remove(apiKey.id)
      assert.deepStrictEqual(yield* turns(), ["two"])
      yield* repo.forget("b")
      assert.deepStrictEqual(yield* turns(), [])
      assert.deepStrictEqual(yield* sql`SELECT * FROM memory_block_members`, [])
      yield* save("two", blockOf("b"))
      assert.strictEqual(yield* memories.removeUnused(2_000), 1)
      assert.deepStrictEqual(yield* turns(), [])
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("removes those not used for longest where there are too many, or too much", () =>
    Effect.gen(function* () {
      const { repo, save, turns } = yield* setUp
      const fill = Effect.gen(function* () {
        yield* save("one", blockOf("a"), 1)
        yield* save("two", blockOf("a"), 2)
        yield* save("three", blockOf("a"), 3)
        yield* repo.used(["one"], 4)
      })
      const bytes = Buffer.byteLength(blockOf("a").text)
      yield* fill
      yield* repo.trim({ beforeMs: 0, maxBlocks: 2, maxBytes: 1_000_000 })
      assert.deepStrictEqual(yield* turns(), ["one", "three"])
      yield* fill
      yield* repo.trim({ beforeMs: 0, maxBlocks: 10, maxBytes: bytes })
      assert.deepStrictEqual(yield* turns(), ["one"])
      yield* fill
      assert.deepStrictEqual(yield* turns(3), ["one", "three"])
      yield* repo.trim({ beforeMs: 3, maxBlocks: 10, maxBytes: 1_000_000 })
      assert.deepStrictEqual(yield* turns(), ["one", "three"])
    }).pipe(Effect.provide(reposInMemory))
  )
})
