/**
 * Tool definitions and tool choice of the chat wire, both ways.
 *
 * https://developers.openai.com/api/docs/guides/function-calling
 */
import type { Conversation, Tool, ToolChoice } from "../canonical/Conversation.ts"
import type { DropLog } from "../canonical/DropLog.ts"
import { strictFor } from "../canonical/tools/StrictTools.ts"
import { objectSchema } from "../canonical/tools/ToolArgs.ts"
import { hasUnion, withoutUnion } from "../canonical/tools/UnionSchemas.ts"
import { type FieldReader, mismatch } from "../json/FieldReader.ts"
import { extrasOf, isObject, type JsonObject, optional, stringOr } from "../json/Json.ts"

const functionMembers = new Set(["name", "description", "parameters", "strict"])
const toolMembers = new Set(["type", "function", "cache_control"])
const customMembers = {
  outer: new Set(["type", "custom", "cache_control"]),
  inner: new Set(["name", "description", "format"])
}

const decodeTool = (tool: JsonObject, path: string, read: FieldReader): Tool | null => {
  const cacheControl = optional("cacheControl", read.object(tool, "cache_control", path))
  if (tool["type"] === "function" || (tool["type"] === undefined && isObject(tool["function"]))) {
    const at = `${path}.function`
    const spec = read.object(tool, "function", path)
    const name = spec === undefined ? undefined : read.string(spec, "name", at)
    if (spec === undefined || name === undefined || name === "") {
      read.fail(`${at}.name`, "a tool needs a name")
      return null
    }
    const extras = { ...extrasOf(tool, toolMembers), ...extrasOf(spec, functionMembers) }
    return {
      type: "function",
      name,
      ...optional("description", read.string(spec, "description", at)),
      ...optional("schema", read.object(spec, "parameters", at)),
      ...optional("strict", read.boolean(spec, "strict", at)),
      ...cacheControl,
      ...(Object.keys(extras).length > 0 ? { extras } : {})
    }
  }
  const kind = read.string(tool, "type", path)
  if (kind === undefined) {
    read.fail(`${path}.type`, "a tool needs a type")
    return null
  }
  if (kind !== "custom") return { type: "builtin", wire: "chat", kind, value: tool }
  const spec = read.object(tool, "custom", path)
  const name = spec === undefined ? undefined : read.string(spec, "name", `${path}.custom`)
  if (spec === undefined || name === undefined) {
    read.fail(`${path}.custom.name`, "a tool needs a name")
    return null
  }
  return {
    type: "custom",
    name,
    ...optional("description", read.string(spec, "description", `${path}.custom`)),
    ...optional("format", read.object(spec, "format", `${path}.custom`)),
    ...cacheControl,
    ...optional("extras", extrasOf(tool, customMembers.outer)),
    ...optional("inner", extrasOf(spec, customMembers.inner))
  }
}

export const decodeTools = (body: JsonObject, read: FieldReader): ReadonlyArray<Tool> =>
  (read.array(body, "tools") ?? []).flatMap((tool, index) => {
    if (isObject(tool)) return decodeTool(tool, `tools[${index}]`, read) ?? []
    read.fail(`tools[${index}]`, mismatch(tool, "an object"))
    return []
  })

const nameOf = (value: unknown): string | null => (isObject(value) ? stringOr(value["name"]) : null)

export const decodeToolChoice = (body: JsonObject, read: FieldReader): ToolChoice | null => {
  const choice = body["tool_choice"]
  if (choice === undefined || choice === null) return null
  if (choice === "auto" || choice === "none" || choice === "required") return { type: choice }
  if (isObject(choice)) {
    const name = nameOf(choice["function"]) ?? nameOf(choice["custom"])
    if (name !== null) return { type: "tool", name }
    const allowed = choice["allowed_tools"]
    if (isObject(allowed)) {
      const tools = read.array(allowed, "tools", "tool_choice.allowed_tools") ?? []
      const names = tools.flatMap((tool) =>
        isObject(tool) ? (nameOf(tool["function"]) ?? nameOf(tool["custom"]) ?? nameOf(tool) ?? []) : []
      )
      return { type: "allowed", mode: allowed["mode"] === "required" ? "required" : "auto", names }
    }
  }
  read.fail("tool_choice", "expected 'auto', 'none', 'required', or an object that names a tool")
  return null
}

