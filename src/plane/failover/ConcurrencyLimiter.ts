/**
 * The two concurrency limits of a target: the combo's own for its model (`concurrencyPerModel`), then the connection's. A call that gets
 * a place at the first and none at the second gives the first one back.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ConcurrencyGate from "../resilience/ConcurrencyGate.ts"
import { ConnectionLimiter, type Place } from "../resilience/ConnectionLimiter.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import type { LineRules, RoutePolicy } from "../routing/walk/RoutePolicy.ts"
import type { Work } from "../request/Exchange.ts"

type Release = ConcurrencyGate.Release

/** A wait for a place: resolves with it, or with null when none came. */
export type Waiting = Effect.Effect<Release | null>

/** Facts of a request that its places depend on. */
export interface Visitor {
  readonly policy: RoutePolicy
  readonly work: Work
}

export class ConcurrencyLimiter extends Context.Tag("gateway/plane/failover/ConcurrencyLimiter")<
  ConcurrencyLimiter,
  {
    /** Hot: a place for one call of the target, at once or after a wait. */
    readonly enter: (run: Visitor, target: Target) => Place
  }
>() {}

/** The queue of a combo's own limit, where its config says nothing of it. */
const usualDepth = 20
const usualTimeoutMs = 30_000

const full: Place = { _tag: "Full" }

const both =
  (one: Release, other: Release): Release =>
  () => {
    one()
    other()
  }

/** Key of the places of one combo: another combo's calls to the model have places of their own. */
const keyOf = ({ work }: Pick<Visitor, "work">, { account, model }: Target): string =>
  `combo\n${work.resolution.combo?.name ?? ""}\n${account.spec.id}/${model}`

/** A place that is waited for no longer than this; released when it comes in the very moment the wait is over. */
export const noLongerThan = (timeoutMs: number, wait: Effect.Effect<Release | null>): Effect.Effect<Release | null> => {
  // Of one run: the effect is made for one request, and run once.
  let permit: Release | null = null
  const noting = Effect.uninterruptibleMask((restore) => Effect.map(restore(wait), (release) => (permit = release)))
  const timed = Effect.timeoutTo(noting, {
    duration: timeoutMs,
    onSuccess: (release): Release | null => release,
    onTimeout: () => {
      permit?.()
      return null
    }
  })
  return Effect.onInterrupt(timed, () => Effect.sync(() => permit?.()))
}

export const make = Effect.gen(function* () {
  const limiter = yield* ConnectionLimiter
  const gate = yield* ConcurrencyGate.ConcurrencyGate

  /** A place at the connection, as far as the combo lets its requests wait there. */
  const connectionPlace = ({ queueDepth, queueTimeoutMs }: LineRules, { account }: Target): Place => {
    const place = limiter.enter(account.connection)
    if (place._tag !== "Wait") return place
    if (queueDepth !== null && limiter.waiting(account.connection.id) >= queueDepth) return full
    return queueTimeoutMs === null ? place : { _tag: "Wait", wait: noLongerThan(queueTimeoutMs, place.wait) }
  }

  const ownPlace = (key: string, limit: number, rules: LineRules): ConcurrencyGate.Place =>
    gate.enter(key, limit, rules.queueDepth ?? usualDepth)

  /** Takes a place in the first queue, then in the other. A place held is released when the wait is cancelled. */
  const inLine = (key: string, limit: number, rules: LineRules, target: Target): Effect.Effect<Release | null> =>
    Effect.uninterruptibleMask((restore) => {
      const own = Effect.suspend((): Effect.Effect<Release | null> => {
        const place = ownPlace(key, limit, rules)
        if (place._tag === "Full") return Effect.succeed(null)
        if (place._tag === "Free") return Effect.succeed(place.release)
        return noLongerThan(rules.queueTimeoutMs ?? usualTimeoutMs, place.wait)
      })
      return Effect.flatMap(restore(own), (release) => {
        if (release === null) return Effect.succeed(null)
        const place = connectionPlace(rules, target)
        if (place._tag === "Free") return Effect.succeed(both(release, place.release))
        if (place._tag === "Full") {
          release()
          return Effect.succeed(null)
        }
        return Effect.onInterrupt(
          Effect.map(restore(place.wait), (second) => {
            if (second !== null) return both(release, second)
            release()
            return null
          }),
          () => Effect.sync(release)
        )
      })
    })

  const enter = (run: Visitor, target: Target): Place => {
    const { lines } = run.policy
    // A quota share is no combo: it has no rules of its own, and its limit fails open.
    if (lines === null) {
      return limiter.enter(target.account.connection, run.work.decision.strategy === "quota-share")
    }
    const { concurrencyPerModel: limit } = lines
    if (limit === null) return connectionPlace(lines, target)
    const key = keyOf(run, target)
    const own = ownPlace(key, limit, lines)
    if (own._tag === "Full") return full
    if (own._tag === "Free") {
      const place = connectionPlace(lines, target)
      if (place._tag === "Free") return { _tag: "Free", release: both(own.release, place.release) }
      own.release()
      if (place._tag === "Full") return place
    }
    return { _tag: "Wait", wait: inLine(key, limit, lines, target) }
  }

  return ConcurrencyLimiter.of({ enter })
})

export const layer: Layer.Layer<ConcurrencyLimiter, never, ConnectionLimiter | ConcurrencyGate.ConcurrencyGate> =
  Layer.effect(ConcurrencyLimiter, make)
