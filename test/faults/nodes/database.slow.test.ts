/** A database whose server fails over to another address, whose disk is full, and gateways that are stopped or whose clocks are wrong. */
import { afterEach, assert, describe, it } from "vitest"
import { setTimeout as pause } from "node:timers/promises"
import { ask, authorization, costUsd, manage, provider, until } from "../../cli/processes.ts"
import { isPostgresThere, noPostgres } from "../../support/postgres/Server.ts"
import { noMachines } from "./Lan.ts"
import type { GatewayNode } from "./Servers.ts"
import { asServing, databaseName, healthOf, makeKey, openWorld, settledSum, untilWell, type World } from "./World.ts"

const upstream = provider("0.0.0.0")
const there = noMachines === null && isPostgresThere()
const missing = noMachines === null ? (isPostgresThere() ? "" : noPostgres) : ` (skipped: ${noMachines})`

/** Imported by a gateway whose clock is to be wrong. */
const shiftedClock = new URL("shiftedClock.mjs", import.meta.url).href

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
    await manage(asServing(first), "POST", "/api/providers", { ...upstream.connection(), baseUrl })
  }
  return world
}

const asks = (node: GatewayNode, secret: string): Promise<number> => ask(asServing(node), secret).catch(() => 0)

/** A change, whatever it is answered with. */
const change = async ({ url }: GatewayNode): Promise<number> => {
  const response = await fetch(`${url}/api/keys`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({ name: "made while the disk is full" })
  })
  await response.text()
  return response.status
}

/** Asks until no gateway lets one in; gives the answers. */
const usedUp = async (nodes: ReadonlyArray<GatewayNode>, secret: string): Promise<number> => {
  let answers = 0
  for (let refused = 0; refused < 3 * nodes.length;) {
    for (const node of nodes) {
      const status = await asks(node, secret)
      if (status === 200) answers += 1
      refused = status === 429 ? refused + 1 : 0
    }
  }
  return answers
}

