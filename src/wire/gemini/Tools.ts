/**
 * Tool definitions and tool choice of the gemini wire, both ways.
 *
 * https://ai.google.dev/gemini-api/docs/function-calling
 */
import type { Conversation, FunctionTool, Tool, ToolChoice } from "../canonical/Conversation.ts"
import { objectSchema } from "../canonical/tools/ToolArgs.ts"
import { hasUnion } from "../canonical/tools/UnionSchemas.ts"
import type { DropLog } from "../canonical/DropLog.ts"
import { type FieldReader, mismatch } from "../json/FieldReader.ts"
import { extrasOf, isObject, type Json, type JsonObject, optional, stringOr } from "../json/Json.ts"
import { camel, listOf } from "./Casing.ts"
import { fromOpenApi, isEmptyObject, toOpenApi } from "./SchemaCleaning.ts"

const functionMembers = new Set(["name", "description", "parameters", "parametersJsonSchema"])

const decodeFunction = (source: Json, path: string, read: FieldReader): Tool | null => {
  if (!isObject(source)) {
    read.fail(path, mismatch(source, "an object"))
    return null
  }
  const spec = camel(source)
  const name = read.string(spec, "name", path)
  if (name === undefined || name === "") {
    read.fail(`${path}.name`, "a function needs a name")
    return null
  }
  const parameters = read.object(spec, "parameters", path)
  return {
    type: "function",
    name,
    ...optional("description", read.string(spec, "description", path)),
    ...optional("schema", read.object(spec, "parametersJsonSchema", path) ?? (parameters && fromOpenApi(parameters))),
    ...optional("extras", extrasOf(spec, functionMembers))
  }
}

/** One entry holds a list of functions, tools that the provider runs itself, or both. */
const decodeEntry = (entry: JsonObject, path: string, read: FieldReader): ReadonlyArray<Tool> =>
  Object.entries(camel(entry)).flatMap(([key, value]): ReadonlyArray<Tool> => {
    if (value === undefined || value === null) return []
    if (key !== "functionDeclarations") return [{ type: "builtin", wire: "gemini", kind: key, value: { [key]: value } }]
    return (listOf(value) ?? []).flatMap(
      (spec, index) => decodeFunction(spec, `${path}.functionDeclarations[${index}]`, read) ?? []
    )
  })

export const decodeTools = (body: JsonObject, read: FieldReader): ReadonlyArray<Tool> =>
  (read.array(body, "tools") ?? []).flatMap((entry, index) => {
    if (isObject(entry)) return decodeEntry(entry, `tools[${index}]`, read)
    read.fail(`tools[${index}]`, mismatch(entry, "an object"))
    return []
  })

const choiceOf = (mode: string, names: ReadonlyArray<string>): ToolChoice | null => {
  const [only] = names
  switch (mode) {
    case "AUTO":
      return { type: "auto" }
    case "NONE":
      return { type: "none" }
    case "VALIDATED":
      return names.length === 0 ? { type: "auto" } : { type: "allowed", mode: "auto", names }
    case "ANY":
      if (only === undefined) return { type: "required" }
      return names.length === 1 ? { type: "tool", name: only } : { type: "allowed", mode: "required", names }
    default:
      return null
  }
}

/** The decoded `toolConfig`; `extra` is all of it when a canonical choice cannot express it. */
export interface DecodedConfig {
  readonly choice: ToolChoice | null
  readonly extra: JsonObject | null
}

export const decodeToolConfig = (body: JsonObject, read: FieldReader): DecodedConfig => {
  const source = read.object(body, "toolConfig")
  if (source === undefined) return { choice: null, extra: null }
  const config = camel(source)
  const calling = camel(read.object(config, "functionCallingConfig", "toolConfig") ?? {})
  const path = "toolConfig.functionCallingConfig"
  const mode = read.string(calling, "mode", path)?.toUpperCase() ?? "MODE_UNSPECIFIED"
  const names = (read.array(calling, "allowedFunctionNames", path) ?? []).flatMap((name) => stringOr(name) ?? [])
  const choice = choiceOf(mode, names)
  if (choice === null && mode !== "MODE_UNSPECIFIED") read.fail(`${path}.mode`, "expected 'AUTO', 'ANY' or 'NONE'")
  const more = { ...config, ...calling }
  const isPlain = Object.keys(more).every((key) => configMembers.has(key))
  return { choice, extra: isPlain && mode !== "VALIDATED" ? null : config }
}

