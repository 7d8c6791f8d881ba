/** Quotas as callers see them (`GET /api/usage/{connectionId}`). */
import type { ConnectionUsage, QuotaView } from "../usage/routes.ts"
import { rateShareOf, shareOf, tightest } from "../../plane/routing/quota/QuotaState.ts"
import type * as State from "../../plane/routing/quota/QuotaState.ts"
import type { QuotaReport, RateView } from "../../plane/routing/quota/QuotaWindows.ts"
import { isoOrNull, rounded } from "../../entry/handling/Views.ts"

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

const unitOf = ({ name }: RateView): QuotaView["unit"] =>
  name.endsWith("tokens") ? "tokens" : name.endsWith("minutes") ? "percent" : "requests"

/** A rate limit in the shape of a quota. One that is only known to be used up has no total. */
const rateQuota = (rate: RateView): QuotaView => ({
  used: rate.total === null ? 0 : rounded(Math.max(0, rate.total - rate.left)),
  total: rate.total,
  remaining: rate.left,
  remainingPercentage: rounded(rateShareOf(rate) * 100),
  resetAt: isoOrNull(rate.resetAtMs),
  unit: unitOf(rate),
  source: "learned"
})

/** Selects, by name, the rate with the least left, of whatever model. */
const tightestRates = (rates: ReadonlyArray<RateView>): ReadonlyMap<string, RateView> => {
  const byName = new Map<string, RateView>()
  for (const rate of rates) {
    const other = byName.get(rate.name)
    if (other === undefined || rateShareOf(rate) < rateShareOf(other)) byName.set(rate.name, rate)
  }
  return byName
}

export const connectionUsage = ({ plan, quotas, rates }: QuotaReport): ConnectionUsage => ({
  plan,
  quotas: Object.fromEntries([
    ...Array.from(tightest(quotas), ([window, view]) => [window, quotaView(view)] as const),
    ...Array.from(tightestRates(rates), ([name, rate]) => [name, rateQuota(rate)] as const)
  ]),
  limits: quotas.map((view) => ({ window: view.window, ...quotaView(view) })),
  rates: rates.map(rateView)
})
