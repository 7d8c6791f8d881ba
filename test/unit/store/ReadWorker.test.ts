/** Long reads on a thread of their own, over a real database file. */
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Timers from "../../../src/platform/Timers.ts"
import { databaseFile } from "../../../src/store/DataFolder.ts"
import * as ReadWorker from "../../../src/store/engine/ReadWorker.ts"
import { onDisk, temporaryFolder } from "./fixtures.ts"

const withStore = <A, E>(
  limits: Partial<ReadWorker.ReadLimits>,
  use: (worker: typeof ReadWorker.ReadWorker.Service) => Effect.Effect<A, E, SqlClient.SqlClient>
) =>
  Effect.scoped(
    Effect.flatMap(temporaryFolder, (folder) =>
      Effect.flatMap(ReadWorker.makeWith(databaseFile(folder), { ...ReadWorker.usualLimits, ...limits }), use).pipe(
        Effect.provide(Layer.merge(onDisk(folder), Timers.layer))
      )
    )
  )

const select = (sql: string, ...parameters: ReadonlyArray<ReadWorker.ReadValue>) => [{ sql, parameters }]
/** Some seconds: long enough to be given up, short enough for the thread to end with the test. */
const slow = select(
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000000) SELECT COUNT(*) AS n FROM n"
)

describe("ReadWorker", () => {
  it.live("reads what the other connection has committed, statement by statement", () =>
    withStore({}, ({ read }) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`INSERT INTO meta (key, value) VALUES ('a', 'one')`
        const statements = [
          { sql: "SELECT value FROM meta WHERE key = ?", parameters: ["a"] },
          { sql: "SELECT COUNT(*) AS n FROM usage_log", parameters: [] }
        ]
        assert.deepStrictEqual(yield* read(statements), [[{ value: "one" }], [{ n: 0 }]])
      })
    )
  )

  it.live("cannot write", () =>
    withStore({}, ({ read }) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(read(select("DELETE FROM meta RETURNING key")))
        assert.strictEqual(error.reason, "failed")
        assert.deepStrictEqual(yield* read(select("SELECT 1 AS one")), [[{ one: 1 }]])
      })
    )
  )

  it.live("refuses what exceeds its queue, and answers more rows than allowed with an error", () =>
    withStore({ maxWaiting: 1, maxRows: 3 }, ({ read }) =>
      Effect.gen(function* () {
        const first = yield* Effect.fork(read(slow))
        const second = yield* Effect.fork(read(select("SELECT 2 AS n")))
        yield* Effect.yieldNow()
        yield* Effect.yieldNow()
        const error = yield* Effect.flip(read(select("SELECT 3 AS n")))
        assert.strictEqual(error.reason, "busy")
        yield* Fiber.join(first)
        assert.deepStrictEqual(yield* Fiber.join(second), [[{ n: 2 }]])
        const many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT i FROM n"
        assert.strictEqual((yield* Effect.flip(read(select(many)))).reason, "failed")
      })
    )
  )

  it.live("gives up a read that takes too long, and serves the next one with another thread", () =>
    withStore({ timeoutMs: 250 }, ({ read }) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(read(slow))
        assert.strictEqual(error.reason, "timeout")
        const again = Effect.retry(read(select("SELECT 1 AS one")), { times: 20 })
        assert.deepStrictEqual(yield* again, [[{ one: 1 }]])
      })
    )
  )

  it.live("does not read any more once it is closed", () =>
    Effect.gen(function* () {
      let kept: typeof ReadWorker.ReadWorker.Service | null = null
      yield* withStore({}, (worker) => {
        kept = worker
        return worker.read(select("SELECT 1 AS one"))
      })
      const closed: typeof ReadWorker.ReadWorker.Service | null = kept
      assert.isNotNull(closed)
      if (closed === null) return
      const error = yield* Effect.flip((closed as typeof ReadWorker.ReadWorker.Service).read(select("SELECT 1")))
      assert.strictEqual(error.reason, "busy")
    })
  )
})
