/**
 * Measures the deletion of old rows of requests on Postgres: by the steps of the gateway, and by dropping a partition with as many, which is made here for
 * the comparison. `ROWS` says how many there are. Needs `TEST_POSTGRES_URL`, or finds a server as the tests do.
 * Start: node node_modules/vite-node/vite-node.mjs bench/retention.ts
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { performance } from "node:perf_hooks"
import { connect } from "../src/store/engine/postgres/Client.ts"
import { open } from "../src/store/postgres/Database.ts"
import { layer as UsageSumsLayer, UsageSumsRepo } from "../src/subjects/usage/UsageSumsRepo.ts"
import { addFacets } from "../src/store/usage/UsageFacetsSql.ts"
import { emptySchema } from "../test/support/postgres/Schemas.ts"
import { folderOf, postgresUrl, stopServer } from "../test/support/postgres/Server.ts"
import { addedSeconds, postgresSeconds } from "./lib/besideServers.mjs"

const rows = Number(process.env["ROWS"] ?? 5_000_000)
const firstMs = 1_760_000_000_000
/** Rows of some 50 days. */
const stepMs = Math.floor((50 * 86_400_000) / rows)
const columns = `id, timestamp_ms, request_id, api_key_id, requested_model, provider, connection_id, model, source_wire, target_wire, streamed, outcome,
  status, latency_ms, ttft_ms, attempts, tokens_in, tokens_out, tokens_cache_read, tokens_cache_write, tokens_reasoning, cost_nano_usd, priced, usage_source`
const idOf = `substr(t, 1, 8) || '-' || substr(t, 9, 4) || '-7000-8000-' || lpad(to_hex(n), 12, '0')`

const fillOf = (table: string): string => `INSERT INTO ${table} (${columns})
  SELECT ${idOf}, ${firstMs} + n * ${stepMs}, ${idOf}, 'key-' || n % 100, 'openai/gpt', 'openai', 'connection', 'gpt', 'chat', 'chat', 0, 'completed',
    200, 900, 300, 1, 1000, 200, 0, 0, 0, 270000, 1, 'upstream'
  FROM (SELECT n, lpad(to_hex(${firstMs} + n * ${stepMs}), 12, '0') AS t FROM generate_series(CAST(1 AS BIGINT), ${rows}) AS n) AS made`

const cpuSeconds = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1e6
}

const standing = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ readonly log: number; readonly bytes: number }>`
      SELECT pg_current_wal_lsn() - '0/0'::pg_lsn AS log, pg_total_relation_size('usage_log') + pg_total_relation_size('usage_facet_rows') AS bytes`,
    ([row]) => ({ log: Number(row?.log), bytes: Number(row?.bytes) })
  )

const told = <A>(url: string, sql: SqlClient.SqlClient, name: string, use: Effect.Effect<A, unknown>) =>
  Effect.gen(function* () {
    const before = yield* standing(sql)
    const server = postgresSeconds(url)
    const [begun, own] = [performance.now(), cpuSeconds()]
    yield* use
    const seconds = (performance.now() - begun) / 1_000
    const after = yield* standing(sql)
    const theirs = addedSeconds(server, postgresSeconds(url))
    process.stdout.write(
      `${name}: ${seconds.toFixed(1)} s, ${(cpuSeconds() - own).toFixed(1)} s of ours, ${theirs.toFixed(1)} s of the server's connections, ` +
        `${((after.log - before.log) / 2 ** 20).toFixed(0)} MiB of its log, tables ${(before.bytes / 2 ** 20).toFixed(0)} MiB and then ${(after.bytes / 2 ** 20).toFixed(0)}\n`
    )
  })

/** As many rows with the same indexes in a table of two months, without what depends on rows: facets, minutes, entries of the ledger. */
const partitioned = (url: string, sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    const run = (text: string) => sql.unsafe(text)
    yield* run("CREATE TABLE by_month (like usage_log INCLUDING DEFAULTS INCLUDING IDENTITY) PARTITION BY RANGE (id)")
    yield* run("CREATE UNIQUE INDEX ON by_month (id)")
    yield* run("CREATE INDEX ON by_month (seq)")
    yield* run("CREATE INDEX ON by_month (api_key_id, timestamp_ms) WHERE api_key_id IS NOT NULL")
    yield* run("CREATE TABLE by_month_1 PARTITION OF by_month FOR VALUES FROM (MINVALUE) TO ('1')")
    yield* run("CREATE TABLE by_month_2 PARTITION OF by_month FOR VALUES FROM ('1') TO (MAXVALUE)")
    yield* told(url, sql, `${rows} rows into a table by month`, run(fillOf("by_month")))
    yield* told(url, sql, "a partition with them is dropped", run("DROP TABLE by_month_1"))
  })

const program = Effect.gen(function* () {
  const url = yield* Effect.promise(postgresUrl)
  if (url === null) throw new Error("There is no server of Postgres: set TEST_POSTGRES_URL")
  const options = yield* emptySchema(url)
  yield* open(options)
  const sql = yield* connect({ ...options, maxConnections: 2 })
  const run = (text: string) => sql.unsafe(text)
  yield* told(url, sql, `${rows} rows into the table`, run(fillOf("usage_log")))
  for (const statement of addFacets("seq > 0")) yield* run(statement)
  yield* run("UPDATE usage_summed SET seq = (SELECT MAX(seq) FROM usage_log)")
  yield* run("UPDATE usage_series_summed SET seq = (SELECT MAX(seq) FROM usage_log)")
  yield* run("ANALYZE")
  const sums = yield* Effect.provideService(Effect.provide(UsageSumsRepo, UsageSumsLayer), SqlClient.SqlClient, sql)
  const nowMs = firstMs + 100 * 86_400_000
  const upTo = yield* sums.newest
  const step = sums.deleteSome({ _tag: "Before", beforeMs: nowMs }, upTo, nowMs)
  yield* told(url, sql, "deleted in steps", Effect.repeat(step, { until: (gone) => gone === 0 }))
  yield* partitioned(url, sql)
}).pipe(Effect.scoped)

const ofBench = `bench-${process.pid}`
process.env["GATEWAY_TEST_RUN"] = ofBench
await Effect.runPromise(program.pipe(Effect.ensuring(Effect.sync(() => stopServer(folderOf(ofBench))))))
process.exit()
