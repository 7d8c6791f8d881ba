/** Counts the use of one connection's quotas, by one API key or by all together. Pure; times are epoch milliseconds. */
import * as Schema from "effect/Schema"
import { nanoUsdPerUsd } from "../../../contract/domain/Usage.ts"
import { type QuotaView, shareOf } from "./QuotaState.ts"
import type { QuotaUsage } from "./QuotaWindows.ts"

const Draw = Schema.Struct({
  /** Reset of the window, as it was reported when the count began; the count is over then. */
  endMs: Schema.Finite,
  requests: Schema.Finite,
  tokens: Schema.Finite,
  nanoUsd: Schema.Finite,
  /** Use that the window already showed when the count began, in its unit. */
  base: Schema.Finite
})
export type Draw = typeof Draw.Type

/** Counts by window and unit, as stored. */
export const StoredDraws = Schema.Record({ key: Schema.String, value: Draw })
export type Draws = typeof StoredDraws.Type

export const noDraws: Draws = {}

const poolKey = ({ unit, window }: Pick<QuotaView, "unit" | "window">): string => `${window}/${unit}`

/** The tightest quota of each window and unit. Quotas whose remaining part is unknown are left out. */
export const knownQuotas = (views: ReadonlyArray<QuotaView>): ReadonlyMap<string, QuotaView> => {
  const known = new Map<string, QuotaView>()
  for (const view of views) {
    const share = shareOf(view)
    const other = known.get(poolKey(view))
    if (share !== null && (other === undefined || share < (shareOf(other) ?? 1))) known.set(poolKey(view), view)
  }
  return known
}

/** The counts whose window has not ended. */
export const currentDraws = (draws: Draws, nowMs: number): Draws =>
  Object.fromEntries(Object.entries(draws).filter(([, { endMs }]) => endMs > nowMs))

/**
 * Adds one more call to the counts. A reset that is reported later than at first does not make a count longer: some providers show a
 * window that begins anew with every answer, and a count that never ends would bar a key for good.
 */
export const drawn = (draws: Draws, known: ReadonlyMap<string, QuotaView>, used: QuotaUsage, nowMs: number): Draws => {
  const after: Record<string, Draw> = { ...currentDraws(draws, nowMs) }
  for (const [key, view] of known) {
    if (!Number.isFinite(view.untilMs)) continue
    const before = after[key] ?? { endMs: view.untilMs, requests: 0, tokens: 0, nanoUsd: 0, base: view.used }
    after[key] = {
      endMs: Math.min(before.endMs, view.untilMs),
      requests: before.requests + 1,
      tokens: before.tokens + used.tokens,
      nanoUsd: before.nanoUsd + used.costNanoUsd,
      base: before.base
    }
  }
  return after
}

const current = (draws: Draws, key: string, nowMs: number): Draw | null => {
  const draw = draws[key]
  return draw !== undefined && draw.endMs > nowMs ? draw : null
}

/** Computes the weight of the calls of a draw in a window, where the provider only reports a percentage. */
const weightOf = ({ requests, tokens }: Draw): number => requests + tokens

/**
 * Computes a key's use of a quota, in the quota's unit. A percentage does not show its causes: the increase since the count began
 * is divided by the tokens of `all`.
 */
export const ownUse = (view: QuotaView, mine: Draws, all: Draws, nowMs: number): number => {
  const key = poolKey(view)
  const draw = current(mine, key, nowMs)
  if (draw === null) return 0
  switch (view.unit) {
    case "requests":
      return draw.requests
    case "tokens":
      return draw.tokens
    case "usd":
      return draw.nanoUsd / nanoUsdPerUsd
    case "percent": {
      const total = current(all, key, nowMs)
      if (total === null) return 0
      return (Math.max(0, view.used - total.base) * weightOf(draw)) / Math.max(weightOf(draw), weightOf(total))
    }
  }
}
