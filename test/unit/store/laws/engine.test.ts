/** What a transaction, a parameter and a value are, over both engines; and what a lost connection is over Postgres. */
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { withSnapshot } from "../../../../src/store/engine/Client.ts"
import { isPostgres, listed } from "../../../../src/store/engine/Engine.ts"
import { connect } from "../../../../src/store/engine/postgres/Client.ts"
import { open } from "../../../../src/store/postgres/Database.ts"
import { forPostgres } from "../../../../src/store/engine/postgres/Statements.ts"
import { describeStoreFailure, reasonOf } from "../../../../src/store/Errors.ts"
import * as Sql from "../../../../src/store/Sql.ts"
import * as SettingsRepo from "../../../../src/subjects/settings/repo.ts"
import { layerEmpty, optionsIn } from "../../../support/postgres/Schemas.ts"
import { noPostgres, postgresUrl } from "../../../support/postgres/Server.ts"

const url = await postgresUrl()
const skipped = url === null ? noPostgres : ""

const engines: ReadonlyArray<readonly [name: string, layer: Layer.Layer<SqlClient.SqlClient>]> = [
  ["SQLite", Sql.layerMemory],
  ["Postgres", layerEmpty(url ?? "")]
]

const count = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ readonly n: number }>`SELECT CAST(value AS BIGINT) AS n FROM meta WHERE key = 'n'`,
    ([row]) => row?.n
  )

for (const [name, layer] of engines) {
  describe.skipIf(name === "Postgres" && url === null)(
    `a client of ${name}${name === "Postgres" ? skipped : ""}`,
    () => {
      it.live(
        "reads, checks and writes without losing an update",
        () =>
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            yield* sql`INSERT INTO meta (key, value) VALUES ('n', '0')`
            const add = sql.withTransaction(
              Effect.gen(function* () {
                const before = yield* count(sql)
                yield* Effect.yieldNow()
                yield* sql`UPDATE meta SET value = ${String((before ?? 0) + 1)} WHERE key = 'n'`
              })
            )
            yield* Effect.replicateEffect(add, 40).pipe(
              Effect.zipRight(
                Effect.all(
                  Array.from({ length: 40 }, () => add),
                  { concurrency: 4 }
                )
              )
            )
            assert.strictEqual(yield* count(sql), 80)
          }).pipe(Effect.provide(layer)),
        60_000
      )

      it.live("takes back all of a transaction that fails, and of a part of it only that part", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const put = (key: string) => sql`INSERT INTO meta (key, value) VALUES (${key}, 'x')`
          const failing = sql.withTransaction(Effect.zipRight(put("b"), Effect.fail("no")))
          yield* sql.withTransaction(Effect.all([put("a"), Effect.ignore(failing), put("c")]))
          yield* Effect.ignore(sql.withTransaction(Effect.zipRight(put("d"), Effect.die("bug"))).pipe(Effect.sandbox))
          const rows = yield* sql<{ readonly key: string }>`SELECT key FROM meta ORDER BY key`
          assert.deepStrictEqual(
            rows.map(({ key }) => key),
            ["a", "c"]
          )
        }).pipe(Effect.provide(layer))
      )

      it.live("takes back a transaction that is interrupted", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const isWritten = yield* Deferred.make<void>()
          const fiber = yield* Effect.fork(
            sql.withTransaction(
              sql`INSERT INTO meta (key, value) VALUES ('a', 'x')`.pipe(
                Effect.zipRight(Deferred.succeed(isWritten, undefined)),
                Effect.zipRight(Effect.never)
              )
            )
          )
          yield* Deferred.await(isWritten)
          yield* Fiber.interrupt(fiber)
          assert.deepStrictEqual(yield* sql`SELECT key FROM meta`, [])
        }).pipe(Effect.provide(layer))
      )

      it.live("has numbers for what counts, nothing for nothing, and bytes in the order of texts", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const texts = ["b", "a", "B", "ä", "_", "Z", "", "😀"]
          for (const key of texts) yield* sql`INSERT INTO meta ${sql.insert({ key, value: key })}`
          const [row] = yield* sql`SELECT COUNT(*) AS n, SUM(seq) AS sum, MAX(seq) AS most, COUNT(*) > 0 AS some,
          9007199254740991 AS largest, MIN(7, CAST(3 AS BIGINT)) AS least, MAX(NULL, CAST(3 AS BIGINT)) AS none FROM usage_summed`
          assert.deepStrictEqual(row, { n: 1, sum: 0, most: 0, some: 1, largest: 2 ** 53 - 1, least: 3, none: null })
          const ordered = yield* sql<{ readonly key: string }>`SELECT key FROM meta ORDER BY key`
          assert.deepStrictEqual(
            ordered.map(({ key }) => key),
            texts.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
          )
        }).pipe(Effect.provide(layer))
      )

      it.live("takes more values than a statement may have parameters", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql`INSERT INTO meta (key, value) VALUES ('7', 'x')`
          const many = Array.from({ length: 70_000 }, (_, n) => String(n))
          assert.strictEqual((yield* sql`SELECT key FROM meta WHERE key IN (${listed(sql, many)})`).length, 1)
        }).pipe(Effect.provide(layer))
      )

      it.live("reads one moment in a snapshot, whatever is written meanwhile", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const rows = sql`SELECT key FROM meta`
          const wrote = yield* Deferred.make<void>()
          const isReading = yield* Deferred.make<void>()
          const write = Effect.zipRight(Deferred.await(isReading), sql`INSERT INTO meta (key, value) VALUES ('a', 'x')`)
          yield* Effect.fork(Effect.zipRight(write, Deferred.succeed(wrote, undefined)))
          // Over SQLite one connection serves all, so that the write waits for the end of the reads.
          const meanwhile = isPostgres(sql) ? Deferred.await(wrote) : Effect.yieldNow()
          const steps = [rows, Effect.zipRight(Deferred.succeed(isReading, undefined), meanwhile), rows] as const
          const [before, , after] = yield* withSnapshot(sql, Effect.all(steps))
          yield* Deferred.await(wrote)
          assert.strictEqual((yield* rows).length, 1)
          assert.deepStrictEqual([before, after], [[], []])
        }).pipe(Effect.provide(layer))
      )
    }
  )
}

