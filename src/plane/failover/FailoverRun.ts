/** The failover of one request: its walk over the targets, and what the walk asks about. Nothing of it outlives the request. */
import type { Admission } from "../resilience/breaker/Breaker.ts"
import type * as ConcurrencyGate from "../resilience/ConcurrencyGate.ts"
import type { Place } from "../resilience/ConnectionLimiter.ts"
import type { Failure } from "../resilience/failure/FailureKind.ts"
import type * as Settings from "../resilience/Settings.ts"
import type * as Timers from "../../platform/Timers.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import type { TargetHealth, Unready } from "../routing/health/TargetHealth.ts"
import type { RoutePolicy } from "../routing/walk/RoutePolicy.ts"
import type { Step, Turn, WalkWorld } from "../routing/walk/Steps.ts"
import { Walk } from "../routing/walk/Walk.ts"
import type { AttemptResult } from "../attempt/AttemptResult.ts"
import type { Work } from "../request/Exchange.ts"
import type { StopSignal } from "../request/StopSignal.ts"
import type { CallReservations } from "./CallReservations.ts"
import type { ConcurrencyLimiter, Waiting } from "./ConcurrencyLimiter.ts"
import type { Waits } from "./Waits.ts"

export type Release = ConcurrencyGate.Release
export type RunStep = Step<Release, Waiting>
export type AskStep = Extract<RunStep, { _tag: "Ask" }>

/** Outcome of one call. */
export interface Outcome {
  readonly turn: Turn
  readonly result: AttemptResult
  /** Null when it was no failure. */
  readonly failure: Failure | null
  /** Another target has answered. */
  readonly lost: boolean
  /** A limit of the caller's key has not let the call through: it was not made. Null: it was. */
  readonly refusal: Unready | null
}

export type BrokenResult = Extract<AttemptResult, { _tag: "Broken" }>

export interface RunServices {
  readonly gate: Pick<typeof ConcurrencyGate.ConcurrencyGate.Service, "enter" | "inUse">
  readonly health: Pick<typeof TargetHealth.Service, "admit" | "unready">
  readonly settings: Pick<typeof Settings.Settings.Service, "current">
  readonly stop: Pick<typeof StopSignal.Service, "isStopping">
  readonly timers: Pick<typeof Timers.Timers.Service, "nowMs">
  readonly waits: Pick<typeof Waits.Service, "leftMs">
  readonly limiter: typeof ConcurrencyLimiter.Service
  readonly reservations: Pick<typeof CallReservations.Service, "unready">
}

const lastResortKey = (connectionId: string): string => `last resort\n${connectionId}`

/** A class, because one is made per request. */
export class FailoverRun implements WalkWorld<Release, Waiting> {
  /** Work that the next target is asked for: not the first one any more once a broken answer is being continued. */
  work: Work
  readonly policy: RoutePolicy
  readonly walk: Walk<Release, Waiting>
  /** The answer whose beginning the client has, and which no target has brought to its end. */
  broken: { readonly target: Target; readonly result: BrokenResult } | null = null
  readonly #services: RunServices

  constructor(services: RunServices, work: Work, policy: RoutePolicy) {
    const { comboCooldownWait, connectionQueue } = services.settings.current()
    const { order, reason, strategy } = work.decision
    this.#services = services
    this.work = work
    this.policy = policy
    this.walk = new Walk(
      {
        order,
        reason,
        policy,
        waitTimeoutMs: connectionQueue.waitTimeoutMs,
        cooldownWait: strategy === "quota-share" ? comboCooldownWait : null
      },
      this
    )
  }

  nowMs(): number {
    return this.#services.timers.nowMs()
  }

  leftMs(): number {
    return this.#services.waits.leftMs(this.work)
  }

  hasLeft(): boolean {
    return this.work.exchange.reply.isClosed()
  }

  isStopping(): boolean {
    return this.#services.stop.isStopping()
  }

  unready(target: Target, nowMs: number): Unready | null {
    const { health, reservations } = this.#services
    return health.unready(target, nowMs) ?? reservations.unready(this.work, target)
  }

  admit(target: Target, nowMs: number, lastResort?: boolean): Admission {
    return this.#services.health.admit(target, nowMs, lastResort)
  }

  place(target: Target): Place {
    return this.#services.limiter.enter(this, target)
  }

  lastResort(connectionId: string): Place {
    const { gate, settings } = this.#services
    const place = gate.enter(lastResortKey(connectionId), 1, settings.current().connectionQueue.queueDepth)
    return place._tag === "Queued" ? { _tag: "Wait", wait: place.wait } : place
  }

  isLastResortFree(connectionId: string): boolean {
    return this.#services.gate.inUse(lastResortKey(connectionId)) === 0
  }

  release(permit: Release): void {
    permit()
  }

  leftOut(target: Target, reason: Unready | null): void {
    this.work.trail.leftOut(target, reason)
  }
}
