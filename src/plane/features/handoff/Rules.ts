/**
 * Decides when a conversation is summarized: by the quota that is left, and by how far the conversation has gone on.
 * Pure.
 */
import type { ComboPolicy } from "../../../subjects/combos/entity/ComboPolicy.ts"
import type { QuotaWindow } from "../../routing/candidate/Candidate.ts"

/** Part of the quota from which on the rest is the client's own. */
const tooLate = 0.95

/** Messages by which a conversation has to grow, or shrink, before it is summed up again. */
const renewAfter = 10

/** A rate limit that is over sooner drives no conversation away. */
const briefMs = 10 * 60_000

/** Fractions that a provider writes as percent do not add up to the last digit. */
const epsilon = 1e-9

/** The used part of the scarcest window; 0 when nothing is known. */
export const usedShare = (windows: ReadonlyArray<QuotaWindow>, nowMs: number): number => {
  let used = 0
  for (const { remaining, resetAtMs, window } of windows) {
    if (window === "rate" && (resetAtMs === null || resetAtMs - nowMs < briefMs)) continue
    used = Math.max(used, 1 - remaining)
  }
  return used
}

/** The account is about to be used up, and still has something to spare. */
export const isDue = ({ handoffThreshold }: Pick<ComboPolicy, "handoffThreshold">, used: number): boolean =>
  used >= handoffThreshold - epsilon && used < tooLate - epsilon

/** Checks whether a conversation of `messages` has grown or changed since it was summarized at `summed` messages. */
export const hasMovedOn = (summed: number, messages: number): boolean => Math.abs(messages - summed) >= renewAfter