/** A schema as the target takes it: OpenAI's own endpoint refuses unions at the root. */
const parametersFor = (schema: JsonObject | undefined, isOpenAi: boolean, log: DropLog): JsonObject => {
  if (!isOpenAi || !hasUnion(schema)) return objectSchema(schema)
  log.map("toolSchema")
  return withoutUnion(objectSchema(schema))
}

const encodeTool = (tool: Tool, conversation: Conversation, isOpenAi: boolean, log: DropLog): JsonObject | null => {
  const own = conversation.wire === "chat"
  switch (tool.type) {
    case "function": {
      if (tool.cacheControl !== undefined && !own) log.dropField("tools.cache_control")
      if (!own) for (const key of Object.keys(tool.extras ?? {})) log.dropField(`tools.${key}`)
      const parameters = own ? tool.schema : parametersFor(tool.schema, isOpenAi, log)
      return {
        type: "function",
        function: {
          name: tool.name,
          ...optional("description", tool.description),
          ...optional("parameters", parameters),
          ...optional("strict", strictFor(conversation, tool, log)),
          ...(own ? tool.extras : {})
        },
        ...(own ? optional("cache_control", tool.cacheControl) : {})
      }
    }
    case "custom":
      return {
        type: "custom",
        custom: {
          name: tool.name,
          ...optional("description", tool.description),
          ...optional("format", tool.format),
          ...(own ? tool.inner : {})
        },
        ...(own ? { ...optional("cache_control", tool.cacheControl), ...tool.extras } : {})
      }
    case "builtin":
      if (tool.wire === "chat") return tool.value
      log.dropField(`tools.${tool.kind}`)
      return null
  }
}

const encodeChoice = (choice: ToolChoice, tools: ReadonlyArray<Tool>): JsonObject | string => {
  const reference = (name: string): JsonObject => {
    const custom = tools.some((tool) => tool.type === "custom" && tool.name === name)
    return custom ? { type: "custom", custom: { name } } : { type: "function", function: { name } }
  }
  switch (choice.type) {
    case "tool":
      return reference(choice.name)
    case "allowed":
      return {
        type: "allowed_tools",
        allowed_tools: { mode: choice.mode, tools: choice.names.map(reference) }
      }
    default:
      return choice.type
  }
}

/** Few servers support a list of allowed tools: tools outside of it are not sent. */
const withoutList = (conversation: Conversation, log: DropLog): Conversation => {
  const { toolChoice: choice, tools } = conversation
  if (choice?.type !== "allowed") return conversation
  log.mapField("tool_choice")
  return {
    ...conversation,
    tools: tools.filter((tool) => tool.type !== "builtin" && choice.names.includes(tool.name)),
    toolChoice: { type: choice.mode }
  }
}

/** `tools`, `tool_choice` and `parallel_tool_calls`; the latter two are refused without tools. */
export const encodeTools = (conversation: Conversation, isOpenAi: boolean, log: DropLog): JsonObject => {
  const fitted = isOpenAi || conversation.wire === "chat" ? conversation : withoutList(conversation, log)
  return encodeOffered(fitted, isOpenAi, log)
}

const encodeOffered = (conversation: Conversation, isOpenAi: boolean, log: DropLog): JsonObject => {
  const tools = conversation.tools.flatMap<JsonObject>((tool) => encodeTool(tool, conversation, isOpenAi, log) ?? [])
  if (tools.length === 0) {
    if (conversation.toolChoice !== null) log.dropField("tool_choice")
    if (conversation.parallelToolCalls !== null) log.drop("parallel")
    return {}
  }
  return {
    tools,
    ...(conversation.toolChoice === null
      ? {}
      : { tool_choice: encodeChoice(conversation.toolChoice, conversation.tools) }),
    ...optional("parallel_tool_calls", conversation.parallelToolCalls)
  }
}
