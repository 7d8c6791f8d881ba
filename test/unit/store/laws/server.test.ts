/** Servers that cannot be used are refused with a sentence; nodes that write and sum at once lose nothing. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "@effect/sql/SqlClient"
import { PerFacts } from "../../../../src/contract/domain/UsageFacts.ts"
import { factsOf, problemOf, type ServerFacts } from "../../../../src/store/engine/postgres/Checks.ts"
import { connect } from "../../../../src/store/engine/postgres/Client.ts"
import { open } from "../../../../src/store/postgres/Database.ts"
import { describeStoreFailure } from "../../../../src/store/Errors.ts"
import { insert, sharedFacts } from "../../../../src/store/usage/UsageInsert.ts"
import * as UsageSumsRepo from "../../../../src/subjects/usage/UsageSumsRepo.ts"
import { poolerBefore } from "../../../support/postgres/Pooler.ts"
import { emptySchema, optionsIn } from "../../../support/postgres/Schemas.ts"
import { noPostgres, postgresUrl } from "../../../support/postgres/Server.ts"
import { usageRow } from "../../../support/usageRow.ts"

const url = await postgresUrl()
const skipped = url === null ? noPostgres : ""
const pooler = url === null ? null : await poolerBefore(url)

const usable: ServerFacts = { version: 15, isPooledByTransaction: false, mayCreate: true, schema: "public" }

describe("a server", () => {
  it("that cannot be used is told why", () => {
    assert.isNull(problemOf(usable))
    assert.match(problemOf({ ...usable, version: 14 }) ?? "", /Postgres 14, and 15 is the oldest/)
    assert.match(problemOf({ ...usable, isPooledByTransaction: true }) ?? "", /transaction mode/)
    assert.match(problemOf({ ...usable, schema: null }) ?? "", /search path/)
    assert.match(problemOf({ ...usable, mayCreate: false }) ?? "", /'public'; grant it CREATE/)
  })
})

describe.skipIf(url === null)(`a server of Postgres${skipped}`, () => {
  it.scopedLive("is known by its facts", () =>
    Effect.gen(function* () {
      const sql = yield* connect(yield* emptySchema(url ?? ""))
      const facts = yield* factsOf(sql)
      assert.isAtLeast(facts.version, 15)
      assert.deepStrictEqual([facts.isPooledByTransaction, facts.mayCreate], [false, true])
    })
  )

  it.scopedLive("where the role has no rights is refused", () =>
    Effect.gen(function* () {
      const options = yield* emptySchema(url ?? "")
      const admin = yield* connect(options)
      const [schema] = yield* admin<{ readonly name: string }>`SELECT current_schema() AS name`
      const role = `reader_${schema?.name ?? ""}`
      yield* Effect.acquireRelease(
        admin.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'none'; GRANT USAGE ON SCHEMA ${schema?.name} TO ${role}`),
        () => Effect.orDie(admin.unsafe(`DROP OWNED BY ${role}; DROP ROLE ${role}`))
      )
      const address = new URL(url ?? "")
      address.username = role
      address.password = "none"
      const failure = yield* Effect.flip(open(optionsIn(address.href, schema?.name ?? "")))
      assert.match(
        describeStoreFailure(failure),
        /the role may not make tables in the schema .*; grant it CREATE there\.$/
      )
    })
  )

  it.scopedLive(
    "sums each row of two nodes once, whichever is committed first",
    () =>
      Effect.gen(function* () {
        const options = yield* emptySchema(url ?? "")
        const nodes = yield* Effect.all([open(options), open(options)])
        const put = (sql: SqlClient.SqlClient, node: number) =>
          Effect.forEach(
            Array.from({ length: 25 }, (_, batch) => batch),
            (batch) => {
              const facts = new PerFacts(sharedFacts)
              // The last ids are those of the other node: a row that both bring is one.
              const rows = Array.from({ length: 20 }, (_, n) => {
                const id = n < 18 ? `id-${node}-${batch}-${n}` : `id-both-${batch}-${n}`
                return usageRow({ id, requestId: id })
              })
              return insert(
                sql,
                rows.map((row) => ({ row, facts: facts.of(row) })),
                false
              )
            },
            { discard: true }
          )
        const sumsOf = (sql: SqlClient.SqlClient) => {
          const layer = UsageSumsRepo.layer.pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, sql)))
          return Effect.provide(
            Effect.flatMap(UsageSumsRepo.UsageSumsRepo, ({ sumNext }) => sumNext),
            layer
          )
        }
        const work = nodes.flatMap((sql, node) => [put(sql, node), Effect.repeatN(sumsOf(sql), 20)])
        yield* Effect.all(work, { concurrency: "unbounded", discard: true })
        for (const sql of nodes) yield* Effect.repeat(sumsOf(sql), { while: (more) => more })
        const [sql] = nodes
        const [found] =
          yield* sql`SELECT (SELECT COUNT(*) FROM usage_log) AS rows, (SELECT SUM(requests) FROM usage_hours) AS hours,
        (SELECT SUM(requests) FROM usage_series WHERE cube = 0 AND step_ms = 86400000) AS series`
        assert.deepStrictEqual(found, { rows: 25 * 38, hours: 25 * 38, series: 25 * 38 })
      }),
    60_000
  )
})

/** Puts a copy of a row into the log, with another id. */
const copyOf = (
  id: string
) => `INSERT INTO usage_log (id, timestamp_ms, request_id, requested_model, source_wire, streamed, outcome, status, latency_ms,
    attempts, tokens_in, tokens_out, tokens_cache_read, tokens_cache_write, tokens_reasoning, cost_nano_usd, priced, usage_source)
  VALUES ('${id}', 1760000000000, '${id}', 'auto', 'chat', 0, 'completed', 200, 1, 1, 1, 1, 0, 0, 0, 0, 1, 'upstream')`

