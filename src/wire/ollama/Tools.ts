/**
 * Tool definitions of the ollama wire, both ways. It has no tool choice: the model decides.
 *
 * https://docs.ollama.com/capabilities/tool-calling
 */
import type { Conversation, Tool } from "../canonical/Conversation.ts"
import type { DropLog } from "../canonical/DropLog.ts"
import { objectSchema } from "../canonical/tools/ToolArgs.ts"
import { type FieldReader, mismatch } from "../json/FieldReader.ts"
import { extrasOf, isObject, type JsonObject, optional } from "../json/Json.ts"

const toolMembers = new Set(["type", "function"])
const functionMembers = new Set(["name", "description", "parameters"])

const decodeTool = (tool: JsonObject, path: string, read: FieldReader): Tool | null => {
  const spec = read.object(tool, "function", path)
  const name = spec === undefined ? undefined : read.string(spec, "name", `${path}.function`)
  if (spec === undefined || name === undefined || name === "") {
    read.fail(`${path}.function.name`, "a tool needs a name")
    return null
  }
  const extras = { ...extrasOf(tool, toolMembers), ...extrasOf(spec, functionMembers) }
  return {
    type: "function",
    name,
    ...optional("description", read.string(spec, "description", `${path}.function`)),
    ...optional("schema", read.object(spec, "parameters", `${path}.function`)),
    ...(Object.keys(extras).length > 0 ? { extras } : {})
  }
}

export const decodeTools = (body: JsonObject, read: FieldReader): ReadonlyArray<Tool> =>
  (read.array(body, "tools") ?? []).flatMap((tool, index) => {
    if (isObject(tool)) return decodeTool(tool, `tools[${index}]`, read) ?? []
    read.fail(`tools[${index}]`, mismatch(tool, "an object"))
    return []
  })

const encodeTool = (tool: Tool, own: boolean, log: DropLog): JsonObject | null => {
  switch (tool.type) {
    case "function": {
      if (tool.strict === true) log.drop("toolStrict")
      if (tool.cacheControl !== undefined) log.dropField("tools.cache_control")
      if (!own) for (const key of Object.keys(tool.extras ?? {})) log.dropField(`tools.${key}`)
      return {
        type: "function",
        function: {
          name: tool.name,
          ...optional("description", tool.description),
          ...optional("parameters", own ? tool.schema : objectSchema(tool.schema)),
          ...(own ? tool.extras : {})
        }
      }
    }
    case "custom":
      // They arrive as JSON tools (`canonical/ToolAdaptation.ts`).
      log.dropField("tools.custom")
      return null
    case "builtin":
      log.dropField(`tools.${tool.kind}`)
      return null
  }
}

/**
 * The tools to send: with a list of allowed ones only those. A call can be neither forced nor forbidden on this wire, and a conversation
 * that has used its tools needs their definitions.
 */
const offered = ({ toolChoice, tools }: Conversation, log: DropLog): ReadonlyArray<Tool> => {
  switch (toolChoice?.type) {
    case "allowed": {
      if (toolChoice.mode === "required") log.dropField("tool_choice")
      else log.mapField("tool_choice")
      const names = new Set(toolChoice.names)
      return tools.filter((tool) => tool.type !== "builtin" && names.has(tool.name))
    }
    case "none":
    case "required":
    case "tool":
      log.dropField("tool_choice")
      return tools
    default:
      return tools
  }
}

export const encodeTools = (conversation: Conversation, log: DropLog): JsonObject => {
  if (conversation.parallelToolCalls === false) log.drop("parallel")
  const own = conversation.wire === "ollama"
  const tools = offered(conversation, log).flatMap<JsonObject>((tool) => encodeTool(tool, own, log) ?? [])
  return tools.length === 0 ? {} : { tools }
}
