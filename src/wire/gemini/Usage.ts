/**
 * Usage of the gemini wire, both ways. Its candidates are counted without the thoughts, its prompt without the input that the provider's
 * own tools add.
 *
 * https://ai.google.dev/api/generate-content
 */
import { countOr, type Usage } from "../canonical/Usage.ts"
import { isObject, type Json, type JsonObject } from "../json/Json.ts"

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

const countsOnlyTotal = ({ candidates, prompt }: Raw): boolean => candidates === 0 && prompt > 0

/** Merges the reports of one answer, which are running totals; null while none had a number. */
export const makeUsageReader = (): ((metadata: Json | undefined) => Usage | null) => {
  const raw: Raw = { prompt: 0, toolPrompt: 0, candidates: 0, thoughts: 0, cached: 0, total: 0 }
  let isReported = false
  return (metadata) => {
    if (!isObject(metadata)) return null
    for (const word of ["prompt", "toolPrompt", "candidates", "thoughts", "cached", "total"] as const) {
      const count = countOr(metadata[members[word]])
      if (count === null) continue
      raw[word] = count
      isReported = true
    }
    if (!isReported) return null
    const prompt = raw.prompt + raw.toolPrompt
    return {
      in: prompt,
      // Some servers count only a total.
      out: Math.max(raw.candidates + raw.thoughts, countsOnlyTotal(raw) ? raw.total - prompt : 0),
      cacheRead: raw.cached,
      cacheWrite: 0,
      reasoning: raw.thoughts
    }
  }
}

export const usageOf = (body: JsonObject): Usage | null => makeUsageReader()(body["usageMetadata"])

export const encodeUsage = (usage: Usage): JsonObject => ({
  promptTokenCount: usage.in,
  candidatesTokenCount: Math.max(0, usage.out - usage.reasoning),
  ...(usage.reasoning > 0 ? { thoughtsTokenCount: usage.reasoning } : {}),
  ...(usage.cacheRead > 0 ? { cachedContentTokenCount: usage.cacheRead } : {}),
  totalTokenCount: usage.in + usage.out
})
