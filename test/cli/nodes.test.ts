/** Two gateways on one database of Postgres, as processes: what one changes the other has, whatever becomes of its listening connection. */
import { assert, describe, it } from "vitest"
import { isPostgresThere, noPostgres } from "../support/postgres/Server.ts"
import { adminKey, answered, ask, authorization, manage, provider, until } from "./processes.ts"
import { emptyDatabase } from "./postgres.ts"
import { program, type Serving } from "./support.ts"

interface Nodes {
  readonly engine: string
  readonly nodes: ReadonlyArray<{
    readonly id: string
    readonly name: string
    readonly self: boolean
    readonly state: string
    readonly changesBehind: number
    readonly background: boolean
  }>
}

const { dataDir, run, serve } = program()
const upstream = provider()

const nodesOf = async (server: Serving) => ((await manage(server, "GET", "/api/cluster")) as Nodes).nodes
const made = async (server: Serving, name: string) =>
  (await manage(server, "POST", "/api/keys", { name })) as {
    readonly key: { readonly id: string }
    readonly secret: string
  }
const keysOf = async (server: Serving): Promise<ReadonlyArray<string>> => {
  const { keys } = (await manage(server, "GET", "/api/keys?limit=500")) as {
    readonly keys: ReadonlyArray<{ readonly name: string }>
  }
  return keys.map(({ name }) => name)
}

interface Served {
  readonly requestId: string
  readonly node?: string
}
const logsOf = async (server: Serving): Promise<ReadonlyArray<Served>> =>
  ((await manage(server, "GET", "/api/usage/logs?limit=1")) as { readonly logs: ReadonlyArray<Served> }).logs
/** The gateway that has decided about a request, as one of them knows it; null: it does not know the request yet. */
const deciderOf = async ({ url }: Serving, requestId: string): Promise<string | null | undefined> => {
  const response = await fetch(`${url}/api/routing/decisions/${requestId}`, { headers: { authorization } })
  if (response.status !== 200) return null
  return ((await response.json()) as { readonly decision: Pick<Served, "node"> }).decision.node
}

const there = isPostgresThere()

