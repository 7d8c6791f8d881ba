/** The simulated upstreams: latency, faults and quotas of requests out of a seed, on a virtual clock. */
import type { Timeouts } from "../../subjects/resilience/entity.ts"
import type { FaultName } from "../../contract/domain/SimulatedFaults.ts"
import type { SeededRandom } from "../../kernel/SeededRandom.ts"
import type { Failure } from "../../plane/resilience/failure/FailureKind.ts"
import type { QuotaWindow } from "../../plane/routing/candidate/Candidate.ts"
import type { Target } from "../../plane/routing/resolve/ModelResolver.ts"
import type { Behaviour, RequestQuota } from "./Behaviour.ts"
import { latencyMs } from "./Distributions.ts"
import { faults } from "./faults/Catalogue.ts"
import { type Fault, isInForce, type FaultSignal, showsAfterMs } from "./faults/Fault.ts"
import { classifyFault } from "./faults/ClassifyFault.ts"

export interface Answer {
  readonly latencyMs: number
  /** Null: it answered well. */
  readonly failure: Failure | null
}

/** Form of a call. */
export interface Asking {
  readonly streamed: boolean
  /** The request has asked for a new token here already. */
  readonly refreshed: boolean
  /** Time limit in ms of this one call until its answer begins, and the rest of the whole request's. */
  readonly firstContentMs: number
  readonly leftMs: number
}

/** Context of all upstreams. */
export interface UpstreamContext {
  /** Epoch of the first arrival. */
  readonly startMs: number
  readonly timeouts: Timeouts
  readonly bannedTexts: ReadonlyArray<string>
}

const hourMs = 3_600_000

const windowName = ({ windowMs }: RequestQuota): QuotaWindow["window"] => {
  if (windowMs <= hourMs) return "hourly"
  if (windowMs <= 5 * hourMs) return "5h"
  if (windowMs <= 24 * hourMs) return "daily"
  return windowMs <= 7 * 24 * hourMs ? "weekly" : "monthly"
}

const exceeded = (untilMs: number): Fault => ({
  about: "the quota is used up",
  pace: "refusal",
  says: (nowMs) => ({
    status: 429,
    message: "The simulated quota is used up.",
    headers: { "retry-after-ms": String(Math.ceil(Math.max(1, untilMs - nowMs))) }
  })
})

interface Used {
  readonly sinceMs: number
  readonly count: number
}

export interface Upstreams {
  /** A call that begins now. It counts against the quota unless that is used up. */
  readonly call: (target: Target, nowMs: number, asking: Asking) => Answer
  /** A new access token is asked for; false when there is none to be had. */
  readonly renew: (target: Target, nowMs: number) => boolean
  /** Returns the rest of the connection's quota; a strategy sees it as if the upstream's headers had reported it. */
  readonly quotas: (connectionId: string, nowMs: number) => ReadonlyArray<QuotaWindow>
}

/** `behaviourOf` must always say the same of a target. A quota is the connection's, shared by its models. */
export const makeUpstreams = (
  behaviourOf: (target: Target) => Behaviour,
  luck: SeededRandom,
  mischief: SeededRandom,
  { bannedTexts, startMs, timeouts }: UpstreamContext
): Upstreams => {
  const used = new Map<string, Used & { readonly quota: RequestQuota }>()
  /** Connections with a new access token. */
  const renewed = new Set<string>()

  const usedNow = (connectionId: string, quota: RequestQuota, nowMs: number): Used => {
    const known = used.get(connectionId)
    return known === undefined || nowMs - known.sinceMs >= quota.windowMs ? { sinceMs: nowMs, count: 0 } : known
  }

  /** Decides the fault of a target now, by its plans alone. Draws as often whatever the result. */
  const faultOf = (target: Target, plans: Behaviour["faults"], nowMs: number): Fault | null => {
    let struck: FaultName | null = null
    for (const plan of plans) {
      const strikes = mischief.next() < plan.rate && isInForce(plan, nowMs - startMs)
      const isMended = faults[plan.fault].token === "renewable" && renewed.has(target.account.connection.id)
      if (strikes && !isMended) struck ??= plan.fault
    }
    return struck === null ? null : faults[struck]
  }

  /** Past its quota, else counted against it. */
  const overQuota = ({ account }: Target, quota: RequestQuota, nowMs: number): Fault | null => {
    const { id } = account.connection
    const { count, sinceMs } = usedNow(id, quota, nowMs)
    if (count >= quota.requests) return exceeded(sinceMs + quota.windowMs)
    used.set(id, { sinceMs, count: count + 1, quota })
    return null
  }

  const call = (target: Target, nowMs: number, asking: Asking): Answer => {
    const { errorRate, faults: plans, p50Ms, p95Ms, quota } = behaviourOf(target)
    // Drawn in any case, so that one behaviour does not move the luck of the others.
    const usualMs = latencyMs(luck, p50Ms, p95Ms)
    const fails = luck.next() < errorRate
    const planned = faultOf(target, plans, nowMs)
    const limited = quota === null ? null : overQuota(target, quota, nowMs)
    const fault = limited ?? planned ?? (fails ? faults["503"] : null)
    const { firstContentMs, leftMs, refreshed, streamed } = asking

    const ended = (latencyMs: number, said: FaultSignal, contentBegan: boolean): Answer => ({
      latencyMs,
      failure: classifyFault(said, target, {
        streamed,
        contentBegan,
        canRefresh: fault?.token !== undefined && !refreshed,
        bannedTexts,
        nowMs: nowMs + latencyMs
      })
    })

    const showsMs = fault === null ? usualMs : showsAfterMs(fault.pace, usualMs, p50Ms, timeouts)
    const isMidway = streamed && fault?.midway === true
    // A stream begins long before its end; of a whole answer nothing is there before all of it.
    const isSlow = !streamed && fault?.pace !== "drip" && showsMs > firstContentMs
    if (isSlow && firstContentMs < leftMs) return ended(firstContentMs, { cause: "first_byte_timeout" }, false)
    if (showsMs > leftMs) return ended(leftMs, { cause: "total_timeout" }, streamed)
    const said = fault?.says?.(nowMs + showsMs) ?? null
    return said === null ? { latencyMs: showsMs, failure: null } : ended(showsMs, said, isMidway)
  }

  const renew = (target: Target, nowMs: number): boolean => {
    const isRenewable = behaviourOf(target).faults.some(
      (plan) => faults[plan.fault].token === "renewable" && isInForce(plan, nowMs - startMs)
    )
    if (isRenewable) renewed.add(target.account.connection.id)
    return isRenewable
  }

  const quotas = (connectionId: string, nowMs: number): ReadonlyArray<QuotaWindow> => {
    const known = used.get(connectionId)
    if (known === undefined) return []
    const { quota } = known
    const { count, sinceMs } = usedNow(connectionId, quota, nowMs)
    return [{ window: windowName(quota), remaining: 1 - count / quota.requests, resetAtMs: sinceMs + quota.windowMs }]
  }
  return { call, renew, quotas }
}
