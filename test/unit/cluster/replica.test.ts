/** What gateways tell each other of accounts and providers, over a real database: each thing once, also when an answer was lost or the database was away. */
import { assert, describe, it } from "@effect/vitest"
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as NodeReplica from "../../../src/plane/workers/NodeReplica.ts"
import * as Timers from "../../../src/platform/Timers.ts"
import { mostKeptBytes } from "../../../src/plane/state/Replica.ts"
import * as Secrets from "../../../src/store/secrets/Secrets.ts"
import { connect } from "../../../src/store/engine/postgres/Client.ts"
import { open } from "../../../src/store/postgres/Database.ts"
import { emptySchema } from "../../support/postgres/Schemas.ts"
import { noPostgres, postgresUrl } from "../../support/postgres/Server.ts"

const url = await postgresUrl()

/** A database, and gateways on it that each count what has happened. */
const world = Effect.gen(function* () {
  const options = yield* emptySchema(url ?? "")
  const sql = yield* open(options)
  const start = (name: string) =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const replica = yield* NodeReplica.make(name).pipe(
        Effect.provideService(SqlClient.SqlClient, yield* Scope.extend(connect(options), scope)),
        Effect.provide(Layer.merge(Timers.layer, Secrets.layerTest)),
        Scope.extend(scope)
      )
      const counted: Array<unknown> = []
      const count = replica.functions.shared("count", (what: unknown) => void counted.push(what))
      const kept: Array<string> = []
      const keep = replica.functions.kept(
        "words",
        (words: string) => void kept.push(words),
        (words) => words.length
      )
      const fail = replica.functions.shared("fail", () => {
        throw new Error("of another version")
      })
      /** Until nothing waits to be told. */
      const told = Effect.repeat(Effect.sleep("10 millis"), { until: () => replica.waiting() === 0 })
      return { count, counted, end: Scope.close(scope, Exit.void), fail, hear: replica.hear, keep, kept, told, replica }
    })
  const rows = Effect.map(
    sql<{ readonly number: number }>`SELECT number FROM cluster_told ORDER BY at_ms, number`,
    (all) => all.map(({ number }) => number)
  )
  const untilRows = (count: number) =>
    Effect.repeat(Effect.zipRight(Effect.sleep("10 millis"), rows), { until: (all) => all.length >= count })
  return { sql, rows, start, untilRows }
})

