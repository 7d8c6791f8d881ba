/** The simulated upstreams: latency, errors and quotas of requests out of a seed, on a virtual clock. */
import type { SeededRandom } from "../../kernel/SeededRandom.ts"
import type { Failure } from "../../resilience/failure/FailureKind.ts"
import type { QuotaWindow } from "../engine/Candidate.ts"
import type { Target } from "../ModelResolver.ts"
import type { Behaviour, RequestQuota } from "./Behaviour.ts"
import { latencyMs } from "./Chance.ts"

export interface Answer {
  readonly latencyMs: number
  /** Null: it answered well. */
  readonly failure: Failure | null
}

/** How long an upstream takes to say 429, as a part of its median latency. */
const refusalPart = 0.1

const failureOf = (status: 429 | 503, untilMs: number | null, hintMs: number | null): Failure => ({
  kind: status === 429 ? "rate_limit" : "transient",
  place: "status",
  status,
  answered: true,
  reason: `http_${status}`,
  rule: "simulated",
  message: `The simulated upstream answered ${status}`,
  hintMs,
  untilMs,
  scope: "connection",
  exhausts: status === 429 ? "connection" : "nothing",
  contentBegan: false
})

const hourMs = 3_600_000

const windowName = ({ windowMs }: RequestQuota): QuotaWindow["window"] => {
  if (windowMs <= hourMs) return "hourly"
  if (windowMs <= 5 * hourMs) return "5h"
  if (windowMs <= 24 * hourMs) return "daily"
  return windowMs <= 7 * 24 * hourMs ? "weekly" : "monthly"
}

interface Used {
  readonly sinceMs: number
  readonly count: number
}

export interface Upstreams {
  /** A call that begins now. It counts against the quota unless that is used up. */
  readonly call: (target: Target, nowMs: number) => Answer
  /** What is left of the connection's quota; a strategy sees it as if the upstream's headers had told it. */
  readonly quotas: (connectionId: string, nowMs: number) => ReadonlyArray<QuotaWindow>
}

/** `behaviourOf` must always say the same of a target. A quota is the connection's, shared by its models. */
export const makeUpstreams = (behaviourOf: (target: Target) => Behaviour, random: SeededRandom): Upstreams => {
  const used = new Map<string, Used & { readonly quota: RequestQuota }>()

  const usedNow = (connectionId: string, quota: RequestQuota, nowMs: number): Used => {
    const known = used.get(connectionId)
    return known === undefined || nowMs - known.sinceMs >= quota.windowMs ? { sinceMs: nowMs, count: 0 } : known
  }

  const call = (target: Target, nowMs: number): Answer => {
    const { errorRate, p50Ms, p95Ms, quota } = behaviourOf(target)
    // Drawn in any case, so that one behaviour does not move the luck of the others.
    const takesMs = latencyMs(random, p50Ms, p95Ms)
    const fails = random.next() < errorRate
    if (quota !== null) {
      const id = target.account.connection.id
      const { count, sinceMs } = usedNow(id, quota, nowMs)
      if (count >= quota.requests) {
        const untilMs = sinceMs + quota.windowMs
        return { latencyMs: p50Ms * refusalPart, failure: failureOf(429, untilMs, untilMs - nowMs) }
      }
      used.set(id, { sinceMs, count: count + 1, quota })
    }
    return { latencyMs: takesMs, failure: fails ? failureOf(503, null, null) : null }
  }

  const quotas = (connectionId: string, nowMs: number): ReadonlyArray<QuotaWindow> => {
    const known = used.get(connectionId)
    if (known === undefined) return []
    const { quota } = known
    const { count, sinceMs } = usedNow(connectionId, quota, nowMs)
    return [{ window: windowName(quota), remaining: 1 - count / quota.requests, resetAtMs: sinceMs + quota.windowMs }]
  }
  return { call, quotas }
}
