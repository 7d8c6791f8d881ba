/** Quotas as callers see them (contract B3 `GET /api/usage/{connectionId}`). */
import type { ConnectionUsage, QuotaView } from "../../api/Groups/Usage.ts"
import { shareOf, tightest } from "../../routing/quota/QuotaState.ts"
import type * as State from "../../routing/quota/QuotaState.ts"
import type { QuotaReport, RateView } from "../../routing/quota/QuotaWindows.ts"
import { isoOrNull } from "./Views.ts"

/** Shares come from divisions; nobody wants to read their last digits. */
const rounded = (value: number): number => Math.round(value * 1e6) / 1e6
const roundedOrNull = (value: number | null): number | null => (value === null ? null : rounded(value))

const quotaView = (view: State.QuotaView): QuotaView => {
  const share = shareOf(view)
  return {
    used: rounded(view.used),
    total: view.total,
    remaining: roundedOrNull(view.remaining),
    remainingPercentage: share === null ? null : rounded(share * 100),
    resetAt: isoOrNull(view.resetAtMs),
    unit: view.unit,
    source: view.source
  }
}

const rateView = ({ left, model, name, resetAtMs, total }: RateView): ConnectionUsage["rates"][number] => ({
  model,
  name,
  total,
  remaining: left,
  resetAt: isoOrNull(resetAtMs)
})

export const connectionUsage = ({ plan, quotas, rates }: QuotaReport): ConnectionUsage => ({
  plan,
  quotas: Object.fromEntries(Array.from(tightest(quotas), ([window, view]) => [window, quotaView(view)])),
  limits: quotas.map((view) => ({ window: view.window, ...quotaView(view) })),
  rates: rates.map(rateView)
})
