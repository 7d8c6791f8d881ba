/** Words of the area of caches. */
import { plural } from "../plural.ts"

export const words = {
  title: "Cache",
  hint: "Answers that are given again to the same request of the same API key, and requests that are made once only.",
  on: "Answers are kept.",
  off: "No answer is kept: switch it on below.",
  hits: "Answered from it",
  misses: "Asked anew",
  hitRate: "Hit rate",
  semantic: "In other words",
  memory: "In memory",
  of: (value: string): string => `of at most ${value}`,
  stored: "In the database",
  idempotency: "Idempotency keys",
  forSeconds: (text: string): string => `remembered for ${text}`,
  never: "never remembered",
  since: "Since the start of the gateway.",
  settings: "Settings",
  clear: "Clear the caches",
  clearMeans: (value: number): string =>
    plural(value, {
      one: "1 answer that is kept is removed; the next request with it is asked and paid for anew.",
      other: `${value} answers that are kept are removed; the next requests with them are asked and paid for anew.`
    }),
  clearName: "cache",
  cleared: (value: number): string =>
    plural(value, { one: "1 entry was removed.", other: `${value} entries were removed.` })
} as const
