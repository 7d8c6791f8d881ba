/**
 * Failover of one request: walks the targets in the order of the decision, leaves out what may not be called, waits where all places are
 * taken, and says after each failure what comes next. It makes no call and never waits: each method answers the `Step` to take, so that
 * the gateway runs it with sockets (`inference/failover`) and the simulator on a virtual clock.
 */
import { type Reason, reasonText } from "../candidate/Reason.ts"
import type { ResilienceSettings } from "../../../subjects/resilience/entity.ts"
import type { Failure } from "../../resilience/failure/FailureKind.ts"
import { mayRecover } from "../../resilience/failure/Permanent.ts"
import { policyOf } from "../../resilience/failure/Policy.ts"
import type { Unready } from "../health/Health.ts"
import type { Target } from "../resolve/ModelResolver.ts"
import { oneTerminal, type WeighFailure } from "./OneTerminal.ts"
import { type Exhausted, isSoonOver, makeExhausted } from "./Exhausted.ts"
import { type PutOff, takeSoonest } from "../health/LastResort.ts"
import { cooldownMarginMs, maxAttempts, type RoutePolicy } from "./RoutePolicy.ts"
import { sooner } from "./Soonest.ts"
import type { Step, Turn, WalkEnd, WalkWorld } from "./Steps.ts"
import { fullUntil, noTarget, queueFull } from "./Unavailable.ts"

export interface WalkInput {
  readonly order: ReadonlyArray<Target>
  /** Reason of the decision's order. */
  readonly reason: Reason
  readonly policy: RoutePolicy
  /** The longest wait for the last resort of a connection. */
  readonly waitTimeoutMs: number
  /** Setting for how long a short cooldown is waited for; null: the request fails at once. */
  readonly cooldownWait: ResilienceSettings["comboCooldownWait"] | null
}

/** Two calls of this request at once. */
interface Race {
  /** The later of the two in the order: what comes next comes after it. */
  readonly index: number
  isOneOver: boolean
}

export class Walk<Permit, Waiting> {
  readonly #input: WalkInput
  readonly #world: WalkWorld<Permit, Waiting>
  readonly #exhausted: Exhausted = makeExhausted()
  /** Weighs a failure of this request by those before it. */
  readonly weigh: WeighFailure = oneTerminal()
  /** Connections whose token was renewed for this request. */
  #refreshed: Set<string> | null = null
  /** Targets whose places were all taken when their turn came. */
  #inLine: Array<{ readonly turn: Turn; readonly wait: Waiting }> | null = null
  /** Connections with a passing failure in this request. */
  #tired: Set<string> | null = null
  /** Targets that are asked when no other is left. */
  #later: Array<PutOff<Turn>> | null = null
  #last: { readonly target: Target; readonly failure: Failure } | null = null
  #soonestUnready: Unready | null = null
  #race: Race | null = null
  #calls = 0
  #rounds = 0
  #callsBefore = -1
  #waits = 0
  #waitedMs = 0
  #onPlaced: ((permit: Permit | null) => Step<Permit, Waiting>) | null = null
  #onResumed: (() => Step<Permit, Waiting>) | null = null
  #onRenewed: ((target: Target | null, failure: Failure | null) => Step<Permit, Waiting>) | null = null

  constructor(input: WalkInput, world: WalkWorld<Permit, Waiting>) {
    this.#input = input
    this.#world = world
  }

  begin(): Step<Permit, Waiting> {
    return this.#from(0)
  }

  /** The call of this turn failed before its answer had begun, or its answer is to be continued. */
  failed(turn: Turn, failure: Failure): Step<Permit, Waiting> {
    const race = this.#race
    if (race === null) return this.#afterFailure(turn, failure)
    if (!race.isOneOver) {
      race.isOneOver = true
      this.#note(turn.target, failure)
      return { _tag: "Running" }
    }
    this.#race = null
    return this.#afterFailure({ ...turn, index: Math.max(turn.index, race.index) }, failure)
  }

  /** A limit of the caller has not let the call of this turn through: it was not made. */
  refused(turn: Turn, reason: Unready): Step<Permit, Waiting> {
    this.#calls -= 1
    this.#leaveOut(turn.target, reason)
    const race = this.#race
    if (race === null) return this.#from(turn.index + 1)
    if (!race.isOneOver) {
      race.isOneOver = true
      return { _tag: "Running" }
    }
    this.#race = null
    return this.#from(Math.max(turn.index, race.index) + 1)
  }

