/** A gateway whose database of Postgres is away for a while: requests go on, rows wait on disk, changes are refused. */
import { assert, describe, it } from "vitest"
import { isPostgresThere, noPostgres } from "../support/postgres/Server.ts"
import { adminKey, answered, ask, authorization, manage, provider, until } from "./processes.ts"
import { emptyDatabase, wayTo } from "./postgres.ts"
import { program } from "./support.ts"

interface Health {
  readonly status: string
  readonly database: { readonly node: string; readonly problem: string | null } | null
}

const { dataDir, run, serve } = program()
const upstream = provider()

const there = isPostgresThere()

describe.skipIf(!there)(`a database that is away${there ? "" : noPostgres}`, () => {
  it("keeps no request from its answer and loses no row", async () => {
    const database = await emptyDatabase()
    const way = await wayTo(database.url)
    const environment = { DATA_DIR: dataDir(), GATEWAY_DATABASE_URL: way.url, GATEWAY_ADMIN_KEY: adminKey }
    const first = await serve(environment)
    await manage(first, "POST", "/api/providers", upstream.connection())
    const { secret } = (await manage(first, "POST", "/api/keys", { name: "ci" })) as { readonly secret: string }
    assert.strictEqual(await ask(first, secret), 200)

    const health = () => manage(first, "GET", "/api/monitoring/health") as Promise<Health>
    const metrics = async (): Promise<string> =>
      (await fetch(`${first.url}/metrics`, { headers: { authorization } })).text()
    const { database: reached } = await health()
    assert.isNull(reached?.problem)
    assert.include(await metrics(), `gateway_node_info{node="${reached?.node}"} 1`)

    await way.cut()
    for (let n = 0; n < 20; n++) assert.strictEqual(await ask(first, secret), 200)
    const change = await fetch(`${first.url}/api/keys`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify({ name: "meanwhile" })
    })
    assert.strictEqual(change.status, 503, await change.text())
    await until(async () => (await health()).database?.problem !== null, "it says why it is degraded")
    assert.strictEqual((await health()).status, "degraded")
    assert.include(await metrics(), "gateway_database_reached 0")
    const status = await run(["status"], { DATA_DIR: environment.DATA_DIR })
    assert.include(status.stdout, "cannot be reached from")
    await way.mend()
    await until(async () => (await health()).database?.problem === null, "it is reached again")
    await until(async () => (await database.rows("SELECT id FROM usage_log")).length === 21, "every row, once")
    await manage(first, "POST", "/api/keys", { name: "afterwards" })

    // Killed while the database is away: the rows are in the journal of the data folder.
    await way.cut()
    for (let n = 0; n < 5; n++) assert.strictEqual(await ask(first, secret), 200)
    await first.stop("SIGKILL")
    await way.mend()
    const second = await serve(environment)
    await until(async () => (await answered(second)) === 26, "the rows of the killed one")
  }, 180_000)
})
