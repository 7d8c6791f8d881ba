/**
 * Tool definitions and tool choice of the responses wire, both ways.
 *
 * https://developers.openai.com/api/docs/guides/function-calling
 */
import type {
  BuiltinTool,
  Conversation,
  CustomTool,
  FunctionTool,
  Tool,
  ToolChoice
} from "../canonical/Conversation.ts"
import type { DropLog } from "../canonical/DropLog.ts"
import { strictFor } from "../canonical/tools/StrictTools.ts"
import { objectSchema } from "../canonical/tools/ToolArgs.ts"
import { hasUnion, withoutUnion } from "../canonical/tools/UnionSchemas.ts"
import { type FieldReader, mismatch } from "../json/FieldReader.ts"
import { extrasOf, isArray, isObject, type JsonObject, optional, stringOr } from "../json/Json.ts"
import { flatName, nameOf } from "./ToolNames.ts"

const members = {
  function: new Set(["type", "name", "description", "parameters", "strict"]),
  custom: new Set(["type", "name", "description", "format"])
} as const

/** A namespace as its tools carry it (`extras.namespace`), with the tool's name inside it. */
interface Home {
  readonly namespace: JsonObject
  readonly tool: string
}

/** The chat wire nests the members of a grammar; that form is the canonical one. */
const nestFormat = (format: JsonObject): JsonObject => {
  const { type, ...grammar } = format
  return type === "grammar" ? { type, grammar } : format
}

const flattenFormat = (format: JsonObject): JsonObject => {
  const { grammar, type } = format
  return type === "grammar" && isObject(grammar) ? { type, ...grammar } : format
}

interface NamedTool extends JsonObject {
  readonly type: "function" | "custom"
}

const isNamed = (tool: unknown): tool is NamedTool =>
  isObject(tool) && (tool["type"] === "function" || tool["type"] === "custom")

const decodeNamed = (
  tool: NamedTool,
  path: string,
  read: FieldReader,
  home?: JsonObject
): FunctionTool | CustomTool => {
  const own = read.string(tool, "name", path) ?? ""
  if (own === "") read.fail(`${path}.name`, "a tool needs a name")
  const kind = tool.type
  const namespace = home === undefined ? null : (stringOr(home["name"]) ?? "")
  const extras = {
    ...extrasOf(tool, members[kind]),
    ...(home === undefined ? {} : { namespace: { ...extrasOf(home, new Set(["type", "tools"])), tool: own } })
  }
  const common = {
    name: namespace === null ? own : flatName(namespace, own),
    ...optional("description", read.string(tool, "description", path)),
    ...(Object.keys(extras).length === 0 ? {} : { extras })
  }
  if (kind === "custom") {
    const format = read.object(tool, "format", path)
    return { type: kind, ...common, ...(format === undefined ? {} : { format: nestFormat(format) }) }
  }
  return {
    type: kind,
    ...common,
    ...optional("schema", read.object(tool, "parameters", path)),
    ...optional("strict", read.boolean(tool, "strict", path))
  }
}

const decodeTool = (tool: JsonObject, path: string, read: FieldReader): ReadonlyArray<Tool> => {
  if (isNamed(tool)) return [decodeNamed(tool, path, read)]
  const kind = read.string(tool, "type", path)
  if (kind === undefined) {
    read.fail(`${path}.type`, "a tool needs a type")
    return []
  }
  const inner = tool["tools"]
  if (kind === "namespace" && isArray(inner) && inner.length > 0 && inner.every(isNamed)) {
    return inner.map((nested, index) => decodeNamed(nested, `${path}.tools[${index}]`, read, tool))
  }
  return [{ type: "builtin", wire: "responses", kind, value: tool }]
}

export const decodeTools = (body: JsonObject, read: FieldReader): ReadonlyArray<Tool> =>
  (read.array(body, "tools") ?? []).flatMap((tool, index) => {
    if (isObject(tool)) return decodeTool(tool, `tools[${index}]`, read)
    read.fail(`tools[${index}]`, mismatch(tool, "an object"))
    return []
  })

/** Null with `foreign`: a choice of a provider's own tool, which has no canonical form. */
export const decodeToolChoice = (
  body: JsonObject,
  read: FieldReader
): { readonly choice: ToolChoice | null; readonly foreign: JsonObject | null } => {
  const choice = body["tool_choice"]
  if (choice === undefined || choice === null) return { choice: null, foreign: null }
  if (choice === "auto" || choice === "none" || choice === "required") {
    return { choice: { type: choice }, foreign: null }
  }
  if (!isObject(choice)) {
    read.fail("tool_choice", "expected 'auto', 'none', 'required', or an object that names a tool")
    return { choice: null, foreign: null }
  }
  if (isNamed(choice)) {
    const name = nameOf(choice)
    if (name === null) read.fail("tool_choice.name", "the tool's name is required")
    return { choice: { type: "tool", name: name ?? "" }, foreign: null }
  }
  const allowed = choice["type"] === "allowed_tools" ? choice["tools"] : undefined
  if (isArray(allowed) && allowed.every(isNamed)) {
    const mode = choice["mode"] === "required" ? "required" : "auto"
    return { choice: { type: "allowed", mode, names: allowed.flatMap((tool) => nameOf(tool) ?? []) }, foreign: null }
  }
  return { choice: null, foreign: choice }
}

