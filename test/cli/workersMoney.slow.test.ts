/** Budgets while processes are killed: never over by one call, each answer one row, nothing stranded for long. */
import { assert, describe, it } from "vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { makeSeededRandom } from "../../src/kernel/SeededRandom.ts"
import { adminKey, ask, costUsd, limitedBy, manage, owners, partsOf, provider, until } from "./processes.ts"
import { program, type Serving } from "./support.ts"

const { dataDir, serve } = program()
const upstream = provider()

const rounds = Number(process.env["WORKER_ROUNDS"] ?? 5)
const workers = 4
/** Callers at once, and calls that the budget of a key has room for. */
const callers = Number(process.env["WORKER_CALLERS"] ?? 100)
const room = Number(process.env["WORKER_ROOM"] ?? 200)

interface Log {
  readonly requestId: string
}

const rowsOf = async (server: Serving, apiKeyId: string): Promise<ReadonlyArray<Log>> => {
  const { logs } = (await manage(
    server,
    "GET",
    `/api/usage/logs?limit=1000&outcome=completed&apiKeyId=${apiKeyId}`
  )) as {
    readonly logs: ReadonlyArray<Log>
  }
  return logs
}

describe.skipIf(process.platform !== "linux")("a budget over workers that are killed", () => {
  it(`holds in each of ${rounds} rounds`, async () => {
    const random = makeSeededRandom(4_711)
    const server = await serve(
      { DATA_DIR: dataDir(), GATEWAY_ADMIN_KEY: adminKey, GATEWAY_DISABLE_BACKGROUND_SERVICES: "true" },
      "--workers",
      String(workers)
    )
    await manage(server, "POST", "/api/providers", upstream.connection())
    for (let round = 0; round < rounds; round++) {
      const limitUsd = costUsd * room
      const { key, secret } = await limitedBy(server, `round${round}`, owners[round % owners.length] ?? "key", limitUsd)
      const before = upstream.calls()
      const time = { isOver: false }
      let answers = 0
      const call = async (): Promise<void> => {
        while (!time.isOver) {
          // A process that is killed cuts its connections.
          const status = await ask(server, secret).catch(() => 0)
          if (status === 200) answers += 1
          if (status !== 200) await sleep(20)
        }
      }
      const calling = Array.from({ length: callers }, call)
      for (let kills = 0; kills < 3; kills++) {
        await sleep(150 + random.next() * 600)
        const parts = partsOf(server.process.pid ?? 0)
        const part = parts[random.below(Math.max(1, parts.length))]
        if (part !== undefined) process.kill(part.pid, "SIGKILL")
      }
      await sleep(1_000)
      time.isOver = true
      await Promise.all(calling)
      const calls = upstream.calls() - before
      await until(async () => {
        const all = partsOf(server.process.pid ?? 0)
        return all.length === workers + 1 && (await ask(server)) === 200
      }, "every process is there")
      // A worker that was without an owner sends what it has on file when there is one again.
      await until(async () => (await rowsOf(server, key.id)).length >= answers, "each answer has a row")
      const completed = await rowsOf(server, key.id)
      const { spentUsd } = (await manage(server, "GET", `/api/usage/budget?apiKeyId=${key.id}`)) as {
        readonly spentUsd: number
      }
      assert.isAtMost(calls, room, `round ${round}: calls that were made`)
      assert.isAtMost(spentUsd, limitUsd + 1e-12, `round ${round}: what was booked`)
      assert.strictEqual(new Set(completed.map(({ requestId }) => requestId)).size, completed.length, "and one only")
      assert.isAtLeast(spentUsd, costUsd * completed.length - 1e-12, `round ${round}: all of it is booked`)
    }
    assert.strictEqual(await server.stop("SIGTERM"), 0)
  }, 900_000)
})
