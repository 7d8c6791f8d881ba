/** What may take the place of the live database, and that nothing else changes anything. */
import { assert, describe, it } from "@effect/vitest"
import Database from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as AppConfig from "../../../../src/platform/AppConfig.ts"
import * as Backup from "../../../../src/store/Backup.ts"
import { migrations, versionOf } from "../../../../src/store/migrations/index.ts"
import * as Restore from "../../../../src/store/restore/Restore.ts"
import * as Secrets from "../../../../src/store/secrets/Secrets.ts"
import * as SchemaFixtures from "../../../support/SchemaFixtures.ts"
import { counted } from "../../../support/slowRun.ts"
import { onDisk, temporaryFolder } from "../fixtures.ts"

const current = versionOf(migrations)
const key = "the key of this machine"

/** A plain run takes the first version, the newest ones, and every fifth; a slow one takes all. */
const restored = counted(
  SchemaFixtures.versions.filter((version) => version === 1 || version % 5 === 0 || version > current - 3),
  SchemaFixtures.versions
)

const machine = (dataDir: string, encryptionKey = key) =>
  AppConfig.layerOf({ dataDir, encryptionKey: Redacted.make(encryptionKey) })

/** A live database with a canary, and one setting that says so. */
const makeLive = (dataDir: string, encryptionKey = key) =>
  Effect.scoped(Layer.build(Layer.provideMerge(Secrets.layer, onDisk(dataDir, encryptionKey)))).pipe(
    Effect.zipRight(
      Effect.sync(() => {
        const live = new Database(join(dataDir, "gateway.sqlite"))
        live.exec("INSERT INTO settings (namespace, key, value) VALUES ('test', 'which', '\"live\"')")
        live.close()
      })
    )
  )

const read = (file: string, query: string): unknown => {
  const database = new Database(file, { readonly: true })
  try {
    return database.prepare(query).pluck().get()
  } finally {
    database.close()
  }
}

/** Everything that must stay as it is. */
const state = (dataDir: string): string =>
  readdirSync(dataDir, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(dataDir, name)).isFile() && !name.startsWith("restore"))
    .sort()
    .map((name) => `${name} ${readFileSync(join(dataDir, name)).toString("base64")}`)
    .join("\n")

/** Imports a file as the gateway does between two generations. */
const put = (file: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const folder = yield* Restore.stagingFolder
      copyFileSync(file, Restore.stagedFile(folder))
      const staged = yield* Restore.prepare(folder)
      return { staged, before: yield* Restore.swap(staged, "pre-import") }
    })
  )

const refusal = (dataDir: string, file: string) =>
  Effect.gen(function* () {
    const before = state(dataDir)
    const error = yield* Effect.flip(put(file)).pipe(Effect.provide(machine(dataDir)))
    assert.strictEqual(state(dataDir), before, "nothing was changed")
    assert.deepStrictEqual(readdirSync(join(dataDir, "restore")), [], "nothing was left")
    return error._tag === "RestoreRefused" ? error : assert.fail(error._tag)
  })

