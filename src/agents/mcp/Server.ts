/** The methods of an MCP server: what is answered to each request, whatever the transport. */
import * as Effect from "effect/Effect"
import { closest } from "../../kernel/text/Closest.ts"
import { version } from "../../platform/Version.ts"
import { isObject, type JsonObject, objectOr, stringOr } from "../../wire/json/Json.ts"
import { type Caller, endpointProblem, missingScopes } from "./Caller.ts"
import { pageAt } from "./Pages.ts"
import { invalidParams, RpcError, rpcCodes, type RpcRequest } from "./protocol/JsonRpc.ts"
import { negotiated } from "./protocol/Versions.ts"
import { makeReading, type Readable } from "./Reading.ts"
import { failed, type ListWish, resultOf, type Tool, type ToolCall, type ToolOutput } from "./Tool.ts"
import { listedAs, toolUri } from "./ToolView.ts"

/** Tools, resources and prompts that a server offers. */
export interface Offer extends Readable {
  /** The tools of a caller; those whose scopes it lacks are among them. */
  readonly tools: (caller: Caller) => Effect.Effect<ReadonlyArray<Tool>>
  /** The tool of this name, whatever its scopes; null: the caller is offered none. Does not wait for servers that it is not of. */
  readonly tool: (name: string, caller: Caller) => Effect.Effect<Tool | null>
  /** Called for each call of a tool, however it ended. */
  readonly called: (tool: Tool, input: JsonObject, call: ToolCall, output: ToolOutput) => Effect.Effect<void>
  /** Tells whether descriptions are shortened (`GATEWAY_MCP_COMPRESS_DESCRIPTIONS`). */
  readonly isShort: () => boolean
}

export interface McpServer {
  readonly answer: (request: RpcRequest, call: ToolCall) => Effect.Effect<JsonObject, RpcError>
}

const instructions =
  "This gateway routes requests to AI providers. Read the state of it with tools whose annotations say readOnlyHint; " +
  "gateway_explain_route shows how a model id is routed, gateway_list_models_catalog what can be asked for. " +
  "gateway_tool_search finds a tool by words, the resources gateway://tools/<name> have the whole schema of one, and gateway://skills/<id> are manuals " +
  "with examples."

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

/** Describes why the caller may not call a tool, as a sentence; null: it may. */
export const toolProblem = ({ category, scopes }: Tool, caller: Caller): string | null => {
  const missing = missingScopes(caller, scopes)
  if (missing.length > 0) return `This caller lacks the scope ${missing.map((one) => `'${one}'`).join(" and ")}.`
  return category === undefined ? null : endpointProblem(caller, category)
}

const permitted = (tools: ReadonlyArray<Tool>, caller: Caller): ReadonlyArray<Tool> =>
  tools.filter((tool) => toolProblem(tool, caller) === null)

const chosen = (tools: ReadonlyArray<Tool>, { toolsets }: ListWish): ReadonlyArray<Tool> =>
  toolsets === null ? tools : tools.filter(({ toolset }) => toolset === null || toolsets.has(toolset))

/** Adds the address of the whole schema, which the list does not show, so that a wrong input can be corrected. */
const withSchema = (tool: Tool, output: ToolOutput): ToolOutput =>
  output.isBadInput !== true || output.error === null
    ? output
    : { ...output, error: `${output.error} The whole schema: resource ${toolUri}${tool.name}` }

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
  const listTools = (params: JsonObject, { caller, listed }: ToolCall) =>
    Effect.gen(function* () {
      const tools = chosen(permitted(yield* offer.tools(caller), caller), listed)
      const { items, next } = yield* pageAt(tools, ({ name }) => name, params)
      const isBrief = offer.isShort()
      return { tools: items.map((tool) => listedAs(tool, listed, isBrief)), ...next }
    })

  const callTool = (params: JsonObject, call: ToolCall) =>
    Effect.gen(function* () {
      const name = stringOr(params["name"])
      if (name === null) return yield* invalidParams("'name' must be the name of a tool.")
      const input = params["arguments"] ?? {}
      if (!isObject(input)) return yield* invalidParams("'arguments' must be an object.")
      const tool = yield* offer.tool(name, call.caller)
      if (tool === null) return yield* unknownTool(name, permitted(yield* offer.tools(call.caller), call.caller))
      const problem = toolProblem(tool, call.caller)
      const output = problem === null ? withSchema(tool, yield* tool.call(input, call)) : failed(problem)
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
          return listTools(params, call)
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
