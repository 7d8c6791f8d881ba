/** `gateway provider show`: a connection with its state and its quotas. */
import * as Effect from "effect/Effect"
import type { ConnectionView } from "../routes.ts"
import type { ConnectionUsage } from "../../usage/routes.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Column from "../../../cli/output/Column.ts"
import { OneConnection } from "../../../cli/output/connections.ts"
import { latestVersion } from "../../../cli/gateway/Versions.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { connections } from "./found.ts"
import { on } from "../../../cli/verbs/noun.ts"

const lines = (connection: ConnectionView): ReadonlyArray<readonly [string, string]> => [
  ["Name", connection.name],
  ["Provider", connection.provider],
  ["State", connection.testStatus],
  ["Active", Output.yesNo(connection.isActive)],
  ["Usable again", Output.orDash(connection.rateLimitedUntil)],
  ["Last error", Output.orDash(connection.lastError)],
  ["Key", Output.orDash(connection.apiKey)],
  ["Base URL", connection.baseUrl ?? "the provider's"],
  ["Wires", connection.wires?.join(", ") ?? "the provider's"],
  ["Default model", Output.orDash(connection.defaultModel)],
  ["Models", connection.models.join(", ") || "all"],
  ["Models listed", Output.orDash(connection.modelList?.count)],
  ["Headers", Object.keys(connection.headers ?? {}).join(", ") || "-"],
  ["Tier", Output.orDash(connection.tier)],
  ["Priority", String(connection.priority)],
  ["Calls at once", connection.maxConcurrent === null ? "no limit" : String(connection.maxConcurrent)],
  ["From", connection.source === "env" ? "environment" : "database"],
  ["Created", Output.shortTime(connection.createdAt)],
  ["Changed", Output.shortTime(connection.updatedAt)],
  ["Id", connection.id]
]

const quotaColumns: ReadonlyArray<Column.Column<ConnectionUsage["limits"][number]>> = [
  Column.name("QUOTA", ({ window }) => window),
  Column.number("USED", ({ used }) => used, Column.thousands),
  Column.number("OF", ({ total }) => total, Column.thousands),
  Column.text("UNIT", ({ unit }) => unit),
  Column.time("RESETS", ({ resetAt }) => resetAt),
  Column.text("KNOWN", ({ source }) => source)
]

export const providerShow = on("show", connections, {}, function* ({ client, found, to }) {
  const answer = yield* client.get({ path: { id: found.id } })
  const version = latestVersion(to)
  const text = Effect.gen(function* () {
    const usage = yield* Client.group(to, "usage")
    const { limits } = yield* usage.connection({ path: { connectionId: found.id } }).pipe(Client.orExplain(to))
    yield* Output.print(fields(lines(answer.connection)))
    yield* Output.section(limits, quotaColumns)
  })
  // A page without its quotas is worth more than none.
  yield* Output.result({
    schema: OneConnection,
    value: answer,
    text: Effect.catchAll(text, () => Output.print(fields(lines(answer.connection)))),
    name: found.name,
    version
  })
})
