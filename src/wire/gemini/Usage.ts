/**
 * Usage of the gemini wire, both ways. Its candidates are counted without the thoughts, its prompt without the input that the provider's
 * own tools add.
 *
 * https://ai.google.dev/api/generate-content
 */
import type { BillingFacts, ModalityCounts, ServerToolCounts } from "../../contract/domain/Usage.ts"
import { termOf, toolCounts } from "../canonical/BillingReading.ts"
import { countOr, mergeBilling, type Usage, withBilling } from "../canonical/Usage.ts"
import { isArray, isObject, type JsonObject, objectOr, stringOr } from "../json/Json.ts"

interface Raw {
  prompt: number
  toolPrompt: number
  candidates: number
  thoughts: number
  cached: number
  total: number
}

const members = {
  prompt: "promptTokenCount",
  toolPrompt: "toolUsePromptTokenCount",
  candidates: "candidatesTokenCount",
  thoughts: "thoughtsTokenCount",
  cached: "cachedContentTokenCount",
  total: "totalTokenCount"
} as const satisfies Record<keyof Raw, string>

/** Some relays count thoughts among the candidates, and the total says so. */
const thoughtsInside = ({ candidates, prompt, thoughts, toolPrompt, total }: Raw): boolean =>
  thoughts > 0 &&
  thoughts <= candidates &&
  (total === prompt + candidates || (toolPrompt > 0 && total === prompt + toolPrompt + candidates))

const countsOnlyTotal = ({ candidates, prompt }: Raw): boolean => candidates === 0 && prompt > 0

/** Members that count by kind, and the side that they count. */
const details = [
  ["promptTokensDetails", "In"],
  ["toolUsePromptTokensDetails", "In"],
  ["cacheTokensDetails", "Cached"],
  ["candidatesTokensDetails", "Out"]
] as const

/** Kinds that have a price of their own; the rest counts as text. */
const kinds: Readonly<Record<string, "audio" | "image" | "video">> = { AUDIO: "audio", IMAGE: "image", VIDEO: "video" }
const mostKinds = 32

const modalitiesOf = (metadata: JsonObject): ModalityCounts | undefined => {
  const counts: Record<string, number> = {}
  for (const [member, side] of details) {
    const list = metadata[member]
    for (const each of isArray(list) ? list.slice(0, mostKinds) : []) {
      const { modality, tokenCount } = objectOr(each)
      const kind = kinds[stringOr(modality) ?? ""]
      const count = countOr(tokenCount) ?? 0
      if (kind !== undefined && count > 0) counts[`${kind}${side}`] = (counts[`${kind}${side}`] ?? 0) + count
    }
  }
  return Object.keys(counts).length === 0 ? undefined : counts
}

/** Reads the service tier, as Vertex names it (`ON_DEMAND_FLEX`) or the Gemini API (`SERVICE_TIER_FLEX`, `flex`). */
const tierOf = ({ serviceTier, trafficType }: JsonObject): string | undefined => {
  const named = (stringOr(serviceTier) ?? stringOr(trafficType) ?? "").toLowerCase()
  const tier = termOf(named.replace(/^(?:service_tier|on_demand)_?/, ""))
  return tier ?? undefined
}

const mostQueries = 1_000

/** Searches for the answer: each query, and that there were some. */
const groundingOf = (body: JsonObject): ServerToolCounts | undefined => {
  let webSearches = 0
  const { candidates } = body
  for (const candidate of isArray(candidates) ? candidates : []) {
    const { webSearchQueries } = objectOr(objectOr(candidate)["groundingMetadata"])
    const queries = isArray(webSearchQueries) ? webSearchQueries.slice(0, mostQueries) : []
    webSearches += queries.filter((query) => stringOr(query) !== "").length
  }
  return toolCounts({
    webSearches,
    groundedAnswers: webSearches > 0 ? 1 : 0,
    fileSearches: 0,
    codeExecutions: 0
  })
}

/** Merges the reports of one answer, which are running totals that never fall; null while none had a number. Takes each chunk. */
export const makeUsageReader = (): ((body: JsonObject) => Usage | null) => {
  const raw: Raw = { prompt: 0, toolPrompt: 0, candidates: 0, thoughts: 0, cached: 0, total: 0 }
  let billing: BillingFacts | undefined
  let isReported = false
  return (body) => {
    const metadata = body["usageMetadata"]
    const tools = groundingOf(body)
    if (tools !== undefined) billing = mergeBilling(billing, { tools })
    if (!isObject(metadata)) return null
    for (const word of ["prompt", "toolPrompt", "candidates", "thoughts", "cached", "total"] as const) {
      const count = countOr(metadata[members[word]])
      if (count === null) continue
      raw[word] = Math.max(raw[word], count)
      isReported = true
    }
    if (!isReported) return null
    const modalities = modalitiesOf(metadata)
    const serviceTier = tierOf(metadata)
    if (modalities !== undefined) billing = mergeBilling(billing, { modalities })
    if (serviceTier !== undefined) billing = mergeBilling(billing, { serviceTier })
    const prompt = raw.prompt + raw.toolPrompt
    return {
      in: prompt,
      // Some servers count only a total.
      out: Math.max(
        raw.candidates + (thoughtsInside(raw) ? 0 : raw.thoughts),
        countsOnlyTotal(raw) ? raw.total - prompt : 0
      ),
      cacheRead: raw.cached,
      cacheWrite: 0,
      reasoning: raw.thoughts,
      ...withBilling(billing)
    }
  }
}

export const usageOf = (body: JsonObject): Usage | null => makeUsageReader()(body)

export const encodeUsage = (usage: Usage): JsonObject => ({
  promptTokenCount: usage.in,
  candidatesTokenCount: Math.max(0, usage.out - usage.reasoning),
  ...(usage.reasoning > 0 ? { thoughtsTokenCount: usage.reasoning } : {}),
  ...(usage.cacheRead > 0 ? { cachedContentTokenCount: usage.cacheRead } : {}),
  totalTokenCount: usage.in + usage.out
})
