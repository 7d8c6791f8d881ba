/** Columns of lists of connections, wherever they come from. */
import * as Schema from "effect/Schema"
import { ConnectionView } from "../../subjects/connections/routes.ts"
import * as Column from "./Column.ts"

export const Connections = Schema.Struct({ connections: Schema.Array(ConnectionView) })
export const OneConnection = Schema.Struct({ connection: ConnectionView })

/** Writes the number of models that the upstream lists; with a mark when the last request had no answer. */
const modelsOf = (list: ConnectionView["modelList"]): string =>
  list === null || list.learnedAt === null
    ? list?.error === undefined || list.error === null
      ? "-"
      : "not listed"
    : `${list.count}${list.error === null ? "" : " (old)"}`

export const columns: ReadonlyArray<Column.Column<ConnectionView>> = [
  Column.name("NAME", (connection) => connection.name),
  Column.text("PROVIDER", (connection) => connection.provider, { fit: "keep" }),
  Column.text("STATE", (connection) => connection.testStatus),
  Column.yesNo("ACTIVE", (connection) => connection.isActive),
  Column.text("MODELS", ({ modelList }) => modelsOf(modelList)),
  Column.text("KEY", (connection) => connection.apiKey, { in: "wide" }),
  Column.text("DEFAULT MODEL", (connection) => connection.defaultModel, { in: "wide" }),
  Column.text("FROM", (connection) => (connection.source === "env" ? "environment" : "database"), { in: "wide" }),
  Column.id("ID", (connection) => connection.id)
]

export const noConnections = "There are no connections yet. Make one with 'gateway setup' or 'gateway provider add'."
