/** `gateway mcp list`, `show`, `test`, `enable`, `disable` and `remove`: registered MCP servers. */
import * as Effect from "effect/Effect"
import * as Args from "@effect/cli/Args"
import * as Schema from "effect/Schema"
import { McpServerTested, McpServerView } from "../../mcpServers/routes.ts"
import { CommandFailed } from "../../../cli/Failure.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"
import { listOf, noun, on, removeOf, showOf, switchesOf } from "../../../cli/verbs/noun.ts"

const Servers = Schema.Struct({ servers: Schema.Array(McpServerView), nextCursor: Schema.NullOr(Schema.String) })
export const OneServer = Schema.Struct({ server: McpServerView })

/** Writes the address that is asked or the program that is started. */
const placeOf = ({ args, command, url }: McpServerView): string => url ?? [command ?? "", ...(args ?? [])].join(" ")

const columns: ReadonlyArray<Column.Column<McpServerView>> = [
  Column.name("NAME", ({ name }) => name),
  Column.text("STATUS", ({ status }) => status),
  Column.number("TOOLS", ({ toolCount }) => toolCount),
  Column.text("WHERE", placeOf),
  Column.prose("ERROR", ({ lastError }) => lastError),
  Column.time("LAST SEEN", ({ lastSeenAt }) => lastSeenAt, { in: "wide" }),
  Column.id("ID", ({ id }) => id)
]

export const server = Args.text({ name: "server" }).pipe(
  Args.withDescription("Its name, its id or the beginning of it.")
)

export const servers = noun({
  what: "MCP server",
  group: "mcpServers",
  argument: server,
  listing: "gateway mcp list",
  one: (client, id) => Effect.map(client.get({ path: { id } }), (answer) => answer.server),
  list: (client) => client.list(),
  rows: (answer) => answer.servers,
  nameOf: ({ name }) => name
})

export const mcpList = listOf(servers, {
  schema: Servers,
  columns,
  empty: "No MCP server is registered yet. Add one with 'gateway mcp add <name> <url>'."
})

const orNone = (texts: ReadonlyArray<string>): string => texts.join(", ") || "-"

export const pageOf = (shown: McpServerView): string =>
  fields([
    ["Name", shown.name],
    [shown.transport === "http" ? "URL" : "Program", placeOf(shown)],
    shown.transport === "http" ? ["Headers", orNone(shown.headerNames)] : ["Environment", orNone(shown.envNames)],
    ["Enabled", Output.yesNo(shown.enabled)],
    ["Status", shown.status],
    ["Error", shown.lastError ?? "-"],
    ["Tools", shown.toolCount === null ? "-" : String(shown.toolCount)],
    ["Allowed tools", shown.allowedTools === null ? "all" : orNone(shown.allowedTools)],
    ["Allowed keys", shown.allowedKeys === null ? "all" : orNone(shown.allowedKeys)],
    ["Timeout", `${shown.timeoutMs} ms`],
    ["Last seen", Output.shortTime(shown.lastSeenAt)],
    ["Id", shown.id]
  ])

export const mcpShow = showOf(servers, {
  schema: OneServer,
  ask: (client, id) => client.get({ path: { id } }),
  text: (answer) => pageOf(answer.server)
})

export const mcpTest = on("test", servers, {}, function* ({ client, found }) {
  const value = yield* client.test({ path: { id: found.id } })
  if (!value.ok)
    return yield* new CommandFailed({ message: `'${found.name}' ${asSentence(value.error ?? "does not answer")}` })
  const text = Output.print(value.tools.map(({ name, title }) => `${name}  ${title}`).join("\n"))
  yield* Output.result({ schema: McpServerTested, value, text, name: found.name })
})

const switches = switchesOf(servers, {
  schema: OneServer,
  ask: (client, id, enabled) => client.update({ path: { id }, payload: { enabled } }),
  enabled: ({ name }) => `The tools of '${name}' are offered.`,
  disabled: ({ name }) => `The tools of '${name}' are not offered any more.`
})

export const mcpEnable = switches.enable
export const mcpDisable = switches.disable

export const mcpRemove = removeOf(servers, {
  ask: (client, id) => client.remove({ path: { id } }),
  record: ({ name }) => ({ name }),
  sentence: ({ name }) => `'${name}' was removed.`
})
