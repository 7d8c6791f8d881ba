/** All that a store has, copied to the other engine and back. */
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { summary, transfer } from "../../../../src/store/engine/Transfer.ts"
import * as Sql from "../../../../src/store/Sql.ts"
import { configuration } from "../../../support/laws/Configuration.ts"
import { history, overSqlite } from "../../../support/laws/Histories.ts"
import { records } from "../../../support/laws/Records.ts"
import { usage } from "../../../support/laws/Usage.ts"
import { layerEmpty } from "../../../support/postgres/Schemas.ts"
import { noPostgres, postgresUrl } from "../../../support/postgres/Server.ts"

const url = await postgresUrl()
const clientOf = (layer: Layer.Layer<SqlClient.SqlClient>) =>
  Effect.map(Layer.build(Layer.fresh(layer)), (context) => Context.get(context, SqlClient.SqlClient))

const noted = () => {
  const tables: Array<string> = []
  return { tables, copied: ({ table }: { readonly table: string }) => Effect.sync(() => void tables.push(table)) }
}

describe.skipIf(url === null)(`a copy of a store${url === null ? noPostgres : ""}`, () => {
  it.scopedLive(
    "has all rows in Postgres, and again in SQLite",
    () =>
      Effect.gen(function* () {
        const store = yield* Layer.build(overSqlite)
        const first = Context.get(store, SqlClient.SqlClient)
        const steps = [...history(7, 300, configuration), ...history(7, 60, usage), ...history(7, 200, records)]
        yield* Effect.forEach(steps, ({ run }) => Effect.exit(run), { discard: true }).pipe(Effect.provide(store))
        const wanted = yield* summary(first, first)
        assert.isAbove(wanted.length, 20)

        const postgres = yield* clientOf(layerEmpty(url ?? ""))
        yield* transfer(first, postgres, noted().copied)
        assert.deepStrictEqual(yield* summary(postgres, first), wanted)
        // A new row has the next number.
        yield* postgres`INSERT INTO audit_log (id, timestamp_ms, action, actor, resource_type, status, ip, details) VALUES ('new', 1, 'a', 'b', 'c', 'd', 'e', '{}')`
        yield* postgres`DELETE FROM audit_log WHERE id = 'new'`

        const second = yield* clientOf(Sql.layerMemory)
        yield* transfer(postgres, second, noted().copied)
        assert.deepStrictEqual(yield* summary(second, second), wanted)
        assert.match((yield* Effect.flip(transfer(first, second, noted().copied))).message, /has rows already/)
      }),
    60_000
  )

  it.scopedLive("goes on where it was cut off", () =>
    Effect.gen(function* () {
      const [from, to] = yield* Effect.all([clientOf(Sql.layerMemory), clientOf(layerEmpty(url ?? ""))])
      const rows = Array.from({ length: 1_000 }, (_, n) => ({
        namespace: "n",
        key: String(n).padStart(4, "0"),
        value: "1"
      }))
      yield* from`INSERT INTO settings ${from.insert(rows)}`
      yield* from`INSERT INTO model_aliases (alias, model) VALUES ('a', 'b')`
      const cut = transfer(from, to, ({ table }) => (table === "model_aliases" ? Effect.die("killed") : Effect.void))
      assert.strictEqual((yield* Effect.exit(cut))._tag, "Failure")
      assert.deepStrictEqual(yield* to`SELECT COUNT(*) AS n FROM settings`, [{ n: 0 }])
      yield* to`INSERT INTO settings ${to.insert(rows.slice(0, 400))}`
      const { copied, tables } = noted()
      yield* transfer(from, to, copied)
      assert.include(tables, "settings")
      assert.deepStrictEqual(yield* summary(to, from), yield* summary(from, from))
    })
  )
})
