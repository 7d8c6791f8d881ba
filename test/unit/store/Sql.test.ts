import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import Database from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import * as DataLock from "../../../src/store/DataLock.ts"
import { describeStoreFailure, type StoreFailure } from "../../../src/store/Errors.ts"
import { type Migrations, migrations, versionOf } from "../../../src/store/migrations/index.ts"
import * as Sql from "../../../src/store/Sql.ts"
import { onDisk, temporaryFolder } from "./fixtures.ts"

const opened = (dataDir: string) => Effect.scoped(Layer.build(onDisk(dataDir)))
const refused = (dataDir: string) => Effect.flip(opened(dataDir))
const database = (dataDir: string) => join(dataDir, "gateway.sqlite")

/** Works on the file as another program would. */
const raw = <A>(dataDir: string, use: (handle: Database.Database) => A): A => {
  const handle = new Database(database(dataDir))
  try {
    return use(handle)
  } finally {
    handle.close()
  }
}

const oneSentence = (failure: StoreFailure, ...parts: ReadonlyArray<string>) => {
  const sentence = describeStoreFailure(failure)
  assert.notInclude(sentence, "\n")
  assert.notInclude(sentence, "    at ")
  for (const part of parts) assert.include(sentence, part)
}

describe("migrations", () => {
  it("have rising unique numbers from 1", () => {
    const numbers = Object.keys(migrations).map((name) => Number(/^(\d{4})_[a-z_]+$/.exec(name)?.[1]))
    assert.deepStrictEqual(
      numbers,
      [...new Set(numbers)].toSorted((one, other) => one - other)
    )
    assert.strictEqual(numbers[0], 1)
    assert.strictEqual(versionOf(migrations), numbers.at(-1))
  })

  it.scoped("make an empty folder into a current database, and leave a current one alone", () =>
    Effect.gen(function* () {
      const dataDir = join(yield* temporaryFolder, "new", "folder")
      yield* opened(dataDir)
      yield* opened(dataDir)
      assert.strictEqual(statSync(dataDir).mode & 0o777, 0o700)
      assert.strictEqual(statSync(database(dataDir)).mode & 0o777, 0o600)
      raw(dataDir, (handle) => {
        assert.strictEqual(handle.pragma("user_version", { simple: true }), versionOf(migrations))
        assert.strictEqual(handle.pragma("journal_mode", { simple: true }), "wal")
        const loose = handle
          .prepare("SELECT name FROM pragma_table_list WHERE strict = 0 AND schema = 'main' AND type = 'table'")
          .pluck()
          .all()
        assert.sameMembers(loose, ["sqlite_schema", "sqlite_sequence", "schema_migrations"])
      })
      assert.isFalse(existsSync(join(dataDir, "backups")))
    })
  )

  it.scoped("sync every commit, enforce foreign keys and never block the thread for a lock", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const pragmas = yield* Effect.flatMap(SqlClient.SqlClient, (sql) =>
        Effect.forEach(["synchronous", "foreign_keys", "busy_timeout", "journal_size_limit"], (name) =>
          Effect.map(sql.unsafe(`PRAGMA ${name}`), (rows) => Object.values(rows[0] ?? {})[0])
        )
      ).pipe(Effect.provide(onDisk(dataDir)))
      assert.deepStrictEqual(pragmas, [2, 1, 0, 67_108_864])
    })
  )

  const later = (count: number): Migrations => ({
    ...migrations,
    ...Object.fromEntries(
      Array.from({ length: count }, (_, index) => {
        const version = versionOf(migrations) + index + 1
        return [
          `${String(version).padStart(4, "0")}_later`,
          Effect.asVoid(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(`CREATE TABLE later_${version} (a)`)))
        ]
      })
    )
  })
  const openedWith = (dataDir: string, all: Migrations) =>
    Effect.scoped(
      Layer.build(
        Sql.layerOf(all).pipe(Layer.provide(DataLock.layerOnDemand), Layer.provide(AppConfig.layerOf({ dataDir })))
      )
    )

  it.scoped("back up an existing database before they run and keep the last five backups", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      yield* opened(dataDir)
      raw(dataDir, (handle) => handle.exec("INSERT INTO meta VALUES ('kept', 'yes')"))
      for (let count = 1; count <= 7; count++) {
        yield* openedWith(dataDir, later(count))
        yield* TestClock.adjust("1 second")
      }
      const backups = readdirSync(join(dataDir, "backups"))
      assert.lengthOf(backups, 5)
      assert.isTrue(
        backups.every((name) => /^db_\d{8}T\d{9}Z_before-migration-\d+\.sqlite$/.test(name)),
        backups.join()
      )
      const newest = new Database(join(dataDir, "backups", backups.toSorted().at(-1) ?? ""))
      assert.strictEqual(newest.pragma("user_version", { simple: true }), versionOf(migrations) + 6)
      assert.strictEqual(newest.prepare("SELECT value FROM meta WHERE key = 'kept'").pluck().get(), "yes")
      newest.close()
    })
  )

  it.scoped("leave no trace when one of them fails", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      yield* opened(dataDir)
      const broken: Migrations = {
        ...later(1),
        [`000${versionOf(migrations) + 2}_broken`]: Effect.asVoid(
          Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe("CREATE TABLE meta (a)"))
        )
      }
      const failure = yield* Effect.flip(openedWith(dataDir, broken))
      assert.strictEqual(failure._tag, "MigrationFailed")
      oneSentence(failure, "gateway.sqlite", "meta already exists")
      raw(dataDir, (handle) => {
        assert.strictEqual(handle.pragma("user_version", { simple: true }), versionOf(migrations))
        assert.isUndefined(handle.prepare("SELECT 1 FROM sqlite_schema WHERE name LIKE 'later_%'").get())
      })
    })
  )
})

