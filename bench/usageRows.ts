/**
 * What the rows of requests cost on Postgres: batches as the journal of a gateway inserts them, by one gateway and by four at once. Told for each row: this
 * process's CPU, that of the server's connections, and rows a second in all. Needs `TEST_POSTGRES_URL`, or finds a server as the tests do.
 * Start: node node_modules/vite-node/vite-node.mjs bench/usageRows.ts
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { performance } from "node:perf_hooks"
import { connect } from "../src/store/engine/postgres/Client.ts"
import { open } from "../src/store/postgres/Database.ts"
import { insert, type RowWithFacts, sharedFacts } from "../src/store/usage/UsageInsert.ts"
import { layer as UsageSumsLayer, UsageSumsRepo } from "../src/subjects/usage/UsageSumsRepo.ts"
import { emptySchema } from "../test/support/postgres/Schemas.ts"
import { folderOf, postgresUrl, stopServer } from "../test/support/postgres/Server.ts"
import { usageRow } from "../test/support/usageRow.ts"
import { addedSeconds, postgresSeconds } from "./lib/besideServers.mjs"

const rowsInAll = 60_000

let made = 0

/** Rows of some keys, with ids that rise as those of requests do. */
const batchOf = (size: number, keys: number): ReadonlyArray<RowWithFacts> => {
  const facts = new Map<string, RowWithFacts["facts"]>()
  return Array.from({ length: size }, () => {
    made += 1
    const id = `0199aaaa-${(made >>> 16).toString(16).padStart(4, "0")}-7${(made & 0xfff).toString(16).padStart(3, "0")}-8000-${made.toString(16).padStart(12, "0")}`
    const apiKeyId = `key-${made % keys}`
    const row = usageRow({ id, requestId: id, apiKeyId, timestampMs: 1_760_000_000_000 + made })
    const known = facts.get(apiKeyId) ?? sharedFacts(row)
    facts.set(apiKeyId, known)
    return { row, facts: known }
  })
}

const cpuSeconds = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1e6
}

const measured = (url: string, nodes: ReadonlyArray<SqlClient.SqlClient>, size: number, keys: number) =>
  Effect.gen(function* () {
    const each = Math.ceil(rowsInAll / size / nodes.length)
    const server = postgresSeconds(url)
    const [begun, own] = [performance.now(), cpuSeconds()]
    yield* Effect.forEach(
      nodes,
      (sql) =>
        Effect.forEach(
          Array.from({ length: each }),
          () => Effect.suspend(() => insert(sql, batchOf(size, keys), false)),
          { discard: true }
        ),
      { concurrency: "unbounded", discard: true }
    )
    const rows = each * size * nodes.length
    const us = (seconds: number): string => ((seconds / rows) * 1e6).toFixed(1)
    const [ours, theirs] = [cpuSeconds() - own, addedSeconds(server, postgresSeconds(url))]
    const perSecond = Math.round(rows / ((performance.now() - begun) / 1_000))
    process.stdout.write(
      `${nodes.length} gateways, batches of ${size} of ${keys} keys: ${us(ours)} µs of ours a row, ${us(theirs)} µs of the server's connections, ${perSecond} rows a second\n`
    )
  })

/** Bytes that the rows take on the disk, and that the server's log has taken for them. */
const sizes = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ readonly rows: number; readonly bytes: number; readonly log: number }>`
      SELECT COUNT(*) AS rows, pg_total_relation_size('usage_log') AS bytes, pg_current_wal_lsn() - '0/0'::pg_lsn AS log FROM usage_log`,
    ([row]) => ({ rows: Number(row?.rows), bytes: Number(row?.bytes), log: Number(row?.log) })
  )

/** What it takes to bring rows into the sums by hour and day, which one gateway does for all. */
const summed = (url: string, sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    const sums = yield* UsageSumsRepo
    const { rows } = yield* sizes(sql)
    const server = postgresSeconds(url)
    const [begun, own] = [performance.now(), cpuSeconds()]
    while (yield* sums.sumMore);
    const us = (seconds: number): string => ((seconds / rows) * 1e6).toFixed(1)
    process.stdout.write(
      `Sums: ${us(cpuSeconds() - own)} µs of ours a row, ${us(addedSeconds(server, postgresSeconds(url)))} µs of the server's connections, ` +
        `${Math.round(rows / ((performance.now() - begun) / 1_000))} rows a second\n`
    )
  }).pipe(Effect.provide(UsageSumsLayer), Effect.provideService(SqlClient.SqlClient, sql))

const program = Effect.gen(function* () {
  const url = yield* Effect.promise(postgresUrl)
  if (url === null) throw new Error("There is no server of Postgres: set TEST_POSTGRES_URL")
  const options = yield* emptySchema(url)
  yield* open(options)
  const nodes = yield* Effect.forEach(Array.from({ length: 4 }), () => connect({ ...options, maxConnections: 1 }))
  // Connections and plans are made.
  for (const sql of nodes) yield* insert(sql, batchOf(500, 10), false)
  const one = nodes.slice(0, 1)
  const [first] = nodes
  if (first === undefined) return
  const before = yield* sizes(first)
  for (const keys of [1, 10, 100]) yield* measured(url, one, 1_000, keys)
  yield* measured(url, one, 2_000, 1)
  for (const keys of [1, 10, 100]) yield* measured(url, nodes, 1_000, keys)
  const after = yield* sizes(first)
  const bytes = Math.round((after.bytes - before.bytes) / (after.rows - before.rows))
  const log = Math.round((after.log - before.log) / (after.rows - before.rows))
  process.stdout.write(`${bytes} bytes a row with its indexes, ${log} bytes of the server's log\n`)
  yield* summed(url, first)
}).pipe(Effect.scoped)

const ofBench = `bench-${process.pid}`
process.env["GATEWAY_TEST_RUN"] = ofBench
await Effect.runPromise(program.pipe(Effect.ensuring(Effect.sync(() => stopServer(folderOf(ofBench))))))
process.exit()
