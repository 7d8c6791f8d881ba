import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as InspectorSessionRepo from "../../../src/subjects/inspector/repo.ts"
import { reposInMemory } from "./fixtures.ts"

const session = (over: Partial<InspectorSessionRepo.StoredSession> = {}): InspectorSessionRepo.StoredSession => ({
  id: "s1",
  name: null,
  state: "recording",
  profile: "all",
  startedAtMs: 1_000,
  endedAtMs: null,
  requestCount: 0,
  bytes: 0,
  truncated: false,
  ...over
})

const repo = InspectorSessionRepo.layer.pipe(Layer.provideMerge(reposInMemory))
const content = '{"requestBody":"secretword"}'

describe("InspectorSessionRepo", () => {
  it.effect("keeps records encrypted, in their order, each in the place it had first", () =>
    Effect.gen(function* () {
      const sessions = yield* InspectorSessionRepo.InspectorSessionRepo
      const sql = yield* SqlClient.SqlClient
      assert.isTrue(yield* sessions.insert(session()))
      const records = [3, 1, 2].map((seq) => ({ recordId: `r${seq}`, seq, content }))
      yield* sessions.save(session({ requestCount: 3, bytes: 84 }), records, 2_000)
      yield* sessions.save(
        session({ requestCount: 3, bytes: 86 }),
        [{ recordId: "r1", seq: 9, content: '"new"' }],
        3_000
      )
      assert.deepStrictEqual(yield* sessions.get("s1"), session({ requestCount: 3, bytes: 86 }))
      const page = yield* sessions.records("s1", 0, 2)
      assert.deepStrictEqual(page, {
        records: [
          { recordId: "r1", seq: 1, content: '"new"' },
          { recordId: "r2", seq: 2, content }
        ],
        last: 2
      })
      assert.deepStrictEqual(
        (yield* sessions.records("s1", 2, 2)).records.map(({ seq }) => seq),
        [3]
      )
      assert.deepStrictEqual(yield* sessions.records("s1", 3, 2), { records: [], last: null })
      assert.notInclude(JSON.stringify(yield* sql`SELECT * FROM inspector_records`), "secretword")
      yield* sql`UPDATE inspector_records SET content = 'broken' WHERE record_id = 'r2'`
      assert.deepStrictEqual(yield* sessions.records("s1", 1, 1), { records: [], last: 2 })
      assert.isTrue(yield* sessions.remove("s1"))
      assert.isFalse(yield* sessions.remove("s1"))
      assert.lengthOf(yield* sql`SELECT 1 FROM inspector_records`, 0)
    }).pipe(Effect.provide(repo))
  )

  it.effect("lets one record at a time, and ends what a crash left", () =>
    Effect.gen(function* () {
      const sessions = yield* InspectorSessionRepo.InspectorSessionRepo
      assert.isTrue(yield* sessions.insert(session()))
      assert.isFalse(yield* sessions.insert(session({ id: "s2" })))
      assert.isTrue(yield* sessions.insert(session({ id: "s3", state: "saved", startedAtMs: 500, endedAtMs: 600 })))
      yield* sessions.save(session({ requestCount: 1 }), [{ recordId: "r1", seq: 1, content }], 2_500)
      yield* sessions.interrupt
      assert.deepInclude(yield* sessions.get("s1"), { state: "interrupted", endedAtMs: 2_500, requestCount: 1 })
      assert.deepStrictEqual(
        (yield* sessions.list).map(({ id, state }) => [id, state]),
        [
          ["s1", "interrupted"],
          ["s3", "saved"]
        ]
      )
      assert.isTrue(yield* sessions.insert(session({ id: "s4", startedAtMs: 3_000 })))
      yield* sessions.interrupt
      assert.deepInclude(yield* sessions.get("s4"), { state: "interrupted", endedAtMs: 3_000 })
      // What was removed meanwhile stays so.
      yield* sessions.save(session({ id: "gone" }), [{ recordId: "r1", seq: 1, content }], 1)
      assert.lengthOf((yield* sessions.records("gone", 0, 9)).records, 0)
      assert.isFalse(yield* sessions.update(session({ id: "gone", state: "saved" })))
    }).pipe(Effect.provide(repo))
  )
})
