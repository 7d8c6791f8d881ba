/** The MCP server as endpoints, for `CompatApi`. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { asking, words } from "./Described.ts"
import { anyObject, maybe, others } from "./Open.ts"

const version = field(Schema.Literal("2.0"), "Always `2.0`.")
const Id = Schema.Union(Schema.String, Schema.Number)

const RpcMessage = Schema.Struct(
  {
    jsonrpc: version,
    id: field(maybe(Id), "Names the request in its answer; absent: a notification, which has none.", 1),
    method: field(maybe(Schema.String), "What is asked for.", "tools/list"),
    params: field(maybe(anyObject), "As the method takes them.", {})
  },
  others
).annotations({ identifier: "McpMessage" })

const RpcAnswer = Schema.Struct({
  jsonrpc: version,
  id: field(
    maybe(Schema.NullOr(Id)),
    "That of the request; null: none could be found in what was sent; absent: a notification was refused.",
    1
  ),
  result: field(maybe(anyObject), "As the method gives it.", { tools: [] }),
  error: field(maybe(anyObject), "In place of a result: `code` and `message`.", {
    code: -32_601,
    message: "There is no method 'tools/lists'."
  })
}).annotations({ identifier: "McpAnswer" })

export const RpcErrorBody = Schema.Struct(
  {
    error: field(
      Schema.Struct(
        {
          code: field(Id, "Of JSON-RPC; a word where the request was refused before its message was read.", -32_600),
          message: field(Schema.String, "What is wrong, and what can be done about it.", "'method' is missing.")
        },
        others
      ),
      "Why the request failed."
    )
  },
  others
).annotations({ identifier: "McpError", description: "The error of the MCP server." })

export const sendMessage = HttpApiEndpoint.post("sendMessage", "/mcp")
  .setPayload(RpcMessage)
  .addSuccess(RpcAnswer)
  .annotateContext(
    asking(
      "Send a message to the MCP server",
      "The Model Context Protocol over streamable HTTP (docs/mcp.md). Notifications are answered 202; a call whose client asked for its progress is answered by a stream of events.",
      { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }
    )
  )

export const listen = HttpApiEndpoint.get("listen", "/mcp")
  .addSuccess(
    HttpApiSchema.Text({ contentType: "text/event-stream" }).annotations({
      description: "Messages of the server, as they come.",
      examples: ['event: message\ndata: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n']
    })
  )
  .annotateContext(
    words("Listen to the MCP server", "What the server tells the session in `Mcp-Session-Id` by itself.")
  )

export const endSession = HttpApiEndpoint.del("endSession", "/mcp").annotateContext(
  words("End an MCP session", "Ends the session in `Mcp-Session-Id` and its calls under way.")
)
