/**
 * Canonical token usage (`TokenCounts` of the domain): `in` counts every prompt token, cached ones included; `out` counts every
 * generated token, reasoning included. Each wire converts its own counts.
 */
import type { BillingFacts, TokenCounts } from "../../contract/domain/Usage.ts"
import { noTokens } from "../../contract/domain/Usage.ts"

export type Usage = TokenCounts

/** The report of one event. Providers repeat totals, so nothing is added up. */
export type UsagePatch = Partial<TokenCounts>

/** More tokens than any answer has: a larger count is wrong, and would be billed. */
const maxTokens = 1e9

/** A valid number of tokens; null for a negative or absurdly large one, or no number. */
export const countOr = (value: unknown): number | null =>
  typeof value === "number" && value >= 0 && value <= maxTokens ? Math.round(value) : null

const isCount = (value: unknown): value is number => typeof value === "number"

/** Takes the larger of each count: a later report of the same answer does not lower an earlier one. */
const larger = <A extends object>(known: A | undefined, later: A | undefined): A | undefined => {
  if (known === undefined || later === undefined) return later ?? known
  const merged: Record<string, unknown> = Object.fromEntries(Object.entries(known))
  for (const [name, value] of Object.entries(later)) {
    const before = merged[name]
    merged[name] = isCount(before) && isCount(value) ? Math.max(before, value) : value
  }
  return merged as A
}

/** Words of a later report replace earlier ones, counts only grow. */
export const mergeBilling = (
  known: BillingFacts | undefined,
  later: BillingFacts | undefined
): BillingFacts | undefined => {
  if (known === undefined || later === undefined) return later ?? known
  const modalities = larger(known.modalities, later.modalities)
  const tools = larger(known.tools, later.tools)
  return {
    ...known,
    ...later,
    ...(modalities === undefined ? {} : { modalities }),
    ...(tools === undefined ? {} : { tools }),
    ...(known.chargedUsd === undefined || later.chargedUsd === undefined
      ? {}
      : { chargedUsd: Math.max(known.chargedUsd, later.chargedUsd) })
  }
}

/**
 * Merges a report into the known counts. An empty one leaves them null. Reports of one answer are running totals, so a count never falls: zeros in
 * a last event do not undo earlier reports.
 */
export const mergeUsage = (known: Usage | null, patch: UsagePatch): Usage | null => {
  if (known === null) return Object.keys(patch).length === 0 ? null : { ...noTokens, ...patch }
  const { billing, units, ...counts } = patch
  const merged = larger<UsagePatch>(known, counts)
  const both = mergeBilling(known.billing, billing)
  return {
    ...known,
    ...merged,
    ...(units === undefined ? {} : { units }),
    ...(both === undefined ? {} : { billing: both })
  }
}

/** Absent where it is empty. */
export const withBilling = (billing: BillingFacts | undefined): Pick<UsagePatch, "billing"> =>
  billing === undefined || Object.keys(billing).length === 0 ? {} : { billing }