describe.skipIf(url === null)(`a row that is on its way${skipped}`, () => {
  it.scopedLive("is not left out of the sums by one that has a higher number and was committed before", () =>
    Effect.gen(function* () {
      const options = yield* emptySchema(url ?? "")
      const [one, other] = yield* Effect.all([open(options), open(options)])
      const layer = UsageSumsRepo.layer.pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, other)))
      const sums = yield* Effect.provide(UsageSumsRepo.UsageSumsRepo, layer)
      const slow = yield* one.reserve
      yield* slow.executeRaw("BEGIN", [])
      yield* slow.executeRaw(copyOf("slow"), [])
      yield* other.unsafe(copyOf("fast"))
      const summing = yield* Effect.fork(sums.sumNext)
      const waits = other<{ readonly n: number }>`
        SELECT COUNT(*) AS n FROM pg_locks JOIN pg_class ON pg_class.oid = relation
        WHERE NOT granted AND relnamespace = current_schema()::regnamespace`
      yield* Effect.repeat(
        Effect.zipWith(waits, summing.poll, ([row], done) => (row?.n ?? 0) > 0 || done._tag === "Some"),
        {
          until: (ready) => ready
        }
      )
      yield* slow.executeRaw("COMMIT", [])
      yield* summing
      yield* Effect.repeat(sums.sumNext, { while: (more) => more })
      assert.deepStrictEqual(yield* other`SELECT SUM(requests) AS hours FROM usage_hours`, [{ hours: 2 }])
    })
  )

  it.scopedLive("does not keep old ones from being deleted, and is found by its filters afterwards", () =>
    Effect.gen(function* () {
      const options = yield* emptySchema(url ?? "")
      const [one, other] = yield* Effect.all([open(options), open(options)])
      const layer = UsageSumsRepo.layer.pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, other)))
      const sums = yield* Effect.provide(UsageSumsRepo.UsageSumsRepo, layer)
      yield* other.unsafe(copyOf("0-old"))
      yield* Effect.repeat(sums.sumNext, { while: (more) => more })
      const slow = yield* one.reserve
      yield* slow.executeRaw("BEGIN", [])
      yield* slow.executeRaw(copyOf("0-new"), [])
      const expired = { _tag: "Before", beforeMs: 1_760_000_000_001 } as const
      assert.strictEqual(yield* sums.deleteSome(expired, yield* sums.newest, 1_760_000_000_001), 1)
      assert.deepStrictEqual(yield* other`SELECT * FROM usage_facets`, [])
      yield* slow.executeRaw("COMMIT", [])
      yield* Effect.repeat(sums.sumNext, { while: (more) => more })
      const [kept] = yield* other`SELECT (SELECT SUM(requests) FROM usage_hours) AS hours,
        (SELECT COUNT(*) FROM usage_facet_rows JOIN usage_facets ON usage_facets.id = facet_id) AS found`
      assert.deepStrictEqual(kept, { hours: 2, found: 1 })
    })
  )

  it.scopedLive("is neither lost nor doubled where two gateways sum and delete at once", () =>
    Effect.gen(function* () {
      const options = yield* emptySchema(url ?? "")
      const nodes = yield* Effect.all([open(options), open(options)])
      const [sql] = nodes
      const batches = 20
      const each = 25
      const work = nodes.map((node, at) =>
        Effect.provide(
          Effect.flatMap(UsageSumsRepo.UsageSumsRepo, (sums) =>
            Effect.forEach(
              Array.from({ length: batches }, (_, batch) => batch),
              (batch) =>
                Effect.gen(function* () {
                  for (let n = 0; n < each; n += 1) yield* node.unsafe(copyOf(`id-${at}-${batch}-${n}`))
                  yield* sums.sumMore
                  // The newest of this node stays: its combination has to be there at the end.
                  const newest = yield* sums.newest
                  yield* sums.deleteSome({ _tag: "Beyond", maxRows: 3 }, newest, 1_760_000_000_001)
                }),
              { discard: true }
            )
          ),
          UsageSumsRepo.layer.pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, node)))
        )
      )
      yield* Effect.all(work, { concurrency: "unbounded", discard: true })
      const layer = UsageSumsRepo.layer.pipe(Layer.provide(Layer.succeed(SqlClient.SqlClient, sql)))
      const sums = yield* Effect.provide(UsageSumsRepo.UsageSumsRepo, layer)
      yield* Effect.repeat(sums.sumMore, { while: (more) => more })
      const [found] = yield* sql`SELECT (SELECT SUM(requests) FROM usage_hours) AS hours,
        (SELECT COUNT(*) FROM usage_log) = (SELECT COUNT(*) FROM usage_facet_rows JOIN usage_facets ON usage_facets.id = facet_id) AS found`
      assert.deepStrictEqual(found, { hours: 2 * batches * each, found: 1 })
    })
  )
})

describe.skipIf(pooler === null)(`a pooler${pooler === null ? " (skipped: no pgbouncer, or no Postgres)" : ""}`, () => {
  it.scopedLive("in transaction mode is refused", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(open({ ...optionsIn(pooler ?? "", "public"), connectTimeoutMs: 5_000 }))
      assert.match(describeStoreFailure(failure), /pooler in transaction mode/)
    })
  )
})
