/**
 * The driver of the database as the program uses it: better-sqlite3 where the tests run from source, and Node's own SQLite behind the same interface
 * (bin/sqlite.cjs) where `test/install/nodes.mjs` runs this file.
 */
import { assert, describe, it } from "@effect/vitest"
import Database from "better-sqlite3"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"

const folder = mkdtempSync(join(tmpdir(), "gateway-driver-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const fileOf = (name: string): string => join(folder, name)

const codeOf = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error)
  }
  return "no error"
}

const opened = (): Database.Database => {
  const database = new Database(":memory:")
  database.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE, bytes BLOB)")
  return database
}

describe("the driver", () => {
  it("binds every number as a fraction, and bytes and null as they are", () => {
    const database = opened()
    const kinds = database.prepare("SELECT typeof(?) AS whole, typeof(?) AS part, ? / 2 AS half, ? || '' AS text")
    assert.deepStrictEqual(kinds.get(1, 1.5, 1, 7), { whole: "real", part: "real", half: 0.5, text: "7.0" })
    database.prepare("INSERT INTO notes (word, bytes) VALUES (?, ?)").run("a", Buffer.from([1, 2, 255]))
    database.prepare("INSERT INTO notes (word, bytes) VALUES (@word, @bytes)").run({ word: "b", bytes: null })
    const rows = database.prepare<[], { readonly bytes: Buffer | null }>("SELECT bytes FROM notes ORDER BY id").all()
    assert.strictEqual(rows[0]?.bytes?.toString("hex"), "0102ff")
    assert.isNull(rows[1]?.bytes)
    assert.strictEqual(Object.getPrototypeOf(rows[0]), Object.prototype)
    database.close()
  })

  it("tells how many rows changed, and which statements answer rows", () => {
    const database = opened()
    const insert = database.prepare("INSERT INTO notes (word) VALUES (?)")
    assert.isFalse(insert.reader)
    assert.deepStrictEqual({ ...insert.run("a") }, { changes: 1, lastInsertRowid: 1 })
    const returning = database.prepare("INSERT INTO notes (word) VALUES (?) RETURNING id")
    assert.isTrue(returning.reader)
    assert.deepStrictEqual(returning.all("b"), [{ id: 2 }])
    database.close()
  })

  it("answers rows as objects, arrays, single values and one by one", () => {
    const database = opened()
    for (const word of ["a", "b", "c"]) database.prepare("INSERT INTO notes (word) VALUES (?)").run(word)
    const statement = database.prepare("SELECT id, word FROM notes ORDER BY id")
    assert.deepStrictEqual(statement.raw(true).all(), [
      [1, "a"],
      [2, "b"],
      [3, "c"]
    ])
    assert.deepStrictEqual(statement.raw(false).get(), { id: 1, word: "a" })
    assert.deepStrictEqual(statement.pluck().all(), [1, 2, 3])
    assert.deepStrictEqual([...database.prepare("SELECT word FROM notes").iterate()][2], { word: "c" })
    assert.isUndefined(database.prepare("SELECT word FROM notes WHERE id = 9").get())
    assert.strictEqual(database.prepare("SELECT 9007199254740993 AS n").safeIntegers().pluck().get(), 9007199254740993n)
    database.close()
  })

  it("names errors as SQLite does", () => {
    const database = opened()
    database.prepare("INSERT INTO notes (id, word) VALUES (1, 'a')").run()
    const insert = (values: string) => () => database.prepare(`INSERT INTO notes (id, word) VALUES ${values}`).run()
    assert.strictEqual(codeOf(insert("(2, 'a')")), "SQLITE_CONSTRAINT_UNIQUE")
    assert.strictEqual(codeOf(insert("(1, 'b')")), "SQLITE_CONSTRAINT_PRIMARYKEY")
    assert.strictEqual(codeOf(insert("(3, NULL)")), "SQLITE_CONSTRAINT_NOTNULL")
    assert.strictEqual(
      codeOf(() => database.prepare("SELECT nothing FROM nowhere")),
      "SQLITE_ERROR"
    )
    assert.strictEqual(
      codeOf(() => new Database(fileOf("missing"), { fileMustExist: true })),
      "SQLITE_CANTOPEN"
    )
    assert.isFalse(existsSync(fileOf("missing")))
    database.close()
  })

  it("waits for another's lock and gives up with its name, and cannot write what it has opened to read", () => {
    const file = fileOf("locked")
    const one = new Database(file)
    one.pragma("journal_mode = WAL")
    one.exec("CREATE TABLE t (a)")
    const other = new Database(file, { timeout: 1 })
    one.exec("BEGIN EXCLUSIVE")
    assert.strictEqual(
      codeOf(() => other.exec("BEGIN IMMEDIATE")),
      "SQLITE_BUSY"
    )
    one.exec("COMMIT")
    const reader = new Database(file, { readonly: true, fileMustExist: true })
    assert.strictEqual(
      codeOf(() => reader.exec("INSERT INTO t VALUES (1)")),
      "SQLITE_READONLY"
    )
    for (const database of [one, other, reader]) database.close()
    assert.isFalse(one.open)
  })

  it("takes a transaction back as a whole, and a nested one alone", () => {
    const database = opened()
    const add = database.prepare("INSERT INTO notes (word) VALUES (?)")
    const failing = database.transaction((word: string) => {
      add.run(word)
      throw new Error("no")
    })
    const outer = database.transaction(() => {
      add.run("kept")
      assert.isTrue(database.inTransaction)
      assert.throws(() => failing("lost"), "no")
    })
    outer()
    assert.throws(() => failing("lost, too"), "no")
    assert.isFalse(database.inTransaction)
    assert.deepStrictEqual(database.prepare("SELECT word FROM notes").pluck().all(), ["kept"])
    database.close()
  })

  it("copies an open database, over another one as well, and gives and takes its bytes", async () => {
    const database = new Database(fileOf("source"))
    database.exec("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
    const target = new Database(fileOf("target"))
    target.exec("CREATE TABLE other (b)")
    target.close()
    await database.backup(fileOf("target"), { progress: () => 1000 })
    const copies = [new Database(fileOf("target"), { readonly: true }), new Database(database.serialize())]
    for (const copy of copies) {
      assert.deepStrictEqual(copy.prepare("SELECT a FROM t").pluck().all(), [1, 2])
      assert.strictEqual(copy.prepare("SELECT count(*) FROM sqlite_schema").pluck().get(), 1)
      copy.close()
    }
    database.close()
  })
})
