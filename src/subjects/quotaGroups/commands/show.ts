/** `gateway quota`: what is left of the quotas of the connections. */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ConnectionUsage } from "../../usage/routes.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"

const Quotas = Schema.Struct({
  connections: Schema.Array(
    Schema.Struct({ connectionId: Schema.String, name: Schema.String, provider: Schema.String, usage: ConnectionUsage })
  )
})

interface Row {
  readonly name: string
  readonly provider: string
  readonly quota: ConnectionUsage["limits"][number]
}

const columns: ReadonlyArray<Column.Column<Row>> = [
  Column.name("CONNECTION", ({ name }) => name),
  Column.text("PROVIDER", ({ provider }) => provider),
  Column.text("WINDOW", ({ quota }) => quota.window),
  Column.number("USED", ({ quota }) => quota.used, Column.thousands),
  Column.number("OF", ({ quota }) => quota.total, Column.thousands),
  Column.text("UNIT", ({ quota }) => quota.unit),
  Column.number(
    "LEFT %",
    ({ quota }) => quota.remainingPercentage,
    (value) => value.toFixed(1)
  ),
  Column.time("RESETS", ({ quota }) => quota.resetAt)
]

/** Questions at a time. */
const concurrency = 4

export const quotaShow = Command.make("show", Client.connection, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const providers = yield* Client.group(to, "providers")
    const usage = yield* Client.group(to, "usage")
    const { connections } = yield* providers.list().pipe(Client.orExplain(to))
    const all = yield* Effect.forEach(
      connections,
      ({ id, name, provider }) =>
        usage.connection({ path: { connectionId: id } }).pipe(
          Client.orExplain(to),
          Effect.map((found) => ({ connectionId: id, name, provider, usage: found }))
        ),
      { concurrency }
    )
    yield* Output.list({
      schema: Quotas,
      value: { connections: all },
      rows: all.flatMap(({ name, provider, usage: { limits } }) => limits.map((quota) => ({ name, provider, quota }))),
      columns,
      empty:
        "No quota is known. Declare one with 'gateway provider edit <name> --quota', or wait for an answer of the provider that tells it."
    })
  })
)
