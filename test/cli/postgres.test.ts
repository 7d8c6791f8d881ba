/** `GATEWAY_DATABASE_URL`: the built program over a real server of Postgres, from the first request to a restart. */
import { assert, describe, it } from "vitest"
import { existsSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { isPostgresThere, noPostgres } from "../support/postgres/Server.ts"
import { adminKey, answered, ask, manage, provider, until } from "./processes.ts"
import { emptyDatabase } from "./postgres.ts"
import { program } from "./support.ts"

const { dataDir, run, serve } = program()
const upstream = provider()

const there = isPostgresThere()

describe.skipIf(!there)(`a gateway on Postgres${there ? "" : noPostgres}`, () => {
  it("keeps all it knows in the database, and has it after a restart and after a kill", async () => {
    const database = await emptyDatabase()
    const DATA_DIR = dataDir()
    const environment = { DATA_DIR, GATEWAY_DATABASE_URL: database.url, GATEWAY_ADMIN_KEY: adminKey }
    const first = await serve(environment)
    await manage(first, "POST", "/api/providers", upstream.connection())
    const made = (await manage(first, "POST", "/api/keys", { name: "ci" })) as { readonly secret: string }
    assert.strictEqual(await ask(first, made.secret), 200)
    await until(async () => (await answered(first)) === 1, "the row of the request")
    const rows = await database.rows("SELECT model, status FROM usage_log")
    assert.strictEqual(rows.length, 1)
    assert.isFalse(existsSync(join(DATA_DIR, "gateway.sqlite")), "there is no file of SQLite beside it")
    assert.strictEqual(await first.stop("SIGTERM"), 0)

    const second = await serve(environment)
    assert.strictEqual(await answered(second), 1)
    assert.strictEqual(await ask(second, made.secret), 200)
    // What would be changed is tried in a copy in memory.
    const exported = await run(["export"], { DATA_DIR })
    const file = join(DATA_DIR, "exported.yaml")
    writeFileSync(file, exported.stdout)
    const tried = await run(["apply", "-f", file, "--dry-run"], { DATA_DIR })
    assert.strictEqual(tried.code, 0, tried.stderr)
    // A row that has not reached the database is in the journal of the data folder.
    await second.stop("SIGKILL")
    const third = await serve(environment)
    await until(async () => (await answered(third)) === 2, "the row of the killed one")

    // Commands that work without a server use the database, too.
    await third.stop("SIGTERM")
    const listed = await run(["provider", "list", "--json", "--local"], environment)
    assert.strictEqual(listed.code, 0, listed.stderr)
    assert.include(listed.stdout, "work")
  })

  it("refuses backups and restores with a sentence that names the tools of the server", async () => {
    const database = await emptyDatabase()
    const environment = { DATA_DIR: dataDir(), GATEWAY_DATABASE_URL: database.url, GATEWAY_ADMIN_KEY: adminKey }
    const alone = await run(["backup", "create"], environment)
    assert.notStrictEqual(alone.code, 0)
    assert.include(alone.stderr, "pg_dump")
    const server = await serve(environment)
    const asked = await run(["backup", "create"], environment)
    assert.notStrictEqual(asked.code, 0)
    assert.include(asked.stderr, "pg_dump")
    await server.stop("SIGTERM")
  })

  it("refuses a database that was encrypted with another key, and one that is not there", async () => {
    const database = await emptyDatabase()
    const DATA_DIR = dataDir()
    const environment = { DATA_DIR, GATEWAY_DATABASE_URL: database.url, GATEWAY_ADMIN_KEY: adminKey }
    const server = await serve(environment)
    await server.stop("SIGTERM")
    const elsewhere = await run(["serve", "--port", "0", "--no-open"], { ...environment, DATA_DIR: dataDir() })
    assert.notStrictEqual(elsewhere.code, 0)
    assert.match(elsewhere.stderr, /master\.key is missing .* the database holds encrypted columns/)
    rmSync(join(DATA_DIR, "master.key"))
    const other = await run(["serve", "--port", "0", "--no-open"], {
      ...environment,
      GATEWAY_ENCRYPTION_KEY: "another-key-of-more-than-32-characters-long"
    })
    assert.match(other.stderr, /is not the key this database was encrypted with/)

    const lost = await run(["serve", "--port", "0", "--no-open"], {
      ...environment,
      GATEWAY_DATABASE_URL: "postgres://gateway:its-password@127.0.0.1:1/none"
    })
    assert.notStrictEqual(lost.code, 0)
    assert.match(lost.stderr, /The database at 127\.0\.0\.1:1\/none cannot be reached/)
    assert.notInclude(lost.stderr, "its-password")
    const strange = await run(["serve", "--port", "0", "--no-open"], {
      ...environment,
      GATEWAY_DATABASE_URL: "mysql://gateway:its-password@127.0.0.1/none"
    })
    assert.match(strange.stderr, /GATEWAY_DATABASE_URL must be the address of a database of Postgres/)
    assert.notInclude(strange.stderr, "its-password")
    const workers = await run(["serve", "--port", "0", "--no-open", "--workers", "2"], environment)
    assert.match(workers.stderr, /leave GATEWAY_WORKERS at 1/)
    const shown = await run(["env", "show"], {
      DATA_DIR: environment.DATA_DIR,
      GATEWAY_DATABASE_URL: "postgres://gateway:its-password@127.0.0.1:1/none"
    })
    assert.include(shown.stdout, "GATEWAY_DATABASE_URL")
    assert.notInclude(shown.stdout, "its-password")
  })
})
