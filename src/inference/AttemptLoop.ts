/**
 * The one loop of all strategies: walks the targets in the order the decision gave them, leaves out what is not well, waits in line
 * where all places are taken, and stops at the first answer. One target is asked at a time.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import { scrub } from "../kernel/Scrub.ts"
import type * as Timers from "../platform/Timers.ts"
import { secretsOf } from "../providers/Catalog.ts"
import type { ConnectionDoor, Place } from "../resilience/ConnectionDoor.ts"
import type { Release } from "../resilience/ConcurrencyGate.ts"
import type { Failure } from "../resilience/failure/FailureKind.ts"
import { policyOf } from "../resilience/failure/Policy.ts"
import type * as Settings from "../resilience/Settings.ts"
import type * as Engine from "../routing/Engine.ts"
import type { Target } from "../routing/ModelResolver.ts"
import type * as QuotaWindows from "../routing/quota/QuotaWindows.ts"
import { countsAsError } from "../routing/stats/PerformanceStats.ts"
import type * as PerformanceStats from "../routing/stats/PerformanceStats.ts"
import type { Call, TargetHealth, Unready } from "../routing/TargetHealth.ts"
import type { AttemptResult } from "./Attempt.ts"
import type { RunAttempt } from "./Attempts.ts"
import { whileClientStays } from "./ClientStays.ts"
import { type Contender, makeContest } from "./Contest.ts"
import type { Work } from "./Exchange.ts"
import { makeExhausted } from "./Exhausted.ts"
import type { Tokens } from "./Tokens.ts"
import { understand } from "./Understanding.ts"

export interface LoopRooms {
  readonly attempt: RunAttempt
  readonly timers: typeof Timers.Timers.Service
  readonly health: typeof TargetHealth.Service
  readonly door: typeof ConnectionDoor.Service
  readonly settings: typeof Settings.Settings.Service
  readonly tokens: Tokens
  readonly engine: Pick<typeof Engine.Engine.Service, "ended">
  readonly quotas: Pick<typeof QuotaWindows.QuotaWindows.Service, "refused">
  readonly stats: typeof PerformanceStats.PerformanceStats.Service
}

/** How the walk ended. */
export type LoopEnd =
  | { readonly _tag: "Answered"; readonly target: Target; readonly result: Exclude<AttemptResult, { _tag: "Failed" }> }
  /** The last target's failure, when somebody was asked. */
  | {
      readonly _tag: "Failed"
      readonly target: Target
      readonly failure: Failure
      readonly retryAfterMs: number | null
    }
  /** Nobody could be asked. */
  | { readonly _tag: "Unavailable"; readonly unready: Unready; readonly retryAfterMs: number | null }

/** Calls of one request, over all targets and repetitions (document 1 has no more). */
export const maxAttempts = 400

const queueFull: Unready = {
  rule: "cooldown",
  untilMs: null,
  terminal: null,
  kind: null,
  detail: "All places at the connection are taken, and its queue is full",
  status: 503,
  code: "queue_full"
}

/** Cooldowns that are soon over, and not for want of quota, credentials or the model. */
const passing: ReadonlySet<string> = new Set(["rate_limit", "transient", "capacity", "network"])

const isPassing = (end: LoopEnd): boolean => {
  if (end._tag === "Answered") return false
  return passing.has(end._tag === "Failed" ? end.failure.kind : (end.unready.kind ?? ""))
}

/** A cooldown is surely over when this much more has passed. */
const cooldownMarginMs = 50

interface Outcome {
  readonly turn: Turn
  readonly result: AttemptResult
  /** Null when it was no failure. */
  readonly failure: Failure | null
  /** Another target has answered. */
  readonly lost: boolean
}

const isSettled = (outcome: Outcome | null): boolean =>
  outcome !== null && !outcome.lost && outcome.result._tag !== "Failed"

interface Last {
  readonly target: Target
  readonly failure: Failure
}