describe.skipIf(!there)(`two gateways on one database${there ? "" : noPostgres}`, () => {
  it("have the same configuration, soon after either has changed it, and one bill", async () => {
    const database = await emptyDatabase()
    const shared = {
      GATEWAY_DATABASE_URL: database.url,
      GATEWAY_ADMIN_KEY: adminKey,
      GATEWAY_ENCRYPTION_KEY: "one-key-of-all-nodes-of-more-than-32-characters",
      GATEWAY_DISABLE_BACKGROUND_SERVICES: "true"
    }
    const folder = dataDir()
    // An empty database, and both start at once.
    const [one, two] = await Promise.all([
      serve({ ...shared, DATA_DIR: folder }),
      serve({ ...shared, DATA_DIR: dataDir() })
    ])
    await manage(one, "POST", "/api/providers", upstream.connection())
    await until(async () => (await ask(two)) === 200, "the other has the connection, and can read its key")

    const { key, secret } = await made(two, "ci")
    await until(async () => (await ask(one, secret)) === 200, "a key that the other has made")
    await manage(one, "PUT", `/api/keys/${key.id}`, { isActive: false })
    await until(async () => (await ask(two, secret)) === 401, "it is in force no more")

    // Many at once, in transactions that end in any order.
    const names = Array.from({ length: 40 }, (_, n) => `key-${n}`)
    await Promise.all(names.map((name, n) => made(n % 2 === 0 ? one : two, name)))
    for (const server of [one, two]) {
      await until(async () => {
        const known = new Set(await keysOf(server))
        return names.every((name) => known.has(name))
      }, "each has all of them")
    }

    // Both write their rows into one table.
    const before = await database.rows("SELECT COUNT(*) AS n FROM usage_log")
    const good = await made(one, "good")
    await until(async () => (await ask(two, good.secret)) === 200, "the key at the other")
    assert.strictEqual(await ask(one, good.secret), 200)
    await until(async () => {
      const [row] = await database.rows("SELECT COUNT(*) AS n FROM usage_log")
      return Number(row?.["n"]) >= Number(before[0]?.["n"]) + 2
    }, "the rows of both")
    assert.strictEqual(await answered(one), await answered(two))

    // A row, and the decision of its request, say which of them served it: also after it has been told to the other, and in the file of a log.
    const served = (await nodesOf(two)).find(({ self }) => self)?.name ?? ""
    const [row] = await logsOf(one)
    assert.strictEqual(row?.node, served)
    for (const server of [one, two]) {
      await until(async () => (await deciderOf(server, row?.requestId ?? "")) === served, "the decision is kept")
    }
    const exported = await fetch(`${one.url}/api/usage/export?format=csv`, { headers: { authorization } })
    assert.include(await exported.text(), served)

    const seen = await nodesOf(one)
    assert.strictEqual(seen.length, 2)
    assert.deepStrictEqual(
      seen.map(({ self, state }) => ({ self, state })).toSorted((a, b) => Number(a.self) - Number(b.self)),
      [
        { self: false, state: "up" },
        { self: true, state: "up" }
      ]
    )
    assert.lengthOf(
      seen.filter(({ background }) => background),
      1
    )
    await until(async () => (await nodesOf(two)).every(({ changesBehind }) => changesBehind === 0), "nothing is behind")
    const status = await run(["cluster", "status", "--json"], { DATA_DIR: folder })
    assert.strictEqual(status.code, 0, status.stderr)
    assert.strictEqual((JSON.parse(status.stdout) as Nodes).nodes.length, 2)

    // The listening connections are cut: what is changed arrives all the same, and they are made anew.
    const own = seen.map(({ id }) => `'gateway listen ${id}'`).join(", ")
    const ofNodes = `FROM pg_stat_activity WHERE application_name IN (${own})`
    const listening = async () =>
      (await database.rows(`SELECT pid ${ofNodes} AND query LIKE 'LISTEN%'`)).map(({ pid }) => Number(pid))
    await until(async () => (await listening()).length >= 2, "both listen")
    const old = new Set(await listening())
    await database.rows(`SELECT pg_terminate_backend(pid) ${ofNodes}`)
    const late = await made(one, "late")
    await until(async () => (await ask(two, late.secret)) === 200, "a change while nobody listened")
    await until(async () => (await listening()).filter((pid) => !old.has(pid)).length >= 2, "both listen again")

    // One that was killed is seen as lost, and one that has ended is not there any more.
    await one.stop("SIGKILL")
    await until(async () => (await nodesOf(two)).some(({ state }) => state === "lost"), "it is lost")
    assert.strictEqual(await ask(two, late.secret), 200)
    await until(
      async () => (await nodesOf(two)).some(({ background, self }) => background && self),
      "the work of all goes on at the one that is left"
    )
    await two.stop("SIGTERM")
    assert.strictEqual((await database.rows("SELECT id FROM cluster_nodes")).length, 1)
  }, 300_000)

  it("have each change in force when its answer is there, however many are made beside it", async () => {
    const database = await emptyDatabase()
    const shared = { GATEWAY_DATABASE_URL: database.url, GATEWAY_ADMIN_KEY: adminKey }
    const server = await serve({ ...shared, DATA_DIR: dataDir(), GATEWAY_DISABLE_BACKGROUND_SERVICES: "true" })
    const { baseUrl } = upstream.connection()
    const oneAfterTheOther = async (place: number): Promise<void> => {
      for (let n = 0; n < 12; n += 1) {
        const prefix = `n-${place}-${n}`
        const node = { name: prefix, prefix, type: "openai-compatible", baseUrl, wires: ["chat"] }
        await manage(server, "POST", "/api/provider-nodes", node)
        // Refused where the gateway does not know the node.
        const { connection } = (await manage(server, "POST", "/api/providers", {
          provider: prefix,
          name: prefix,
          apiKey: `sk-of-${prefix}-abcdefghijkl`,
          models: ["m"]
        })) as { readonly connection: { readonly id: string } }
        const { secret } = await made(server, prefix)
        const response = await fetch(`${server.url}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
          body: JSON.stringify({ model: `${prefix}/m`, messages: [{ role: "user", content: "hi" }] })
        })
        assert.strictEqual(response.status, 200, await response.text())
        await manage(server, "DELETE", `/api/providers/${connection.id}`)
      }
    }
    await Promise.all(Array.from({ length: 12 }, (_, place) => oneAfterTheOther(place)))
    await server.stop("SIGTERM")
  }, 180_000)

  it("are one that has its file for itself over SQLite", async () => {
    const server = await serve({ DATA_DIR: dataDir(), GATEWAY_ADMIN_KEY: adminKey })
    assert.deepInclude((await manage(server, "GET", "/api/cluster")) as Nodes, { engine: "sqlite", nodes: [] })
    await manage(server, "POST", "/api/providers", upstream.connection())
    assert.strictEqual(await ask(server), 200)
    const [row] = await logsOf(server)
    assert.isString(row?.requestId)
    assert.notProperty(row, "node")
    assert.strictEqual(await deciderOf(server, row?.requestId ?? ""), undefined)
  })
})
