/** Rules for the tools that a request may offer and an answer may call. Pure. */
import type { ToolPolicy } from "../../../contract/domain/AnswerRules.ts"
import type { WireName } from "../../../contract/domain/Wire.ts"
import { anyWildcard } from "../../../kernel/text/Wildcards.ts"
import { isArray, isObject, type Json, type JsonObject, stringOr } from "../../../wire/json/Json.ts"

export type MayUse = (name: string) => boolean

/** The rule of a policy; null where all tools may be used. */
export const ruleOf = ({ mode, tools }: ToolPolicy): MayUse | null => {
  if (mode === "off") return null
  const isListed = anyWildcard(tools)
  return mode === "allow" ? isListed : (name) => !isListed(name)
}

export interface Offer {
  /** The body without the tools that may not be used; the same where all may. */
  readonly body: JsonObject
  /** Names of the tools that it offers then. */
  readonly offered: ReadonlySet<string>
  /** Names of those that were taken out. */
  readonly refused: ReadonlyArray<string>
}

/** Returns the allowed rest of one tool, or of an entry with several; null when there is none. */
type Remaining = (tool: Json, keep: MayUse) => Json | null

/** Tools of a namespace are judged by their own names. */
const ofOpenAi: Remaining = (tool, keep) => {
  if (!isObject(tool)) return tool
  if (tool["type"] === "namespace" && isArray(tool["tools"])) {
    const tools = tool["tools"].filter((inner) => ofOpenAi(inner, keep) !== null)
    return tools.length === 0 ? null : tools.length === tool["tools"].length ? tool : { ...tool, tools }
  }
  const spec = isObject(tool["function"]) ? tool["function"] : isObject(tool["custom"]) ? tool["custom"] : tool
  const name = stringOr(spec["name"]) ?? stringOr(tool["type"]) ?? ""
  return keep(name) ? tool : null
}

const functionLists = new Set(["functionDeclarations", "function_declarations"])

/** An entry holds functions, tools of the provider by their member, or both. */
const ofGemini: Remaining = (entry, keep) => {
  if (!isObject(entry)) return entry
  const kept = Object.entries(entry).flatMap(([name, value]): ReadonlyArray<readonly [string, Json | undefined]> => {
    if (!functionLists.has(name)) return keep(name) ? [[name, value]] : []
    if (!isArray(value)) return [[name, value]]
    const functions = value.filter((spec) => !isObject(spec) || keep(stringOr(spec["name"]) ?? ""))
    return functions.length === 0 ? [] : [[name, functions.length === value.length ? value : functions]]
  })
  return kept.length === 0 ? null : Object.fromEntries(kept)
}

const remaining: Readonly<Record<WireName, Remaining>> = {
  chat: ofOpenAi,
  messages: ofOpenAi,
  responses: ofOpenAi,
  gemini: ofGemini,
  ollama: ofOpenAi
}

/** Members that say which tool must be called: without one of its tools a request is refused for them. */
const choices = ["tool_choice", "toolConfig", "tool_config", "function_call", "parallel_tool_calls"]

/** The tools of a request of `wire`, by a rule. */
export const offerOf = (wire: WireName, body: JsonObject, mayUse: MayUse | null): Offer => {
  const offered = new Set<string>()
  const refused: Array<string> = []
  const keep: MayUse = (name) => {
    const may = mayUse === null || mayUse(name)
    if (may) offered.add(name)
    else refused.push(name)
    return may
  }
  const changed: Record<string, Json | undefined> = {}
  // `functions` is the older list of the chat wire.
  for (const member of ["tools", "functions"]) {
    const tools = body[member]
    if (!isArray(tools)) continue
    const before = refused.length
    const kept = tools.flatMap((tool) => remaining[wire](tool, keep) ?? [])
    if (refused.length > before) changed[member] = kept.length === 0 ? undefined : kept
  }
  if (refused.length === 0) return { body, offered, refused }
  for (const choice of choices) if (body[choice] !== undefined) changed[choice] = undefined
  const entries = Object.entries({ ...body, ...changed }).filter(([, value]) => value !== undefined)
  return { body: Object.fromEntries(entries), offered, refused }
}
