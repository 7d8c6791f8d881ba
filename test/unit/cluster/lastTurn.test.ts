/** The last turn of a node that ends: one that is under way is waited for, so that what it tells is in the rows. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { make } from "../../../src/plane/ledger/rows/PostgresRows.ts"
import { open } from "../../../src/store/postgres/Database.ts"
import { emptySchema } from "../../support/postgres/Schemas.ts"
import { noPostgres, postgresUrl } from "../../support/postgres/Server.ts"

const url = await postgresUrl()

describe.skipIf(url === null)(`rows of a node that ends${url === null ? noPostgres : ""}`, () => {
  it.scopedLive("answer a call that is under way, and one that comes after it", () =>
    Effect.gen(function* () {
      const sql = yield* open(yield* emptySchema(url ?? ""))
      const scope = yield* Scope.make()
      const rows = yield* Scope.extend(make(sql), scope)
      const outcomes: Array<unknown> = []
      const joined = (holder: string) =>
        Effect.async<void>((resume) =>
          rows.join(holder, "folder", (outcome) => {
            outcomes.push(outcome)
            resume(Effect.void)
          })
        )
      let underWay = (): void => {}
      const first = new Promise<void>((done) => (underWay = done))
      yield* Scope.addFinalizer(
        scope,
        Effect.zipRight(
          Effect.promise(() => first),
          joined("life 2")
        )
      )
      rows.join("life 1", "folder", (outcome) => {
        outcomes.push(outcome)
        underWay()
      })
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(outcomes, [true, true])
      assert.lengthOf(yield* sql`SELECT id FROM limit_holders`, 2)
    })
  )
})
