/** Gateways on machines of their own that are cut off from the database, from Valkey and from each other, without anybody being told. */
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { once } from "node:events"
import { createServer } from "node:http"
import { setTimeout as pause } from "node:timers/promises"
import { ask, authorization, costUsd, manage, provider, until } from "../../cli/processes.ts"
import { isPostgresThere, noPostgres } from "../../support/postgres/Server.ts"
import { isValkeyThere, noValkey } from "../../support/valkey/Server.ts"
import { noMachines } from "./Lan.ts"
import type { GatewayNode } from "./Servers.ts"
import { asServing, databaseProblem, healthOf, makeKey, openWorld, settledSum, untilWell, type World } from "./World.ts"

const upstream = provider("0.0.0.0")

/** A provider that answers each request with a limit of ten minutes. */
const limited = (() => {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(429, { "retry-after": "600", "content-type": "application/json" })
    response.end(JSON.stringify({ error: { message: "Rate limit reached", code: "rate_limit_exceeded" } }))
  })
  beforeAll(async () => {
    server.listen(0, "0.0.0.0")
    await once(server, "listening")
  })
  afterAll(() => void server.close())
  return {
    port: (): number => {
      const address = server.address()
      return typeof address === "object" && address !== null ? address.port : 0
    }
  }
})()

const there = noMachines === null && isPostgresThere()
const missing = noMachines === null ? (isPostgresThere() ? "" : noPostgres) : ` (skipped: ${noMachines})`

let world: World | null = null

afterEach(async () => {
  await world?.close()
  world = null
})

const opened = async (options: Parameters<typeof openWorld>[0]): Promise<World> => {
  world = await openWorld(options)
  const [first] = world.nodes
  if (first !== undefined) {
    const baseUrl = `http://${world.lan.address}:${upstream.port()}/v1`
    await manage(asServing(first), "POST", "/api/providers", { ...upstream.connection(), baseUrl, priority: 5 })
  }
  return world
}

const asks = (node: GatewayNode, secret: string): Promise<number> => ask(asServing(node), secret).catch(() => 0)

const isLimitedAt = async (node: GatewayNode, name: string): Promise<boolean> => {
  const { connections } = (await manage(asServing(node), "GET", "/api/providers")) as {
    readonly connections: ReadonlyArray<{ readonly name: string; readonly rateLimitedUntil: string | null }>
  }
  return connections.some((each) => each.name === name && each.rateLimitedUntil !== null)
}

/** A change, whatever it is answered with. */
const change = async (node: GatewayNode, name: string): Promise<number> => {
  const response = await fetch(`${node.url}/api/keys`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({ name })
  })
  await response.text()
  return response.status
}

const named = async (node: GatewayNode, name: string): Promise<boolean> => {
  const { keys } = (await manage(asServing(node), "GET", "/api/keys?limit=500")) as {
    readonly keys: ReadonlyArray<{ readonly name: string }>
  }
  return keys.some((key) => key.name === name)
}

