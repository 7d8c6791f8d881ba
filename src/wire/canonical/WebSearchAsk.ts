/**
 * A client's wish that the provider searches the web, as each wire writes it. Read from the four forms, and written in each. Pure.
 *
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool,
 * https://developers.openai.com/api/docs/guides/tools-web-search, https://ai.google.dev/gemini-api/docs/google-search
 */
import type { WireName } from "../../contract/domain/Wire.ts"
import { isArray, isObject, isPositiveInteger, type Json, type JsonObject, objectOr, stringOr } from "../json/Json.ts"
import type { BuiltinTool, Conversation, Tool } from "./Conversation.ts"

/** Place of the searcher, as far as it is known. */
export interface SearchLocation {
  readonly city?: string
  readonly region?: string
  /** ISO 3166, two letters. */
  readonly country?: string
  readonly timezone?: string
}

export interface WebSearchAsk {
  /** The field of the client that asks for it, as it is named in headers. */
  readonly field: string
  /** Name by which a tool choice can mean it. */
  readonly name: string
  /** Most searches for one answer; null where the client sets no limit. */
  readonly maxUses: number | null
  readonly allowedDomains: ReadonlyArray<string>
  readonly blockedDomains: ReadonlyArray<string>
  readonly location: SearchLocation | null
  readonly contextSize: "low" | "medium" | "high" | null
  /** Members that no other wire has, by the client's names. */
  readonly others: ReadonlyArray<string>
}

/** Wires with a form for it. */
export type SearchWire = Exclude<WireName, "ollama">

const formOf: Readonly<Record<WireName, RegExp | null>> = {
  messages: /^web_search_\d{8}$/,
  responses: /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/,
  gemini: /^(?:googleSearch|google_search|googleSearchRetrieval|google_search_retrieval)$/,
  // Some of its clients write a tool of another wire among theirs.
  chat: /^web_search(?:_preview)?(?:_\d{8}|_\d{4}_\d{2}_\d{2})?$/,
  ollama: null
}

/** The member of the chat wire that asks for it. */
export const chatOptions = "web_search_options"

const isSearchKind = (wire: WireName, kind: string): boolean => formOf[wire]?.test(kind) === true

export const isSearchTool = (tool: Tool): tool is BuiltinTool =>
  tool.type === "builtin" && isSearchKind(tool.wire, tool.kind)

/** Hot: checks whether a request may ask for it. Looks at the kinds of its tools alone. */
export const asksForWebSearch = (wire: WireName, body: JsonObject): boolean => {
  if (wire === "chat" && isObject(body[chatOptions])) return true
  const { tools } = body
  if (!isArray(tools) || wire === "ollama") return false
  for (const tool of tools) {
    if (!isObject(tool)) continue
    if (wire === "gemini") {
      for (const name of Object.keys(tool)) if (isSearchKind(wire, name)) return true
    } else if (typeof tool["type"] === "string" && isSearchKind(wire, tool["type"])) return true
  }
  return false
}

/** Domains, and letters of one, that are looked at. */
const maxDomains = 100
const maxDomainChars = 253

const domainsOf = (value: Json | undefined): ReadonlyArray<string> =>
  isArray(value)
    ? value
        .flatMap((item) => (typeof item === "string" && item !== "" && item.length <= maxDomainChars ? item : []))
        .slice(0, maxDomains)
    : []

const locationMembers = ["city", "region", "country", "timezone"] as const
const maxPlaceChars = 200

const locationOf = (value: Json | undefined): SearchLocation | null => {
  const isPresent = objectOr(value)
  const place: { -readonly [K in keyof SearchLocation]: string } = {}
  for (const member of locationMembers) {
    const said = stringOr(isPresent[member]) ?? ""
    if (said !== "" && said.length <= maxPlaceChars) place[member] = said
  }
  return Object.keys(place).length === 0 ? null : place
}

const sizeOf = (value: Json | undefined): WebSearchAsk["contextSize"] =>
  value === "low" || value === "medium" || value === "high" ? value : null

/** Members that say what tool it is, and nothing of the search. */
const labels: ReadonlySet<string> = new Set(["type", "name", "cache_control"])

const othersIn = (tool: JsonObject, known: ReadonlyArray<string>): ReadonlyArray<string> =>
  Object.entries(tool).flatMap(([name, value]) =>
    labels.has(name) || known.includes(name) || value === null || value === undefined ? [] : name
  )

