/** Budgets over two gateways on one database of Postgres, as processes: never over, whichever is asked, and whatever becomes of one. */
import { assert, describe, it } from "vitest"
import { isPostgresThere, noPostgres } from "../support/postgres/Server.ts"
import { adminKey, ask, costUsd, manage, provider, until } from "./processes.ts"
import { emptyDatabase } from "./postgres.ts"
import { program, type Serving } from "./support.ts"

const { dataDir, run, serve } = program()
const upstream = provider()
const there = isPostgresThere()

/** Calls that a budget has room for. */
const room = 40
/** Callers at once, and how often each asks. */
const callers = 20

const times = (count: number) => Array.from({ length: count })

describe.skipIf(!there)(`budgets over two gateways${there ? "" : noPostgres}`, () => {
  it("are one, also for one that was killed and comes back", async () => {
    const database = await emptyDatabase()
    const shared = {
      GATEWAY_DATABASE_URL: database.url,
      GATEWAY_ADMIN_KEY: adminKey,
      GATEWAY_ENCRYPTION_KEY: "one-key-of-all-nodes-of-more-than-32-characters",
      GATEWAY_DISABLE_BACKGROUND_SERVICES: "true"
    }
    const folder = dataDir()
    const one = await serve({ ...shared, DATA_DIR: folder })
    const two = await serve({ ...shared, DATA_DIR: dataDir() })
    await manage(one, "POST", "/api/providers", upstream.connection())
    await until(async () => (await ask(two)) === 200, "the other has the connection")

    const made = (await manage(one, "POST", "/api/keys", { name: "team" })) as {
      readonly key: { readonly id: string }
      readonly secret: string
    }
    const { key, secret } = made
    const put = (server: Serving, dailyLimitUsd: number) =>
      manage(server, "POST", "/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd })
    const spentUsd = async (server: Serving): Promise<number> =>
      ((await manage(server, "GET", `/api/usage/budget?apiKeyId=${key.id}`)) as { readonly spentUsd: number }).spentUsd
    /** Until no gateway lets one in, with nothing under way: a call is reserved at somewhat more than it costs. */
    const useUp = async (...servers: ReadonlyArray<Serving>): Promise<void> => {
      for (let refused = 0; refused < 3 * servers.length;) {
        for (const server of servers) refused = (await ask(server, secret)) === 200 ? 0 : refused + 1
      }
    }
    await until(async () => (await ask(two, secret)) === 200, "the other has the key")
    await until(async () => {
      const rows = await database.rows(`SELECT id FROM usage_log WHERE api_key_id = '${key.id}'`)
      return rows.length === 1
    }, "its first call is in the table")
    const before = upstream.calls()
    await put(two, costUsd * room + costUsd)
    await until(async () => Math.abs((await spentUsd(one)) - costUsd) < 1e-9, "the other has the budget")

    // Both at once, more often than there is room.
    await Promise.all(
      times(callers).map(async (_, at) => {
        for (let each = 0; each < 3; each += 1) await ask(at % 2 === 0 ? one : two, secret)
      })
    )
    assert.isAtMost(upstream.calls() - before, room)
    await useUp(one, two)
    const calls = upstream.calls() - before
    assert.isAtMost(calls, room)
    assert.isAtLeast(calls, room - 5)
    for (const server of [one, two]) assert.closeTo(await spentUsd(server), costUsd * (calls + 1), 1e-9)

    // A larger one is in force at both; one is killed with calls under way.
    await put(one, costUsd * (2 * room + 1))
    await until(async () => (await ask(two, secret)) === 200, "the larger budget at the other")
    upstream.hold()
    const lost = times(5).map(() => ask(one, secret).catch(() => 0))
    await until(() => upstream.held() === 5, "calls of the first are under way")
    await one.stop("SIGKILL")
    upstream.release()
    await Promise.all(lost)
    await Promise.all(times(callers).map(() => ask(two, secret)))
    assert.isAtMost(upstream.calls() - before, 2 * room)

    const again = await serve({ ...shared, DATA_DIR: folder })
    await until(async () => {
      const [row] = await database.rows("SELECT SUM(held + doubt) AS held, COUNT(*) AS n FROM limit_windows")
      return Number(row?.["held"]) === 0 && Number(row?.["n"]) > 0
    }, "nothing is held")
    await until(async () => {
      const [row] = await database.rows(
        `SELECT (SELECT SUM(used) FROM limit_windows) AS used, (SELECT SUM(cost_nano_usd) FROM usage_log WHERE api_key_id = '${key.id}') AS cost`
      )
      return Number(row?.["used"]) === Number(row?.["cost"])
    }, "each call is booked once")
    // Those that were lost are booked as estimated, which is more than they would have cost.
    await useUp(again, two)
    assert.isAtMost(await spentUsd(two), costUsd * (2 * room + 1) + 1e-9)
  }, 300_000)

  it("get back what a gateway held that is forgotten, and count it once when it comes back after all", async () => {
    const database = await emptyDatabase()
    const shared = {
      GATEWAY_DATABASE_URL: database.url,
      GATEWAY_ADMIN_KEY: adminKey,
      GATEWAY_ENCRYPTION_KEY: "one-key-of-all-nodes-of-more-than-32-characters",
      GATEWAY_DISABLE_BACKGROUND_SERVICES: "true"
    }
    const [folder, other] = [dataDir(), dataDir()]
    const one = await serve({ ...shared, DATA_DIR: folder })
    const two = await serve({ ...shared, DATA_DIR: other })
    await manage(two, "POST", "/api/providers", upstream.connection())
    const { key, secret } = (await manage(two, "POST", "/api/keys", { name: "team" })) as {
      readonly key: { readonly id: string }
      readonly secret: string
    }
    await manage(two, "POST", "/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd: 1 })
    await until(async () => (await ask(one, secret)) === 200, "the other has the key")
    const { nodes } = (await manage(two, "GET", "/api/cluster")) as {
      readonly nodes: ReadonlyArray<{ readonly id: string; readonly self: boolean }>
    }
    const id = nodes.find(({ self }) => !self)?.id ?? ""
    const forget = () => run(["cluster", "forget", id, "--yes", "--json"], { DATA_DIR: other })
    const refused = await forget()
    assert.notStrictEqual(refused.code, 0)
    assert.include(refused.stderr, "runs: it was seen")
    const unknown = await run(["cluster", "forget", "nothing"], { DATA_DIR: other })
    assert.strictEqual(unknown.code, 2)
    assert.include(unknown.stderr, "There is no gateway 'nothing'")

    upstream.hold()
    const lost = Array.from({ length: 3 }, () => ask(one, secret).catch(() => 0))
    await until(() => upstream.held() === 3, "calls of the first are under way")
    await one.stop("SIGKILL")
    upstream.release()
    await Promise.all(lost)
    // As a minute later.
    await database.rows(`UPDATE cluster_nodes SET seen_at_ms = seen_at_ms - 60000 WHERE id = '${id}'`)
    const lives = `node IN (SELECT folder FROM cluster_nodes WHERE id = '${id}')`
    await database.rows(`UPDATE limit_holders SET expires_ms = expires_ms - 60000 WHERE ${lives}`)
    const held = async (): Promise<number> => {
      const [row] = await database.rows("SELECT SUM(held + doubt) AS held FROM limit_windows")
      return Number(row?.["held"])
    }
    assert.isAbove(await held(), 0)
    const forgotten = await forget()
    assert.strictEqual(forgotten.code, 0, forgotten.stderr)
    assert.isAbove((JSON.parse(forgotten.stdout) as { readonly leases: number }).leases, 0)
    await until(async () => (await held()) === 0, "nothing is held")
    assert.lengthOf(await database.rows("SELECT id FROM cluster_nodes"), 1)
    const [row] = await database.rows("SELECT COUNT(*) AS n FROM audit_log WHERE action LIKE '%forget%'")
    assert.isAtLeast(Number(row?.["n"]), 1)

    await serve({ ...shared, DATA_DIR: folder })
    await until(async () => {
      const [sums] = await database.rows(
        `SELECT (SELECT SUM(used) FROM limit_windows) AS used, (SELECT SUM(cost_nano_usd) FROM usage_log WHERE api_key_id = '${key.id}') AS cost,
          (SELECT COUNT(*) FROM usage_log WHERE api_key_id = '${key.id}' AND cost_nano_usd > 0) AS n`
      )
      return Number(sums?.["n"]) === 4 && Number(sums?.["used"]) === Number(sums?.["cost"])
    }, "each call is booked once")
  }, 300_000)
})
