/** `gateway keys list` */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { KeyView } from "../routes.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"
import * as Column from "../../../cli/output/Column.ts"

export const Keys = Schema.Struct({ keys: Schema.Array(KeyView) })

export const columns: ReadonlyArray<Column.Column<KeyView>> = [
  Column.name("NAME", (key) => key.name),
  Column.text("BEGINS WITH", (key) => key.prefix),
  Column.text("SCOPES", (key) => key.scopes.join(", ") || "inference"),
  Column.yesNo("ACTIVE", (key) => key.isActive),
  Column.time("EXPIRES", (key) => key.expiresAt),
  Column.time("LAST USED", (key) => key.lastUsedAt),
  Column.text("MODELS", (key) => key.allowedModels?.join(", ") ?? "all"),
  Column.id("ID", (key) => key.id)
]

export const keysList = Command.make("list", Client.connection, (flags) =>
  Effect.gen(function* () {
    const to = yield* Client.target(flags)
    const client = yield* Client.group(to, "keys")
    const answer = yield* client.list().pipe(Client.orExplain(to))
    yield* Output.list({
      schema: Keys,
      value: answer,
      rows: answer.keys,
      columns,
      empty: "There are no keys yet. Make one with 'gateway key add <name>'."
    })
  })
)
