/** A gateway that an operator has given up: what it held is free, and nothing is booked twice when it comes back after all. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { giveUpFolder, make } from "../../../src/plane/ledger/rows/PostgresRows.ts"
import type { LedgerRows, News, Turn, TurnOutcome, WindowRef } from "../../../src/plane/ledger/rows/Rows.ts"
import { open } from "../../../src/store/postgres/Database.ts"
import { emptySchema } from "../../support/postgres/Schemas.ts"
import { noPostgres, postgresUrl } from "../../support/postgres/Server.ts"

const url = await postgresUrl()

const window: WindowRef = {
  name: "budget",
  startMs: 0,
  endMs: 9_000_000_000_000,
  size: 1_000,
  version: 1,
  warnAt: 900,
  floor: 0,
  isAdded: false,
  notified: 0,
  rateMs: 0
}

const nothing: News = {
  reported: [],
  bookings: [],
  spent: [],
  arrivals: [],
  returned: [],
  ended: [],
  left: [],
  adopted: [],
  entered: [],
  inherited: null
}

const turnOf = (number: number, news: Partial<News>, more: Partial<Turn> = {}): Turn => ({
  holder: "life 1",
  node: "folder",
  number,
  attempt: 1,
  windows: [window],
  news: { ...nothing, ...news },
  takes: [],
  ...more
})

const world = Effect.gen(function* () {
  const sql = yield* open(yield* emptySchema(url ?? ""))
  const rows: LedgerRows = yield* make(sql)
  const joined = (holder: string) =>
    Effect.async<unknown>((resume) => rows.join(holder, "folder", (outcome) => resume(Effect.succeed(outcome))))
  const run = (turn: Turn) =>
    Effect.async<TurnOutcome | null>((resume) => rows.turn(turn, (outcome) => resume(Effect.succeed(outcome))))
  const sums = Effect.map(
    sql<{
      readonly used: number
      readonly held: number
      readonly doubt: number
    }>`SELECT used, held, doubt FROM limit_windows`,
    ([row]) => row
  )
  /** As after 35 s without a word. */
  const silent = sql`UPDATE limit_holders SET expires_ms = 1`
  return { sql, joined, run, sums, silent }
})

/** A lease of 100, of which 40 were spent by a request. */
const asked: Partial<Turn> = {
  takes: [
    {
      checks: [],
      needs: [{ lease: 1, limit: 0, window: 0, need: 100, amount: 100, perMs: 0, isRequests: false }],
      session: { key: "key", session: "s", most: 0 },
      isPromised: false
    }
  ]
}
const told: Partial<News> = { reported: ["r1"], bookings: [[0, 40]], spent: [[1, 40]] }

describe.skipIf(url === null)(`a gateway that was given up${url === null ? noPostgres : ""}`, () => {
  it.scopedLive("holds nothing any more, and is none that was heard of lately", () =>
    Effect.gen(function* () {
      const { joined, run, silent, sql, sums } = yield* world
      yield* joined("life 1")
      assert.strictEqual((yield* run(turnOf(1, {}, asked)))?.is, "done")
      yield* run(turnOf(2, told))
      const { held = 0, ...before } = (yield* sums) ?? {}
      assert.deepInclude(before, { used: 40, doubt: 0 })
      assert.isAbove(held, 0)
      assert.isNull(yield* giveUpFolder(sql, "folder"))
      assert.deepInclude(yield* sums, { used: 40, held, doubt: 0 })
      yield* silent
      assert.deepStrictEqual(yield* giveUpFolder(sql, "another"), { lives: 0, leases: 0 })
      assert.deepStrictEqual(yield* giveUpFolder(sql, "folder"), { lives: 1, leases: 1 })
      assert.deepInclude(yield* sums, { used: 40, held: 0, doubt: 0 })
      assert.lengthOf(yield* sql`SELECT session FROM limit_sessions`, 0)
      assert.deepStrictEqual(yield* giveUpFolder(sql, "folder"), { lives: 1, leases: 0 })
    })
  )

  it.scopedLive("books what it had told once, when the process was only stopped", () =>
    Effect.gen(function* () {
      const { joined, run, silent, sql, sums } = yield* world
      yield* joined("life 1")
      yield* run(turnOf(1, {}, asked))
      yield* run(turnOf(2, told))
      yield* silent
      yield* giveUpFolder(sql, "folder")
      // The answer of its last turn had not come: it repeats it, and hears that it was taken in.
      assert.deepStrictEqual(yield* run(turnOf(2, told, { attempt: 2 })), { is: "unknown", isTold: true })
      // What it has not told yet is still to be booked, by a life of its own.
      assert.deepStrictEqual(yield* run(turnOf(3, told)), { is: "unknown", isTold: false })
      assert.deepInclude(yield* sums, { used: 40, held: 0, doubt: 0 })
    })
  )

  it.scopedLive("books what it had not told once, when it is started again with its data folder", () =>
    Effect.gen(function* () {
      const { joined, run, silent, sql, sums } = yield* world
      yield* joined("life 1")
      yield* run(turnOf(1, {}, asked))
      yield* run(turnOf(2, told))
      yield* silent
      yield* giveUpFolder(sql, "folder")
      yield* joined("life 2")
      const left = { inherited: [["r1", [[0, 40]]] as const, ["r2", [[0, 25]]] as const] } as const
      assert.strictEqual((yield* run(turnOf(1, left, { holder: "life 2" })))?.is, "done")
      assert.deepInclude(yield* sums, { used: 65, held: 0, doubt: 0 })
      assert.deepStrictEqual(yield* sql`SELECT id FROM limit_holders`, [{ id: "life 2" }])
    })
  )
})
