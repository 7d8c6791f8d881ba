/**
 * Reads the facts that a bill depends on besides token counts, from the members of providers on the chat and responses wires: kinds of tokens,
 * tools of the provider, service tier, and the charge itself. Foreign names are bounded.
 */
import type { Documented, UpstreamCharge } from "../../contract/domain/Dialect.ts"
import type { AnswerTerms, BillingFacts, ModalityCounts, ServerToolCounts } from "../../contract/domain/Usage.ts"
import { isArray, isObject, type Json, type JsonObject, numberOr, objectOr, stringOr } from "../json/Json.ts"
import { countOr } from "./Usage.ts"

/** Names of the usual terms, which have the usual price. */
const usual = new Set(["", "auto", "default", "standard", "on_demand", "not_available", "global", "unspecified"])
const maxNameChars = 32

/** A name of a tier, speed or place in lower case; null: it is the usual one, or none. */
export const termOf = (value: Json | undefined): string | null => {
  const text = stringOr(value)
  if (text === null || text.length > maxNameChars) return null
  const name = text.toLowerCase()
  return usual.has(name) || !/^[\w.:-]+$/.test(name) ? null : name
}

const noTerms: AnswerTerms = {}

export const termsOf = (serviceTier: Json | undefined, speed: Json | undefined, geo: Json | undefined): AnswerTerms => {
  if (serviceTier === undefined && speed === undefined && geo === undefined) return noTerms
  const tier = termOf(serviceTier)
  const fast = termOf(speed)
  const place = termOf(geo)
  if (tier === null && fast === null && place === null) return noTerms
  return {
    ...(tier === null ? {} : { serviceTier: tier }),
    ...(fast === null ? {} : { speed: fast }),
    ...(place === null ? {} : { geo: place })
  }
}

type Counts = { -readonly [Name in keyof ModalityCounts]: ModalityCounts[Name] }

interface Kind {
  readonly member: string
  readonly In: keyof ModalityCounts
  readonly Cached: keyof ModalityCounts
  readonly Out: keyof ModalityCounts
}

const kinds: ReadonlyArray<Kind> = [
  { member: "audio_tokens", In: "audioIn", Cached: "audioCached", Out: "audioOut" },
  { member: "image_tokens", In: "imageIn", Cached: "imageCached", Out: "imageOut" },
  { member: "video_tokens", In: "videoIn", Cached: "videoCached", Out: "videoOut" }
]

/** Adds the counts of some details; null: nothing is counted yet. */
const withKinds = (known: Counts | null, details: Json | undefined, side: "In" | "Cached" | "Out"): Counts | null => {
  if (!isObject(details)) return known
  let counts = known
  for (const kind of kinds) {
    const count = countOr(details[kind.member])
    if (count === null || count === 0) continue
    counts ??= {}
    counts[kind[side]] = count
  }
  return counts
}

/** Names under which the details of the prompt and of the answer are. */
const ofPrompt = ["prompt_tokens_details", "input_tokens_details", "input_token_details"]
const ofAnswer = ["completion_tokens_details", "output_tokens_details", "output_token_details"]

/** Hot. */
export const modalitiesOf = (usage: JsonObject): ModalityCounts | undefined => {
  let counts: Counts | null = null
  for (const name of ofPrompt) {
    const details = usage[name]
    if (!isObject(details)) continue
    counts = withKinds(counts, details, "In")
    counts = withKinds(counts, details["cached_tokens_details"], "Cached")
  }
  for (const name of ofAnswer) counts = withKinds(counts, usage[name], "Out")
  const citations = countOr(usage["citation_tokens"])
  if (citations !== null && citations > 0) counts = { ...counts, citations }
  return counts ?? undefined
}

/** More than any answer makes: a larger count is wrong, and would be billed. */
const mostToolUses = 1_000

const useOf = (value: Json | undefined): number => Math.min(countOr(value) ?? 0, mostToolUses)

/** Null where nothing was used. */
export const toolCounts = (counts: Required<ServerToolCounts>): ServerToolCounts | undefined => {
  const used = Object.entries(counts).filter(([, count]) => count > 0)
  return used.length === 0
    ? undefined
    : Object.fromEntries(used.map(([name, count]) => [name, Math.min(count, mostToolUses)]))
}

