/** Databases that a gateway cannot use: it says why when it is started, and changes nothing. */
import { assert, describe, it } from "vitest"
import { emptyDatabase, nodeVariables } from "../../cli/postgres.ts"
import { program } from "../../cli/support.ts"
import { poolerBefore } from "../../support/postgres/Pooler.ts"
import { isPostgresThere, noPostgres, postgresUrl } from "../../support/postgres/Server.ts"

const { dataDir, run, serve } = program()

const there = isPostgresThere()
const url = there ? await postgresUrl() : null
const pooler = url === null ? null : await poolerBefore(url)
const noPooler = pooler === null ? " (skipped: no pgbouncer)" : ""

/** Starts a gateway that is refused, and gives what it says. */
const refusal = async (at: string): Promise<string> => {
  const ended = await run(["serve", "--port", "0", "--no-open"], { ...nodeVariables({ url: at }), DATA_DIR: dataDir() })
  assert.notStrictEqual(ended.code, 0)
  return ended.stderr
}

const tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"

describe.skipIf(!there)(`a gateway is refused${there ? "" : noPostgres}`, () => {
  it("where the role may not make tables", async () => {
    const database = await emptyDatabase()
    const [schema] = await database.rows("SELECT current_schema() AS name")
    const role = `reads_${String(schema?.["name"])}`
    await database.rows(`CREATE ROLE ${role} LOGIN PASSWORD 'none'`)
    await database.rows(`GRANT USAGE ON SCHEMA ${String(schema?.["name"])} TO ${role}`)
    try {
      const address = new URL(database.url)
      address.username = role
      address.password = "none"
      assert.match(await refusal(address.href), /the role may not make tables in the schema .*grant it CREATE there/)
      assert.lengthOf(await database.rows(tables), 0)
    } finally {
      await database.rows(`DROP OWNED BY ${role}`)
      await database.rows(`DROP ROLE ${role}`)
    }
  }, 120_000)

  it("where the schema is not there, and where it is newer than the gateway", async () => {
    const database = await emptyDatabase()
    const address = new URL(database.url)
    address.searchParams.set("options", "-c search_path=not_there")
    assert.match(await refusal(address.href), /none of the schemas in the role's search path exists/)

    const server = await serve({ ...nodeVariables(database), DATA_DIR: dataDir() })
    await server.stop("SIGTERM")
    await database.rows("INSERT INTO schema_migrations (migration_id, name) VALUES (9999, 'of_later')")
    const before = await database.rows("SELECT COUNT(*) AS n FROM meta")
    assert.match(await refusal(database.url), /schema version 9999, but this gateway knows versions up to \d+/)
    assert.deepStrictEqual(await database.rows("SELECT COUNT(*) AS n FROM meta"), before)
  }, 180_000)

  it.skipIf(pooler === null)(
    `behind a pooler in transaction mode${noPooler}`,
    async () => {
      assert.match(await refusal(pooler ?? ""), /pooler in transaction mode/)
    },
    120_000
  )
})
