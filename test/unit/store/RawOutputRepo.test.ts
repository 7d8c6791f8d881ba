import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { operatorsOwn } from "../../../src/contract/domain/ContentPermission.ts"
import { ApiKeyRepo } from "../../../src/subjects/keys/repo.ts"
import { RawOutputRepo } from "../../../src/subjects/compression/repo.ts"
import { apiKey, reposInMemory } from "./fixtures.ts"

const outputOf = (id: string, content: string, apiKeyId: string | null = null) => ({
  id,
  apiKeyId,
  content,
  bytes: Buffer.byteLength(content),
  createdAtMs: 1_000
})

describe("RawOutputRepo", () => {
  it.effect("keeps outputs encrypted, and has one id for one owner and text", () =>
    Effect.gen(function* () {
      const repo = yield* RawOutputRepo
      const sql = yield* SqlClient.SqlClient
      const output = outputOf(repo.idOf(null, "secretword \u{1F600}"), "secretword \u{1F600}")
      yield* repo.save(operatorsOwn, output, 1_000, 1_000)
      assert.deepStrictEqual(yield* repo.get(output.id), output)
      assert.strictEqual(repo.idOf(null, output.content), output.id)
      assert.notStrictEqual(repo.idOf("k", output.content), output.id)
      assert.notInclude(JSON.stringify(yield* sql`SELECT * FROM raw_outputs`), "secretword")
      assert.isNull(yield* repo.get("gone"))
      yield* sql`UPDATE raw_outputs SET content = 'broken'`
      assert.isNull(yield* repo.get(output.id))
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("makes room by what was not used for longest, of the same owner alone", () =>
    Effect.gen(function* () {
      const repo = yield* RawOutputRepo
      yield* repo.save(operatorsOwn, outputOf("a", "x".repeat(40)), 100, 1)
      yield* repo.save(operatorsOwn, outputOf("b", "x".repeat(40)), 100, 2)
      yield* repo.save(operatorsOwn, outputOf("other", "x".repeat(90), "k2"), 100, 0)
      yield* repo.save(operatorsOwn, outputOf("a", "x".repeat(40)), 100, 3)
      yield* repo.save(operatorsOwn, outputOf("c", "x".repeat(40)), 100, 4)
      assert.isNull(yield* repo.get("b"))
      for (const id of ["a", "c", "other"]) assert.isNotNull(yield* repo.get(id), id)
      yield* repo.save(operatorsOwn, outputOf("huge", "x".repeat(101)), 100, 5)
      assert.isNull(yield* repo.get("huge"))
      assert.isNotNull(yield* repo.get("c"))
      assert.strictEqual(yield* repo.removeUnused(4), 2)
      assert.isNotNull(yield* repo.get("c"))
    }).pipe(Effect.provide(reposInMemory))
  )

  it.effect("goes with its API key", () =>
    Effect.gen(function* () {
      const repo = yield* RawOutputRepo
      const keys = yield* ApiKeyRepo
      yield* keys.insert(apiKey)
      yield* repo.save(operatorsOwn, outputOf("a", "x", apiKey.id), 100, 1)
      yield* keys.remove(apiKey.id)
      assert.isNull(yield* repo.get("a"))
    }).pipe(Effect.provide(reposInMemory))
  )
})
