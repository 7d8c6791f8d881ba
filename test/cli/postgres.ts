/** An empty database on the server of Postgres of the tests, for programs of their own. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { afterAll, assert } from "vitest"
import { connect } from "../../src/store/engine/postgres/Client.ts"
import { emptySchema } from "../support/postgres/Schemas.ts"
import { postgresUrl } from "../support/postgres/Server.ts"

export interface TestDatabase {
  readonly url: string
  readonly rows: (text: string) => Promise<ReadonlyArray<Readonly<Record<string, unknown>>>>
}

/** Makes one that is there until the tests of the file are over. Only where a server is there (`isPostgresThere`). */
export const emptyDatabase = async (): Promise<TestDatabase> => {
  const server = await postgresUrl()
  assert.isNotNull(server, "there is a server of Postgres")
  const scope = Effect.runSync(Scope.make())
  scopes.push(scope)
  const options = await Effect.runPromise(Scope.extend(emptySchema(server ?? ""), scope))
  return {
    url: Redacted.value(options.url),
    rows: (text) =>
      Effect.runPromise(
        Effect.scoped(Effect.flatMap(connect(options), (sql) => sql.unsafe<Record<string, unknown>>(text)))
      )
  }
}

const scopes: Array<Scope.CloseableScope> = []

afterAll(async () => {
  for (const scope of scopes) await Effect.runPromise(Scope.close(scope, Exit.void))
})
