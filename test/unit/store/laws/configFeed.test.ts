/** What several nodes read of each other's changes: none is lost, in whatever order transactions end. */
import type * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as SqlClientTag from "@effect/sql/SqlClient"
import { connect, withPlainTransaction } from "../../../../src/store/engine/postgres/Client.ts"
import * as ConfigFeed from "../../../../src/store/nodes/ConfigFeed.ts"
import { open } from "../../../../src/store/postgres/Database.ts"
import { emptySchema } from "../../../support/postgres/Schemas.ts"
import { noPostgres, postgresUrl } from "../../../support/postgres/Server.ts"

const url = await postgresUrl()

const feedOf = (sql: SqlClient.SqlClient) => Effect.provideService(ConfigFeed.make, SqlClientTag.SqlClient, sql)

const put = (sql: SqlClient.SqlClient, key: string) =>
  sql`INSERT INTO settings ${sql.insert({ namespace: "n", key, value: "1" })}
    ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value`

const named = ({ changes }: ConfigFeed.ConfigNews) => {
  const rows = changes?.get("settings/n") ?? new Set<string>()
  return rows === "all" ? ["all"] : [...rows].toSorted()
}

describe.skipIf(url === null)(`changes of the configuration by several nodes${url === null ? noPostgres : ""}`, () => {
  it.scopedLive("are read once each, also one whose transaction ends after later ones", () =>
    Effect.gen(function* () {
      const options = yield* emptySchema(url ?? "")
      const reader = yield* open(options)
      const [slow, quick] = yield* Effect.all([connect(options), connect(options)])
      const feed = yield* feedOf(reader)
      yield* put(quick, "before")
      const begun = yield* feed.begin

      const [written, mayEnd] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
      const late = yield* Effect.fork(
        withPlainTransaction(
          slow,
          Effect.gen(function* () {
            yield* put(slow, "late")
            yield* Deferred.succeed(written, undefined)
            yield* Deferred.await(mayEnd)
          })
        )
      )
      yield* Deferred.await(written)
      yield* put(quick, "first")
      yield* put(quick, "second")
      const one = yield* feed.since(begun)
      assert.deepStrictEqual(named(one), ["first", "second"])
      const same = yield* feed.since(one.mark)
      assert.deepStrictEqual(named(same), [], "what was read is not read again")
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Fiber.join(late)
      const two = yield* feed.since(same.mark)
      assert.deepStrictEqual(named(two), ["late"])
      // Other tests have transactions on this server, too.
      const none = yield* Effect.iterate(yield* feed.since(two.mark), {
        while: ({ mark }) => mark.seen.size > 0,
        body: ({ mark }) => Effect.zipRight(Effect.sleep("20 millis"), feed.since(mark))
      })
      assert.deepStrictEqual(named(none), [])
      assert.strictEqual(none.mark.seen.size, 0, "nothing is remembered when all have ended")
      assert.strictEqual(none.mark.lastSeq, two.mark.lastSeq)
    })
  )

  it.scopedLive("are all read again where some were removed unread", () =>
    Effect.gen(function* () {
      const sql = yield* open(yield* emptySchema(url ?? ""))
      const feed = yield* feedOf(sql)
      const begun = yield* feed.begin
      for (const key of ["a", "b", "c"]) yield* put(sql, key)
      yield* sql`DELETE FROM config_changes WHERE id IN ('a', 'b')`
      const news = yield* feed.since(begun)
      assert.isNull(news.changes)
      assert.deepStrictEqual(named(yield* feed.since(news.mark)), [])
    })
  )
})
