/**
 * What the limits of a key cost where several nodes share them as rows of Postgres: a turn of a node with reports and needs of many keys: the time until it
 * is done, and this process's CPU. Needs `TEST_POSTGRES_URL`, or finds a server as the tests do.
 * Start: node node_modules/vite-node/vite-node.mjs bench/leaseRows.ts
 */
import * as Effect from "effect/Effect"
import { make } from "../src/plane/ledger/rows/PostgresRows.ts"
import type { LedgerRows, Turn, TurnOutcome, WindowRef } from "../src/plane/ledger/rows/Rows.ts"
import { connect } from "../src/store/engine/postgres/Client.ts"
import { open } from "../src/store/postgres/Database.ts"
import { emptySchema } from "../test/support/postgres/Schemas.ts"
import { folderOf, postgresUrl, stopServer } from "../test/support/postgres/Server.ts"

const turns = 200
const reportsPerKey = 4

const windowOf = (key: number): WindowRef => ({
  name: `budget/01a21943-d7${String(key).padStart(4, "0")}-7000-b6ac-053ff813a027/daily daily 00:00 UTC`,
  startMs: 1_764_201_600_000,
  endMs: 1_764_288_000_000,
  size: 1e15,
  version: 1,
  warnAt: 8e14,
  floor: 0,
  isAdded: false,
  notified: 0,
  rateMs: 0
})

/** Reports of some requests of each key, and a need of each. */
const turnOf = (holder: string, number: number, keys: number): Turn => {
  const each = Array.from({ length: keys }, (_, key) => key)
  return {
    holder,
    node: holder,
    number,
    attempt: 0,
    windows: each.map(windowOf),
    news: {
      reported: Array.from({ length: keys * reportsPerKey }, (_, n) => `01a21943-dd02-7000-b941-${number}-${n}`),
      bookings: each.map((key) => [key, 4_000_000] as const),
      spent: each.map((key) => [key + 1, number * 4_000_000] as const),
      arrivals: [],
      returned: [],
      ended: [],
      left: [],
      adopted: [],
      entered: [],
      inherited: null
    },
    takes: each.map((key) => ({
      checks: [],
      needs: [
        { lease: key + 1, limit: 0, window: key, need: 4_000_000, amount: 4_000_000, perMs: 0, isRequests: false }
      ],
      session: null,
      isPromised: false
    }))
  }
}

const done = <A>(run: (then: (outcome: A | null) => void) => void): Effect.Effect<A> =>
  Effect.async((resume) =>
    run((outcome) => resume(outcome === null ? Effect.dieMessage("the rows are gone") : Effect.succeed(outcome)))
  )

const run = (rows: LedgerRows, turn: Turn) =>
  Effect.map(
    done<TurnOutcome>((then) => rows.turn(turn, then)),
    (outcome) => {
      if (outcome.is !== "done") throw new Error(outcome.is)
    }
  )

const cpuUs = (): number => {
  const { system, user } = process.cpuUsage()
  return system + user
}

const measured = (rows: LedgerRows, keys: number) =>
  Effect.gen(function* () {
    const holder = `holder of ${keys}`
    yield* done<true>((then) => rows.join(holder, holder, then))
    for (let number = 1; number <= 20; number += 1) yield* run(rows, turnOf(holder, number, keys))
    const begunUs = cpuUs()
    const begunMs = performance.now()
    for (let number = 21; number <= 20 + turns; number += 1) yield* run(rows, turnOf(holder, number, keys))
    const us = (cpuUs() - begunUs) / turns
    const ms = (performance.now() - begunMs) / turns
    process.stdout.write(
      `${String(keys).padStart(4)} keys a turn: ${ms.toFixed(2)} ms, ${us.toFixed(0)} µs of this process; ` +
        `a key ${((1_000 * ms) / keys).toFixed(1)} µs, of them ${(us / keys).toFixed(1)} of this process\n`
    )
  })

/** Several nodes that all want the same key at once: its window is one row, which they take in turn. */
const contended = (all: ReadonlyArray<LedgerRows>) =>
  Effect.gen(function* () {
    const nodes = all.map((rows, at) => ({ rows, holder: `contended holder ${at} of ${all.length}` }))
    for (const { holder, rows } of nodes) yield* done<true>((then) => rows.join(holder, holder, then))
    const begunMs = performance.now()
    yield* Effect.forEach(
      nodes,
      ({ holder, rows }) =>
        Effect.forEach(Array.from({ length: turns }), (_, number) => run(rows, turnOf(holder, number + 1, 1)), {
          discard: true
        }),
      { concurrency: "unbounded", discard: true }
    )
    const ms = (performance.now() - begunMs) / (turns * nodes.length)
    process.stdout.write(
      `${nodes.length} nodes at one key: ${Math.round(1_000 / ms)} turns a second over all of them, ${(ms * nodes.length).toFixed(1)} ms for a turn\n`
    )
  })

const ofBench = `bench-${process.pid}`
process.env["GATEWAY_TEST_RUN"] = ofBench
const url = await postgresUrl()
if (url === null) throw new Error("There is no server of Postgres: set TEST_POSTGRES_URL")
await Effect.runPromise(
  Effect.scoped(
    Effect.gen(function* () {
      const options = yield* emptySchema(url)
      yield* open(options)
      const rows = yield* make(yield* connect({ ...options, maxConnections: 2 }))
      for (const keys of [1, 10, 100, 500]) yield* measured(rows, keys)
      for (const count of [1, 4, 16]) {
        const connected = Effect.flatMap(connect({ ...options, maxConnections: 2 }), make)
        yield* contended(yield* Effect.all(Array.from({ length: count }, () => connected)))
      }
    })
  ).pipe(Effect.ensuring(Effect.sync(() => stopServer(folderOf(ofBench)))))
)
process.exit()
