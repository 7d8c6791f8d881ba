/** Proxies and what they are assigned to as tables, and the argument that names one. */
import * as Args from "@effect/cli/Args"
import * as Schema from "effect/Schema"
import { ProxyAssignmentView, ProxyView } from "../routes.ts"
import * as Column from "../../../cli/output/Column.ts"

export const Proxies = Schema.Struct({ proxies: Schema.Array(ProxyView) })
export const OneProxy = Schema.Struct({ proxy: ProxyView })
export const Assignments = Schema.Struct({ assignments: Schema.Array(ProxyAssignmentView) })

export const addressOf = ({ host, port, type, username }: ProxyView): string =>
  `${type}://${username === null ? "" : `${username}@`}${host.includes(":") ? `[${host}]` : host}:${port}`

const stateOf = ({ health, isActive, usable }: ProxyView): string => {
  if (!isActive) return "inactive"
  return usable ? health.state : "unusable"
}

export const columns: ReadonlyArray<Column.Column<ProxyView>> = [
  Column.name("NAME", ({ name }) => name),
  Column.text("ADDRESS", addressOf),
  Column.text("FAMILY", ({ family }) => family),
  Column.text("STATE", stateOf),
  Column.number("MS", ({ health }) => health.latencyMs),
  Column.time("CHECKED", ({ health }) => health.checkedAt),
  Column.text("SOURCE", ({ source }) => source, { in: "wide" }),
  Column.id("ID", ({ id }) => id)
]

export const assignmentColumns: ReadonlyArray<Column.Column<ProxyAssignmentView>> = [
  Column.name("SCOPE", ({ scope }) => scope),
  Column.text("OF", ({ scopeId }) => scopeId),
  Column.text("PROXY", ({ proxyId, proxyName }) => proxyName ?? `${proxyId} (removed: its calls fail)`)
]

export const proxy = Args.text({ name: "proxy" }).pipe(Args.withDescription("Its name, its id or the beginning of it."))
