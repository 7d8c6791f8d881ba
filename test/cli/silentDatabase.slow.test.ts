/** A database that goes silent without closing a connection: a gateway that is stopped then ends all the same, and has lost nothing. */
import { assert, describe, it } from "vitest"
import { isPostgresThere, noPostgres } from "../support/postgres/Server.ts"
import { answered, ask, manage, provider, until } from "./processes.ts"
import { emptyDatabase, nodeVariables, wayTo } from "./postgres.ts"
import { program } from "./support.ts"

const { dataDir, serve } = program()
const upstream = provider()
const there = isPostgresThere()

describe.skipIf(!there)(`a database that is silent${there ? "" : noPostgres}`, () => {
  it("does not keep a gateway that is stopped, whose rows come with its next start", async () => {
    const database = await emptyDatabase()
    const way = await wayTo(database.url)
    const DATA_DIR = dataDir()
    const variables = { ...nodeVariables(database), DATA_DIR, GATEWAY_DRAIN_SECONDS: "0" }
    const cut = await serve({ ...variables, GATEWAY_DATABASE_URL: way.url })
    await manage(cut, "POST", "/api/providers", upstream.connection())
    const { secret } = (await manage(cut, "POST", "/api/keys", { name: "k" })) as { readonly secret: string }
    assert.strictEqual(await ask(cut, secret), 200)
    way.silence()
    assert.strictEqual(await ask(cut, secret), 200)
    // 0 where all that was to be written was in the data folder already, 1 where it was not waited for any longer.
    assert.include([0, 1], await cut.stop("SIGTERM"))

    const again = await serve(variables)
    await until(async () => (await answered(again)) === 2, "both rows are in the table")
    await again.stop("SIGTERM")
  }, 180_000)
})
