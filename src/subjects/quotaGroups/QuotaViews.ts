/** Quotas as callers see them (`GET /api/usage/{connectionId}`). */
import type { Connection } from "../connections/entity.ts"
import type { ConnectionUsage, QuotaView, QuotaWindowView } from "../usage/routes.ts"
import { exhaustionOf } from "../../plane/routing/quota/Forecast.ts"
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

type NamedConnection = Pick<Connection, "id" | "name" | "provider">

const windowView = (view: State.QuotaView, nowMs: number) => {
  const { atMs, basis } = exhaustionOf(view, nowMs)
  return { ...quotaView(view), window: view.window, model: null, exhaustedAt: isoOrNull(atMs), basis }
}

const rateWindowView = (rate: RateView) => ({
  ...rateQuota(rate),
  window: rate.name,
  model: rate.model,
  exhaustedAt: rate.left <= 0 ? isoOrNull(rate.sinceMs) : null,
  source: "header" as const,
  basis: "header" as const
})

/** Every quota of a connection, and of its rate limits the one with the least left by name. */
export const quotaWindows = (
  { id, name, provider }: NamedConnection,
  { plan, quotas, rates }: QuotaReport,
  nowMs: number
): ReadonlyArray<QuotaWindowView> => {
  const named = { connectionId: id, connectionName: name, provider, plan }
  return [
    ...quotas.map((view) => Object.assign(windowView(view, nowMs), named)),
    ...Array.from(tightestRates(rates).values(), (rate) => Object.assign(rateWindowView(rate), named))
  ]
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