  /** The call of this turn has not been answered in time (`hedgeAfterMs`): a second target, or `Running` when none may be asked. */
  hedgeDue(turn: Turn): Step<Permit, Waiting> {
    const nowMs = this.#world.nowMs()
    const { order } = this.#input
    const index = order.findIndex((target, at) => at > turn.index && this.#isOpen(target, nowMs))
    const target = order[index]
    const place = target === undefined ? null : this.#world.place(target)
    if (target === undefined || place?._tag !== "Free") return { _tag: "Running" }
    const second = { target, index, retries: 0 }
    if (this.#world.admit(target, nowMs) === "refused") {
      this.#world.release(place.release)
      return { _tag: "Running" }
    }
    this.#race = { index, isOneOver: false }
    const lastChance = !this.#hasAnother(index + 1)
    this.#calls += 1
    return {
      _tag: "Ask",
      turn: second,
      permit: place.release,
      lastResortPermit: null,
      probe: false,
      lastChance,
      hedgeAfterMs: null
    }
  }

  /** The wait of a `Line` is over; null: no place came. */
  placed(permit: Permit | null): Step<Permit, Waiting> {
    const next = this.#onPlaced
    this.#onPlaced = null
    return next === null ? this.#over() : next(permit)
  }

  /** A `Pause` is over; false: it was broken off. */
  resumed(mayGoOn: boolean): Step<Permit, Waiting> {
    const next = this.#onResumed
    this.#onResumed = null
    return next === null || !mayGoOn ? this.#ended() : next()
  }

  /** The account with its new access token; null: there is none, and `failure` says why where that is another one than the refusal. */
  renewed(target: Target | null, failure: Failure | null = null): Step<Permit, Waiting> {
    const next = this.#onRenewed
    this.#onRenewed = null
    return next === null ? this.#over() : next(target, failure)
  }

  /** A new access token was asked for at this target already. */
  hasRefreshed({ account }: Target): boolean {
    return this.#refreshed?.has(account.connection.id) === true
  }

  /** Returns the end of the walk when nothing more is done. */
  end(): WalkEnd {
    const { order, reason } = this.#input
    const world = this.#world
    const last = this.#last
    const unready = this.#soonestUnready
    const nowMs = world.nowMs()
    if (last !== null && world.hasLeft()) return { _tag: "Left", target: last.target }
    // A target that could not be asked this says less than one that could and rests.
    if (last !== null && (last.failure.kind !== "gateway_refusal" || unready === null)) {
      return { _tag: "Failed", ...last, retryAfterMs: this.#retryAfterMs(last.failure, nowMs) }
    }
    const refusal = unready ?? (order.length === 0 ? noTarget(reasonText(reason)) : queueFull)
    // A place at a connection is free as soon as any answer is over.
    const placeMs = refusal.code === queueFull.code ? (refusal.untilMs ?? nowMs + 1_000) - nowMs : null
    // Its rest may have ended since it was asked for.
    const restMs = refusal.untilMs === null ? null : Math.max(1, refusal.untilMs - nowMs)
    return { _tag: "Unavailable", unready: refusal, retryAfterMs: this.#recoveryMs(nowMs) ?? restMs ?? placeMs }
  }

  #retryAfterMs(failure: Failure, nowMs: number): number | null {
    if (!mayRecover(failure)) return null
    const earliestMs = this.#recoveryMs(nowMs)
    if (!policyOf(failure).carriesRetryAfter || failure.untilMs === null) return earliestMs
    // Another target may be ready before the one that was asked last.
    return Math.max(1, Math.min(failure.untilMs - nowMs, earliestMs ?? Number.POSITIVE_INFINITY))
  }

  /** Finds the first target from one place in the order on that may be called. */
  #from(start: number): Step<Permit, Waiting> {
    const world = this.#world
    if (world.isStopping()) return this.#ended()
    const { order } = this.#input
    for (let index = start; index < order.length; index += 1) {
      const target = order[index]
      if (target === undefined || this.#exhausted.covers(target)) continue
      const reason = world.unready(target, world.nowMs())
      if (reason === null) return this.#enter({ target, index, retries: 0 })
      if (this.#isForLater(target, reason)) this.#putOff(target, reason)
      else this.#leaveOut(target, reason)
    }
    return this.#nextInLine()
  }

  /**
   * Checks whether it is better than no answer: it may be asked as a last resort, or this request itself has just
   * caused its cooldown.
   */
  #isForLater({ account }: Target, { lastResort, rule }: Unready): boolean {
    return lastResort !== undefined || (rule === "cooldown" && this.#tired?.has(account.connection.id) === true)
  }

  #leaveOut(target: Target, reason: Unready): void {
    this.#world.leftOut(target, reason)
    this.#soonestUnready = sooner(this.#soonestUnready, reason)
  }

  #putOff(target: Target, reason: Unready): void {
    this.#world.leftOut(target, reason)
    const turn = { target, index: this.#input.order.length, retries: 0 }
    this.#later ??= []
    this.#later.push({ turn, untilMs: reason.untilMs ?? this.#world.nowMs() })
  }

  /** Takes a place, or puts the target off until no other is left. */
  #enter(turn: Turn): Step<Permit, Waiting> {
    const world = this.#world
    const place = world.place(turn.target)
    if (place._tag === "Free") return this.#ask(turn, place.release, null)
    if (place._tag === "Wait") (this.#inLine ??= []).push({ turn, wait: place.wait })
    else this.#leaveOut(turn.target, fullUntil(place.retryAfterMs, world.nowMs()))
    return this.#from(turn.index + 1)
  }

  #ask(turn: Turn, permit: Permit, lastResortPermit: Permit | null): Step<Permit, Waiting> {
    const world = this.#world
    const { index, isProbe, target } = turn
    const nowMs = world.nowMs()
    const admission = world.admit(target, nowMs, isProbe)
    if (admission === "refused") {
      world.release(permit)
      if (lastResortPermit !== null) world.release(lastResortPermit)
      const reason = world.unready(target, nowMs)
      if (reason !== null) this.#leaveOut(target, reason)
      return this.#from(index + 1)
    }
    const lastChance = !this.#hasAnother(index + 1)
    const hedgeAfterMs = lastChance || lastResortPermit !== null ? null : this.#input.policy.hedgeDelayMs
    this.#calls += 1
    return { _tag: "Ask", turn, permit, lastResortPermit, probe: admission === "probe", lastChance, hedgeAfterMs }
  }

  #isOpen(target: Target, nowMs: number): boolean {
    return !this.#exhausted.covers(target) && this.#world.unready(target, nowMs) === null
  }

