/**
 * Decides which keys may draw on a quota group, and how much of it. Pure. A key's share of a limit is its weight over
 * the sum of all weights. While less than half of a limit is used, a key may draw beyond its share; from then on it may
 * not.
 */
import type { DeclaredQuota } from "../../../subjects/connections/entity.ts"
import { QuotaNotAllocated } from "../../../contract/domain/Errors.ts"
import type { QuotaAllocation, QuotaGroup } from "../../../subjects/quotaGroups/entity.ts"
import type { WindowName } from "./Span.ts"

/** The used part of a limit from which on shares are strict. */
const strictFrom = 0.5

/** Wait in ms of a caller that is only held up by its own requests in progress. */
const underWayRetryMs = 1_000

/** One member's part of a pool, in the pool's unit. */
export interface Part {
  readonly limit: number
  /** Use by all keys, also outside the group. */
  readonly used: number
  /** Use by the key. */
  readonly own: number
  /** Epoch milliseconds; then `used` and `own` are zero again. Infinite where nothing was used. */
  readonly resetAtMs: number
}

/** The same window in the same unit of all members together: what is shared. Not empty; every limit is above 0. */
export interface Pool {
  readonly window: WindowName
  readonly unit: DeclaredQuota["unit"]
  readonly parts: ReadonlyArray<Part>
}

/**
 * Entitlement of a key, and the requests in progress of it and of all others that no part shows yet (in the pool's
 * unit).
 */
export interface Claim {
  readonly weight: number
  /** Sum of the weights of all keys. */
  readonly weights: number
  readonly ownUnderWay: number
  readonly allUnderWay: number
}

interface Sums {
  readonly limit: number
  readonly used: number
  readonly own: number
}

const sumOf = (parts: ReadonlyArray<Part>): Sums => {
  let [limit, used, own] = [0, 0, 0]
  for (const part of parts) {
    limit += part.limit
    used += part.used
    own += part.own
  }
  return { limit, used, own }
}

/** A key's part of a limit. The parts of all keys make up the limit. */
export const shareOf = (limit: number, { weight, weights }: Pick<Claim, "weight" | "weights">): number =>
  (limit * weight) / weights

/** Computes the use of a pool by a key, and its limit once shares are strict. */
export const standing = (pool: Pool, claim: Pick<Claim, "weight" | "weights">) => {
  const { limit, own } = sumOf(pool.parts)
  return { used: own, limit: shareOf(limit, claim) }
}

const isDrawn = ({ limit, own, used }: Sums, claim: Claim, ownMore: number, allMore: number): boolean =>
  used + allMore >= limit * strictFrom && own + ownMore >= shareOf(limit, claim)

/**
 * Computes when a key may draw on the pool again, epoch milliseconds; null when it may now. A key below its share always may.
 */
export const closedUntilMs = (pool: Pool, claim: Claim, nowMs: number): number | null => {
  const sums = sumOf(pool.parts)
  if (!isDrawn(sums, claim, claim.ownUnderWay, claim.allUnderWay)) return null
  if (!isDrawn(sums, claim, 0, 0)) return nowMs + underWayRetryMs
  let { own, used } = sums
  let untilMs = nowMs
  // Members reset one after the other; the first resets may already be enough.
  for (const part of [...pool.parts].sort((one, other) => one.resetAtMs - other.resetAtMs)) {
    own -= part.own
    used -= part.used
    untilMs = part.resetAtMs
    if (!isDrawn({ limit: sums.limit, own, used }, claim, 0, 0)) break
  }
  return untilMs
}

/** The sum of all weights of a group. */
export const weightsOf = ({ allocations }: Pick<QuotaGroup, "allocations">): number =>
  allocations.reduce((sum, { weight }) => sum + weight, 0)

/** A caller's allocation; null when it has none. `apiKeyId` is null for callers without a key. */
export const allocationOf = (
  { allocations }: Pick<QuotaGroup, "allocations">,
  apiKeyId: string | null
): QuotaAllocation | null => allocations.find((allocation) => allocation.apiKeyId === apiKeyId) ?? null

/**
 * Returns the reason for which a caller may not use a group at all; null when it may: without a restriction every
 * caller may.
 */
export const notAllocated = (
  model: string,
  group: Pick<QuotaGroup, "allocations" | "name" | "restricted">,
  apiKeyId: string | null
): QuotaNotAllocated | null =>
  !group.restricted || allocationOf(group, apiKeyId) !== null
    ? null
    : new QuotaNotAllocated({ model, group: group.name, hasKey: apiKeyId !== null })
