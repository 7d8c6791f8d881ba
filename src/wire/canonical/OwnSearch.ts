/** A client's wish for a search of the web in the form of an upstream that has a search of its own. Pure. */
import type { WireName } from "../../contract/domain/Wire.ts"
import { isArray, isObject, type JsonObject } from "../json/Json.ts"
import type { Conversation } from "./Conversation.ts"
import { forcedTool } from "./tools/ForcedTools.ts"
import {
  isSearchTool,
  type SearchWire,
  unsaid,
  webSearchAsk,
  type WebSearchAsk,
  withoutWebSearch,
  writeWebSearch
} from "./WebSearchAsk.ts"

export interface OwnSearch {
  /** The conversation with the target's own tool. */
  readonly conversation: Conversation
  /** Puts into the request what stands beside the tools. */
  readonly complete: (body: JsonObject) => JsonObject
  readonly dropped: ReadonlyArray<string>
  readonly mapped: ReadonlyArray<string>
}

/** Checks whether a choice of the client leaves no other tool than the search. */
export const isSearchForced = (conversation: Conversation, ask: WebSearchAsk): boolean => {
  const forced = forcedTool(conversation)
  if (forced === null) return false
  if (forced.tool === ask.name) return true
  return (
    conversation.tools.some((tool) => isSearchTool(tool) && tool.kind === forced.tool) || isFormOfSearch(forced.tool)
  )
}

const isFormOfSearch = (name: string): boolean => name.startsWith("web_search")

/** The conversation without a choice that names the search; a mere demand for any tool stays. */
export const withoutSearchChoice = (conversation: Conversation, ask: WebSearchAsk): Conversation => {
  const { extras, toolChoice } = conversation
  const { tool_choice: foreign, ...rest } = extras
  const names =
    toolChoice?.type === "tool" && !conversation.tools.some((tool) => "name" in tool && tool.name === toolChoice.name)
  return {
    ...conversation,
    toolChoice: names && toolChoice.name === ask.name ? null : toolChoice,
    extras: conversation.wire === "responses" && isObject(foreign) && isSearchForced(conversation, ask) ? rest : extras
  }
}

/** The choice that names the search in the target's form. */
const choiceIn = (wire: WireName): JsonObject => {
  if (wire === "messages") return { tool_choice: { type: "tool", name: "web_search" } }
  return wire === "responses" ? { tool_choice: { type: "web_search" } } : {}
}

/** Asks for the sources: without it the pages that were found are not told. Only the maker's own endpoint is known to take it. */
const withSources = (wire: WireName, isDocumented: boolean, body: JsonObject): JsonObject =>
  wire === "responses" && isDocumented
    ? { include: [...(isArray(body["include"]) ? body["include"] : []), "web_search_call.action.sources"] }
    : {}

/** Null: no search is asked for, or the target has no form for it. */
export const ownSearchFor = (conversation: Conversation, target: WireName, isDocumented: boolean): OwnSearch | null => {
  const ask = webSearchAsk(conversation)
  if (ask === null || target === "ollama" || target === conversation.wire) return null
  const wire: SearchWire = target
  const { members, missing, tool } = writeWebSearch(wire, ask)
  const chosen = withoutSearchChoice(conversation, ask)
  const named = chosen.toolChoice !== conversation.toolChoice || chosen.extras !== conversation.extras
  const bare = withoutWebSearch(chosen)
  return {
    conversation: { ...bare, tools: tool === null ? bare.tools : [...bare.tools, tool] },
    complete: (body) => ({
      ...body,
      ...members,
      ...withSources(wire, isDocumented, body),
      ...(named ? choiceIn(wire) : {})
    }),
    dropped: unsaid(conversation.wire, ask, missing),
    mapped: [ask.field]
  }
}
