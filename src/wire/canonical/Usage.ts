/**
 * Token usage in the house's own arithmetic (domain `TokenCounts`): `in` counts every prompt token, cached ones included;
 * `out` counts every generated token, reasoning included. Each wire converts at its own door.
 */
import type { TokenCounts } from "../../domain/Usage.ts"
import { noTokens } from "../../domain/Usage.ts"

export type Usage = TokenCounts

/** What one event told. Later reports replace earlier ones field by field: providers repeat totals, so nothing is added up. */
export type UsagePatch = Partial<TokenCounts>

/** Merges a report into what is known. */
export const mergeUsage = (known: Usage | null, patch: UsagePatch): Usage => ({ ...(known ?? noTokens), ...patch })
