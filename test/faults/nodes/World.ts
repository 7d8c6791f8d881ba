/** Gateways on machines of their own with a database and Valkey on others: what a test of faults between them needs. */
import { assert } from "vitest"
import { manage, until } from "../../cli/processes.ts"
import { type Lan, type Machine, openLan } from "./Lan.ts"
import {
  type GatewayNode,
  makePostgres,
  type PostgresServer,
  removeFolder,
  startGateway,
  startValkey
} from "./Servers.ts"

export interface World {
  readonly lan: Lan
  readonly database: PostgresServer
  readonly databaseAt: Machine
  readonly valkeyAt: Machine
  readonly nodes: ReadonlyArray<GatewayNode>
  /** Starts a gateway with these variables besides those of all, or one that has ended again. */
  readonly start: (name: string, more?: Readonly<Record<string, string>>) => Promise<GatewayNode>
  readonly again: (node: GatewayNode) => Promise<GatewayNode>
  readonly close: () => Promise<void>
}

export interface WorldOptions {
  readonly nodes: number
  readonly withValkey?: boolean
  /** The tables are on a small disk. */
  readonly isSmall?: boolean
}

/** Name of the machine with the database, as gateways know it. */
export const databaseName = "database.test"

export const openWorld = async ({ isSmall = false, nodes, withValkey = false }: WorldOptions): Promise<World> => {
  const lan = openLan()
  const folders: Array<string> = []
  let database: PostgresServer | null = null
  const close = async (): Promise<void> => {
    await lan.close()
    await database?.close()
    for (const folder of folders) removeFolder(folder)
  }
  try {
    const databaseAt = lan.machine("database")
    const valkeyAt = lan.machine("valkey")
    const made = makePostgres(isSmall)
    database = made
    await made.start(databaseAt)
    const shared = {
      GATEWAY_DATABASE_URL: made.urlAt(databaseName),
      ...(withValkey ? { GATEWAY_VALKEY_URL: await startValkey(valkeyAt) } : {})
    }
    const start: World["start"] = async (name, more = {}) => {
      const machine = lan.machine(name)
      machine.knows(databaseName, databaseAt)
      const node = await startGateway(machine, { ...shared, ...more })
      folders.push(node.folder)
      return node
    }
    const all: Array<GatewayNode> = []
    for (let n = 1; n <= nodes; n += 1) all.push(await start(`node${n}`))
    return {
      lan,
      database: made,
      databaseAt,
      valkeyAt,
      nodes: all,
      start,
      again: ({ folder, machine }) => startGateway(machine, shared, folder),
      close
    }
  } catch (error) {
    await close()
    throw error
  }
}

export interface Health {
  readonly status: string
  readonly database: { readonly problem: string | null } | null
  readonly usageLog: { readonly problem: string | null; readonly waitingRows: number }
  readonly valkey: { readonly problem: string | null } | null
}

export const healthOf = async (node: GatewayNode): Promise<Health> =>
  (await manage(asServing(node), "GET", "/api/monitoring/health")) as Health

/** As the helpers of the command line's tests take it. */
export const asServing = (node: GatewayNode) => ({ ...node, stop: node.stop })

export const databaseProblem = async (node: GatewayNode): Promise<string | null> =>
  (await healthOf(node)).database?.problem ?? null

export const untilWell = (node: GatewayNode): Promise<void> =>
  until(async () => (await healthOf(node)).status === "ok", "it is well again")

/** Makes a key, with a budget where there is one, which each of the gateways knows when it comes back. */
export const makeKey = async (
  nodes: ReadonlyArray<GatewayNode>,
  name: string,
  dailyLimitUsd: number | null = null
): Promise<{ readonly id: string; readonly secret: string }> => {
  const [first] = nodes
  assert.isDefined(first)
  const { key, secret } = (await manage(asServing(first), "POST", "/api/keys", { name })) as {
    readonly key: { readonly id: string }
    readonly secret: string
  }
  // Days of it begin half a day from now: no test runs over the end of one, also where a clock is wrong by an hour.
  const resetTime = new Date(Date.now() + 12 * 3_600_000).toISOString().slice(11, 16)
  if (dailyLimitUsd !== null) {
    await manage(asServing(first), "POST", "/api/usage/budget", { apiKeyId: key.id, dailyLimitUsd, resetTime })
  }
  for (const node of nodes) {
    await until(async () => {
      const found = await fetch(`${node.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })
      if (!found.ok || dailyLimitUsd === null) return found.ok
      const budget = await manage(asServing(node), "GET", `/api/usage/budget?apiKeyId=${key.id}`)
      return (budget as { readonly dailyLimitUsd: number | null }).dailyLimitUsd !== null
    }, "each gateway has the key")
  }
  return { id: key.id, secret }
}

/** Waits until nothing of a key's budget is held, and what is booked is what the rows say; gives the sum in USD and the count of rows. */
export const settledSum = async (
  database: PostgresServer,
  keyId: string
): Promise<{ readonly usd: number; readonly rows: number }> => {
  let found = { usd: 0, rows: 0 }
  await until(async () => {
    const [row] = await database.rows(
      `SELECT (SELECT SUM(used) FROM limit_windows) AS used, (SELECT SUM(held + doubt) FROM limit_windows) AS held,
        (SELECT SUM(cost_nano_usd) FROM usage_log WHERE api_key_id = '${keyId}') AS cost,
        (SELECT COUNT(*) FROM usage_log WHERE api_key_id = '${keyId}' AND outcome = 'completed') AS rows`
    )
    found = { usd: Number(row?.["cost"]) / 1e9, rows: Number(row?.["rows"]) }
    return Number(row?.["held"]) === 0 && Number(row?.["used"]) === Number(row?.["cost"])
  }, "what is booked is what the rows say, and nothing is held")
  return found
}
