/**
 * Canonical token usage (`TokenCounts` of the domain): `in` counts every prompt token, cached ones included; `out` counts every
 * generated token, reasoning included. Each wire converts its own counts.
 */
import type { TokenCounts } from "../../domain/Usage.ts"
import { noTokens } from "../../domain/Usage.ts"

export type Usage = TokenCounts

/** The report of one event. Later reports replace earlier ones field by field: providers repeat totals, so nothing is added up. */
export type UsagePatch = Partial<TokenCounts>

/** More tokens than any answer has: a larger count is wrong, and would be billed. */
const maxTokens = 1e9

/** A valid number of tokens; null for a negative or absurdly large one, or no number. */
export const countOr = (value: unknown): number | null =>
  typeof value === "number" && value >= 0 && value <= maxTokens ? Math.round(value) : null

/** Merges a report into the known counts. An empty one leaves them null. */
export const mergeUsage = (known: Usage | null, patch: UsagePatch): Usage | null =>
  Object.keys(patch).length === 0 ? known : { ...(known ?? noTokens), ...patch }