describe.skipIf(!there)(`gateways on a database${missing}`, () => {
  it("that fails over to another address: requests go on, no row is lost, and the new one is found by its name", async () => {
    const { database, lan, nodes } = await opened({ nodes: 2 })
    const [one] = nodes
    if (one === undefined) return
    const room = 200
    const budget = await makeKey(nodes, "budget", costUsd * room)
    const free = await makeKey(nodes, "free")
    const before = upstream.calls()
    let answers = 0
    let ofFree = 0
    const some = async (): Promise<void> => {
      for (let n = 0; n < 10; n += 1) {
        const node = nodes[n % 2] ?? one
        if ((await asks(node, budget.secret)) === 200) answers += 1
        assert.strictEqual(await asks(node, free.secret), 200)
        ofFree += 1
      }
    }
    await some()
    await database.kill()
    await some()
    const standby = lan.machine("standby")
    await database.start(standby)
    for (const { machine } of nodes) machine.knows(databaseName, standby)
    await some()
    for (const node of nodes) await untilWell(node)
    await manage(asServing(one), "POST", "/api/keys", { name: "afterwards" })
    answers += await usedUp(nodes, budget.secret)
    const sum = await settledSum(database, budget.id)
    assert.isAtMost(sum.usd, costUsd * room + 1e-9)
    assert.strictEqual(sum.rows, answers)
    assert.isAtMost(upstream.calls() - before - ofFree, room)
    await until(async () => {
      const rows = await database.rows(`SELECT id FROM usage_log WHERE api_key_id = '${free.id}'`)
      return rows.length === ofFree
    }, "each answer has its row")
  }, 300_000)

  it("whose disk is full: requests go on, changes are refused, it is told, and rows come when there is room", async () => {
    const { database, nodes } = await opened({ nodes: 2, isSmall: true })
    const [one, two] = nodes
    if (one === undefined || two === undefined) return
    const free = await makeKey(nodes, "free")
    for (const node of nodes) assert.strictEqual(await asks(node, free.secret), 200)
    database.fill()
    let requests = 2
    await until(async () => {
      for (const node of nodes) {
        for (let n = 0; n < 20; n += 1) assert.strictEqual(await asks(node, free.secret), 200)
        requests += 20
      }
      return (await healthOf(one)).usageLog.problem !== null && (await healthOf(two)).usageLog.problem !== null
    }, "both say that the disk is full")
    for (const node of nodes) {
      const { status, usageLog } = await healthOf(node)
      assert.strictEqual(status, "degraded")
      assert.match(usageLog.problem ?? "", /disk|space/i)
    }
    // Some room is left in pages that are there.
    await until(async () => (await change(one)) === 503, "changes are refused")
    database.free()
    for (const node of nodes) await untilWell(node)
    await until(async () => {
      const rows = await database.rows(`SELECT id FROM usage_log WHERE api_key_id = '${free.id}'`)
      return rows.length === requests
    }, "each answer has its row")
    await manage(asServing(one), "POST", "/api/keys", { name: "afterwards" })
  }, 300_000)

  it("one of which is stopped for 30 s and woken: the budget holds, and each answer has its row", async () => {
    const { database, nodes } = await opened({ nodes: 2 })
    const [one, two] = nodes
    if (one === undefined || two === undefined) return
    const room = 150
    const budget = await makeKey(nodes, "budget", costUsd * room)
    const before = upstream.calls()
    let answers = 0
    for (let n = 0; n < 20; n += 1) if ((await asks(nodes[n % 2] ?? one, budget.secret)) === 200) answers += 1
    upstream.hold()
    const under = Array.from({ length: 5 }, () => asks(one, budget.secret))
    await until(() => upstream.held() === 5, "calls are under way")
    one.process.kill("SIGSTOP")
    upstream.release()
    // What it holds of the budget is not the other's.
    answers += await usedUp([two], budget.secret)
    await pause(30_000)
    one.process.kill("SIGCONT")
    answers += (await Promise.all(under)).filter((status) => status === 200).length
    await untilWell(one)
    answers += await usedUp(nodes, budget.secret)
    const sum = await settledSum(database, budget.id)
    assert.isAtMost(sum.usd, costUsd * room + 1e-9)
    assert.strictEqual(sum.rows, answers)
    assert.isAtMost(upstream.calls() - before, room)
  }, 300_000)

  it("whose clocks are wrong by an hour, one ahead and one behind: the budget of the day holds over all", async () => {
    const { database, nodes, start } = await opened({ nodes: 1 })
    const clock = (aheadMs: number) => ({
      NODE_OPTIONS: `--import ${shiftedClock}`,
      CLOCK_AHEAD_MS: String(aheadMs)
    })
    const ahead = await start("ahead", clock(3_600_000))
    const behind = await start("behind", clock(-3_600_000))
    const all = [...nodes, ahead, behind]
    const room = 120
    const budget = await makeKey(all, "budget", costUsd * room)
    const before = upstream.calls()
    let answers = 0
    await Promise.all(
      Array.from({ length: 9 }, async (_, at) => {
        for (let n = 0; n < 10; n += 1) {
          if ((await asks(all[at % 3] ?? ahead, budget.secret)) === 200) answers += 1
        }
      })
    )
    answers += await usedUp(all, budget.secret)
    const sum = await settledSum(database, budget.id)
    assert.isAtMost(sum.usd, costUsd * room + 1e-9)
    assert.strictEqual(sum.rows, answers)
    assert.isAtMost(upstream.calls() - before, room)
    assert.isAbove(answers, room * 0.9)
    const { nodes: seen } = (await manage(asServing(ahead), "GET", "/api/cluster")) as {
      readonly nodes: ReadonlyArray<{ readonly state: string }>
    }
    assert.deepStrictEqual(
      seen.map(({ state }) => state),
      ["up", "up", "up"]
    )
  }, 300_000)
})
