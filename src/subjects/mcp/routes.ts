/** The MCP server: its state, its tools and their calls (docs/mcp.md). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { exactOptional, field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { UnavailableAnswer } from "../../contract/Errors.ts"
import { exampleKeyId, exampleTime } from "../../contract/Examples.ts"

export const McpStatus = Schema.Struct({
  status: field(Schema.Literal("online", "off"), "Whether the server answers.", "online"),
  online: field(Schema.Boolean, "The same as a yes or no.", true),
  enabled: field(Schema.Boolean, "The setting `mcpEnabled`.", true),
  transport: field(
    Schema.Literal("streamable-http"),
    "How it is spoken to; `gateway --mcp` is the same over stdio.",
    "streamable-http"
  ),
  httpTransport: field(
    Schema.Struct({
      url: field(Schema.String, "Where it answers.", "http://127.0.0.1:20128/mcp"),
      sessions: field(Schema.Number, "Sessions of clients.", 1)
    }),
    "The server over HTTP."
  ),
  scopesEnforced: field(Schema.Boolean, "The flag `GATEWAY_MCP_ENFORCE_SCOPES`.", true),
  tools: field(Schema.Number, "How many tools there are, as far as is known without asking registered servers.", 37),
  activity: field(
    Schema.Struct({
      totalCalls24h: field(Schema.Number, "Calls in the last 24 hours.", 12),
      successRate: field(Schema.NullOr(Schema.Number), "The part of them that succeeded; null: there was none.", 1),
      avgDurationMs: field(Schema.NullOr(Schema.Number), "How long they took on average, in milliseconds.", 8),
      topTools: field(
        Schema.Array(
          Schema.Struct({
            tool: field(Schema.String, "Name of the tool.", "gateway_get_health"),
            calls: field(Schema.Number, "Its calls.", 5)
          })
        ),
        "Those that were called most."
      ),
      lastCallAt: field(Schema.NullOr(Schema.String), "When the last call came, ISO 8601.", exampleTime),
      lastCallTool: field(Schema.NullOr(Schema.String), "Its tool.", "gateway_get_health")
    }),
    "What was called."
  )
}).annotations({ identifier: "McpStatus" })
export type McpStatus = typeof McpStatus.Type

export const McpRestarted = Schema.Struct({
  restarted: field(Schema.Literal(true), "Always true."),
  sessions: field(Schema.Number, "Sessions of clients that were ended.", 1),
  servers: field(Schema.Number, "Registered servers that begin anew.", 2)
}).annotations({ identifier: "McpRestarted" })

export const McpToolView = Schema.Struct({
  name: field(Schema.String, "Its name.", "gateway_get_health"),
  server: field(Schema.NullOr(Schema.String), "The registered server it is of; null: it is the gateway's own.", null),
  title: field(Schema.String, "Its title.", "Show its health"),
  description: field(Schema.String, "What it does.", "Counts of providers, connections and breakers."),
  scopes: field(Schema.Array(Schema.String), "What a key needs for it.", ["read:health"]),
  effect: field(Schema.Literal("read", "write", "destroy"), "What it changes.", "read")
}).annotations({ identifier: "McpTool" })

export const McpCallView = Schema.Struct({
  id: field(Schema.String, "Id of the call.", exampleKeyId),
  timestamp: field(Schema.String, "When it came, ISO 8601.", exampleTime),
  tool: field(Schema.String, "The tool.", "gateway_get_health"),
  apiKeyId: field(Schema.NullOr(Schema.String), "The API key that called; null: none did.", exampleKeyId),
  inputHash: field(
    Schema.String,
    "SHA-256 of what was given, in hex.",
    "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
  ),
  outputSummary: field(Schema.String, "How it ended.", "ok, 512 characters"),
  durationMs: field(Schema.Number, "How long it took, in milliseconds.", 4),
  success: field(Schema.Boolean, "Whether it succeeded.", true)
}).annotations({ identifier: "McpCall" })
export type McpCallView = typeof McpCallView.Type

const whole = (least: number, most: number) =>
  Schema.NumberFromString.pipe(Schema.int(), Schema.between(least, most)).annotations({
    jsonSchema: { type: "integer", minimum: least, maximum: most }
  })

export const McpAuditQuery = Schema.Struct({
  tool: field(
    exactOptional(Schema.String.pipe(Schema.maxLength(200))),
    "Only calls of this tool.",
    "gateway_get_health"
  ),
  limit: field(exactOptional(whole(1, 1_000)), "How many calls to answer at most. Default: 100.", 100),
  offset: field(exactOptional(whole(0, 1_000_000)), "How many of the newest to leave out.", 0)
})

const at = endpointsOf("mcp")

export class Mcp extends HttpApiGroup.make("mcp")
  .annotate(OpenApi.Title, "MCP server")
  .annotate(OpenApi.Description, "The MCP server: its state, its tools and their calls.")
  .add(
    at("status", { summary: "Show the MCP server's state", description: "Whether it is on, and what was called." })
      .addSuccess(McpStatus)
      .addError(UnavailableAnswer)
  )
  .add(
    at("restart", {
      summary: "Restart the MCP server",
      description:
        "Ends the sessions of all clients with their calls, and the programs and connections of registered servers; clients begin another session, programs are started again when they are needed. The rest of the gateway goes on."
    })
      .addSuccess(McpRestarted)
      .addError(UnavailableAnswer)
  )
  .add(
    at("tools", {
      summary: "List the MCP tools",
      description: "All of them, those of registered servers too, with the scopes that a key needs."
    }).addSuccess(Schema.Struct({ tools: field(Schema.Array(McpToolView), "The tools.") }))
  )
  .add(
    at("audit", {
      summary: "List calls of MCP tools",
      description: "The newest first. What was given is kept as a hash only."
    })
      .setUrlParams(McpAuditQuery)
      .addSuccess(Schema.Struct({ calls: field(Schema.Array(McpCallView), "The calls.") }))
      .addError(UnavailableAnswer)
  ) {}
