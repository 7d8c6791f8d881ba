/**
 * Counts and durations of the ollama wire, which come with the last piece of an answer.
 *
 * https://docs.ollama.com/api/usage
 */
import { noTokens } from "../../contract/domain/Usage.ts"
import { countOr, type Usage } from "../canonical/Usage.ts"
import { type JsonObject } from "../json/Json.ts"

/** Null when the line has no counts. Older servers leave out the count of a prompt served from the cache. */
export const usageOf = (line: JsonObject): Usage | null => {
  const prompt = countOr(line["prompt_eval_count"])
  const answer = countOr(line["eval_count"])
  return prompt === null && answer === null ? null : { ...noTokens, in: prompt ?? 0, out: answer ?? 0 }
}

/** Milliseconds since the request arrived: at the first content, and at the end. */
export interface Elapsed {
  readonly firstMs: number
  readonly totalMs: number
}

const nanoseconds = (ms: number): number => Math.max(0, Math.round(ms * 1_000_000))

/** Unknown values are left out, as Ollama does. `load_duration` is 0. */
export const encodeCounts = (usage: Usage | null, elapsed: Elapsed | null): JsonObject => ({
  ...(elapsed === null
    ? {}
    : {
        total_duration: nanoseconds(elapsed.totalMs),
        load_duration: 0,
        prompt_eval_duration: nanoseconds(elapsed.firstMs),
        eval_duration: nanoseconds(elapsed.totalMs - elapsed.firstMs)
      }),
  ...(usage === null ? {} : { prompt_eval_count: usage.in, eval_count: usage.out })
})
