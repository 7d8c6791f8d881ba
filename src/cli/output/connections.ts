/** How connections are listed, wherever they come from. */
import * as Schema from "effect/Schema"
import { ConnectionView } from "../../api/Groups/Providers.ts"
import { orDash, yesNo } from "./Output.ts"
import type { Column } from "./Table.ts"

export const Connections = Schema.Struct({ connections: Schema.Array(ConnectionView) })
export const OneConnection = Schema.Struct({ connection: ConnectionView })

/** How many the upstream lists; with a mark when the last question had no answer. */
const modelsOf = (list: ConnectionView["modelList"]): string =>
  list === null || list.learnedAt === null
    ? list?.error === undefined || list.error === null
      ? "-"
      : "not listed"
    : `${list.count}${list.error === null ? "" : " (old)"}`

export const columns: ReadonlyArray<Column<ConnectionView>> = [
  { header: "PROVIDER", value: (connection) => connection.provider },
  { header: "NAME", value: (connection) => connection.name },
  { header: "ACTIVE", value: (connection) => yesNo(connection.isActive) },
  { header: "STATE", value: (connection) => connection.testStatus },
  { header: "KEY", value: (connection) => orDash(connection.apiKey) },
  { header: "DEFAULT MODEL", value: (connection) => orDash(connection.defaultModel) },
  { header: "MODELS", value: ({ modelList }) => modelsOf(modelList) },
  { header: "FROM", value: (connection) => (connection.source === "env" ? "environment" : "database") },
  { header: "ID", value: (connection) => connection.id }
]

export const noConnections = "There are no connections yet. Make one with 'gateway setup' or 'gateway provider add'."