const configMembers = new Set(["functionCallingConfig", "mode", "allowedFunctionNames"])

/**
 * The older `parameters` where it can express the schema, because every server accepts it; else JSON Schema as it is. For a client of
 * this wire always JSON Schema, because the member it used is no longer known.
 */
const parametersOf = (schema: JsonObject | undefined, own: boolean): JsonObject => {
  if (schema === undefined) return {}
  if (own) return { parametersJsonSchema: schema }
  // The older form has unions, but not at the root.
  if (hasUnion(schema)) return { parametersJsonSchema: objectSchema(schema) }
  if (isEmptyObject(schema)) return {}
  const parameters = toOpenApi(schema)
  return parameters === null ? { parametersJsonSchema: schema } : { parameters }
}

const encodeFunction = (tool: FunctionTool, own: boolean, log: DropLog): JsonObject => {
  if (tool.strict === true) log.drop("toolStrict")
  if (tool.cacheControl !== undefined) log.dropField("tools.cache_control")
  if (!own) for (const key of Object.keys(tool.extras ?? {})) log.dropField(`tools.${key}`)
  return {
    name: tool.name,
    ...optional("description", tool.description),
    ...parametersOf(tool.schema, own),
    ...(own ? tool.extras : {})
  }
}

const encodeChoice = (choice: ToolChoice): JsonObject => {
  const functionCallingConfig = ((): JsonObject => {
    switch (choice.type) {
      case "required":
        return { mode: "ANY" }
      case "tool":
        return { mode: "ANY", allowedFunctionNames: [choice.name] }
      case "allowed":
        // `auto` with a list: tools outside of it are not sent.
        return choice.mode === "required" ? { mode: "ANY", allowedFunctionNames: choice.names } : { mode: "AUTO" }
      default:
        return { mode: choice.type.toUpperCase() }
    }
  })()
  return { toolConfig: { functionCallingConfig } }
}

/** All functions are in one list, at the position of the first. */
const encodeList = (tools: ReadonlyArray<Tool>, own: boolean, log: DropLog): ReadonlyArray<JsonObject> => {
  const functions: Array<JsonObject> = []
  const entries: Array<JsonObject> = []
  for (const tool of tools) {
    switch (tool.type) {
      case "function":
        if (functions.length === 0) entries.push({ functionDeclarations: functions })
        functions.push(encodeFunction(tool, own, log))
        break
      case "custom":
        // They arrive as JSON tools (`canonical/ToolAdaptation.ts`).
        log.dropField("tools.custom")
        break
      case "builtin":
        if (tool.wire === "gemini") entries.push(tool.value)
        else log.dropField(`tools.${tool.kind}`)
    }
  }
  return entries
}

const isOffered = (tool: Tool, choice: ToolChoice | null): boolean =>
  choice?.type !== "allowed" ||
  choice.mode === "required" ||
  (tool.type !== "builtin" && choice.names.includes(tool.name))

/** `tools` and `toolConfig`; a choice has no meaning without functions. */
export const encodeTools = (conversation: Conversation, log: DropLog): JsonObject => {
  const own = conversation.wire === "gemini"
  const choice = conversation.toolChoice
  if (conversation.parallelToolCalls === false) log.drop("parallel")
  const offered = own ? conversation.tools : conversation.tools.filter((tool) => isOffered(tool, choice))
  if (offered.length < conversation.tools.length) log.mapField("tool_choice")
  const tools = encodeList(offered, own, log)
  const chooses = own || offered.some((tool) => tool.type === "function")
  if (choice !== null && !chooses) log.dropField("tool_choice")
  return { ...(tools.length === 0 ? {} : { tools }), ...(choice !== null && chooses ? encodeChoice(choice) : {}) }
}