describe("a restore", () => {
  if (process.env["UPDATE_FIXTURES"] === "1") {
    it.effect("writes missing fixtures", () => SchemaFixtures.writeMissing)
  }

  it.effect("has the schema of every version as it was when it was released", () =>
    Effect.gen(function* () {
      for (const version of SchemaFixtures.versions) {
        const text = yield* SchemaFixtures.dump(version)
        assert.strictEqual(SchemaFixtures.hashOf(text), SchemaFixtures.hashes[version], `version ${version}`)
        if (version === current) assert.strictEqual(text, SchemaFixtures.newestOnFile())
      }
    })
  )

  for (const version of restored) {
    it.scoped(`brings a database of schema version ${version} up to date and keeps its rows`, () =>
      Effect.gen(function* () {
        const dataDir = yield* temporaryFolder
        yield* makeLive(dataDir)
        const file = join(dataDir, "old.sqlite")
        yield* SchemaFixtures.build(version, file)
        const { before, staged } = yield* put(file).pipe(Effect.provide(machine(dataDir)))
        assert.strictEqual(staged.schemaVersion, version)
        const live = join(dataDir, "gateway.sqlite")
        assert.strictEqual(read(live, "PRAGMA user_version"), current)
        assert.strictEqual(read(live, "PRAGMA integrity_check"), "ok")
        assert.strictEqual(read(live, "SELECT name FROM combos"), "kept")
        assert.strictEqual(read(live, "SELECT name FROM api_keys"), "laptop")
        assert.strictEqual(read(live, "SELECT cost_nano_usd FROM usage_log"), 75_000)
        assert.strictEqual(read(live, "SELECT value FROM settings WHERE namespace = 'test'"), undefined)
        assert.strictEqual(read(before.path, "SELECT value FROM settings WHERE namespace = 'test'"), '"live"')
        // It opens as any other.
        yield* Effect.scoped(Layer.build(onDisk(dataDir, key)))
      })
    )
  }

  it.scoped("keeps usage that the restored database does not have, and who is signed in", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      yield* makeLive(dataDir)
      const file = join(dataDir, "old.sqlite")
      yield* SchemaFixtures.build(4, file)
      const old = new Database(file)
      old.exec("INSERT INTO sessions VALUES ('signed-out', 1, 1, 9999999999999)")
      old.close()
      const live = new Database(join(dataDir, "gateway.sqlite"))
      live.exec(
        "INSERT INTO sessions (id_hash, created_at_ms, last_seen_at_ms, expires_at_ms) VALUES ('signed-in', 1, 1, 9999999999999)"
      )
      const columns =
        "id, timestamp_ms, request_id, requested_model, source_wire, streamed, outcome, status, latency_ms, attempts, tokens_in, tokens_out, tokens_cache_read, tokens_cache_write, tokens_reasoning, cost_nano_usd, priced, usage_source"
      const insert = live.prepare(
        `INSERT INTO usage_log (${columns}) VALUES (?, 1700000000001, ?, 'm', 'chat', 0, 'completed', 200, 1, 1, 1, 1, 0, 0, 0, ?, 1, 'upstream')`
      )
      // The first is in the restored database too, and must not be counted twice.
      insert.run("usage-1", "request-1", 75_000)
      insert.run("usage-2", "request-2", 5)
      live.exec(
        "INSERT INTO ledger_entries (request_id, attempt, provider, connection_id, model, state, reserved_nano_usd, created_at_ms) VALUES ('request-2', 1, 'p', 'c', 'm', 'settled', 7, 1)"
      )
      live.close()
      yield* put(file).pipe(Effect.provide(machine(dataDir)))
      const after = join(dataDir, "gateway.sqlite")
      assert.strictEqual(read(after, "SELECT group_concat(id ORDER BY id) FROM usage_log"), "usage-1,usage-2")
      assert.strictEqual(read(after, "SELECT SUM(cost_nano_usd) FROM usage_log"), 75_005)
      assert.strictEqual(read(after, "SELECT reserved_nano_usd FROM ledger_entries"), 7)
      assert.strictEqual(read(after, "SELECT group_concat(id_hash) FROM sessions"), "signed-in")
    })
  )

  it.scoped("keeps a registered key revoked that the restored database has as active", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      yield* makeLive(dataDir)
      const file = join(dataDir, "old.sqlite")
      yield* SchemaFixtures.build(current, file)
      const old = new Database(file)
      old.exec("INSERT INTO registered_keys VALUES ('key-1', 'openai', NULL, 'h', 1, NULL)")
      old.close()
      const live = new Database(join(dataDir, "gateway.sqlite"))
      live.exec(
        "INSERT INTO registered_keys VALUES ('key-1', 'openai', NULL, 'h', 1, 5), ('key-2', 'openai', NULL, NULL, 2, NULL)"
      )
      live.close()
      yield* put(file).pipe(Effect.provide(machine(dataDir)))
      const after = join(dataDir, "gateway.sqlite")
      assert.strictEqual(read(after, "SELECT is_active FROM api_keys WHERE id = 'key-1'"), 0)
      assert.strictEqual(read(after, "SELECT group_concat(key_id ORDER BY key_id) FROM registered_keys"), "key-1,key-2")
    })
  )

  it.scoped("can be undone with the backup that it makes", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      yield* makeLive(dataDir)
      const file = join(dataDir, "old.sqlite")
      yield* SchemaFixtures.build(9, file)
      const { before } = yield* put(file).pipe(Effect.provide(machine(dataDir)))
      yield* Restore.putBack(before).pipe(Effect.provide(machine(dataDir)))
      assert.strictEqual(
        read(join(dataDir, "gateway.sqlite"), "SELECT value FROM settings WHERE namespace = 'test'"),
        '"live"'
      )
      assert.strictEqual((yield* Backup.listIn(dataDir)).length, 1)
    })
  )
})