const asMessages = (tool: JsonObject): Omit<WebSearchAsk, "field" | "name"> => ({
  maxUses: isPositiveInteger(tool["max_uses"]) ? tool["max_uses"] : null,
  allowedDomains: domainsOf(tool["allowed_domains"]),
  blockedDomains: domainsOf(tool["blocked_domains"]),
  location: locationOf(tool["user_location"]),
  contextSize: null,
  others: othersIn(tool, ["max_uses", "allowed_domains", "blocked_domains", "user_location"])
})

const asResponses = (tool: JsonObject): Omit<WebSearchAsk, "field" | "name"> => {
  const filters = objectOr(tool["filters"])
  return {
    maxUses: null,
    allowedDomains: domainsOf(filters["allowed_domains"]),
    blockedDomains: domainsOf(filters["blocked_domains"]),
    location: locationOf(tool["user_location"]),
    contextSize: sizeOf(tool["search_context_size"]),
    others: othersIn(tool, ["filters", "user_location", "search_context_size"])
  }
}

const asGemini = (tool: JsonObject): Omit<WebSearchAsk, "field" | "name"> => {
  const [inner] = Object.values(tool)
  const search = objectOr(inner)
  return {
    maxUses: null,
    allowedDomains: [],
    blockedDomains: domainsOf(search["excludeDomains"] ?? search["exclude_domains"]),
    location: null,
    contextSize: null,
    others: othersIn(search, ["excludeDomains", "exclude_domains"])
  }
}

const ofTool = ({ kind, value, wire }: BuiltinTool): WebSearchAsk => {
  const field = `tools.${kind}`
  const name = stringOr(value["name"]) ?? kind
  if (wire === "gemini") return { field, name, ...asGemini(value) }
  const isMessages = /_\d{8}$/.test(kind) || value["max_uses"] !== undefined
  return { field, name, ...(isMessages ? asMessages(value) : asResponses(value)) }
}

const ofOptions = (options: JsonObject): WebSearchAsk => {
  const location = objectOr(options["user_location"])
  return {
    field: chatOptions,
    name: "web_search",
    maxUses: null,
    allowedDomains: domainsOf(objectOr(options["filters"])["allowed_domains"]),
    blockedDomains: domainsOf(objectOr(options["filters"])["blocked_domains"]),
    location: locationOf(isObject(location["approximate"]) ? location["approximate"] : location),
    contextSize: sizeOf(options["search_context_size"]),
    others: othersIn(options, ["user_location", "search_context_size", "filters"])
  }
}

/** One wire limits the calls of all tools of its provider together, beside them. */
const callLimit = "max_tool_calls"

/** Reads the search that a request asks for; null: none. */
export const webSearchAsk = ({ extras, tools, wire }: Conversation): WebSearchAsk | null => {
  const tool = tools.find(isSearchTool)
  if (tool !== undefined) {
    const ask = ofTool(tool)
    const limit = wire === "responses" ? extras[callLimit] : undefined
    return isPositiveInteger(limit) ? { ...ask, maxUses: limit } : ask
  }
  const options = wire === "chat" ? extras[chatOptions] : undefined
  return isObject(options) ? ofOptions(options) : null
}

/** A tool in the form of a wire, and members of the ask that it has no place for, by its own words. */
export interface WrittenSearch {
  /** An entry of `tools`; null on the chat wire, where it is a member of the request. */
  readonly tool: BuiltinTool | null
  /** Members of the request beside the tools. */
  readonly members: JsonObject
  readonly missing: ReadonlyArray<keyof WebSearchAsk>
}

const given = (ask: WebSearchAsk, member: keyof WebSearchAsk): boolean => {
  const value = ask[member]
  return value !== null && !(isArray(value) && value.length === 0)
}

const missingOf = (ask: WebSearchAsk, ...members: ReadonlyArray<keyof WebSearchAsk>): WrittenSearch["missing"] =>
  members.filter((member) => given(ask, member))

const builtin = (wire: WireName, kind: string, value: JsonObject): BuiltinTool => ({
  type: "builtin",
  wire,
  kind,
  value
})

const approximate = ({ location }: WebSearchAsk): JsonObject =>
  location === null ? {} : { user_location: { type: "approximate", ...location } }

const listIf = (name: string, domains: ReadonlyArray<string>): JsonObject =>
  domains.length === 0 ? {} : { [name]: domains }

