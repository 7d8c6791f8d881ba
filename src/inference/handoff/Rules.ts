/** When a conversation is summed up, and whose: what a combo's `config` says of it (`routing/ComboConfig` checks it at save). Pure. */
import type { QuotaWindow } from "../../routing/engine/Candidate.ts"

export interface HandoffRules {
  /** Used part of a quota, [0, 1], from which on a summary is made. */
  readonly threshold: number
  /** Who is asked for it; null: whoever has answered. */
  readonly model: string | null
  /** Provider ids whose conversations are summed up; null: all. */
  readonly providers: ReadonlySet<string> | null
  /** The last messages that are read for it. */
  readonly maxMessages: number
}

const defaults = { threshold: 0.85, maxMessages: 30 } as const

/** From here on what is left is the client's own. */
export const tooLate = 0.95

/** Messages by which a conversation has to grow, or shrink, before it is summed up again. */
export const renewAfter = 10

/** A rate limit that is over sooner drives no conversation away. */
const briefMs = 10 * 60_000

/** Fractions that a provider writes as percent do not add up to the last digit. */
const epsilon = 1e-9

const numberIn = (value: unknown, fallback: number): number => (typeof value === "number" ? value : fallback)

export const handoffRules = (config: Readonly<Record<string, unknown>>): HandoffRules => {
  const { handoffModel, handoffProviders, handoffThreshold, maxMessagesForSummary } = config
  const providers: ReadonlyArray<unknown> = Array.isArray(handoffProviders) ? handoffProviders : []
  return {
    threshold: numberIn(handoffThreshold, defaults.threshold),
    model: typeof handoffModel === "string" && handoffModel.trim() !== "" ? handoffModel.trim() : null,
    providers: providers.length === 0 ? null : new Set(providers.filter((id) => typeof id === "string")),
    maxMessages: numberIn(maxMessagesForSummary, defaults.maxMessages)
  }
}

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
export const isDue = ({ threshold }: HandoffRules, used: number): boolean =>
  used >= threshold - epsilon && used < tooLate - epsilon

/** Whether a conversation of `messages` is another than the one that was summed up at `summed` messages. */
export const hasMovedOn = (summed: number, messages: number): boolean => Math.abs(messages - summed) >= renewAfter
