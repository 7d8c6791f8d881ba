/**
 * Tool definitions and tool choice of the messages wire, both ways.
 *
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview
 */
import type { Conversation, Tool, ToolChoice } from "../canonical/Conversation.ts"
import type { DropLog } from "../canonical/DropLog.ts"
import { objectSchema } from "../canonical/tools/ToolArgs.ts"
import { hasUnion, withoutUnion } from "../canonical/tools/UnionSchemas.ts"
import { type FieldReader, mismatch } from "../json/FieldReader.ts"
import { extrasOf, isObject, type JsonObject, optional } from "../json/Json.ts"

const toolMembers = new Set(["type", "name", "description", "input_schema", "strict", "cache_control"])

const decodeTool = (tool: JsonObject, path: string, read: FieldReader): Tool | null => {
  const kind = read.string(tool, "type", path) ?? "custom"
  // On this wire `custom` is a tool of the client; every other type runs at the provider.
  if (kind !== "custom") return { type: "builtin", wire: "messages", kind, value: tool }
  const name = read.string(tool, "name", path)
  if (name === undefined || name === "") {
    read.fail(`${path}.name`, "a tool needs a name")
    return null
  }
  return {
    type: "function",
    name,
    ...optional("description", read.string(tool, "description", path)),
    ...optional("schema", read.object(tool, "input_schema", path)),
    ...optional("strict", read.boolean(tool, "strict", path)),
    ...optional("cacheControl", read.object(tool, "cache_control", path)),
    ...optional("extras", extrasOf(tool, toolMembers))
  }
}

export const decodeTools = (body: JsonObject, read: FieldReader): ReadonlyArray<Tool> =>
  (read.array(body, "tools") ?? []).flatMap((tool, index) => {
    if (isObject(tool)) return decodeTool(tool, `tools[${index}]`, read) ?? []
    read.fail(`tools[${index}]`, mismatch(tool, "an object"))
    return []
  })

export const decodeToolChoice = (
  body: JsonObject,
  read: FieldReader
): Pick<Conversation, "toolChoice" | "parallelToolCalls"> => {
  const choice = read.object(body, "tool_choice")
  if (choice === undefined) return { toolChoice: null, parallelToolCalls: null }
  const off = read.boolean(choice, "disable_parallel_tool_use", "tool_choice")
  const parallelToolCalls = off === undefined ? null : !off
  switch (choice["type"]) {
    case "auto":
    case "none":
      return { toolChoice: { type: choice["type"] }, parallelToolCalls }
    case "any":
      return { toolChoice: { type: "required" }, parallelToolCalls }
    case "tool": {
      const name = read.string(choice, "name", "tool_choice")
      if (name === undefined) read.fail("tool_choice.name", "the tool's name is required")
      return { toolChoice: { type: "tool", name: name ?? "" }, parallelToolCalls }
    }
    default:
      read.fail("tool_choice.type", "expected 'auto', 'any', 'tool' or 'none'")
      return { toolChoice: null, parallelToolCalls: null }
  }
}

const encodeTool = (tool: Tool, own: boolean, log: DropLog): JsonObject | null => {
  switch (tool.type) {
    case "function":
      if (!own && tool.strict === true) log.drop("toolStrict")
      if (!own) for (const key of Object.keys(tool.extras ?? {})) log.dropField(`tools.${key}`)
      if (!own && hasUnion(tool.schema)) log.map("toolSchema")
      return {
        name: tool.name,
        ...optional("description", tool.description),
        input_schema: own && tool.schema !== undefined ? tool.schema : withoutUnion(objectSchema(tool.schema)),
        ...optional("cache_control", tool.cacheControl),
        ...(own ? { ...optional("strict", tool.strict), ...tool.extras } : {})
      }
    case "custom":
      // They arrive as JSON tools (`canonical/ToolAdaptation.ts`).
      log.dropField("tools.custom")
      return null
    case "builtin":
      if (tool.wire === "messages") return tool.value
      log.dropField(`tools.${tool.kind}`)
      return null
  }
}

const encodeChoice = (choice: ToolChoice | null, conversation: Conversation, log: DropLog): JsonObject => {
  const parallel = conversation.parallelToolCalls
  if (choice === null && parallel !== false) return {}
  const isSet = parallel === false || (parallel === true && conversation.wire === "messages")
  const serial = isSet ? { disable_parallel_tool_use: !parallel } : {}
  switch (choice?.type) {
    case "none":
      return { tool_choice: { type: "none" } }
    case "tool":
      return { tool_choice: { type: "tool", name: choice.name, ...serial } }
    case "required":
      return { tool_choice: { type: "any", ...serial } }
    case "allowed":
      log.mapField("tool_choice")
      return { tool_choice: { type: choice.mode === "required" ? "any" : "auto", ...serial } }
    default:
      return { tool_choice: { type: "auto", ...serial } }
  }
}

const nameOfTool = (tool: Tool): string | null => (tool.type === "builtin" ? null : tool.name)

/** `tools` and `tool_choice`. The wire has no list of allowed tools: tools outside of it are not sent. */
export const encodeTools = (conversation: Conversation, log: DropLog): JsonObject => {
  const choice = conversation.toolChoice
  const offered = conversation.tools.filter((tool) => {
    const name = nameOfTool(tool)
    return choice?.type !== "allowed" || (name !== null && choice.names.includes(name))
  })
  const own = conversation.wire === "messages"
  const tools = offered.flatMap<JsonObject>((tool) => encodeTool(tool, own, log) ?? [])
  if (tools.length === 0) {
    if (choice !== null) log.dropField("tool_choice")
    if (conversation.parallelToolCalls !== null) log.drop("parallel")
    return {}
  }
  return { tools, ...encodeChoice(choice, conversation, log) }
}
