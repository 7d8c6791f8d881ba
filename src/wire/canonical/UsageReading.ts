/**
 * Reads a usage object of the chat or responses wire by its provider's dialect. Where there is a total, it decides what the other
 * numbers mean: providers change how they count, and proxies in front of them pass that on.
 */
import type { ReasoningCount, UsageDialect } from "../../contract/domain/Dialect.ts"
import { isObject, type Json, type JsonObject } from "../json/Json.ts"
import type { ServerToolCounts } from "../../contract/domain/Usage.ts"
import { billingOf } from "./BillingReading.ts"
import { countOr, type UsagePatch } from "./Usage.ts"

/** Split paths. They come from dialects, so there are few. */
const membersByPath = new Map<string, ReadonlyArray<string>>()

const membersOf = (path: string): ReadonlyArray<string> => {
  const known = membersByPath.get(path)
  if (known !== undefined) return known
  const members = path.split(".")
  membersByPath.set(path, members)
  return members
}

const numberAt = (usage: JsonObject, path: string): number | null => {
  let place: Json | undefined = usage
  for (const member of membersOf(path)) {
    if (!isObject(place)) return null
    place = place[member]
  }
  return countOr(place)
}

/** The largest of the places where a count may be: relays write zeros into those that they do not know. */
const largestAt = (usage: JsonObject, paths: ReadonlyArray<string>): number | null => {
  let largest: number | null = null
  for (const path of paths) {
    const count = numberAt(usage, path)
    if (count !== null && (largest === null || count > largest)) largest = count
  }
  return largest
}

interface Counts {
  readonly prompt: number | null
  readonly completion: number | null
  readonly total: number | null
  readonly reasoning: number
}

/** Parts of a prompt that some providers leave out of its count. */
interface PromptParts {
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly audio: number
}

const audioAt = "prompt_tokens_details.audio_tokens"

/** Paths of writes to the cache for an hour, as relays of Anthropic's models report them. */
const hourAt = [
  "cache_creation.ephemeral_1h_input_tokens",
  "prompt_tokens_details.cache_creation_token_details.ephemeral_1h_input_tokens",
  "cache_creation_token_details.ephemeral_1h_input_tokens"
]

/**
 * Tokens of the prompt that its count leaves out: cached ones when they exceed the count, or when the total only adds up with them.
 * Where reasoning explains the total as well, reasoning is taken.
 */
const besidePrompt = (
  { completion, prompt, reasoning, total }: Counts,
  { audio, cacheRead, cacheWrite }: PromptParts,
  counted: UsageDialect["cacheRead"]
): number => {
  if (prompt === null) return 0
  const cached = cacheRead + cacheWrite
  // A part is not more than its whole.
  if (counted === "beside" || Math.max(cacheRead, cacheWrite) > prompt) return cached
  const missing = total === null || completion === null ? 0 : total - prompt - completion
  if (missing <= 0 || missing === reasoning) return 0
  for (const part of [cached, cacheRead, cacheWrite, audio]) {
    if (part > 0 && (missing === part || missing === part + reasoning)) return part
  }
  return 0
}

/** All generated tokens; null when unknown. */
export const generatedTokens = (
  { completion, prompt, reasoning, total }: Counts,
  counted: ReasoningCount
): number | null => {
  const rest = total === null || prompt === null ? null : Math.max(0, total - prompt)
  // A part is not more than its whole.
  if (completion !== null && reasoning > completion) return completion + reasoning
  // Some servers count only a total.
  if (completion === null || completion === 0) return rest ?? completion
  if (counted === "outside_total") return completion + reasoning
  if (rest === completion || (reasoning > 0 && rest === completion + reasoning)) return rest
  // The total exceeds prompt and completion without an explanation: proxies in front of Google's models count thoughts this way.
  if (reasoning === 0 && rest !== null) return Math.max(rest, completion)
  return counted === "inside" ? completion : completion + reasoning
}

/** Names of the two counts that differ between the wires. */
export interface UsageMembers {
  readonly prompt: string
  readonly completion: string
}

/** Facts around a usage object that billing needs. */
export interface AroundUsage {
  /** The answer or the chunk. */
  readonly body: JsonObject
  /** Counts of the provider's tools; absent: as the usage says. */
  readonly tools?: ServerToolCounts | undefined
}

/** The counts of a usage object. Null members are ignored. */
export const readUsage = (
  usage: JsonObject,
  members: UsageMembers,
  dialect: UsageDialect,
  around?: AroundUsage
): UsagePatch => {
  const prompt = countOr(usage[members.prompt])
  const total = countOr(usage["total_tokens"])
  const reasoning = largestAt(usage, dialect.reasoningAt)
  const cacheRead = largestAt(usage, dialect.cacheReadAt)
  const cacheWrite = largestAt(usage, dialect.cacheWriteAt)
  const counts: Counts = { prompt, completion: countOr(usage[members.completion]), total, reasoning: reasoning ?? 0 }
  const beside = besidePrompt(
    counts,
    { cacheRead: cacheRead ?? 0, cacheWrite: cacheWrite ?? 0, audio: numberAt(usage, audioAt) ?? 0 },
    dialect.cacheRead
  )
  const all = prompt === null ? null : prompt + beside
  // A total smaller than the whole prompt does not include the part that the prompt count leaves out.
  const counted = all !== null && total !== null && total < all ? prompt : all
  const out = generatedTokens({ ...counts, prompt: counted }, dialect.reasoning)
  const patch: { -readonly [K in keyof UsagePatch]: UsagePatch[K] } = {}
  if (all !== null) patch.in = all
  if (out !== null) patch.out = out
  if (cacheRead !== null) patch.cacheRead = cacheRead
  if (cacheWrite !== null) patch.cacheWrite = cacheWrite
  if (reasoning !== null) patch.reasoning = reasoning
  const hour = largestAt(usage, hourAt)
  if (hour !== null && hour > 0) patch.cacheWrite1h = hour
  const billing =
    around !== undefined && "tools" in around
      ? billingOf(usage, around.body, dialect.charge, around.tools)
      : billingOf(usage, around?.body ?? {}, dialect.charge)
  if (billing !== undefined) patch.billing = billing
  return patch
}