/** Reads the counts of server tools in a usage object (`perplexity`, `xai`, Anthropic and relays of them). */
const toolsIn = (usage: JsonObject): Required<ServerToolCounts> => {
  const ofServer = objectOr(usage["server_tool_use"])
  const ofXai = objectOr(usage["server_side_tool_usage_details"])
  return {
    webSearches: Math.max(
      useOf(ofServer["web_search_requests"]),
      useOf(usage["num_search_queries"]),
      useOf(usage["web_search_requests"]),
      useOf(ofXai["web_search_calls"]) + useOf(ofXai["x_search_calls"])
    ),
    groundedAnswers: 0,
    fileSearches: useOf(ofXai["file_search_calls"]),
    codeExecutions: Math.max(useOf(ofServer["code_execution_requests"]), useOf(ofXai["code_interpreter_calls"]))
  }
}

const toolMembers = [
  "server_tool_use",
  "server_side_tool_usage_details",
  "num_search_queries",
  "web_search_requests"
] as const

/** Hot. */
export const toolsOf = (usage: JsonObject): ServerToolCounts | undefined =>
  toolMembers.some((name) => usage[name] !== undefined) ? toolCounts(toolsIn(usage)) : undefined

/** Answers have a few items; what is beyond is not looked at. */
const mostItems = 10_000

/**
 * Reads the counts of server tools in a response object: its usage counts none, so its items do, and `tool_usage` where
 * it is there.
 */
export const toolsOfResponse = (response: JsonObject, usage: JsonObject): ServerToolCounts | undefined => {
  const counts = { ...toolsIn(usage) }
  const { output, tool_usage: told } = response
  const made: Record<string, number> = {}
  for (const item of isArray(output) ? output.slice(0, mostItems) : []) {
    if (!isObject(item)) continue
    const type = stringOr(item["type"]) ?? ""
    // Pages that were opened, and what was found in them, are no searches.
    const action = stringOr(objectOr(item["action"])["type"]) ?? "search"
    if (type !== "web_search_call" || action === "search") made[type] = (made[type] ?? 0) + 1
  }
  const toldWeb = countOr(objectOr(objectOr(told)["web_search"])["num_requests"])
  return toolCounts({
    ...counts,
    webSearches: Math.max(counts.webSearches, toldWeb ?? made["web_search_call"] ?? 0),
    fileSearches: Math.max(counts.fileSearches, made["file_search_call"] ?? 0),
    codeExecutions: Math.max(counts.codeExecutions, made["code_interpreter_call"] ?? 0)
  })
}

const numberAt = (usage: JsonObject, path: string): number | null => {
  let place: Json | undefined = usage
  for (const member of path.split(".")) {
    if (!isObject(place)) return null
    place = place[member]
  }
  const found = numberOr(place)
  return found === null || !Number.isFinite(found) || found < 0 ? null : found
}

/** More than any one answer costs. */
const mostUsd = 10_000

/** Reads the charge. Null where the provider reports none, or one that cannot be. */
const chargeOf = (usage: JsonObject, charge: Documented<UpstreamCharge> | null): number | null => {
  if (charge === null) return null
  const { at, ownKey, unitsPerUsd } = charge.is
  const told = numberAt(usage, at)
  if (told === null) return null
  // With a key of the operator's own at the provider behind, that one charges the inference.
  const behind = ownKey !== null && usage[ownKey.when] === true ? (numberAt(usage, ownKey.at) ?? 0) : 0
  const usd = (told + behind) / unitsPerUsd
  return usd <= mostUsd ? usd : null
}

/** Hot: reads the facts of a bill from a usage object and the answer around it; undefined when there are none. */
export const billingOf = (
  usage: JsonObject,
  body: JsonObject,
  charge: Documented<UpstreamCharge> | null,
  tools: ServerToolCounts | undefined = toolsOf(usage)
): BillingFacts | undefined => {
  const modalities = modalitiesOf(usage)
  const charged = chargeOf(usage, charge)
  const terms = termsOf(
    body["service_tier"] ?? usage["service_tier"],
    usage["speed"] ?? body["speed"],
    usage["inference_geo"]
  )
  if (terms === noTerms && modalities === undefined && tools === undefined && charged === null) return undefined
  return {
    ...terms,
    ...(modalities === undefined ? {} : { modalities }),
    ...(tools === undefined ? {} : { tools }),
    ...(charged === null ? {} : { chargedUsd: charged })
  }
}
