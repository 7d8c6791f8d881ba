import { assert, describe, it } from "@effect/vitest"
import Database from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { writeEmptyDatabase } from "../../../src/store/EmptyDatabase.ts"
import { migrations, versionOf } from "../../../src/store/migrations/index.ts"
import * as Sql from "../../../src/store/Sql.ts"
import { onDisk, temporaryFolder } from "./fixtures.ts"

const version = versionOf(migrations)

const folder = Effect.map(temporaryFolder, (path) => ({
  path,
  file: join(path, "gateway.sqlite"),
  built: join(path, "built.sqlite")
}))

const built = (to: string) => Effect.map(Sql.emptyDatabase(migrations), (bytes) => writeFileSync(to, bytes))

const opened = (dataDir: string) => Effect.scoped(Layer.build(onDisk(dataDir)))

const schemaOf = (file: string) => {
  const handle = new Database(file, { readonly: true })
  try {
    return handle.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY name").all()
  } finally {
    handle.close()
  }
}

describe("the empty database of the build", () => {
  it.scoped("becomes the database of a new data folder, which opens as one made by the migrations", () =>
    Effect.gen(function* () {
      const { built: from, file, path } = yield* folder
      yield* built(from)
      assert.isTrue(writeEmptyDatabase(file, version, from))
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      assert.isFalse(existsSync(`${file}.new`))
      yield* opened(path)
      const migrated = yield* folder
      yield* opened(migrated.path)
      assert.deepStrictEqual(schemaOf(file), schemaOf(migrated.file))
    })
  )

  it.scoped("of another version, or cut short before its header ends, is not taken", () =>
    Effect.gen(function* () {
      const { built: from, file } = yield* folder
      yield* built(from)
      assert.isFalse(writeEmptyDatabase(file, version + 1, from))
      writeFileSync(from, readFileSync(from).subarray(0, 50))
      assert.isFalse(writeEmptyDatabase(file, version, from))
      assert.isFalse(writeEmptyDatabase(file, version, join(from, "missing")))
      assert.isFalse(existsSync(file))
    })
  )

  it.scoped("changes nothing where a database or the log of one is there", () =>
    Effect.gen(function* () {
      for (const end of ["", "-wal", "-journal"]) {
        const { built: from, file } = yield* folder
        yield* built(from)
        writeFileSync(`${file}${end}`, "there")
        assert.isFalse(writeEmptyDatabase(file, version, from))
        assert.strictEqual(readFileSync(`${file}${end}`, "utf8"), "there")
        assert.strictEqual(existsSync(file), end === "")
      }
    })
  )

  it.scoped("is written over what a killed start has left", () =>
    Effect.gen(function* () {
      const { built: from, file } = yield* folder
      yield* built(from)
      writeFileSync(`${file}.new`, "half")
      assert.isTrue(writeEmptyDatabase(file, version, from))
      assert.deepStrictEqual(readFileSync(file), readFileSync(from))
    })
  )
})