describe("a database that cannot be used", () => {
  it.scoped("newer: names both versions and keeps every byte", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      yield* opened(dataDir)
      raw(dataDir, (handle) => handle.pragma("user_version = 99"))
      const before = readFileSync(database(dataDir))
      const failure = yield* refused(dataDir)
      assert.strictEqual(failure._tag, "SchemaNewer")
      oneSentence(failure, "99", String(versionOf(migrations)), "upgrade")
      assert.isTrue(before.equals(readFileSync(database(dataDir))))
    })
  )

  it.scoped("newer by its migrations table alone", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      yield* opened(dataDir)
      raw(dataDir, (handle) => handle.exec("INSERT INTO schema_migrations (migration_id, name) VALUES (99, 'x')"))
      assert.strictEqual((yield* refused(dataDir))._tag, "SchemaNewer")
    })
  )

  it.scoped("not a database: says so and keeps every byte", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const text = "this is a letter, not a database\n".repeat(200)
      writeFileSync(database(dataDir), text)
      const failure = yield* refused(dataDir)
      assert.strictEqual(failure._tag, "DatabaseCorrupt")
      oneSentence(failure, database(dataDir), "not a SQLite database")
      assert.strictEqual(readFileSync(database(dataDir), "utf8"), text)
    })
  )

  it.scoped("cut short", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      yield* opened(dataDir)
      truncateSync(database(dataDir), 3 * 4096 + 17)
      assert.strictEqual((yield* refused(dataDir))._tag, "DatabaseCorrupt")
    })
  )

  it.scoped("damaged inside", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      yield* opened(dataDir)
      const bytes = readFileSync(database(dataDir))
      bytes.fill(0xab, 5 * 4096, 7 * 4096)
      writeFileSync(database(dataDir), bytes)
      assert.strictEqual((yield* refused(dataDir))._tag, "DatabaseCorrupt")
      assert.isTrue(bytes.equals(readFileSync(database(dataDir))))
    })
  )

  it.scoped("a file where the folder should be", () =>
    Effect.gen(function* () {
      const dataDir = join(yield* temporaryFolder, "data")
      writeFileSync(dataDir, "")
      const failure = yield* refused(dataDir)
      assert.strictEqual(failure._tag, "DataUnwritable")
      oneSentence(failure, dataDir, "a file is in the place")
      assert.strictEqual((yield* refused(join(dataDir, "below")))._tag, "DataUnwritable")
    })
  )

  it.scoped("a folder where the file should be", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      mkdirSync(database(dataDir))
      const failure = yield* refused(dataDir)
      assert.strictEqual(failure._tag, "DataUnwritable")
      oneSentence(failure, database(dataDir))
    })
  )

  it.scoped("locked by another program", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      yield* opened(dataDir)
      const other = new Database(database(dataDir))
      other.exec("BEGIN IMMEDIATE")
      const failure = yield* refused(dataDir)
      other.close()
      assert.strictEqual(failure._tag, "DatabaseLocked")
      oneSentence(failure, database(dataDir), "locked by another process")
      yield* opened(dataDir)
    })
  )

  it.scoped("in use by another gateway, which does not keep commands out", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      yield* Layer.build(onDisk(dataDir))
      const failure = yield* refused(dataDir)
      assert.strictEqual(failure._tag, "GatewayRunning")
      oneSentence(failure, join(dataDir, "gateway.lock"), "DATA_DIR")

      const command = Sql.layer.pipe(
        Layer.provide(DataLock.layerOnDemand),
        Layer.provide(AppConfig.layerOf({ dataDir }))
      )
      yield* Effect.provide(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT * FROM combos`),
        command
      )
    })
  )

  it.scoped("keeps the mode of a folder that was already there", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      chmodSync(dataDir, 0o755)
      yield* opened(dataDir)
      assert.strictEqual(statSync(dataDir).mode & 0o777, 0o755)
    })
  )
})