  /** A target could be asked from `from` on. */
  #hasAnother(from: number): boolean {
    if (this.#inLine !== null && this.#inLine.length > 0) return true
    if (this.#later !== null && this.#later.length > 0) return true
    const { order } = this.#input
    for (let index = from; index < order.length; index += 1) {
      const target = order[index]
      if (target !== undefined && this.#isOpen(target, this.#world.nowMs())) return true
    }
    return false
  }

  /** Another call may be made at all. */
  #mayAsk(): boolean {
    return this.#calls < maxAttempts && this.#world.leftMs() > 0 && !this.#world.hasLeft()
  }

  /** Notes the consequences of a failure for the rest of the walk. */
  #note(target: Target, failure: Failure): void {
    this.#last = { target, failure }
    this.#exhausted.add(target, failure)
    if (policyOf(failure).retrySameTarget) (this.#tired ??= new Set()).add(target.account.connection.id)
  }

  #afterFailure(turn: Turn, failure: Failure): Step<Permit, Waiting> {
    const { index, retries, target } = turn
    const { refreshToken, retrySameTarget, tryNextTarget } = policyOf(failure)
    this.#last = { target, failure }
    if (!tryNextTarget || !this.#mayAsk()) return this.#over()
    if (refreshToken) return this.#withNewToken(turn, failure)
    this.#note(target, failure)
    const { failoverBeforeRetry, fallbackDelayMs, maxRetries, retryDelayMs } = this.#input.policy
    const isLeft = this.#hasAnother(index + 1)
    // A target that has not failed yet comes before one that has, unless the combo says otherwise.
    if (retrySameTarget && retries < maxRetries && !(failoverBeforeRetry && isLeft) && this.#mayRetry(target)) {
      return this.#pause(retryDelayMs, () => this.#enterAsItIs({ ...turn, retries: retries + 1 }))
    }
    return isLeft ? this.#pause(fallbackDelayMs, () => this.#from(index + 1)) : this.#from(index + 1)
  }

  /** A cooldown is for other requests; what is locked, or out for good, is so for the next try as well. */
  #mayRetry(target: Target): boolean {
    const reason = this.#world.unready(target, this.#world.nowMs())
    return reason === null || reason.rule === "cooldown"
  }

