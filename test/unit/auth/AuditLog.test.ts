/** The audit log on its way to the table: what a stop, a failing database and too many rows do to it. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import * as AuditLog from "../../../src/subjects/auth/AuditLog.ts"
import * as AuditQueue from "../../../src/subjects/auth/AuditQueue.ts"
import type { AuditRow } from "../../../src/subjects/audit/entity.ts"
import { StoreError } from "../../../src/store/Errors.ts"
import * as ReadWorker from "../../../src/store/engine/ReadWorker.ts"
import * as AuditRepo from "../../../src/subjects/audit/repo.ts"
import * as Sql from "../../../src/store/Sql.ts"

const rowAt = (id: string, timestampMs: number, actor = "admin-key"): AuditRow => ({
  id,
  timestampMs,
  action: "combos.create",
  actor,
  target: null,
  resourceType: "combos",
  status: "success",
  ip: "127.0.0.1",
  details: { httpStatus: 201 }
})

const tables = AuditRepo.layer.pipe(
  Layer.provideMerge(ReadWorker.layerMemory),
  Layer.provideMerge(Layer.merge(Sql.layerMemory, AuditQueue.layer))
)

it.effect("writes what is on its way when the gateway stops, also what is recorded after the stop of a restart", () =>
  Effect.gen(function* () {
    const repo = yield* AuditRepo.AuditRepo
    const generation = Effect.flatMap(Scope.make(), (scope) =>
      Effect.map(Scope.extend(AuditLog.make, scope), (log) => ({ log, end: Scope.close(scope, Exit.void) }))
    )
    const first = yield* generation
    yield* first.log.record(rowAt("a", 1))
    yield* first.end
    assert.strictEqual((yield* repo.page({}, 10, 0)).total, 1)

    yield* first.log.record(rowAt("b", 2))
    const second = yield* generation
    yield* second.end
    const { rows } = yield* repo.page({}, 10, 0)
    assert.deepStrictEqual(
      rows.map(({ id }) => id),
      ["b", "a"]
    )
  }).pipe(Effect.provide(tables))
)

it.effect("tries again until the database takes the rows, and has each once", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const real = yield* AuditRepo.AuditRepo
      let failures = 3
      const failing = AuditRepo.AuditRepo.of({
        ...real,
        add: (rows) =>
          failures-- > 0
            ? Effect.fail(new StoreError({ operation: "AuditRepo.add", cause: new Error("the disk is full") }))
            : real.add(rows)
      })
      const log = yield* Effect.provideService(AuditLog.make, AuditRepo.AuditRepo, failing)
      yield* log.record(rowAt("a", 1))
      yield* log.record(rowAt("b", 1))
      yield* TestClock.adjust("1 minute")
      assert.isAtMost(failures, 0)
      assert.strictEqual((yield* real.page({}, 10, 0)).total, 2)
    })
  ).pipe(Effect.provide(tables))
)

it.effect("forgets old rows, and keeps those of administrators when strangers make many", () =>
  Effect.gen(function* () {
    const repo = yield* AuditRepo.AuditRepo
    const { maxAgeMs, maxAnonymousRows } = AuditRepo.limits
    const nowMs = maxAgeMs + 10
    yield* repo.add([rowAt("old", 9), rowAt("kept", 10)])
    yield* repo.add(Array.from({ length: maxAnonymousRows + 5 }, (_, n) => rowAt(`s${n}`, nowMs, "anonymous")))
    yield* repo.trim(nowMs)
    assert.strictEqual((yield* repo.page({ actor: "anonymous" }, 1, 0)).total, maxAnonymousRows)
    const kept = yield* repo.page({ actor: "admin-key" }, 10, 0)
    assert.deepStrictEqual(
      kept.rows.map(({ id }) => id),
      ["kept"]
    )
    assert.strictEqual((yield* repo.page({ requestId: "s4" }, 1, 0)).total, 0)
    assert.strictEqual((yield* repo.page({ requestId: "s5" }, 1, 0)).total, 1)
    const refused = (n: number): AuditRow => ({
      ...rowAt(`r${n}`, nowMs, "apiKey:k"),
      status: "failure",
      details: { httpStatus: 403 }
    })
    yield* repo.add(Array.from({ length: maxAnonymousRows }, (_, n) => refused(n)))
    yield* repo.add([rowAt("later", nowMs, "apiKey:k")])
    yield* repo.trim(nowMs)
    assert.strictEqual((yield* repo.page({}, 1, 0)).total, maxAnonymousRows + 2, "refused keys share that part")
  }).pipe(Effect.provide(tables))
)
