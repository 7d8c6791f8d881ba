/** `gateway mcp status`, `restart`, `tools` and `audit`. */
import * as Schema from "effect/Schema"
import { McpCallView, McpRestarted, McpStatus, McpToolView } from "../routes.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const percent = (part: number | null): string => (part === null ? "-" : `${(part * 100).toFixed(1)} %`)

const text = ({ activity, enabled, httpTransport, scopesEnforced, tools }: McpStatus): string =>
  fields([
    ["on", Output.yesNo(enabled)],
    ["address", httpTransport.url],
    ["sessions", String(httpTransport.sessions)],
    ["tools", String(tools)],
    ["scopes enforced", Output.yesNo(scopesEnforced)],
    ["calls in 24 hours", String(activity.totalCalls24h)],
    ["succeeded", percent(activity.successRate)],
    ["last call", `${Output.shortTime(activity.lastCallAt)} ${activity.lastCallTool ?? ""}`.trim()]
  ])

export const mcpStatus = asking("status", "mcp", {}, function* (client) {
  const value = yield* client.status()
  yield* Output.result({ schema: McpStatus, value, text: Output.print(text(value)), name: value.httpTransport.url })
})

export const mcpRestart = asking("restart", "mcp", {}, function* (client) {
  const value = yield* client.restart()
  const ended = value.sessions === 1 ? "one session was ended" : `${value.sessions} sessions were ended`
  const servers = value.servers === 1 ? "one added server begins" : `${value.servers} added servers begin`
  yield* Output.result({
    schema: McpRestarted,
    value,
    name: "restarted",
    text: Output.note(`The MCP server is restarted: ${ended}, ${servers} anew.`)
  })
})

const toolColumns: ReadonlyArray<Column.Column<typeof McpToolView.Type>> = [
  Column.name("TOOL", ({ name }) => name),
  Column.text("EFFECT", ({ effect }) => effect),
  Column.text("NEEDS", ({ scopes }) => scopes.join(" ")),
  Column.prose("WHAT", ({ title }) => title)
]

export const mcpTools = asking("tools", "mcp", {}, function* (client) {
  const value = yield* client.tools()
  const schema = Schema.Struct({ tools: Schema.Array(McpToolView) })
  yield* Output.list({ schema, value, rows: value.tools, columns: toolColumns, empty: "There are no tools." })
})

const callColumns: ReadonlyArray<Column.Column<McpCallView>> = [
  Column.time("WHEN", ({ timestamp }) => timestamp),
  Column.name("TOOL", ({ tool }) => tool),
  Column.yesNo("SUCCEEDED", ({ success }) => success),
  Column.number("MS", ({ durationMs }) => durationMs),
  Column.text("KEY", ({ apiKeyId }) => apiKeyId)
]

export const mcpAudit = asking("audit", "mcp", {}, function* (client) {
  const value = yield* client.audit({ urlParams: {} })
  const schema = Schema.Struct({ calls: Schema.Array(McpCallView) })
  yield* Output.list({ schema, value, rows: value.calls, columns: callColumns, empty: "No tool was called yet." })
})
