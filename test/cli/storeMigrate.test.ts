/** `gateway store migrate` and the rows of `gateway doctor` about Postgres, by the built program over a real server. */
import { assert, describe, it } from "vitest"
import { renameSync } from "node:fs"
import { join } from "node:path"
import { isPostgresThere, noPostgres, postgresUrl } from "../support/postgres/Server.ts"
import { poolerBefore } from "../support/postgres/Pooler.ts"
import { adminKey, answered, ask, manage, provider, until } from "./processes.ts"
import { emptyDatabase } from "./postgres.ts"
import { program } from "./support.ts"

const { dataDir, run, serve } = program()
const upstream = provider()

interface Report {
  readonly copied: boolean
  readonly tables: ReadonlyArray<{ readonly table: string; readonly rows: number; readonly checksum: string }>
}

interface Checks {
  readonly ok: boolean
  readonly checks: ReadonlyArray<{ readonly name: string; readonly status: string; readonly message: string }>
}

const there = isPostgresThere()
const none = there ? "" : noPostgres

describe.skipIf(!there)(`gateway store migrate${none}`, () => {
  it("takes a month of SQLite to Postgres and back, and every row is the same", async () => {
    const database = await emptyDatabase()
    const DATA_DIR = dataDir()
    const overFile = { DATA_DIR, GATEWAY_ADMIN_KEY: adminKey }
    const overServer = { ...overFile, GATEWAY_DATABASE_URL: database.url }
    const first = await serve(overFile)
    await manage(first, "POST", "/api/providers", upstream.connection())
    const { secret } = (await manage(first, "POST", "/api/keys", { name: "ci" })) as { readonly secret: string }
    for (let n = 0; n < 5; n++) assert.strictEqual(await ask(first, secret), 200)
    await until(async () => (await answered(first)) === 5, "its rows")

    const migrate = (from: string, to: string, ...flags: ReadonlyArray<string>) =>
      run(["store", "migrate", "--from", from, "--to", to, ...flags], overServer)
    const busy = await migrate("sqlite", "postgres")
    assert.notStrictEqual(busy.code, 0)
    assert.include(busy.stderr, "Another gateway is using this data folder")
    assert.strictEqual(await first.stop("SIGTERM"), 0)

    const planned = JSON.parse((await migrate("sqlite", "postgres", "--dry-run", "--json")).stdout) as Report
    assert.isFalse(planned.copied)
    assert.deepInclude(
      planned.tables.map(({ rows, table }) => ({ rows, table })),
      { table: "usage_log", rows: 5 }
    )
    const [tables] = await database.rows("SELECT COUNT(*) AS n FROM pg_tables WHERE schemaname = current_schema()")
    assert.strictEqual(tables?.["n"], 0, "a dry run makes no tables")

    const there = await migrate("sqlite", "postgres", "--json")
    assert.strictEqual(there.code, 0, there.stderr)
    const copied = JSON.parse(there.stdout) as Report
    assert.isTrue(copied.copied)
    assert.sameDeepMembers([...copied.tables], [...planned.tables])
    const again = await migrate("sqlite", "postgres")
    assert.include(again.stderr, "has rows already")

    const second = await serve(overServer)
    assert.strictEqual(await ask(second, secret), 200)
    await until(async () => (await answered(second)) === 6, "the rows of the file, and a new one")
    assert.strictEqual(await second.stop("SIGTERM"), 0)

    const used = await migrate("postgres", "sqlite", "--dry-run")
    assert.include(used.stderr, "has rows already")
    for (const ending of ["", "-wal", "-shm"]) {
      try {
        renameSync(join(DATA_DIR, `gateway.sqlite${ending}`), join(DATA_DIR, `old.sqlite${ending}`))
      } catch {
        // A database that was closed has neither of the two.
      }
    }
    const back = await migrate("postgres", "sqlite", "--json")
    assert.strictEqual(back.code, 0, back.stderr)
    const third = await serve(overFile)
    assert.strictEqual(await ask(third, secret), 200)
    await until(async () => (await answered(third)) === 7, "all rows in the file again")
  })

  it("says what is missing", async () => {
    const same = await run(["store", "migrate", "--from", "sqlite", "--to", "sqlite"], { DATA_DIR: dataDir() })
    assert.include(same.stderr, "name the same store")
    const unnamed = await run(["store", "migrate", "--from", "sqlite", "--to", "postgres"], { DATA_DIR: dataDir() })
    assert.include(unnamed.stderr, "Set GATEWAY_DATABASE_URL")
  })
})

describe.skipIf(!there)(`gateway doctor over Postgres${none}`, () => {
  const doctor = async (environment: Readonly<Record<string, string>>) => {
    const { checks } = JSON.parse((await run(["doctor", "--json", "--no-liveness"], environment)).stdout) as Checks
    return (name: string) => checks.find((check) => check.name === name)
  }

  it("names version, rights and distance, and opens what is encrypted", async () => {
    const database = await emptyDatabase()
    const environment = { DATA_DIR: dataDir(), GATEWAY_DATABASE_URL: database.url, GATEWAY_ADMIN_KEY: adminKey }
    const before = await doctor(environment)
    assert.match(
      before("database")?.message ?? "",
      /^Postgres 1\d at .*the next start brings it to schema version \d+$/
    )
    assert.match(before("latency")?.message ?? "", /^A round trip to the database takes [\d.]+ ms/)
    const server = await serve(environment)
    await manage(server, "POST", "/api/providers", upstream.connection())
    await server.stop("SIGTERM")
    const after = await doctor(environment)
    assert.match(after("database")?.message ?? "", /, without a pooler by transaction; schema version \d+$/)
    assert.match(after("storage")?.message ?? "", /1 connection can be read/)
    await database.rows("UPDATE schema_migrations SET migration_id = 9999 WHERE migration_id = 51")
    assert.match((await doctor(environment))("database")?.message ?? "", /schema version 9999/)
  })

  it("says that there is no server, and that there is a pooler", async () => {
    const lost = await doctor({ DATA_DIR: dataDir(), GATEWAY_DATABASE_URL: "postgres://me:its-password@127.0.0.1:1/x" })
    assert.deepInclude(lost("database"), { status: "fail" })
    assert.match(lost("database")?.message ?? "", /cannot be reached/)
    assert.strictEqual(lost("storage")?.status, "skip")
    const pooler = await poolerBefore((await postgresUrl()) ?? "")
    if (pooler === null) return
    const pooled = await doctor({ DATA_DIR: dataDir(), GATEWAY_DATABASE_URL: pooler })
    assert.match(pooled("database")?.message ?? "", /pooler in transaction mode/)
  })
})
