/** `gateway keys list` */
import * as Schema from "effect/Schema"
import { keyListing, KeyView } from "../routes.ts"
import * as Output from "../../../cli/output/Output.ts"
import * as Column from "../../../cli/output/Column.ts"
import { serviceOf } from "../../../cli/gateway/Service.ts"
import { asking } from "../../../cli/verbs/asking.ts"
import { emptyOf, listingFlags, queryOf, tellLeftOut } from "../../../cli/verbs/listing.ts"

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

export const keysList = asking("list", "keys", listingFlags(keyListing), function* (_client, given, to) {
  const answer = yield* (yield* serviceOf(to, "keys", queryOf(given))).list()
  yield* Output.list({
    schema: Keys,
    value: answer,
    rows: answer.keys,
    columns,
    empty: emptyOf(given, "There are no keys yet. Make one with 'gateway key add <name>'.")
  })
  yield* tellLeftOut(answer.keys.length, answer.total)
})
