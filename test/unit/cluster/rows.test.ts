/** The shared rows of limits over a real database: the same as in memory, and exact with many callers, killed connections and nodes that die. */
import { assert, describe, it } from "@effect/vitest"
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as Timers from "../../../src/platform/Timers.ts"
import { make } from "../../../src/plane/ledger/rows/PostgresRows.ts"
import { connect, type PostgresOptions } from "../../../src/store/engine/postgres/Client.ts"
import { open } from "../../../src/store/postgres/Database.ts"
import { budgets, type Call, call, type Fate, type Journal, makeNode, type Node } from "../../support/cluster/Nodes.ts"
import { ownClock, recorded, type Recorded, replayed } from "../../support/cluster/Replay.ts"
import { calm, faults, history, listOf, long } from "../../support/ledger/Laws.ts"
import { emptySchema, optionsIn } from "../../support/postgres/Schemas.ts"
import { noPostgres, postgresUrl } from "../../support/postgres/Server.ts"
import { counted } from "../../support/slowRun.ts"

const url = await postgresUrl()
const skipped = url === null ? noPostgres : ""
const timeoutMs = 120_000
/** Lost connections are told; here they are meant. */
const services = Layer.merge(Timers.layer, Logger.minimumLogLevel(LogLevel.None))

const migrated = Effect.gen(function* () {
  const options = yield* emptySchema(url ?? "")
  const sql = yield* open(options)
  return { options, sql }
})

interface Sums {
  readonly used: number
  readonly held: number
  readonly doubt: number
}

const sums = (sql: SqlClient.SqlClient) =>
  Effect.map(
    Effect.orDie(
      sql<Sums>`SELECT COALESCE(SUM(used), 0) AS used, COALESCE(SUM(held), 0) AS held, COALESCE(SUM(doubt), 0) AS doubt FROM limit_windows`
    ),
    ([row]) => row ?? { used: 0, held: 0, doubt: 0 }
  )

/** Waits for a state of the rows. */
const until = (sql: SqlClient.SqlClient, wanted: (of: Sums) => boolean): Effect.Effect<Sums> =>
  Effect.repeat(sums(sql), { until: wanted, schedule: Schedule.spaced("20 millis") }).pipe(
    Effect.zipRight(sums(sql)),
    Effect.timeoutFail({ duration: "40 seconds", onTimeout: () => new Error("the rows do not come to rest") }),
    Effect.orDie
  )

/** Kills connections that are in the middle of a transaction on the rows. */
const killOne = (sql: SqlClient.SqlClient) =>
  Effect.map(
    Effect.orDie(sql<{ readonly pid: number }>`SELECT pg_terminate_backend(pid) AS killed, pid FROM (
      SELECT DISTINCT pid FROM pg_locks WHERE relation = 'limit_holders'::regclass AND pid <> pg_backend_pid() LIMIT 1) AS found`),
    (rows) => rows.length
  )

interface Books {
  spent: number
  readonly limit: number
  readonly fates: Record<Fate, number>
}

const booksOf = (limit: number): Books => ({
  limit,
  spent: 0,
  fates: { answered: 0, refused: 0, unknown: 0, lost: 0 }
})

/** A client asks for the calls one after another; a node that is gone is no longer asked. */
const client = (nodes: () => ReadonlyArray<Node>, calls: ReadonlyArray<Call>, books: Books) =>
  Effect.gen(function* () {
    for (const each of calls) {
      const all = nodes()
      const node = all[yield* Random.nextIntBetween(0, all.length)]
      if (node === undefined) return
      const during = Effect.sleep(yield* Random.nextIntBetween(0, 4))
      const fate = yield* call(node, each, during, (nanoUsd) => {
        books.spent += nanoUsd
        assert.isAtMost(books.spent, books.limit, "the budget")
      })
      books.fates[fate] += 1
    }
  })

let requests = 0

const callsOf = (count: number, key: string, estimate: number, costOf: () => number): ReadonlyArray<Call> =>
  Array.from({ length: count }, () => ({
    key,
    requestId: `r${(requests += 1)}`,
    receivedMs: Date.UTC(2026, 10, 15),
    estimate,
    cost: costOf()
  }))

const nodesOf = (options: PostgresOptions, count: number, limit: number) =>
  Effect.forEach(
    Array.from({ length: count }, (_, at) => `node ${at}`),
    (name) => makeNode(options, name, budgets({ key: limit }))
  )