describe.skipIf(url === null)(`what gateways tell each other of accounts${url === null ? noPostgres : ""}`, () => {
  it.scopedLive("is applied once at each of the others, and not where it has happened", () =>
    Effect.gen(function* () {
      const { start, untilRows } = yield* world
      const [one, two] = [yield* start("one"), yield* start("two")]
      one.count("a")
      one.count("b")
      two.count("c")
      yield* untilRows(2)
      for (const each of [one, two]) yield* Effect.zipRight(each.hear, each.hear)
      assert.deepStrictEqual(one.counted, ["a", "b", "c"])
      assert.deepStrictEqual(two.counted, ["c", "a", "b"])
      // One that starts now begins behind it; what comes then it has.
      const three = yield* start("three")
      two.count("d")
      yield* untilRows(3)
      yield* three.hear
      assert.deepStrictEqual(three.counted, ["d"])
      // What is told at the end of a process is written before it.
      two.count("e")
      yield* two.end
      yield* one.hear
      assert.deepStrictEqual(one.counted, ["a", "b", "c", "d", "e"])
      yield* one.end
      yield* three.end
    })
  )

  it.scopedLive("is encrypted where it is what clients and models have said, and stays where it is large", () =>
    Effect.gen(function* () {
      const { sql, start, untilRows } = yield* world
      const [one, two] = [yield* start("one"), yield* start("two")]
      one.keep("a thought of a model")
      one.keep("x".repeat(mostKeptBytes + 1))
      one.count("a")
      yield* untilRows(1)
      yield* two.hear
      assert.deepStrictEqual(two.kept, ["a thought of a model"])
      assert.deepStrictEqual(two.counted, ["a"])
      assert.strictEqual(one.kept.length, 2)
      const rows = yield* sql<{ readonly content: string }>`SELECT content FROM cluster_told`
      assert.notInclude(JSON.stringify(rows), "thought")
      assert.include(JSON.stringify(rows), "enc:v1:")
      // What was made with another key, or was moved, is left out; the rest of its row is not.
      const [row = { content: "[]" }] = rows
      const altered = row.content.replace("kept.words", "kept.other")
      yield* sql`UPDATE cluster_told SET number = 2, content = ${altered}`
      yield* two.hear
      assert.deepStrictEqual(two.kept, ["a thought of a model"])
      assert.deepStrictEqual(two.counted, ["a", "a"])
      yield* one.end
      yield* two.end
    })
  )

  it.scopedLive("is told once when the database is back", () =>
    Effect.gen(function* () {
      const { rows, sql, start, untilRows } = yield* world
      const [one, two] = [yield* start("one"), yield* start("two")]
      yield* sql`ALTER TABLE cluster_told RENAME TO cluster_away`
      one.count("a")
      yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => one.replica.waiting() > 0 })
      one.count("b")
      assert.isTrue(Exit.isFailure(yield* Effect.exit(two.hear)))
      yield* sql`ALTER TABLE cluster_away RENAME TO cluster_told`
      // As if the first try had arrived, and its answer not.
      yield* sql`INSERT INTO cluster_told (node, number, sent_ms, at_ms, content)
        SELECT 'one', 1, at, at, '[["count",["a"]]]' FROM (SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS at) AS now`
      yield* two.hear
      yield* untilRows(2)
      yield* one.told
      yield* two.hear
      assert.deepStrictEqual(two.counted, ["a", "b"])
      assert.deepStrictEqual(yield* rows, [1, 2])
      yield* one.end
      yield* two.end
    })
  )

  it.scopedLive("is bounded, and survives what another version tells", () =>
    Effect.gen(function* () {
      const { sql, start, untilRows } = yield* world
      const [one, two] = [yield* start("one"), yield* start("two")]
      yield* sql`INSERT INTO cluster_told (node, number, sent_ms, at_ms, content)
        SELECT 'strange', n, at, at, CASE n WHEN 1 THEN 'no JSON' ELSE '[["unknown",[1]],["fail",[]],["count",["x"]]]' END
        FROM generate_series(1, 2) AS n, (SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS at) AS now`
      yield* two.hear
      assert.deepStrictEqual(two.counted, ["x"])
      yield* sql`ALTER TABLE cluster_told RENAME TO cluster_away`
      one.count("first")
      yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => one.replica.waiting() > 0 })
      for (let n = 0; n < 2 * NodeReplica.mostWaiting; n += 1) one.count(n)
      yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => one.replica.waiting() > 1 })
      assert.isAtMost(one.replica.waiting(), NodeReplica.mostWaiting + 1)
      yield* sql`ALTER TABLE cluster_away RENAME TO cluster_told`
      yield* untilRows(4)
      yield* two.hear
      assert.strictEqual(two.counted.at(-1), 2 * NodeReplica.mostWaiting - 1)
      // What is older than a minute goes.
      yield* sql`UPDATE cluster_told SET at_ms = at_ms - 61000 WHERE node = 'strange'`
      yield* two.replica.trim
      assert.lengthOf(yield* sql`SELECT number FROM cluster_told WHERE node = 'strange'`, 0)
      yield* one.end
      yield* two.end
    })
  )

  it.scopedLive("is left out where the clock of a gateway is wrong", () =>
    Effect.gen(function* () {
      const { sql, start } = yield* world
      const one = yield* start("one")
      yield* sql`INSERT INTO cluster_told (node, number, sent_ms, at_ms, content)
        SELECT node, 1, at + ahead, at, '[["count",["' || node || '"]]]'
        FROM (VALUES ('right', 0), ('ahead', 3600000), ('behind', -3600000)) AS others (node, ahead),
          (SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS at) AS now`
      yield* one.hear
      assert.deepStrictEqual(one.counted, ["right"])
      yield* one.end
    })
  )
})