/** One list per request there: what may be searched says more than what may not. */
const toMessages = (ask: WebSearchAsk): WrittenSearch => {
  const isAllowed = ask.allowedDomains.length > 0
  const value = {
    type: "web_search_20250305",
    name: "web_search",
    ...(ask.maxUses === null ? {} : { max_uses: ask.maxUses }),
    ...listIf("allowed_domains", ask.allowedDomains),
    ...(isAllowed ? {} : listIf("blocked_domains", ask.blockedDomains)),
    ...approximate(ask)
  }
  const missing = missingOf(ask, "contextSize", ...(isAllowed ? (["blockedDomains"] as const) : []))
  return { tool: builtin("messages", value.type, value), members: {}, missing }
}

const toResponses = (ask: WebSearchAsk, kind: string): WrittenSearch => {
  const filters = {
    ...listIf("allowed_domains", ask.allowedDomains),
    ...listIf("blocked_domains", ask.blockedDomains)
  }
  const value = {
    type: kind,
    ...(Object.keys(filters).length === 0 ? {} : { filters }),
    ...approximate(ask),
    ...(ask.contextSize === null ? {} : { search_context_size: ask.contextSize })
  }
  // It counts the calls of all tools that the provider runs; this is the only one that is offered.
  const members = ask.maxUses === null ? {} : { max_tool_calls: ask.maxUses }
  return { tool: builtin("responses", kind, value), members, missing: [] }
}

const toGemini = (ask: WebSearchAsk): WrittenSearch => ({
  tool: builtin("gemini", "googleSearch", { googleSearch: {} }),
  members: {},
  missing: missingOf(ask, "maxUses", "allowedDomains", "blockedDomains", "location", "contextSize")
})

const toChat = (ask: WebSearchAsk): WrittenSearch => ({
  tool: null,
  members: {
    [chatOptions]: {
      ...(ask.location === null ? {} : { user_location: { type: "approximate", approximate: { ...ask.location } } }),
      ...(ask.contextSize === null ? {} : { search_context_size: ask.contextSize })
    }
  },
  missing: missingOf(ask, "maxUses", "allowedDomains", "blockedDomains")
})

export const writeWebSearch = (wire: SearchWire, ask: WebSearchAsk): WrittenSearch => {
  switch (wire) {
    case "messages":
      return toMessages(ask)
    case "responses":
      return toResponses(ask, "web_search")
    case "gemini":
      return toGemini(ask)
    case "chat":
      return toChat(ask)
  }
}

/** Names of the ask's members in the client's own form. */
const ownWords: Readonly<Record<SearchWire, Partial<Record<keyof WebSearchAsk, string>>>> = {
  messages: {
    maxUses: "max_uses",
    allowedDomains: "allowed_domains",
    blockedDomains: "blocked_domains",
    location: "user_location"
  },
  responses: {
    allowedDomains: "filters.allowed_domains",
    blockedDomains: "filters.blocked_domains",
    location: "user_location",
    contextSize: "search_context_size"
  },
  gemini: { blockedDomains: "excludeDomains" },
  chat: {
    maxUses: "max_uses",
    allowedDomains: "filters.allowed_domains",
    blockedDomains: "filters.blocked_domains",
    location: "user_location",
    contextSize: "search_context_size"
  }
}

/** Fields of the client that a form has no place for. */
export const unsaid = (
  wire: WireName,
  { field, others }: WebSearchAsk,
  missing: ReadonlyArray<keyof WebSearchAsk>
): ReadonlyArray<string> => {
  const words = wire === "ollama" ? {} : ownWords[wire]
  return [...missing.map((member) => words[member] ?? member), ...others].map((name) => `${field}.${name}`)
}

/** A conversation that asks for no search, with everything else in it. */
export const withoutWebSearch = (conversation: Conversation): Conversation => {
  const { wire } = conversation
  const { [chatOptions]: _options, ...beside } = conversation.extras
  const { [callLimit]: _limit, ...unlimited } = conversation.extras
  const tools: ReadonlyArray<Tool> = conversation.tools.filter((tool) => !isSearchTool(tool))
  const isOnly = tools.length < conversation.tools.length && tools.every(({ type }) => type !== "builtin")
  const extras = wire === "chat" ? beside : wire === "responses" && isOnly ? unlimited : conversation.extras
  return { ...conversation, tools, extras }
}
