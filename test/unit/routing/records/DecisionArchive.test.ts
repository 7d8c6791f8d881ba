import { assert, describe, it } from "@effect/vitest"
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import * as GatewaySettings from "../../../../src/subjects/flags/StoredFlags.ts"
import * as DecisionArchive from "../../../../src/plane/routing/records/DecisionArchive.ts"
import * as DecisionLog from "../../../../src/plane/routing/records/DecisionLog.ts"
import { maxCandidates, maxNameChars } from "../../../../src/plane/routing/records/StoredDecision.ts"
import { namedTarget } from "../../../support/Candidates.ts"
import { decisionEntry } from "../../../support/Decisions.ts"
import { reposInMemory } from "../../store/fixtures.ts"

const small = (requestId: string) => decisionEntry(requestId, [namedTarget("a")], true)

const stored = Layer.provideMerge(GatewaySettings.layer, reposInMemory)
const archive = Layer.provideMerge(DecisionArchive.layer, stored)

const keptIds = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(sql<{ requestId: string }>`SELECT request_id FROM decisions ORDER BY at_ms, request_id`, (rows) =>
    rows.map(({ requestId }) => requestId)
  )
)

describe("kept decisions", () => {
  it.effect("are written in the background, and outlive the log's memory and the process", () =>
    Effect.gen(function* () {
      const before = yield* Effect.scoped(
        Effect.gen(function* () {
          const log = DecisionLog.make(yield* DecisionArchive.make)
          for (const index of Array.from({ length: 3 }).keys()) log.record(small(`r${index}`))
          assert.deepStrictEqual(yield* keptIds, [])
          yield* TestClock.adjust("500 millis")
          assert.deepStrictEqual(yield* keptIds, ["r0", "r1", "r2"])
          const record = log.get("r1")
          for (let index = 0; index < DecisionLog.capacity; index += 1) log.record(small(`later${index}`))
          assert.isNull(log.get("r1"))
          assert.deepStrictEqual(yield* log.find("r1"), record)
          log.record(small("last"))
          return record
        })
      )
      const again = DecisionLog.make(yield* DecisionArchive.make)
      assert.isNull(again.get("r1"))
      assert.deepStrictEqual(yield* again.find("r1"), before)
      assert.strictEqual((yield* again.find("later0"))?.requestId, "later0")
      assert.isNull(yield* again.find("nobody"))
    }).pipe(Effect.scoped, Effect.provide(stored))
  )

  it.effect("are so many in a while, and the line for them is bounded", () =>
    Effect.gen(function* () {
      const { dropped, find, offer } = yield* DecisionArchive.DecisionArchive
      for (let index = 0; index < DecisionArchive.mostWaiting + 7; index += 1) offer(small(`r${1_000_000 + index}`))
      assert.strictEqual(dropped(), 7)
      yield* TestClock.adjust("500 millis")
      assert.strictEqual((yield* keptIds).length, DecisionArchive.batchRows)
      yield* TestClock.adjust("500 millis")
      assert.strictEqual((yield* keptIds).length, 2 * DecisionArchive.batchRows)
      assert.strictEqual((yield* find("r1000000"))?.requestId, "r1000000")
      assert.strictEqual(dropped(), 7)
    }).pipe(Effect.provide(archive))
  )

  it.effect("wait in a line whose lines are counted: few large ones fill it, and a batch", () =>
    Effect.gen(function* () {
      const { dropped, offer } = yield* DecisionArchive.DecisionArchive
      const many = Array.from({ length: 1_000 }, (_, index) => namedTarget("a", `c${index}`))
      const fits = DecisionArchive.mostWaitingLines / many.length
      for (let index = 0; index < fits + 2; index += 1) offer(decisionEntry(`r${index}`, many, true))
      assert.strictEqual(dropped(), 2)
      yield* TestClock.adjust("500 millis")
      assert.strictEqual((yield* keptIds).length, DecisionArchive.batchLines / many.length)
    }).pipe(Effect.provide(archive))
  )

  it.effect("are a part of all where the settings say so, the same part each time", () =>
    Effect.gen(function* () {
      const settings = yield* GatewaySettings.GatewaySettings
      const { dropped, flush, offer } = yield* DecisionArchive.DecisionArchive
      yield* settings.patch({ decisions: { sampleRate: 0.25 } })
      const ids = Array.from({ length: 1_600 }, (_, index) => `01a20332-6a99-7000-9d64-7136b94c${7_000 + index}`)
      for (const id of ids) offer(small(id))
      yield* flush
      const kept = yield* keptIds
      assert.isTrue(kept.length > 320 && kept.length < 480, String(kept.length))
      assert.deepStrictEqual(
        kept,
        ids.filter((id) => DecisionArchive.isSampled(id, 0.25))
      )
      yield* settings.patch({ decisions: { sampleRate: 0 } })
      for (const id of ids) offer(small(`${id}-0`))
      yield* flush
      assert.strictEqual((yield* keptIds).length, kept.length)
      assert.strictEqual(dropped(), 0)
    }).pipe(Effect.provide(archive))
  )

  it.effect("go when they are too old, and the oldest when there are too many", () =>
    Effect.gen(function* () {
      const settings = yield* GatewaySettings.GatewaySettings
      const { flush, offer } = yield* DecisionArchive.DecisionArchive
      yield* settings.patch({ decisions: { retentionDays: 1 } })
      for (let index = 0; index < 1_200; index += 1) offer(small(`old${index}`))
      yield* flush
      yield* TestClock.adjust("12 hours")
      for (const id of ["b1", "b2", "b3"]) offer(small(id))
      yield* flush
      assert.strictEqual((yield* keptIds).length, 1_203)
      yield* TestClock.adjust("13 hours")
      assert.deepStrictEqual(yield* keptIds, ["b1", "b2", "b3"])
      for (const id of ["c1", "c2"]) offer(small(id))
      yield* flush
      yield* settings.patch({ decisions: { maxRows: 3 } })
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(yield* keptIds, ["b3", "c1", "c2"])
      yield* settings.patch({ decisions: { maxRows: 0 } })
      offer(small("d1"))
      yield* TestClock.adjust("5 minutes")
      assert.deepStrictEqual(yield* keptIds, [])
    }).pipe(Effect.provide(archive))
  )

  it.effect("are of bounded size: long names are cut, and most of many candidates left out, with their number", () =>
    Effect.gen(function* () {
      const { find, flush, offer } = yield* DecisionArchive.DecisionArchive
      const model = "m".repeat(100_000)
      const many = Array.from({ length: 5_000 }, (_, index) => ({ ...namedTarget("a", `c${index}`), model }))
      const asked = many[4_321]!
      const entry = decisionEntry("large", many, true)
      offer({ ...entry, requestedModel: model, chosen: asked })
      yield* flush
      const record = yield* find("large")
      assert.strictEqual(record?.candidates.length, maxCandidates)
      assert.strictEqual(record?.candidatesLeftOut, 5_000 - maxCandidates)
      const shown = record?.candidates.map(({ connectionId }) => connectionId) ?? []
      assert.include(shown, asked.account.connection.id)
      assert.strictEqual(record?.order.length, maxCandidates)
      for (const name of [record?.requestedModel, record?.chosen, record?.candidates[0]?.model, record?.order[0]]) {
        assert.strictEqual(name?.length, maxNameChars)
      }
      assert.isBelow(JSON.stringify(record).length, 250_000)
    }).pipe(Effect.provide(archive))
  )

  it.effect("that cannot be written are counted, and later ones are kept", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { dropped, find, flush, offer } = yield* DecisionArchive.DecisionArchive
      yield* sql`CREATE TRIGGER refuse BEFORE INSERT ON decisions BEGIN SELECT RAISE(FAIL, 'disk full'); END`
      for (const id of ["a", "b"]) offer(small(id))
      yield* flush
      assert.strictEqual(dropped(), 2)
      yield* sql`DROP TRIGGER refuse`
      offer(small("c"))
      yield* flush
      assert.strictEqual((yield* find("c"))?.requestId, "c")
      assert.isNull(yield* find("a"))
    }).pipe(Effect.provide(archive))
  )
})
