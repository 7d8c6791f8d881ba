import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { syncLog, withLateSync } from "../../../src/store/engine/LateSync.ts"
import { onDisk, temporaryFolder } from "./fixtures.ts"

const levelOf = (rows: ReadonlyArray<unknown>) => JSON.stringify(rows)
const normal = `[{"synchronous":1}]`
const full = `[{"synchronous":2}]`

describe("late sync", () => {
  it.scoped("commits without waiting for the disk, for the given statements only, and again and again", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const level = Effect.map(sql.unsafe("PRAGMA synchronous"), levelOf)
        for (let round = 0; round < 3; round += 1) {
          const within = yield* withLateSync(sql, (connection) =>
            Effect.map(connection.executeUnprepared("PRAGMA synchronous", [], undefined), levelOf)
          )
          assert.strictEqual(within, normal)
          assert.strictEqual(yield* level, full)
        }
        const broken = yield* Effect.exit(
          withLateSync(sql, (connection) => connection.executeRaw("INSERT INTO nowhere VALUES (1)", []))
        )
        assert.isTrue(Exit.isFailure(broken))
        assert.strictEqual(yield* level, full)
      }).pipe(Effect.provide(onDisk(dataDir)))
    })
  )

  it.scoped("syncs the log of a database, and has nothing to do where there is none", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      yield* syncLog(join(dataDir, "none.sqlite"))
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`INSERT INTO meta ${sql.insert({ key: "late", value: "sync" })}`
        yield* syncLog(join(dataDir, "gateway.sqlite"))
      }).pipe(Effect.provide(onDisk(dataDir)))
    })
  )

  it.scoped("a log that cannot be opened is a failure that says why", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      mkdirSync(join(dataDir, "folder.sqlite-wal"))
      const error = yield* Effect.flip(syncLog(join(dataDir, "folder.sqlite")))
      assert.strictEqual(error.code, "EISDIR")
    })
  )
})