describe("a statement for Postgres", () => {
  it("has its places numbered in their order, and no hints", () => {
    assert.strictEqual(
      forPostgres(`SELECT '?' FROM t INDEXED BY i WHERE +a = ? AND b LIKE $1 AND "c?" = ?`),
      `SELECT '?' FROM t  WHERE a = $1 AND b ILIKE $2 AND "c?" = $3`
    )
    assert.strictEqual(forPostgres("BEGIN IMMEDIATE"), "BEGIN ISOLATION LEVEL SERIALIZABLE")
    assert.strictEqual(forPostgres("SELECT a + b, (1) + c"), "SELECT a + b, (1) + c")
  })
})

describe.skipIf(url === null)(`a server of Postgres${skipped}`, () => {
  it.live("keeps a sign in the place of a NUL, which it has none of", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO meta (key, value) VALUES (${"a\0b"}, ${JSON.stringify("c\0")})`
      const [row] = yield* sql`SELECT key, value, value ->> 0 AS none FROM meta WHERE key = ${"a\0b"}`
      assert.deepStrictEqual(row, { key: "a\u{fffd}b", value: '"c\\u0000"', none: null })
      const settings = yield* SettingsRepo.SettingsRepo
      yield* settings.set("a", "b", "c\0d")
      assert.strictEqual(yield* settings.get("a", "b"), "c\0d")
    }).pipe(Effect.provide(SettingsRepo.layer.pipe(Layer.provideMerge(layerEmpty(url ?? "")))))
  )

  it.live(
    "that ends a connection is told in a sentence, and the next statement has another",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const waiting = yield* Effect.fork(Effect.flip(sql.withTransaction(sql`SELECT pg_sleep(60)`)))
        const other = yield* connect(optionsIn(url ?? "", "public"))
        const end = other`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE ${"SELECT pg_sleep%"}`
        yield* Effect.repeat(end, { until: (ended) => ended.length > 0 })
        const failure = yield* Fiber.join(waiting)
        assert.match(reasonOf(failure), /^the database at .* cannot be reached: terminating connection/)
        assert.deepStrictEqual(yield* sql`SELECT 1 AS one`, [{ one: 1 }])
      }).pipe(Effect.scoped, Effect.provide(layerEmpty(url ?? ""))),
    30_000
  )
})

describe("a server that is not there", () => {
  it.live("is told in a sentence that has no password", () =>
    Effect.gen(function* () {
      const options = {
        url: Redacted.make("postgres://me:secret@127.0.0.1:1/gateway"),
        maxConnections: 1,
        connectTimeoutMs: 5_000
      }
      const failure = yield* Effect.flip(Effect.scoped(open(options)))
      const sentence = describeStoreFailure(failure)
      assert.match(sentence, /^The database at 127\.0\.0\.1:1\/gateway cannot be reached: .*ECONNREFUSED.*\.$/)
      assert.notInclude(sentence, "secret")
    })
  )
})
