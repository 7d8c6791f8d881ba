/** The methods of an MCP server: what is answered to each request, whatever the transport. */
import * as Effect from "effect/Effect"
import { closest } from "../kernel/Closest.ts"
import { version } from "../platform/Version.ts"
import { isObject, type JsonObject, objectOr, stringOr } from "../wire/json/Json.ts"
import { type Caller, missingScopes } from "./Caller.ts"
import { pageAt } from "./Pages.ts"
import { invalidParams, RpcError, rpcCodes, type RpcRequest } from "./protocol/JsonRpc.ts"
import { negotiated } from "./protocol/Versions.ts"
import { makeReading, type Readable } from "./Reading.ts"
import { resultOf, shortViewOf, type Tool, type ToolCall, type ToolOutput, viewOf } from "./Tool.ts"

/** What a server offers. */
export interface Offer extends Readable {
  /** The tools of a caller; those whose scopes it lacks are among them. */
  readonly tools: (caller: Caller) => Effect.Effect<ReadonlyArray<Tool>>
  /** The tool of this name, whatever its scopes; null: the caller is offered none. Does not wait for servers that it is not of. */
  readonly tool: (name: string, caller: Caller) => Effect.Effect<Tool | null>
  /** Called for each call of a tool, however it ended. */
  readonly called: (tool: Tool, input: JsonObject, call: ToolCall, output: ToolOutput) => Effect.Effect<void>
  /** Whether descriptions are shortened (`GATEWAY_MCP_COMPRESS_DESCRIPTIONS`). */
  readonly isShort: () => boolean
}

export interface McpServer {
  readonly answer: (request: RpcRequest, call: ToolCall) => Effect.Effect<JsonObject, RpcError>
}

const instructions =
  "This gateway routes requests to AI providers. Read the state of it with tools whose annotations say readOnlyHint; " +
  "gateway_explain_route shows how a model id is routed, gateway_list_models_catalog what can be asked for. " +
  "gateway_tool_search finds a tool by words, and the resources gateway://skills/<id> are manuals with examples."

const initialized = (params: JsonObject): JsonObject => ({
  protocolVersion: negotiated(params["protocolVersion"]),
  capabilities: {
    tools: { listChanged: true },
    resources: { subscribe: false, listChanged: false },
    prompts: { listChanged: false },
    completions: {}
  },
  serverInfo: { name: "gateway", title: "Gateway", version },
  instructions
})

const permitted = (tools: ReadonlyArray<Tool>, caller: Caller): ReadonlyArray<Tool> =>
  tools.filter(({ scopes }) => missingScopes(caller, scopes).length === 0)

const unknownTool = (name: string, tools: ReadonlyArray<Tool>): RpcError => {
  const near = closest(
    name,
    tools.map((tool) => tool.name),
    1
  )
  const hint = near.length === 0 ? "" : ` Did you mean '${near[0]}'?`
  return invalidParams(`Unknown tool: ${name.slice(0, 100)}.${hint}`)
}

export const makeServer = (offer: Offer): McpServer => {
  const reading = makeReading(offer)
  const listTools = (params: JsonObject, caller: Caller) =>
    Effect.gen(function* () {
      const tools = permitted(yield* offer.tools(caller), caller)
      const { items, next } = yield* pageAt(tools, ({ name }) => name, params)
      return { tools: items.map(offer.isShort() ? shortViewOf : viewOf), ...next }
    })

  const callTool = (params: JsonObject, call: ToolCall) =>
    Effect.gen(function* () {
      const name = stringOr(params["name"])
      if (name === null) return yield* invalidParams("'name' must be the name of a tool.")
      const input = params["arguments"] ?? {}
      if (!isObject(input)) return yield* invalidParams("'arguments' must be an object.")
      const tool = yield* offer.tool(name, call.caller)
      if (tool === null) return yield* unknownTool(name, permitted(yield* offer.tools(call.caller), call.caller))
      const missing = missingScopes(call.caller, tool.scopes)
      const output: ToolOutput =
        missing.length === 0
          ? yield* tool.call(input, call)
          : {
              structured: null,
              error: `This caller lacks the scope ${missing.map((one) => `'${one}'`).join(" and ")}.`
            }
      yield* offer.called(tool, input, call, output)
      return resultOf(output)
    })

  return {
    answer: ({ method, params }, call) => {
      switch (method) {
        case "initialize":
          return Effect.succeed(initialized(params))
        case "ping":
          return Effect.succeed({})
        case "tools/list":
          return listTools(params, call.caller)
        case "tools/call":
          return callTool(objectOr(params), call)
        case "resources/list":
          return reading.listResources(params, call.caller)
        case "resources/templates/list":
          return reading.listTemplates(params, call.caller)
        case "resources/read":
          return reading.readResource(params, call)
        case "prompts/list":
          return reading.listPrompts(params, call.caller)
        case "prompts/get":
          return reading.getPrompt(params, call)
        case "completion/complete":
          return reading.complete(params, call)
        default:
          return new RpcError({
            code: rpcCodes.methodNotFound,
            message: `There is no method '${method.slice(0, 100)}'.`
          })
      }
    }
  }
}