describe("a restore refuses, and changes nothing", () => {
  const cases: ReadonlyArray<{
    readonly name: string
    readonly kind: string
    readonly says: RegExp
    readonly spoil: (file: string) => void
  }> = [
    {
      name: "what is no database",
      kind: "not_a_database",
      says: /not a SQLite database/,
      spoil: (file) => writeFileSync(file, "a".repeat(9_000))
    },
    {
      name: "an empty file",
      kind: "not_a_database",
      says: /not a SQLite database/,
      spoil: (file) => truncateSync(file, 0)
    },
    {
      name: "a file that was cut short",
      kind: "database_cut_short",
      says: /ends before the \d+ bytes/,
      spoil: (file) => truncateSync(file, statSync(file).size - 5_000)
    },
    {
      name: "a damaged file",
      kind: "database_damaged",
      says: /damaged|cannot be read/,
      spoil: (file) => {
        const bytes = readFileSync(file)
        // The first byte of a page says its kind; none has this one.
        for (let page = 2; page * 4_096 < bytes.length; page += 1) bytes[page * 4_096] = 0x77
        writeFileSync(file, bytes)
      }
    },
    {
      name: "a database of a newer schema",
      kind: "schema_newer",
      says: new RegExp(`schema version ${current + 1}, but this gateway knows versions up to ${current}`),
      spoil: (file) => {
        const database = new Database(file)
        database.pragma(`user_version = ${current + 1}`)
        database.close()
      }
    },
    {
      name: "another program's database",
      kind: "schema_foreign",
      says: /no schema version/,
      spoil: (file) => {
        truncateSync(file, 0)
        const database = new Database(file)
        database.exec("CREATE TABLE bookmarks (url TEXT)")
        database.close()
      }
    },
    {
      name: "a table that no gateway makes",
      kind: "schema_foreign",
      says: /the table 'bookmarks'/,
      spoil: (file) => {
        const database = new Database(file)
        database.exec("CREATE TABLE bookmarks (url TEXT)")
        database.close()
      }
    },
    {
      name: "a trigger that would run with the gateway's statements",
      kind: "schema_foreign",
      says: /the trigger 'spy'/,
      spoil: (file) => {
        const database = new Database(file)
        database.exec(
          "CREATE TRIGGER spy AFTER INSERT ON api_keys BEGIN UPDATE api_keys SET scopes = '[\"admin\"]'; END"
        )
        database.close()
      }
    },
    {
      name: "a lost table",
      kind: "schema_foreign",
      says: /lacks the table 'combos'/,
      spoil: (file) => {
        const database = new Database(file)
        database.exec("DROP TABLE combos")
        database.close()
      }
    }
  ]
  for (const { kind, name, says, spoil } of cases) {
    it.scoped(name, () =>
      Effect.gen(function* () {
        const dataDir = yield* temporaryFolder
        yield* makeLive(dataDir)
        const elsewhere = join(yield* temporaryFolder, "upload.sqlite")
        yield* SchemaFixtures.build(9, elsewhere)
        spoil(elsewhere)
        const error = yield* refusal(dataDir, elsewhere)
        assert.strictEqual(error.kind, kind)
        assert.match(error.message, says)
        assert.match(error.message, /Nothing was changed/)
      })
    )
  }

  it.scoped("a database whose credentials need another machine's key, and says which", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      yield* makeLive(dataDir)
      const other = yield* temporaryFolder
      mkdirSync(other, { recursive: true })
      yield* makeLive(other, "the key of another machine")
      const error = yield* refusal(dataDir, join(other, "gateway.sqlite"))
      assert.strictEqual(error.kind, "encryption_key_mismatch")
      assert.match(error.message, /the key [0-9a-f]{8}, which GATEWAY_ENCRYPTION_KEY is not/)
      assert.match(error.message, /needs the GATEWAY_ENCRYPTION_KEY of the gateway it comes from/)
    })
  )

  it.scoped("a database whose credentials need another machine's key file, and says where it belongs", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      yield* makeLive(dataDir)
      const other = yield* temporaryFolder
      yield* Effect.scoped(Layer.build(Layer.provideMerge(Secrets.layer, onDisk(other, null))))
      const error = yield* refusal(dataDir, join(other, "gateway.sqlite"))
      assert.strictEqual(error.kind, "encryption_key_mismatch")
      assert.include(error.message, `put it at ${join(dataDir, "master.key")}`)
    })
  )
})
