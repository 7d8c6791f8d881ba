/** MCP servers of others: their tools are offered at the gateway's own MCP server (docs/mcp.md). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, ForbiddenAnswer, NotFoundAnswer } from "../../contract/Errors.ts"
import { exampleId, exampleTime } from "../../contract/Examples.ts"
import {
  body,
  clearable,
  Created,
  HeaderMap,
  HttpUrl,
  nextCursor,
  total,
  NoContent,
  optional,
  ReadOnly,
  Text
} from "../../contract/Inputs.ts"
import { observed } from "../../kernel/Observed.ts"

const words = {
  name: ["Comes before the names of its tools: `<name>__<tool>`.", "docs"],
  url: ["Where it speaks streamable HTTP; a program has none.", "https://mcp.example.com/mcp"],
  headers: ["Sent with every request, in place of those before; null: none.", null],
  command: [
    "Absolute path of a program that speaks MCP over its standard input and output; null: it has a URL.",
    null,
    "/usr/local/bin/docs-server"
  ],
  args: ["Arguments of the program; null: it has a URL.", null],
  env: ["Variables of the program's environment, in place of those before; null: it has a URL.", null],
  timeoutMs: ["How long each request may take, in milliseconds.", 30_000],
  enabled: ["Whether its tools are offered.", true],
  allowedTools: ["Names of the tools that are offered, `*` in them for any text; null: all of them.", null],
  allowedKeys: ["Ids of the API keys that may use it; null: every key with the scope `execute:skills`.", null]
} as const

const Names = Schema.Array(Schema.String)

export const McpServerView = Schema.Struct({
  id: field(Schema.String, "Id of the server, in paths of this API.", exampleId),
  name: field(Schema.String, ...words.name),
  transport: field(Schema.Literal("http", "stdio"), "How it is spoken to.", "http"),
  url: field(Schema.NullOr(Schema.String), ...words.url),
  headerNames: field(Names, "Names of the headers that are sent with every request.", ["authorization"]),
  command: field(Schema.NullOr(Schema.String), ...words.command),
  args: field(Schema.NullOr(Names), "Arguments of the program; secrets are masked.", null),
  envNames: field(Names, "Names of the variables of the program's environment.", []),
  timeoutMs: field(Schema.Number, ...words.timeoutMs),
  enabled: field(Schema.Boolean, ...words.enabled),
  allowedTools: field(Schema.NullOr(Names), ...words.allowedTools),
  allowedKeys: field(Schema.NullOr(Names), ...words.allowedKeys),
  status: observed(
    Schema.Literal("off", "idle", "online", "down"),
    "`off`: it is disabled; `idle`: it was not asked yet; `online`: its tools are known; `down`: it failed the last time.",
    "online"
  ),
  lastError: observed(Schema.NullOr(Schema.String), "What was wrong the last time; null: nothing.", null),
  toolCount: observed(Schema.NullOr(Schema.Number), "How many of its tools are offered; null: not known.", 4),
  serverInfo: observed(
    Schema.NullOr(
      Schema.Struct({
        name: field(Schema.String, "Its own name.", "docs-server"),
        version: field(Schema.String, "Its version.", "1.2.0")
      })
    ),
    "As it calls itself; null: not known."
  ),
  protocolVersion: observed(Schema.NullOr(Schema.String), "The version of MCP that is spoken with it.", "2025-11-25"),
  lastSeenAt: observed(Schema.NullOr(Schema.String), "When it answered last, ISO 8601; null: never.", exampleTime),
  createdAt: field(Schema.String, "When it was registered, ISO 8601.", exampleTime),
  updatedAt: field(Schema.String, "When it was last changed, ISO 8601.", exampleTime)
}).annotations({ identifier: "McpServer" })
export type McpServerView = typeof McpServerView.Type

/** Name of a server, without an underscore, so that an offered name has one meaning. */
const ServerName = Schema.Trim.pipe(
  Schema.pattern(/^[a-z0-9][a-z0-9-]{0,30}$/, {
    message: () => "must be 1 to 31 lower-case letters, digits or hyphens, and begin with a letter or digit"
  })
)

const noNul = (text: string): string | true => (text.includes("\0") ? "must not hold a NUL character" : true)

const Command = Text.pipe(Schema.maxLength(1024), Schema.filter(noNul))
const Argument = Schema.Redacted(Schema.String.pipe(Schema.maxLength(8192), Schema.filter(noNul)))
const Arguments = Schema.Array(Argument).pipe(Schema.maxItems(64))

const Environment = Schema.Record({ key: Schema.String, value: Schema.Redacted(Schema.String) }).pipe(
  Schema.filter((given) => {
    const entries = Object.entries(given)
    if (entries.length > 64) return "must hold at most 64 variables"
    const isWrong = ([name, value]: readonly [string, Redacted.Redacted]) =>
      !/^[A-Za-z_]\w{0,127}$/.test(name) || Redacted.value(value).length > 8192 || Redacted.value(value).includes("\0")
    return entries.some(isWrong) ? "must hold valid names and values of variables" : true
  })
)