describe.skipIf(!there)(`gateways that are cut off${missing}`, () => {
  it("from the database, one of two: it serves on within its leases, refuses changes, and heals without a hand", async () => {
    const { database, databaseAt, lan, nodes } = await opened({ nodes: 2 })
    const [one, two] = nodes
    if (one === undefined || two === undefined) return
    const free = await makeKey(nodes, "free")
    const budget = await makeKey(nodes, "budget", costUsd * 200)
    const before = upstream.calls()
    let answers = 0
    const asked = async (node: GatewayNode): Promise<number> => {
      const status = await asks(node, budget.secret)
      if (status === 200) answers += 1
      return status
    }
    for (let n = 0; n < 20; n += 1) assert.strictEqual(await asked(one), 200)
    const rowsOfFree = 30
    lan.cut(one.machine, databaseAt)
    for (let n = 0; n < rowsOfFree; n += 1) assert.strictEqual(await asks(one, free.secret), 200)
    // The other one has nothing of it, and what is done there is in force there.
    for (let n = 0; n < 20; n += 1) assert.strictEqual(await asked(two), 200)
    assert.strictEqual(await change(two, "made meanwhile"), 201)
    await until(async () => (await databaseProblem(one)) !== null, "it says that the database is away")
    assert.strictEqual((await healthOf(one)).status, "degraded")
    assert.strictEqual(await change(one, "refused"), 503)
    assert.isNull(await databaseProblem(two))
    // A key with a limit has its lease, and is refused with a sentence when that is over.
    await until(async () => (await asked(one)) === 503, "the lease is over")

    lan.mend(one.machine, databaseAt)
    await untilWell(one)
    await until(() => named(one, "made meanwhile"), "it has what was changed")
    assert.isFalse(await named(two, "refused"))
    await until(async () => (await asked(one)) === 200, "a lease")
    await until(async () => {
      const rows = await database.rows(
        `SELECT id FROM usage_log WHERE api_key_id = '${free.id}' AND outcome = 'completed'`
      )
      return rows.length === rowsOfFree
    }, "each answer has its row")
    let refused = 0
    const last: Array<number> = []
    await until(
      async () => {
        for (const node of nodes) {
          const status = await asked(node)
          last.push(status)
          refused = status === 429 ? refused + 1 : 0
        }
        return refused >= 6
      },
      () => `the budget is used up; last: ${last.slice(-20).join(" ")}`,
      0
    )
    const sum = await settledSum(database, budget.id)
    assert.isAtMost(sum.usd, costUsd * 200 + 1e-9)
    assert.strictEqual(sum.rows, answers)
    assert.isAtMost(upstream.calls() - before - rowsOfFree, 200)
  }, 300_000)

  it.skipIf(!isValkeyThere)(
    `from Valkey, one of two: it is told, what is learned goes over the database, and heals${isValkeyThere ? "" : noValkey}`,
    async () => {
      const { database, lan, nodes, valkeyAt } = await opened({ nodes: 2, withValkey: true })
      const [one, two] = nodes
      if (one === undefined || two === undefined) return
      const free = await makeKey(nodes, "free")
      for (const node of nodes) await untilWell(node)
      lan.cut(one.machine, valkeyAt)
      let requests = 30
      for (let n = 0; n < 20; n += 1) assert.strictEqual(await asks(one, free.secret), 200)
      await until(async () => (await healthOf(one)).valkey?.problem !== null, "it says that Valkey is lost")
      assert.isNull((await healthOf(two)).valkey?.problem)
      // What it learns the other knows: over the database.
      await manage(asServing(one), "POST", "/api/providers", {
        ...upstream.connection(),
        name: "limited",
        apiKey: "sk-of-the-limited-account",
        baseUrl: `http://${lan.address}:${limited.port()}/v1`
      })
      await until(async () => {
        requests += 1
        assert.strictEqual(await asks(one, free.secret), 200)
        return isLimitedAt(one, "limited")
      }, "it meets the limit of an account")
      await until(() => isLimitedAt(two, "limited"), "the other knows of it")
      assert.isAbove((await database.rows("SELECT node FROM cluster_told")).length, 0)
      for (const node of nodes) for (let n = 0; n < 5; n += 1) assert.strictEqual(await asks(node, free.secret), 200)
      lan.mend(one.machine, valkeyAt)
      for (const node of nodes) await untilWell(node)
      await until(async () => {
        const rows = await database.rows(`SELECT id FROM usage_log WHERE api_key_id = '${free.id}'`)
        return rows.length === requests
      }, "each request has its row")
    },
    300_000
  )

  it("from each other: nothing changes, as they meet in the database", async () => {
    const { database, lan, nodes } = await opened({ nodes: 2 })
    const [one, two] = nodes
    if (one === undefined || two === undefined) return
    lan.cut(one.machine, two.machine)
    const budget = await makeKey(nodes, "budget", costUsd * 60)
    let answers = 0
    await Promise.all(
      Array.from({ length: 10 }, async (_, at) => {
        for (let n = 0; n < 10; n += 1) {
          if ((await asks(at % 2 === 0 ? one : two, budget.secret)) === 200) answers += 1
        }
      })
    )
    const sum = await settledSum(database, budget.id)
    assert.isAtMost(sum.usd, costUsd * 60 + 1e-9)
    assert.strictEqual(sum.rows, answers)
    assert.strictEqual(await change(one, "over the cut"), 201)
    await until(() => named(two, "over the cut"), "the other has it")
    for (const node of nodes) assert.strictEqual((await healthOf(node)).status, "ok")
  }, 300_000)

  it("from the database for a quarter of the time: each answer has its row, and no budget is passed", async () => {
    const { database, databaseAt, lan, nodes } = await opened({ nodes: 2 })
    const [one] = nodes
    if (one === undefined) return
    const room = 300
    const budget = await makeKey(nodes, "budget", costUsd * room)
    const before = upstream.calls()
    const over = lan.lose(one.machine, databaseAt)
    let answers = 0
    const statuses = new Set<number>()
    await Promise.all(
      Array.from({ length: 12 }, async (_, at) => {
        for (let n = 0; n < 40; n += 1) {
          const status = await asks(nodes[at % 2] ?? one, budget.secret)
          statuses.add(status)
          if (status === 200) answers += 1
          await pause(20)
        }
      })
    )
    await over()
    for (const node of nodes) await untilWell(node)
    const sum = await settledSum(database, budget.id)
    assert.isAtMost(sum.usd, costUsd * room + 1e-9)
    assert.strictEqual(sum.rows, answers)
    assert.isAtMost(upstream.calls() - before, room)
    assert.isAbove(answers, room / 2)
    // Answered, refused at the limit, or told that there is no lease: nothing else.
    for (const status of statuses) assert.include([200, 429, 503], status)
  }, 300_000)
})
