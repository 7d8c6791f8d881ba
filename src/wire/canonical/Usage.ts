/**
 * Token usage in the house's own arithmetic (domain `TokenCounts`): `in` counts every prompt token, cached ones included;
 * `out` counts every generated token, reasoning included. Each wire converts at its own door.
 */
import type { TokenCounts } from "../../domain/Usage.ts"
import { noTokens } from "../../domain/Usage.ts"

export type Usage = TokenCounts

/** What one event told. Later reports replace earlier ones field by field: providers repeat totals, so nothing is added up. */
export type UsagePatch = Partial<TokenCounts>

/** More tokens than any answer has: a count beyond it is a mistake or a lie, and would be billed. */
const maxTokens = 1e9

/** A number of tokens as an upstream may tell it. Null for what counts nothing: less than none, absurdly many, no number. */
export const countOr = (value: unknown): number | null =>
  typeof value === "number" && value >= 0 && value <= maxTokens ? Math.round(value) : null

/** Merges a report into what is known. One that tells nothing leaves it unknown. */
export const mergeUsage = (known: Usage | null, patch: UsagePatch): Usage | null =>
  Object.keys(patch).length === 0 ? known : { ...(known ?? noTokens), ...patch }