const TimeoutMs = Schema.Int.pipe(Schema.between(1_000, 300_000))
const ToolNames = Schema.Array(Text.pipe(Schema.maxLength(128))).pipe(Schema.maxItems(256))
const KeyIds = Schema.Array(Text.pipe(Schema.maxLength(64))).pipe(Schema.maxItems(1_000))

const settings = {
  url: field(optional(HttpUrl), ...words.url),
  headers: field(clearable(HeaderMap), ...words.headers),
  command: field(optional(Command), ...words.command),
  args: field(optional(Arguments), ...words.args),
  env: field(optional(Environment), ...words.env),
  timeoutMs: field(optional(TimeoutMs), ...words.timeoutMs),
  enabled: field(optional(Schema.Boolean), ...words.enabled),
  allowedTools: field(clearable(ToolNames), ...words.allowedTools),
  allowedKeys: field(clearable(KeyIds), ...words.allowedKeys)
}

/** Either `url`, or `command` with `args` and `env`. */
export const CreateMcpServer = Schema.Struct({ name: field(ServerName, ...words.name), ...settings }).annotations(
  body("CreateMcpServer")
)
export type CreateMcpServer = typeof CreateMcpServer.Type

/** Update of a server; an absent member stays as it is. A masked argument that is sent back stays as it is, too. */
export const UpdateMcpServer = Schema.Struct({
  name: field(optional(ServerName), ...words.name),
  ...settings,
  id: ReadOnly,
  transport: ReadOnly,
  headerNames: ReadOnly,
  envNames: ReadOnly,
  status: ReadOnly,
  lastError: ReadOnly,
  toolCount: ReadOnly,
  serverInfo: ReadOnly,
  protocolVersion: ReadOnly,
  lastSeenAt: ReadOnly,
  createdAt: ReadOnly,
  updatedAt: ReadOnly
}).annotations(body("UpdateMcpServer"))
export type UpdateMcpServer = typeof UpdateMcpServer.Type

const One = Schema.Struct({ server: field(McpServerView, "The server.") }).annotations({
  identifier: "McpServerAnswer"
})

const OfferedTool = Schema.Struct({
  name: field(Schema.String, "As it is offered.", "docs__search"),
  title: field(Schema.String, "Its title.", "Search the pages"),
  description: field(Schema.String, "What it does.", "Finds pages by words.")
}).annotations({ identifier: "McpServerTool" })

export const McpServerTested = Schema.Struct({
  ok: field(Schema.Boolean, "Whether it listed its tools.", true),
  error: field(Schema.NullOr(Schema.String), "Why it did not.", null),
  latencyMs: field(Schema.Number, "How long it took, in milliseconds.", 120),
  tools: field(Schema.Array(OfferedTool), "Those that are offered.")
}).annotations({ identifier: "McpServerTested" })
export type McpServerTested = typeof McpServerTested.Type

const at = endpointsOf("mcpServers", { id: ["Id of the server.", exampleId] })

export class McpServers extends HttpApiGroup.make("mcpServers")
  .annotate(OpenApi.Title, "MCP servers of others")
  .annotate(
    OpenApi.Description,
    "MCP servers whose tools are offered at this gateway's own MCP server, named `<server>__<tool>`."
  )
  .add(
    at("list", {
      summary: "List registered MCP servers",
      description: "All of them, the oldest first, with the state each was in the last time it was asked.",
      paged: true
    }).addSuccess(
      Schema.Struct({
        servers: field(Schema.Array(McpServerView), "The servers of the page."),
        nextCursor,
        total
      }).annotations({
        identifier: "McpServerList"
      })
    )
  )
  .add(
    at("create", {
      summary: "Register an MCP server",
      description:
        "By its `url`, or as a program (`command`, `args`, `env`), which needs the session of a login and a direct connection from the gateway's own machine.",
      example: { name: "docs", url: "https://mcp.example.com/mcp", timeoutMs: 20_000 }
    })
      .setPayload(CreateMcpServer)
      .addSuccess(Created(One))
      .addError(ConflictAnswer)
      .addError(ForbiddenAnswer)
  )
  .add(
    at("get", { summary: "Show a registered MCP server", description: "The server; its secrets are masked." })
      .addSuccess(One)
      .addError(NotFoundAnswer)
  )
  .add(
    at("update", {
      summary: "Change a registered MCP server",
      description: "What is absent stays as it is. A change of a program needs what its registration needs.",
      example: { enabled: true, allowedTools: ["search*"] }
    })
      .setPayload(UpdateMcpServer)
      .addSuccess(One)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
      .addError(ForbiddenAnswer)
  )
  .add(
    at("remove", {
      summary: "Remove a registered MCP server",
      description: "Its tools are not offered any more; a program is ended."
    })
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
  )
  .add(
    at("test", {
      summary: "Test a registered MCP server",
      description:
        "Connects now and lists its tools, also of a server that is disabled. That of a program needs what its registration needs."
    })
      .addSuccess(McpServerTested)
      .addError(NotFoundAnswer)
      .addError(ForbiddenAnswer)
  ) {}
