import * as SqlClient from "@effect/sql/SqlClient"
import { assert, it } from "@effect/vitest"
import Database from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Backup from "../../../src/store/Backup.ts"
import { onDisk, temporaryFolder } from "./fixtures.ts"

it.scoped("Backup makes whole copies and lists them newest first", () =>
  Effect.gen(function* () {
    const dataDir = yield* temporaryFolder
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const backup = yield* Backup.Backup
      yield* TestClock.setTime(Date.UTC(2025, 0, 31, 12, 0, 0, 5))
      yield* sql`INSERT INTO meta ${sql.insert({ key: "kept", value: "yes" })}`
      const first = yield* backup.make("By hand/../x")
      assert.strictEqual(first.name, "db_20250131T120000005Z_by-hand-x.sqlite")
      assert.strictEqual(first.createdAtMs, Date.UTC(2025, 0, 31, 12, 0, 0, 5))
      yield* TestClock.adjust("1 second")
      const second = yield* backup.make("again")
      writeFileSync(join(dataDir, "backups", "notes.txt"), "")
      assert.deepStrictEqual(yield* backup.list, [second, first])

      const copy = new Database(first.path, { readonly: true })
      assert.strictEqual(copy.pragma("integrity_check", { simple: true }), "ok")
      assert.strictEqual(copy.prepare("SELECT value FROM meta").pluck().get(), "yes")
      copy.close()
    }).pipe(Effect.provide(Layer.provideMerge(Backup.layer, onDisk(dataDir))))
  })
)
