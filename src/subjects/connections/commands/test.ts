/** `gateway providers test` and `test-all`: one tiny question to a provider, exit 1 when it is not answered. */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ConnectionView, TestResult } from "../routes.ts"
import { AlreadyReported } from "../../../cli/Failure.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as connections from "../../../cli/gateway/connections.ts"
import type { Tested } from "../../../cli/local/connections.ts"
import { connectionArg } from "./found.ts"
import * as Output from "../../../cli/output/Output.ts"
import * as Column from "../../../cli/output/Column.ts"

const One = Schema.Struct({ ...ConnectionView.pick("id", "provider", "name").fields, ...TestResult.fields })
const All = Schema.Struct({ results: Schema.Array(One) })

const flat = ({ connection, ...result }: Tested): typeof One.Type => ({
  id: connection.id,
  provider: connection.provider,
  name: connection.name,
  ...result
})

const columns: ReadonlyArray<Column.Column<typeof One.Type>> = [
  Column.name("NAME", (test) => test.name),
  Column.text("PROVIDER", (test) => test.provider, { fit: "keep" }),
  Column.text("RESULT", (test) => (test.ok ? "ok" : "failed"), { fit: "keep" }),
  Column.number("STATUS", (test) => test.status),
  Column.number(
    "MS",
    (test) => test.latencyMs,
    (ms) => String(Math.round(ms))
  ),
  Column.prose("ERROR", (test) => test.error ?? test.modelsError),
  Column.text("MODEL", (test) => test.model),
  Column.number("MODELS", (test) => test.models),
  Column.id("ID", (test) => test.id, { in: "wide" })
]

const failUnlessOk = (results: ReadonlyArray<Tested>) =>
  results.every(({ ok }) => ok) ? Effect.void : Effect.fail(new AlreadyReported())

export const providersTest = Command.make("test", { connection: connectionArg, ...Client.connection }, (flags) =>
  Effect.gen(function* () {
    const tested = yield* connections.testEach(flags, flags.connection)
    const results = tested.map(flat)
    const [result] = results
    const rows = Output.rows(results, columns, "")
    if (result !== undefined) {
      yield* Output.result({ schema: One, value: result, text: rows, csv: rows, name: result.name })
    }
    yield* failUnlessOk(tested)
  })
)

export const providersTestAll = Command.make("test-all", Client.connection, (flags) =>
  Effect.gen(function* () {
    const tested = yield* connections.testEach(flags, null)
    const results = tested.map(flat)
    yield* Output.list({
      schema: All,
      value: { results },
      rows: results,
      columns,
      empty: "There are no active connections to test."
    })
    yield* failUnlessOk(tested)
  })
)