/** A target's turn: its place in the order, and how often it was asked again. */
interface Turn {
  readonly target: Target
  readonly index: number
  readonly retries: number
}

export const makeLoop = (rooms: LoopRooms): ((work: Work) => Effect.Effect<LoopEnd>) => {
  const { attempt, door, engine, health, quotas, settings, stats, timers, tokens } = rooms

  return (work) => {
    const { order } = work.decision
    let exhausted = makeExhausted()
    const refreshed = new Set<string>()
    /** Targets whose places were all taken when their turn came. */
    const waiting: Array<{ readonly turn: Turn; readonly place: Extract<Place, { _tag: "Wait" }> }> = []
    /** Connections that this request itself has put to rest, and targets there that were left for the very end. */
    const tired = new Set<string>()
    const later: Array<Turn> = []
    let last: Last | null = null
    let firstUnready: Unready | null = null

    const leaveOut = (target: Target, reason: Unready): void => {
      work.exclusions.set(target, reason)
      firstUnready ??= reason
    }

    const isOpen = (target: Target): boolean =>
      !exhausted.covers(target) && health.unready(target, timers.nowMs()) === null

    const hasAnother = (from: number): boolean =>
      waiting.length > 0 || later.length > 0 || order.slice(from).some(isOpen)

    const deadlinePassed = (): boolean =>
      timers.monotonicMs() - work.exchange.startedMs >= settings.current().timeouts.totalMs

    const earliestRecoveryMs = (): number | null => {
      const nowMs = timers.nowMs()
      let earliest: number | null = null
      for (const target of order) {
        const reason = health.unready(target, nowMs)
        if (reason === null) return null
        if (reason.untilMs !== null) earliest = Math.min(earliest ?? Number.POSITIVE_INFINITY, reason.untilMs - nowMs)
      }
      return earliest
    }

    const note = (call: Call, result: AttemptResult, failure: Failure | null, lost: boolean): void => {
      const { account, model } = call.target
      work.attempts.push({
        provider: account.spec.id,
        connectionId: account.connection.id,
        model,
        status: failure === null ? (result._tag === "Aborted" ? null : 200) : failure.answered ? failure.status : null,
        outcome: result._tag === "Completed" ? "completed" : result._tag === "Aborted" ? "aborted" : "failed",
        reason: failure?.reason ?? (lost ? "hedge_lost" : result._tag === "Aborted" ? "client_left" : "ok"),
        startedAt: new Date(call.startedMs).toISOString(),
        latencyMs: call.endedMs - call.startedMs
      })
    }

    /** What the result teaches about the target. Null when it was no failure. */
    const learn = (call: Call, result: AttemptResult): Failure | null => {
      if (result._tag === "Completed") {
        health.succeeded(call)
        return null
      }
      if (result._tag === "Aborted") {
        health.abandoned(call)
        return null
      }
      const { connection } = call.target.account
      const understood = understand(result.failure, call.target, {
        canRefresh: tokens.canRefresh(connection) && !refreshed.has(connection.id),
        contentBegan: result._tag === "Broken" && result.firstContentMs !== null,
        nowMs: call.endedMs
      })
      // Providers repeat the key they were sent.
      const failure = { ...understood, message: scrub(understood.message, secretsOf(connection)) }
      health.failed(call, failure)
      return failure
    }

    /** What the call says about speed, reliability and quotas. */
    const measure = (call: Call, result: AttemptResult, failure: Failure | null, begunMs: number): void => {
      const { account, model } = call.target
      const ok = result._tag === "Completed" ? true : failure !== null && countsAsError(failure) ? false : null
      engine.ended(work.question, call.target, ok, call.endedMs)
      if (failure !== null) quotas.refused(account.connection.id, model, failure, call.endedMs)
      if (ok === null) return
      const firstMs = result._tag === "Completed" ? result.firstContentMs : null
      stats.record({
        provider: account.spec.id,
        connectionId: account.connection.id,
        model,
        ok,
        latencyMs: timers.monotonicMs() - begunMs,
        ttftMs: firstMs === null ? null : firstMs - begunMs,
        outputTokens: result._tag === "Completed" ? (result.report.usage?.out ?? null) : null,
        atMs: call.endedMs
      })
    }

    const ended = (): LoopEnd => {
      if (last !== null && work.exchange.reply.isClosed()) return clientLeft(last.target)
      // A target that could not be asked this says less than one that could and rests.
      if (last !== null && (last.failure.kind !== "gateway_refusal" || firstUnready === null)) {
        const { failure, target } = last
        const told = policyOf(failure).carriesRetryAfter && failure.untilMs !== null
        const retryAfterMs = told ? Math.max(1, failure.untilMs - timers.nowMs()) : earliestRecoveryMs()
        return { _tag: "Failed", target, failure, retryAfterMs }
      }
      return { _tag: "Unavailable", unready: firstUnready ?? queueFull, retryAfterMs: earliestRecoveryMs() }
    }

    const mayGoOn = (failure: Failure): boolean =>
      policyOf(failure).tryNextTarget &&
      work.attempts.length < maxAttempts &&
      !deadlinePassed() &&
      !work.exchange.reply.isClosed()

    const answered = (target: Target, result: Exclude<AttemptResult, { _tag: "Failed" }>): LoopEnd => ({
      _tag: "Answered",
      target,
      result
    })

    const clientLeft = (target: Target): LoopEnd =>
      answered(target, { _tag: "Aborted", report: null, firstContentMs: null })

    /** One call, made while a place at the connection is held; the place is given back however it ends. */
    const ask = (turn: Turn, release: Release): Effect.Effect<LoopEnd> => {
      const { delayMs, enabled } = settings.current().hedging
      const asking = enabled && hasAnother(turn.index + 1) ? hedged(turn, release, delayMs) : alone(turn, release)
      return Effect.flatMap(asking, (outcome) => {
        if (outcome === null) return walk(turn.index + 1)
        const { failure, result } = outcome
        // What was learned must outlive a crash before anybody acts on it.
        const kept = failure === null ? Effect.void : health.flush
        if (result._tag !== "Failed") return Effect.as(kept, answered(outcome.turn.target, result))
        return failure === null ? Effect.sync(ended) : Effect.zipRight(kept, afterFailure(outcome.turn, failure))
      })
    }

    const alone = (turn: Turn, release: Release, contender: Contender | null = null): Effect.Effect<Outcome | null> =>
      call(turn, contender, release)

    /** A second target is asked too when the first has not begun to answer in time. */
    const hedged = (turn: Turn, release: Release, delayMs: number): Effect.Effect<Outcome | null> =>
      Effect.gen(function* () {
        const contest = makeContest(work.exchange.reply)
        const first = yield* Effect.fork(alone(turn, release, contest.enter()))
        const early = yield* Effect.timeoutOption(Fiber.join(first), delayMs)
        if (Option.isSome(early)) return early.value
        const index = order.findIndex((target, at) => at > turn.index && isOpen(target))
        const target = order[index]
        const place = target === undefined ? null : door.enter(target.account.connection)
        if (target === undefined || place?._tag !== "Free") return yield* Fiber.join(first)
        const second = yield* Effect.fork(alone({ target, index, retries: 0 }, place.release, contest.enter()))
        const one = yield* Effect.raceFirst(Fiber.join(first), Fiber.join(second))
        if (isSettled(one)) {
          yield* Effect.zipRight(Fiber.interrupt(first), Fiber.interrupt(second))
          return one
        }
        if (one?.failure != null) {
          last = { target: one.turn.target, failure: one.failure }
          exhausted.add(one.turn.target, one.failure)
        }
        const rest = yield* Fiber.join(one?.turn.index === index ? first : second)
        // Both are behind us: what comes next comes after the later one.
        return rest === null ? null : { ...rest, turn: { ...rest.turn, index: Math.max(turn.index, index) } }
      })

    /** Null when the target may not be called after all. One guard for place, statistics and probe: this is the hot path. */
    const call = (turn: Turn, contender: Contender | null, release: Release): Effect.Effect<Outcome | null> =>
      Effect.suspend(() => {
        const { index, target } = turn
        const startedMs = timers.nowMs()
        const admission = health.admit(target, startedMs)
        if (admission === "refused") {
          release()
          const reason = health.unready(target, startedMs)
          if (reason !== null) leaveOut(target, reason)
          return Effect.succeed(null)
        }
        const lastChance = !hasAnother(index + 1)
        const callTo = (asked: Target): Call => ({
          target: asked,
          startedMs,
          endedMs: timers.nowMs(),
          probe: admission === "probe"
        })
        const calling = tokens.mayBeStale(target)
          ? Effect.flatMap(within(tokens.fresh(target)), (fresh) => called(fresh ?? target, lastChance, contender))
          : called(target, lastChance, contender)
        const begunMs = timers.monotonicMs()
        const over = stats.begin(target.account.connection.id, target.model)
        return Effect.map(
          Effect.onExit(calling, (exit) => {
            release()
            over()
            return Exit.isInterrupted(exit) ? Effect.sync(() => giveUp(callTo(target))) : Effect.void
          }),
          ({ result, target: asked }) => {
            const done = callTo(asked)
            const lost = contender?.hasLost() === true
            const failure = learn(done, result)
            measure(done, result, failure, begunMs)
            note(done, result, failure, lost)
            return { turn: asked === target ? turn : { ...turn, target: asked }, result, failure, lost }
          }
        )
      })

    /** Another target was faster, or the house is closing. */
    const giveUp = (call: Call): void => {
      health.abandoned(call)
      note(call, { _tag: "Aborted", report: null, firstContentMs: null }, null, true)
    }

    const called = (target: Target, lastChance: boolean, contender: Contender | null) => {
      const own = contender === null ? work : { ...work, exchange: { ...work.exchange, reply: contender.reply } }
      return Effect.map(attempt(own, target, lastChance), (result) => {
        if (contender?.hasLost() !== true) work.targetWire = own.targetWire
        return { target, result }
      })
    }

    const afterFailure = (turn: Turn, failure: Failure): Effect.Effect<LoopEnd> =>
      Effect.suspend(() => {
        const { index, retries, target } = turn
        last = { target, failure }
        if (!mayGoOn(failure)) return Effect.sync(ended)
        const policy = policyOf(failure)
        if (policy.refreshToken) return withNewToken(turn, failure)
        exhausted.add(target, failure)
        if (policy.retrySameTarget) tired.add(target.account.connection.id)
        const { delayMs, maxRetries } = settings.current().retry
        // Somebody who has not failed yet comes before somebody who has.
        return policy.retrySameTarget && retries < maxRetries && !hasAnother(index + 1)
          ? Effect.matchEffect(whileClientStays(work.exchange.reply, Effect.sleep(delayMs)), {
              onFailure: () => Effect.sync(ended),
              onSuccess: () => enter({ ...turn, retries: retries + 1 })
            })
          : walk(index + 1)
      })

    /** The access token is no longer good: once with a new one, else the account is out. */
    const withNewToken = (turn: Turn, failure: Failure): Effect.Effect<LoopEnd> => {
      const { index, target } = turn
      refreshed.add(target.account.connection.id)
      return Effect.flatMap(within(tokens.renew(target, failure)), (renewed) => {
        if (renewed !== null) return enter({ ...turn, target: renewed })
        exhausted.add(target, { ...failure, exhausts: "connection" })
        return Effect.zipRight(health.flush, walk(index + 1))
      })
    }

    /** Waits for tokens no longer than the request may take, and not for a client that has left. */
    const within = (wait: Effect.Effect<Target | null>): Effect.Effect<Target | null> => {
      const leftMs = settings.current().timeouts.totalMs - (timers.monotonicMs() - work.exchange.startedMs)
      return whileClientStays(work.exchange.reply, Effect.timeoutOption(wait, Math.max(1, leftMs))).pipe(
        Effect.match({ onFailure: () => null, onSuccess: Option.getOrNull })
      )
    }

    /** Takes a place, or puts the target off until nobody else is left. */
    const enter = (turn: Turn): Effect.Effect<LoopEnd> =>
      Effect.suspend(() => {
        const place = door.enter(turn.target.account.connection)
        if (place._tag === "Free") return ask(turn, place.release)
        if (place._tag === "Wait") waiting.push({ turn, place })
        else leaveOut(turn.target, queueFull)
        return walk(turn.index + 1)
      })

    /** All that could be asked at once were; now in line, in the same order. */
    const queue = (): Effect.Effect<LoopEnd> =>
      Effect.suspend(() => {
        const next = waiting.shift()
        if (next === undefined) return lastResort()
        const { place, turn } = next
        let held: Release | null = null
        // The client may leave in the very moment the place comes.
        const wait = Effect.uninterruptibleMask((restore) =>
          Effect.map(restore(place.wait), (release) => (held = release))
        )
        return Effect.matchEffect(whileClientStays(work.exchange.reply, wait), {
          onFailure: () =>
            Effect.sync(() => {
              held?.()
              return clientLeft(turn.target)
            }),
          onSuccess: (release) => {
            // Much may have been learned while it stood in line.
            const reason = release === null ? queueFull : health.unready(turn.target, timers.nowMs())
            if (release !== null && reason === null) return ask({ ...turn, index: order.length }, release)
            release?.()
            leaveOut(turn.target, reason ?? queueFull)
            return queue()
          }
        })
      })

    /** Another model of an account that has just failed is still better than no answer. */
    const lastResort = (): Effect.Effect<LoopEnd> =>
      Effect.suspend(() => {
        const turn = later.shift()
        if (turn === undefined) return Effect.sync(ended)
        return exhausted.covers(turn.target) ? lastResort() : enter(turn)
      })

    const walk = (from: number): Effect.Effect<LoopEnd> =>
      Effect.suspend(() => {
        for (let index = from; index < order.length; index += 1) {
          const target = order[index]
          if (target === undefined || exhausted.covers(target)) continue
          const reason = health.unready(target, timers.nowMs())
          if (reason === null) return enter({ target, index, retries: 0 })
          if (reason.rule === "cooldown" && tired.has(target.account.connection.id)) {
            later.push({ target, index: order.length, retries: 0 })
          } else leaveOut(target, reason)
        }
        return queue()
      })

    /** Everything is as at the begin, but for what was learned. */
    const again = (): Effect.Effect<LoopEnd> =>
      Effect.suspend(() => {
        exhausted = makeExhausted()
        tired.clear()
        last = null
        firstUnready = null
        return walk(0)
      })

    /** A quota share waits for a short, passing cooldown instead of failing (document 1 "Quota-share concurrency"). */
    const waiting429 = (end: LoopEnd, waits: number, spentMs: number): Effect.Effect<LoopEnd> => {
      const { budgetMs, enabled, maxAttempts: mostWaits, maxWaitMs } = settings.current().comboCooldownWait
      const restMs = isPassing(end) ? earliestRecoveryMs() : null
      if (!enabled || restMs === null || waits >= mostWaits) return Effect.succeed(end)
      const waitMs = restMs + cooldownMarginMs
      if (waitMs > maxWaitMs || spentMs + waitMs > budgetMs || deadlinePassed()) return Effect.succeed(end)
      return Effect.matchEffect(whileClientStays(work.exchange.reply, Effect.sleep(waitMs)), {
        onFailure: () => Effect.sync(ended),
        onSuccess: () => Effect.flatMap(again(), (next) => waiting429(next, waits + 1, spentMs + waitMs))
      })
    }

    return work.decision.strategy === "quota-share" ? Effect.flatMap(walk(0), (end) => waiting429(end, 0, 0)) : walk(0)
  }
}
