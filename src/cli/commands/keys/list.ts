/** `gateway keys list` */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { KeyView } from "../../../api/Groups/Keys.ts"
import * as Client from "../../Client.ts"
import { json } from "../../Flags.ts"
import * as Output from "../../output/Output.ts"
import type { Column } from "../../output/Table.ts"

export const Keys = Schema.Struct({ keys: Schema.Array(KeyView) })

export const columns: ReadonlyArray<Column<KeyView>> = [
  { header: "ID", value: (key) => key.id },
  { header: "NAME", value: (key) => key.name },
  { header: "BEGINS WITH", value: (key) => key.prefix },
  { header: "SCOPES", value: (key) => key.scopes.join(", ") || "inference" },
  { header: "MODELS", value: (key) => key.allowedModels?.join(", ") || "all" },
  { header: "EXPIRES", value: (key) => Output.shortTime(key.expiresAt) },
  { header: "LAST USED", value: (key) => Output.shortTime(key.lastUsedAt) },
  { header: "ACTIVE", value: (key) => Output.yesNo(key.isActive) }
]

export const keysList = Command.make("list", { ...Client.connection, json }, (flags) =>
  Effect.gen(function* () {
    const to = yield* Client.target(flags)
    const client = yield* Client.group(to, "keys")
    const answer = yield* client.list().pipe(Client.orExplain(to))
    yield* flags.json
      ? Output.json(Keys, answer)
      : Output.rows(answer.keys, columns, "There are no keys yet. Make one with 'gateway keys add <name>'.")
  })
)
