/**
 * Budgets of a key, its person and its team over three gateways behind a round robin, while one after the other is killed and comes back and the database is away once: never over by one
 * call, each answer one row, and all that is booked is in the rows.
 */
import { assert, describe, it } from "vitest"
import { setTimeout as pause } from "node:timers/promises"
import { isPostgresThere, noPostgres } from "../support/postgres/Server.ts"
import { emptyDatabase, nodeVariables, wayTo } from "./postgres.ts"
import { ask, costUsd, limitedBy, manage, owners, provider, until } from "./processes.ts"
import { program, type Serving } from "./support.ts"

const { dataDir, serve } = program()
const upstream = provider()
const there = isPostgresThere()

/** Kills of a gateway, and the time in ms between two. */
const kills = Number(process.env["NODE_KILLS"] ?? 4)
const betweenMs = Number(process.env["NODE_KILLS_EVERY_MS"] ?? 1_500)
/** Time in ms for which the database is away. */
const awayMs = Number(process.env["NODE_AWAY_MS"] ?? 2_000)
/** Callers at once, and calls that the budget has room for. */
const callers = Number(process.env["NODE_CALLERS"] ?? 40)
const room = Number(process.env["NODE_ROOM"] ?? 1_000)

interface Place {
  readonly folder: string
  serving: Serving
}

/** Calls of a key at the gateways in turn, one after the other for each caller, until it is told to stop. */
const callersOf = (places: ReadonlyArray<Place>, secret: string) => {
  const state = { isOver: false, answers: 0, turn: 0 }
  const call = async (): Promise<void> => {
    while (!state.isOver) {
      const place = places[(state.turn += 1) % places.length]
      if (place === undefined) return
      // A gateway that is killed cuts its connections.
      const status = await ask(place.serving, secret).catch(() => 0)
      if (status === 200) state.answers += 1
      else await pause(20)
    }
  }
  const running = Array.from({ length: callers }, call)
  return {
    state,
    end: async (): Promise<void> => {
      state.isOver = true
      await Promise.all(running)
    }
  }
}

describe.skipIf(!there)(`a budget over three gateways${there ? "" : noPostgres}`, () => {
  it("holds while they are killed and the database is away", async () => {
    const database = await emptyDatabase()
    const way = await wayTo(database.url)
    const variables = nodeVariables({ url: way.url })
    const start = (folder: string): Promise<Serving> => serve({ ...variables, DATA_DIR: folder })
    const places: Array<Place> = []
    for (const folder of [dataDir(), dataDir(), dataDir()]) places.push({ folder, serving: await start(folder) })
    const [first] = places
    if (first === undefined) return
    await manage(first.serving, "POST", "/api/providers", upstream.connection())
    const limitUsd = costUsd * room
    const { key, secret } = await limitedBy(first.serving, "company", "team", limitUsd)
    const before = upstream.calls()
    for (const { serving } of places) {
      await until(async () => {
        const found = await manage(serving, "GET", `/api/usage/budget?apiKeyId=${key.id}`)
        return (found as { readonly dailyLimitUsd: number | null }).dailyLimitUsd !== null
      }, "each gateway has the budget")
    }

    const { end, state } = callersOf(places, secret)
    for (let kill = 0; kill < kills; kill += 1) {
      await pause(betweenMs)
      const place = places[kill % places.length]
      if (place === undefined) continue
      await place.serving.stop("SIGKILL")
      if (kill === 1) {
        await way.cut()
        await pause(awayMs)
        await way.mend()
      }
      place.serving = await start(place.folder)
    }
    await pause(betweenMs)
    await end()
    // What is left of the budget is used up, with nothing under way: a call is reserved at somewhat more than it costs.
    for (let refused = 0; refused < 3 * places.length;) {
      for (const { serving } of places) {
        const status = await ask(serving, secret)
        if (status === 200) state.answers += 1
        refused = status === 429 ? refused + 1 : 0
      }
    }
    await until(async () => {
      const [row] = await database.rows("SELECT SUM(held + doubt) AS held FROM limit_windows")
      return Number(row?.["held"]) === 0
    }, "nothing is held")

    assert.isAbove(state.answers, room / 2)
    assert.isAtMost(upstream.calls() - before, room, "calls that were made")
    await until(async () => {
      const rows = await database.rows(
        `SELECT id FROM usage_log WHERE api_key_id = '${key.id}' AND outcome = 'completed'`
      )
      return rows.length >= state.answers
    }, "each answer has its row")
    await until(async () => {
      const [sums] = await database.rows(
        `SELECT (SELECT MIN(used) FROM limit_windows) AS least, (SELECT MAX(used) FROM limit_windows) AS used,
          (SELECT SUM(cost_nano_usd) FROM usage_log WHERE api_key_id = '${key.id}') AS cost`
      )
      return [sums?.["least"], sums?.["used"]].every((used) => Number(used) === Number(sums?.["cost"]))
    }, "what is booked for the key, its person and its team is what the rows say")
    const [row] = await database.rows("SELECT MAX(used) AS used, COUNT(*) AS windows FROM limit_windows")
    assert.strictEqual(Number(row?.["windows"]), owners.length)
    assert.isAtMost(Number(row?.["used"]), limitUsd * 1e9 + 1)
    for (const { serving } of places) assert.strictEqual(await serving.stop("SIGTERM"), 0)
  }, 600_000)
})
