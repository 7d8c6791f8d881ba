/** `gateway mcp list`, `show`, `test`, `enable`, `disable` and `remove`: registered MCP servers. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { McpServerTested, McpServerView } from "../../mcpServers/routes.ts"
import { CommandFailed } from "../../../cli/Failure.ts"
import { pick } from "../../../cli/flags/Flags.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"
import { asking } from "../../../cli/verbs/asking.ts"

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

export const mcpList = asking("list", "mcpServers", {}, function* (client) {
  const value = yield* client.list()
  yield* Output.list({
    schema: Servers,
    value,
    rows: value.servers,
    columns,
    empty: "No MCP server is registered yet. Add one with 'gateway mcp add <name> <url>'."
  })
})

export const server = Args.text({ name: "server" }).pipe(
  Args.withDescription("Its name, its id or the beginning of it.")
)

/** The server that a word names, and the client to ask for it. */
export const findServer = Effect.fnUntraced(function* (to: Client.Target, word: string) {
  const client = yield* Client.group(to, "mcpServers")
  const { servers } = yield* client.list().pipe(Client.orExplain(to))
  return { client, found: yield* pick("MCP server", servers, word, "gateway mcp list") }
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

export const mcpShow = Command.make("show", { server, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const { client, found } = yield* findServer(to, given.server)
    const value = yield* client.get({ path: { id: found.id } }).pipe(Client.orExplain(to))
    const text = Output.print(pageOf(value.server))
    yield* Output.result({ schema: OneServer, value, text, name: found.name })
  })
)

export const mcpTest = Command.make("test", { server, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const { client, found } = yield* findServer(to, given.server)
    const value = yield* client.test({ path: { id: found.id } }).pipe(Client.orExplain(to))
    if (!value.ok)
      return yield* new CommandFailed({ message: `'${found.name}' ${asSentence(value.error ?? "does not answer")}` })
    const text = Output.print(value.tools.map(({ name, title }) => `${name}  ${title}`).join("\n"))
    yield* Output.result({ schema: McpServerTested, value, text, name: found.name })
  })
)

const switching = (word: "enable" | "disable") =>
  Command.make(word, { server, ...Client.connection }, (given) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const { client, found } = yield* findServer(to, given.server)
      const payload = { enabled: word === "enable" }
      const value = yield* client.update({ path: { id: found.id }, payload }).pipe(Client.orExplain(to))
      const said = payload.enabled ? "are offered." : "are not offered any more."
      const text = Output.note(`The tools of '${found.name}' ${said}`)
      yield* Output.result({ schema: OneServer, value, text, name: found.name })
    })
  )

export const mcpEnable = switching("enable")
export const mcpDisable = switching("disable")

export const mcpRemove = Command.make("remove", { server, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const { client, found } = yield* findServer(to, given.server)
    yield* client.remove({ path: { id: found.id } }).pipe(Client.orExplain(to))
    yield* Output.done({ removed: found.id, name: found.name }, `'${found.name}' was removed.`, found.name)
  })
)
