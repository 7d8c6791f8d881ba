/**
 * Detects a forced tool that the provider runs itself: no upstream of another wire can run it, and without it the model would invent its
 * results. Pure.
 */
import { isArray, isObject, type JsonObject, stringOr } from "../../json/Json.ts"
import type { BuiltinTool, Conversation } from "../Conversation.ts"

/** The tool, by the client's name. */
export interface ForcedTool {
  /** The client's field that forces it. */
  readonly field: string
  readonly tool: string
}

const isBuiltin = (tool: Conversation["tools"][number]): tool is BuiltinTool => tool.type === "builtin"

const nameOf = ({ kind, value }: BuiltinTool): string => stringOr(value["name"]) ?? kind

/** A choice of the responses wire without a canonical form: one tool by its type, or a list of allowed ones. */
const foreignChoice = ({ extras, wire }: Conversation): JsonObject | null => {
  const choice = wire === "responses" ? extras["tool_choice"] : undefined
  return isObject(choice) ? choice : null
}

const isNamed = (tool: unknown): boolean => isObject(tool) && (tool["type"] === "function" || tool["type"] === "custom")

/** The forced type; null for a list that also allows other tools. */
const forcedType = (choice: JsonObject): string | null => {
  if (choice["type"] !== "allowed_tools") return stringOr(choice["type"])
  const tools = choice["tools"]
  if (choice["mode"] !== "required" || !isArray(tools) || tools.some(isNamed)) return null
  const [first] = tools
  return isObject(first) ? stringOr(first["type"]) : null
}

const forcedBuiltin = (conversation: Conversation): string | null => {
  const { toolChoice: choice, tools } = conversation
  const foreign = foreignChoice(conversation)
  if (foreign !== null) return forcedType(foreign)
  const builtins = tools.filter(isBuiltin)
  const [first] = builtins
  if (choice === null || first === undefined) return null
  const named = tools.flatMap((tool) => (isBuiltin(tool) ? [] : [tool.name]))
  switch (choice.type) {
    case "tool":
      return named.includes(choice.name) ? null : (builtins.map(nameOf).find((name) => name === choice.name) ?? null)
    case "required":
      return named.length === 0 ? nameOf(first) : null
    case "allowed": {
      const others = choice.names.some((name) => named.includes(name))
      const own = builtins.map(nameOf).find((name) => choice.names.includes(name))
      return choice.mode === "required" && !others ? (own ?? null) : null
    }
    default:
      return null
  }
}

/** Null unless a tool is forced that only the client's own wire can run. */
export const forcedTool = (conversation: Conversation): ForcedTool | null => {
  const tool = forcedBuiltin(conversation)
  return tool === null ? null : { field: conversation.wire === "gemini" ? "toolConfig" : "tool_choice", tool }
}
