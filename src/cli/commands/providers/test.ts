/** `gateway providers test` and `test-all`: one tiny question to a provider, exit 1 when it is not answered. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ConnectionView, TestResult } from "../../../api/Groups/Providers.ts"
import { AlreadyReported } from "../../Failure.ts"
import { json } from "../../Flags.ts"
import { type Tested, testConnections } from "../../local/connections.ts"
import * as Output from "../../output/Output.ts"
import type { Column } from "../../output/Table.ts"

const One = Schema.Struct({ ...ConnectionView.pick("id", "provider", "name").fields, ...TestResult.fields })
const All = Schema.Struct({ results: Schema.Array(One) })

const flat = ({ connection, ...result }: Tested): typeof One.Type => ({
  id: connection.id,
  provider: connection.provider,
  name: connection.name,
  ...result
})

const columns: ReadonlyArray<Column<typeof One.Type>> = [
  { header: "PROVIDER", value: (test) => test.provider },
  { header: "NAME", value: (test) => test.name },
  { header: "RESULT", value: (test) => (test.ok ? "ok" : "failed") },
  { header: "STATUS", value: (test) => Output.orDash(test.status), align: "right" },
  { header: "MS", value: (test) => String(Math.round(test.latencyMs)), align: "right" },
  { header: "MODEL", value: (test) => Output.orDash(test.model) },
  { header: "MODELS", value: (test) => Output.orDash(test.models), align: "right" },
  { header: "ERROR", value: (test) => Output.orDash(test.error ?? test.modelsError) }
]

const failUnlessOk = (results: ReadonlyArray<Tested>) =>
  results.every(({ ok }) => ok) ? Effect.void : Effect.fail(new AlreadyReported())

const connection = Args.text({ name: "id or name" })

export const providersTest = Command.make("test", { connection, json }, (flags) =>
  Effect.gen(function* () {
    const tested = yield* testConnections(flags.connection)
    const results = tested.map(flat)
    const [result] = results
    if (flags.json && result !== undefined) yield* Output.json(One, result)
    else yield* Output.rows(results, columns, "")
    yield* failUnlessOk(tested)
  })
)

export const providersTestAll = Command.make("test-all", { json }, (flags) =>
  Effect.gen(function* () {
    const tested = yield* testConnections(null)
    const results = tested.map(flat)
    yield* flags.json
      ? Output.json(All, { results })
      : Output.rows(results, columns, "There are no active connections to test.")
    yield* failUnlessOk(tested)
  })
)