  #pause(ms: number, next: () => Step<Permit, Waiting>): Step<Permit, Waiting> {
    const world = this.#world
    if (ms <= 0) return world.hasLeft() || world.isStopping() ? this.#over() : next()
    if (ms >= world.leftMs()) return this.#over()
    this.#onResumed = next
    return { _tag: "Pause", ms }
  }

  /** The access token is no longer good: once with a new one, else the account is out. */
  #withNewToken(turn: Turn, failure: Failure): Step<Permit, Waiting> {
    this.#refreshed ??= new Set()
    this.#refreshed.add(turn.target.account.connection.id)
    this.#onRenewed = this.#renewed.bind(this, turn, failure)
    return { _tag: "Renew", turn, failure }
  }

  #renewed(turn: Turn, failure: Failure, renewed: Target | null, instead: Failure | null): Step<Permit, Waiting> {
    const { index, target } = turn
    if (renewed !== null) return this.#enter({ ...turn, target: renewed })
    if (instead !== null) this.#last = { target, failure: instead }
    this.#exhausted.add(target, { ...failure, exhausts: "connection" })
    return this.#from(index + 1)
  }

  /** All that could be asked at once were; now in line, in the same order. */
  #nextInLine(): Step<Permit, Waiting> {
    if (this.#world.isStopping()) return this.#ended()
    const next = this.#inLine?.shift()
    return next === undefined
      ? this.#lastResort()
      : this.#line(next.turn, next.wait, (permit) => this.#inside(next.turn, permit))
  }

  #line(
    turn: Turn,
    wait: Waiting,
    next: (permit: Permit | null) => Step<Permit, Waiting>,
    limitMs: number | null = null,
    holding: Permit | null = null
  ): Step<Permit, Waiting> {
    this.#onPlaced = next
    return { _tag: "Line", turn, wait, limitMs, holding }
  }

  /** Checks the target again: much may have been learned while it waited. */
  #inside(turn: Turn, permit: Permit | null): Step<Permit, Waiting> {
    const world = this.#world
    const { target } = turn
    const reason = permit === null ? queueFull : world.unready(target, world.nowMs())
    if (permit !== null && (reason === null || reason.lastResort === "doubt")) {
      return this.#ask({ ...turn, index: this.#input.order.length }, permit, null)
    }
    if (permit !== null) world.release(permit)
    if (world.hasLeft()) return this.#left(target)
    if (reason?.lastResort !== undefined) this.#putOff(target, reason)
    else this.#leaveOut(target, reason ?? queueFull)
    return this.#nextInLine()
  }

  #left(target: Target): Step<Permit, Waiting> {
    return { _tag: "End", end: { _tag: "Left", target } }
  }

  /** A target that rests is still better than no answer: the one that is ready soonest. */
  #lastResort(): Step<Permit, Waiting> {
    const world = this.#world
    if (world.isStopping()) return this.#ended()
    const turn =
      this.#later === null
        ? undefined
        : takeSoonest(this.#later, ({ target }) => world.isLastResortFree(target.account.connection.id))
    if (turn === undefined) return this.#over()
    return this.#exhausted.covers(turn.target) ? this.#lastResort() : this.#enterAsItIs(turn)
  }

  /** Takes a turn at a target that may be in cooldown, by the means that is open to it now. */
  #enterAsItIs({ index, retries, target }: Turn): Step<Permit, Waiting> {
    const world = this.#world
    const turn = { target, index, retries }
    world.leftOut(target, null)
    const reason = world.unready(target, world.nowMs())
    if (reason?.lastResort === "cooldown" || reason?.lastResort === "probe") return this.#alone(turn, reason)
    if (reason === null || this.#isForLater(target, reason)) return this.#enter(turn)
    this.#leaveOut(target, reason)
    return this.#from(index + 1)
  }

  /** One request at a time asks a model that rests, or probes a breaker; the others wait for its answer. */
  #alone(turn: Turn, { untilMs }: Unready): Step<Permit, Waiting> {
    const world = this.#world
    const way = world.lastResort(turn.target.account.connection.id)
    if (way._tag === "Free") return this.#look(turn, way.release)
    if (way._tag === "Full") return this.#look(turn, null)
    const restMs = untilMs === null ? Number.POSITIVE_INFINITY : Math.max(1, untilMs - world.nowMs())
    const limitMs = Math.min(this.#input.waitTimeoutMs, restMs)
    return this.#line(turn, way.wait, (permit) => this.#look(turn, permit), limitMs)
  }

  /**
   * Looks at the target again after a wait: after a good answer all requests go on; after a bad one the next may ask.
   */
  #look(turn: Turn, permit: Permit | null): Step<Permit, Waiting> {
    const world = this.#world
    const { index, target } = turn
    const reason = world.hasLeft() ? null : world.unready(target, world.nowMs())
    if (permit !== null && reason?.lastResort === "cooldown") return this.#placeAlone(turn, permit)
    if (permit !== null && reason?.lastResort === "probe") return this.#placeAlone({ ...turn, isProbe: true }, permit)
    if (permit !== null) world.release(permit)
    if (world.hasLeft()) return this.#left(target)
    if (reason === null) return this.#enter(turn)
    this.#leaveOut(target, reason)
    return this.#from(index + 1)
  }

  #placeAlone(turn: Turn, lastResortPermit: Permit): Step<Permit, Waiting> {
    const world = this.#world
    const { index, target } = turn
    const without = (reason: Unready): Step<Permit, Waiting> => {
      world.release(lastResortPermit)
      this.#leaveOut(target, reason)
      return this.#from(index + 1)
    }
    const place = world.place(target)
    if (place._tag === "Free") return this.#ask(turn, place.release, lastResortPermit)
    if (place._tag === "Full") return without(fullUntil(place.retryAfterMs, world.nowMs()))
    const next = (permit: Permit | null) =>
      permit === null ? without(queueFull) : this.#ask(turn, permit, lastResortPermit)
    return this.#line(turn, place.wait, next, null, lastResortPermit)
  }

  /** Milliseconds until the first of the targets that rest may be asked; null when one does not rest, or it is unknown. */
  #recoveryMs(nowMs: number): number | null {
    let earliest: number | null = null
    for (const target of this.#input.order) {
      const reason = this.#world.unready(target, nowMs)
      if (reason === null) return null
      const atMs = reason.retryAtMs ?? reason.untilMs
      if (atMs !== null) earliest = Math.min(earliest ?? Number.POSITIVE_INFINITY, atMs - nowMs)
    }
    return earliest
  }

  #ended(): Step<Permit, Waiting> {
    return { _tag: "End", end: this.end() }
  }

  /** No target is left in this round: the walk again, where a wait may help. */
  #over(): Step<Permit, Waiting> {
    const { cooldownWait } = this.#input
    const end = this.end()
    if (end._tag === "Left" || this.#world.isStopping()) return { _tag: "End", end }
    return cooldownWait === null ? this.#furtherRound(end) : this.#afterCooldown(end, cooldownWait)
  }

  /** A quota share waits for a short, passing cooldown instead of failing. */
  #afterCooldown(
    end: Exclude<WalkEnd, { _tag: "Left" }>,
    { budgetMs, enabled, maxAttempts: maxWaits, maxWaitMs }: NonNullable<WalkInput["cooldownWait"]>
  ): Step<Permit, Waiting> {
    const kind = end._tag === "Failed" ? end.failure.kind : end.unready.kind
    const restMs = isSoonOver(kind) ? this.#recoveryMs(this.#world.nowMs()) : null
    if (!enabled || restMs === null || this.#waits >= maxWaits) return { _tag: "End", end }
    const ms = restMs + cooldownMarginMs
    if (ms > maxWaitMs || this.#waitedMs + ms > budgetMs || ms >= this.#world.leftMs()) return { _tag: "End", end }
    this.#waits += 1
    this.#waitedMs += ms
    this.#onResumed = this.#rested.bind(this)
    return { _tag: "Pause", ms }
  }

  #rested(): Step<Permit, Waiting> {
    this.#exhausted.forgetPassing()
    this.#tired = null
    this.#last = null
    this.#soonestUnready = null
    return this.#from(0)
  }

  /** Another round over all targets (`maxSetRetries`). A round in which none could be asked is the last. */
  #furtherRound(end: WalkEnd): Step<Permit, Waiting> {
    const { maxSetRetries, setRetryDelayMs: ms } = this.#input.policy
    const isLast = this.#rounds >= maxSetRetries || this.#calls === this.#callsBefore
    if (isLast || !this.#mayAsk() || !this.#canRepeat(ms)) return { _tag: "End", end }
    this.#rounds += 1
    this.#callsBefore = this.#calls
    return this.#pause(ms, () => {
      this.#exhausted.forgetPassing()
      return this.#from(0)
    })
  }

  /**
   * Checks whether a target could be asked after the wait: one that failed in a way that passes, or whose cooldown is
   * over by then.
   */
  #canRepeat(delayMs: number): boolean {
    if (this.#tired !== null && this.#tired.size > 0) return true
    const restMs = this.#recoveryMs(this.#world.nowMs())
    return restMs !== null && restMs <= delayMs
  }
}