const homeOf = (tool: Tool, own: boolean): Home | null => {
  const namespace = own && tool.type !== "builtin" ? tool.extras?.["namespace"] : undefined
  if (!isObject(namespace)) return null
  const { tool: name, ...rest } = namespace
  return { namespace: rest, tool: stringOr(name) ?? "" }
}

const ownExtras = (tool: FunctionTool | CustomTool, own: boolean, log: DropLog): JsonObject => {
  const { namespace: _namespace, ...extras } = tool.extras ?? {}
  if (own) return extras
  for (const key of Object.keys(tool.extras ?? {})) log.dropField(`tools.${key}`)
  if (tool.cacheControl !== undefined) log.dropField("tools.cache_control")
  return {}
}

const encodeNamed = (
  tool: FunctionTool | CustomTool,
  name: string,
  conversation: Conversation,
  log: DropLog
): JsonObject => {
  const own = conversation.wire === "responses"
  const extras = ownExtras(tool, own, log)
  const head = { type: tool.type, name, ...optional("description", tool.description) }
  if (tool.type === "custom") {
    return { ...head, ...(tool.format === undefined ? {} : { format: flattenFormat(tool.format) }), ...extras }
  }
  if (own) return { ...head, ...optional("parameters", tool.schema), ...optional("strict", tool.strict), ...extras }
  if (hasUnion(tool.schema)) log.map("toolSchema")
  // Only this wire is strict by default.
  return {
    ...head,
    parameters: withoutUnion(objectSchema(tool.schema)),
    strict: strictFor(conversation, tool, log) ?? false
  }
}

const encodeBuiltin = (tool: BuiltinTool, log: DropLog): JsonObject | null => {
  if (tool.wire === "responses") return tool.value
  log.dropField(`tools.${tool.kind}`)
  return null
}

const encodeAll = (conversation: Conversation, log: DropLog): ReadonlyArray<JsonObject> => {
  const own = conversation.wire === "responses"
  const tools: Array<JsonObject> = []
  let groupKey = ""
  let group: Array<JsonObject> = []
  for (const tool of conversation.tools) {
    const home = homeOf(tool, own)
    const encoded =
      tool.type === "builtin" ? encodeBuiltin(tool, log) : encodeNamed(tool, home?.tool ?? tool.name, conversation, log)
    if (encoded === null) continue
    if (home === null) {
      groupKey = ""
      tools.push(encoded)
      continue
    }
    const key = JSON.stringify(home.namespace)
    if (groupKey !== key) {
      groupKey = key
      group = []
      tools.push({ type: "namespace", ...home.namespace, tools: group })
    }
    group.push(encoded)
  }
  return tools
}

const encodeChoice = (choice: ToolChoice, conversation: Conversation): JsonObject | string => {
  const own = conversation.wire === "responses"
  const byName = new Map(conversation.tools.flatMap((tool) => (tool.type === "builtin" ? [] : [[tool.name, tool]])))
  const reference = (name: string): JsonObject => {
    const tool = byName.get(name)
    const home = tool === undefined ? null : homeOf(tool, own)
    const namespace = home === null ? null : stringOr(home.namespace["name"])
    return {
      type: tool?.type === "custom" ? "custom" : "function",
      name: home?.tool ?? name,
      ...optional("namespace", namespace)
    }
  }
  switch (choice.type) {
    case "tool":
      return reference(choice.name)
    case "allowed":
      return { type: "allowed_tools", mode: choice.mode, tools: choice.names.map(reference) }
    default:
      return choice.type
  }
}

/** `tools`, `tool_choice` and `parallel_tool_calls`; for clients of other wires the latter two are sent only with tools. */
export const encodeTools = (conversation: Conversation, log: DropLog): JsonObject => {
  const { parallelToolCalls, toolChoice, wire } = conversation
  const tools = encodeAll(conversation, log)
  if (tools.length === 0 && wire !== "responses") {
    if (toolChoice !== null) log.dropField("tool_choice")
    if (parallelToolCalls !== null) log.drop("parallel")
    return {}
  }
  return {
    ...(tools.length === 0 ? {} : { tools }),
    ...(toolChoice === null ? {} : { tool_choice: encodeChoice(toolChoice, conversation) }),
    ...optional("parallel_tool_calls", parallelToolCalls)
  }
}
