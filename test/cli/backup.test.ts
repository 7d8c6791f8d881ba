/** `gateway backup`, `restore` and `update --check` of the built program, with a running gateway and without one. */
import { assert, describe, it } from "@effect/vitest"
import Database from "better-sqlite3"
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { readdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import * as Program from "../support/Program.ts"

const keysIn = (dataDir: string): ReadonlyArray<unknown> => {
  const database = new Database(join(dataDir, "gateway.sqlite"), { readonly: true })
  try {
    return database.prepare("SELECT name FROM api_keys ORDER BY name").pluck().all()
  } finally {
    database.close()
  }
}

const ok = (argv: ReadonlyArray<string>, dataDir: string) =>
  Effect.map(Program.run(argv, dataDir), (end) => {
    assert.strictEqual(end.code, 0, end.stderr)
    return end.stdout.trim()
  })

describe("gateway backup and restore", () => {
  it.scopedLive("work on the data folder where no gateway runs, also when its database is damaged", () =>
    Effect.gen(function* () {
      const dataDir = yield* Program.dataFolder
      yield* ok(["key", "add", "one"], dataDir)
      const id = yield* ok(["backup"], dataDir)
      assert.match(id, /^db_\d{8}T\d{9}Z_manual$/)
      yield* ok(["key", "add", "two"], dataDir)
      const { backups } = JSON.parse(yield* ok(["backup", "--list", "--json"], dataDir))
      assert.deepStrictEqual(
        backups.map((backup: { readonly id: string }) => backup.id),
        [id]
      )

      const unasked = yield* Program.run(["restore", id], dataDir)
      assert.strictEqual(unasked.code, 2)
      assert.include(unasked.stderr, "--yes")
      assert.deepStrictEqual(keysIn(dataDir), ["one", "two"])

      // As the folder shows its file, and as the lists print it.
      const elsewhere = yield* Program.run(["restore", "backups/other.sqlite", "--yes"], dataDir)
      assert.deepStrictEqual(
        [elsewhere.code, /There is no backup 'backups\/other.sqlite'/.test(elsewhere.stderr)],
        [2, true]
      )
      const [file = ""] = readdirSync(join(dataDir, "backups"))
      assert.strictEqual(file, `${id}.sqlite`)
      for (const name of [file, `backups/${file}`, join(dataDir, "backups", file)]) {
        const { preRestoreBackupId } = JSON.parse(yield* ok(["backup", "restore", name, "--yes", "--json"], dataDir))
        assert.deepStrictEqual(keysIn(dataDir), ["one"], name)
        yield* ok(["restore", preRestoreBackupId, "--yes"], dataDir)
      }
      assert.include(yield* ok(["backup", "list"], dataDir), id)

      const restored = JSON.parse(yield* ok(["restore", id, "--yes", "--json"], dataDir))
      assert.deepStrictEqual(keysIn(dataDir), ["one"])
      yield* ok(["restore", restored.preRestoreBackupId, "--yes"], dataDir)
      assert.deepStrictEqual(keysIn(dataDir), ["one", "two"])

      writeFileSync(join(dataDir, "gateway.sqlite"), "no database".repeat(1_000))
      const end = yield* Program.run(["restore", id, "--yes"], dataDir)
      assert.strictEqual(end.code, 0, end.stderr)
      assert.match(end.stderr, /damaged database was moved to .*gateway\.sqlite\.damaged-\d+/)
      assert.deepStrictEqual(keysIn(dataDir), ["one"])
      assert.lengthOf(
        readdirSync(dataDir).filter((name) => /\.damaged-\d+$/.test(name)),
        1
      )
    })
  )

  it.scopedLive("ask the running gateway where there is one", () =>
    Effect.gen(function* () {
      const program = yield* Program.start()
      yield* ok(["key", "add", "one"], program.dataDir)
      const id = yield* ok(["backup"], program.dataDir)
      yield* ok(["key", "add", "two"], program.dataDir)
      yield* ok(["restore", id, "--yes"], program.dataDir)
      assert.deepStrictEqual(keysIn(program.dataDir), ["one"])
      assert.include(program.stderr(), "The gateway has restarted.")
      yield* ok(["status"], program.dataDir)
    })
  )
})

describe("gateway update", () => {
  it.scopedLive("tells the versions of a registry, and that it is out of reach", () =>
    Effect.gen(function* () {
      const dataDir = yield* Program.dataFolder
      const registry = createServer((_, response) =>
        response.setHeader("content-type", "application/json").end('{"dist-tags":{"latest":"99.0.0"}}')
      ).listen(0, "127.0.0.1")
      yield* Effect.promise(() => once(registry, "listening"))
      const from = `http://127.0.0.1:${(registry.address() as AddressInfo).port}/gateway`
      const found = JSON.parse(yield* ok(["update", "--check", "--json", "--from", from], dataDir))
      assert.strictEqual(found.latest, "99.0.0")
      assert.strictEqual(found.updateAvailable, true)
      registry.close()
      registry.closeAllConnections()
      const offline = yield* Program.run(["update", "--check", "--from", from], dataDir)
      assert.strictEqual(offline.code, 3)
      assert.include(offline.stderr, "could not be asked for")
      assert.strictEqual(JSON.parse(yield* ok(["update", "--check", "--json"], dataDir)).latest, null)
    })
  )
})

describe("gateway update, from what is no registry", () => {
  it.scopedLive("does not read an answer without end", () =>
    Effect.gen(function* () {
      const dataDir = yield* Program.dataFolder
      const piece = Buffer.alloc(1_048_576, " ")
      const registry = createServer((_, response) => {
        const more = (): void => {
          while (!response.destroyed && response.write(piece)) continue
        }
        response.on("drain", more)
        more()
      }).listen(0, "127.0.0.1")
      yield* Effect.promise(() => once(registry, "listening"))
      yield* Effect.addFinalizer(() => Effect.sync(() => (registry.close(), registry.closeAllConnections())))
      const from = `http://127.0.0.1:${(registry.address() as AddressInfo).port}/gateway`
      const told = yield* Program.run(["update", "--check", "--from", from], dataDir)
      assert.strictEqual(told.code, 1)
      assert.include(told.stderr, "larger than 16 MiB")
    })
  )
})