describe.skipIf(url === null)(`the shared rows of limits over Postgres${skipped}`, () => {
  it.scopedLive(
    "do in each history what those in memory do",
    () =>
      Effect.gen(function* () {
        for (let seed = 1; seed <= counted(3, 12); seed += 1) {
          const calls: Array<Recorded> = []
          history(FastCheck.sample(listOf(...calm, ...faults, long), { numRuns: 1, seed })[0] ?? [], recorded(calls))
          assert.isAbove(calls.length, 10)
          const { sql: first } = yield* migrated
          const [schema] = yield* first<{ readonly name: string }>`SELECT current_schema() AS name`
          const sql = yield* connect(optionsIn(url ?? "", `${schema?.name},pg_catalog`))
          yield* ownClock(sql)
          const other = yield* replayed(sql, yield* make(sql), calls)
          assert.isNull(other, JSON.stringify(other, null, 1))
        }
      }),
    timeoutMs
  )

  it.scopedLive(
    "let 500 callers at once have ten calls of a budget for ten",
    () =>
      Effect.gen(function* () {
        const { options, sql } = yield* migrated
        const books = booksOf(10_000)
        const nodes = yield* nodesOf(options, 4, books.limit)
        yield* Effect.forEach(
          callsOf(500, "key", 1_000, () => 1_000),
          (each) => client(() => nodes, [each], books),
          { concurrency: "unbounded", discard: true }
        )
        const atRest = yield* until(sql, ({ held }) => held === 0)
        assert.deepStrictEqual(atRest, { used: books.spent, held: 0, doubt: 0 })
        // Those that were refused beside others that held something may come again, and then have all of it.
        while (books.spent < books.limit) {
          yield* client(
            () => nodes,
            callsOf(1, "key", 1_000, () => 1_000),
            books
          )
          yield* until(sql, ({ held }) => held === 0)
        }
        yield* client(
          () => nodes,
          callsOf(1, "key", 1, () => 1),
          books
        )
        assert.strictEqual(books.spent, books.limit)
        assert.strictEqual(books.fates.answered, 10)
        assert.strictEqual((yield* sums(sql)).used, books.limit)
      }).pipe(Effect.provide(services)),
    timeoutMs
  )

  it.scopedLive(
    "book each answered call once while connections are killed",
    () =>
      Effect.gen(function* () {
        const { options, sql } = yield* migrated
        const books = booksOf(6_000_000)
        const nodes = yield* nodesOf(options, 3, books.limit)
        let kills = 0
        const killer = yield* Effect.fork(
          Effect.forever(
            Effect.gen(function* () {
              // Calls are answered between two of them, however slow the machine is.
              const answered = books.fates.answered
              yield* Effect.repeat(
                Effect.sync(() => books.fates.answered),
                {
                  until: (now) => now >= answered + 20,
                  schedule: Schedule.spaced("3 millis")
                }
              )
              kills += yield* Effect.repeat(killOne(sql), {
                until: (killed) => killed > 0,
                schedule: Schedule.spaced("1 millis")
              })
            })
          )
        )
        const costs = yield* Effect.replicateEffect(Random.nextIntBetween(1, 1_000), 400)
        let at = 0
        const costOf = (): number => costs[(at += 1) % costs.length] ?? 1
        const round = Effect.forEach(
          Array.from({ length: 100 }, () => callsOf(counted(60, 200), "key", 1_000, costOf)),
          (calls) => client(() => nodes, calls, books),
          { concurrency: "unbounded", discard: true }
        )
        // On a busy machine a round may be over before a connection is met in a transaction.
        yield* Effect.repeat(round, { until: () => kills > 0 })
        yield* Fiber.interrupt(killer)
        assert.isAbove(books.fates.answered, 0)
        assert.deepStrictEqual(yield* until(sql, ({ held, used }) => held === 0 && used >= books.spent), {
          used: books.spent,
          held: 0,
          doubt: 0
        })
        for (const { journal } of nodes) assert.strictEqual(journal.size, 0)
      }).pipe(Effect.provide(services)),
    timeoutMs
  )

  it.scopedLive(
    "are never over a budget when nodes die, and hold nothing when they are back",
    () =>
      Effect.gen(function* () {
        const { options, sql } = yield* migrated
        const books = booksOf(400_000)
        const all = [...(yield* nodesOf(options, 3, books.limit))]
        const alive = (): ReadonlyArray<Node> => all.filter(({ isDead }) => !isDead)
        const journals: Array<readonly [name: string, journal: Journal]> = []
        const clients = yield* Effect.fork(
          Effect.forEach(
            Array.from({ length: 100 }, () => callsOf(counted(20, 50), "key", 500, () => 200 + (requests % 300))),
            (calls) => client(alive, calls, books),
            { concurrency: "unbounded", discard: true }
          )
        )
        for (const name of ["node 0", "node 1"]) {
          yield* Effect.repeat(
            Effect.sync(() => books.fates.answered),
            {
              until: (answered) => answered > 20 * (journals.length + 1),
              schedule: Schedule.spaced("5 millis")
            }
          )
          const node = all.find((each) => each.name === name)
          node?.die()
          if (node !== undefined) journals.push([name, node.journal])
          // Its leases have expired by the server's clock; the others find it.
          yield* Effect.orDie(sql`UPDATE limit_holders SET expires_ms = 0 WHERE node = ${name}`)
        }
        yield* Fiber.join(clients)
        for (const [name, journal] of journals) {
          all.push(yield* makeNode(options, name, budgets({ key: books.limit }), journal))
        }
        // Nodes that have told all come to rest by themselves: one that begins without a journal settles its earlier life as well.
        for (const node of alive().slice(-2)) node.link.settleLeft([])
        assert.deepStrictEqual(yield* until(sql, ({ doubt, held }) => held === 0 && doubt === 0), {
          used: books.spent,
          held: 0,
          doubt: 0
        })
        assert.isAtMost(books.spent, books.limit)
      }).pipe(Effect.provide(services)),
    timeoutMs
  )
})
