/**
 * Lets lines of batches begin: at most so many at once, of all batches together, and after live traffic. Of callers that wait the one with the fewest
 * lines in progress comes first, so that no batch holds up those of others.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Scope } from "effect/Scope"
import { type Lane, makeLane } from "../../kernel/Lane.ts"
import { GatewaySettings } from "../flags/StoredFlags.ts"
import { EventLoop } from "../../platform/EventLoop.ts"
import { Timers } from "../../platform/Timers.ts"
import { LoadShedder } from "../../plane/resilience/LoadShedder.ts"
import { Settings } from "../../plane/resilience/Settings.ts"

/** The part of `loadShedding.maxInFlight` that live requests may take before no line begins: they must not be refused on a line's account. */
const liveShare = 0.8
/** Live traffic is expected to go on for so long after its last request. */
const liveForMs = 1_000
/**
 * Time in ms between the beginnings of two lines beside live traffic: several in one turn of the event loop would delay
 * all live requests.
 */
const besideLiveMs = 4
/** Time in ms between two checks whether live traffic has spare capacity. */
const lookAgainMs = 20

export interface Load {
  readonly maxConcurrency: number
  /** Lines in progress. */
  readonly running: number
  /** Live requests in progress, and how many there may be. */
  readonly live: number
  readonly maxLive: number
  /** Busy part of the event loop, from 0 to 1. */
  readonly loopBusy: number
}

/** Decides whether one more line may begin. Beside live requests lines get the rest of the event loop, and one line always goes on. Pure. */
export const mayBegin = ({ live, loopBusy, maxConcurrency, maxLive, running }: Load): boolean => {
  if (running >= maxConcurrency || live >= maxLive * liveShare) return false
  return live === 0 || running < Math.max(1, Math.floor(maxConcurrency * (1 - loopBusy)))
}

/**
 * Milliseconds between the beginnings of two lines. `sinceLiveMs`: since the last live request was in progress. Pure.
 */
export const spacingMs = (sinceLiveMs: number): number => (sinceLiveMs < liveForMs ? besideLiveMs : 0)

/** A caller with lines that wait or run. */
interface Owner {
  readonly name: string
  running: number
  /** Lines that wait or run. */
  inside: number
  /** True when its first waiting line looks for a place. */
  isLooking: boolean
  readonly turns: Lane
}

/**
 * Picks the owner whose line begins next: the first of those with the fewest lines in progress; null: none waits. Pure.
 */
export const nextOf = <A extends Pick<Owner, "isLooking" | "running">>(owners: Iterable<A>): A | null => {
  let next: A | null = null
  for (const owner of owners) if (owner.isLooking && (next === null || owner.running < next.running)) next = owner
  return next
}

export class LineGate extends Context.Tag("gateway/subjects/batches/LineGate")<
  LineGate,
  {
    /** Waits for a place, which the scope holds. Of one owner in the order of asking. */
    readonly enter: (owner: string) => Effect.Effect<void, never, Scope>
    /** Lines of a batch that may be begun and not over, those that wait for a connection included. */
    readonly maxConcurrency: () => number
  }
>() {}

export const make = Effect.gen(function* () {
  const gateway = yield* GatewaySettings
  const loop = yield* EventLoop
  const resilience = yield* Settings
  const shedder = yield* LoadShedder
  const timers = yield* Timers
  /** Owners in the order in which they came, anew with each line of theirs that begins. */
  const owners = new Map<string, Owner>()
  const left = yield* Effect.makeLatch(false)
  let running = 0

  const maxConcurrency = (): number => gateway.current().batches.maxConcurrency

  const mayNow = (): boolean =>
    mayBegin({
      maxConcurrency: maxConcurrency(),
      running,
      live: shedder.inFlight(),
      maxLive: resilience.current().loadShedding.maxInFlight,
      loopBusy: loop.busy()
    })

  let admitted = 0
  let liveAtMs = Number.NEGATIVE_INFINITY
  let nextAtMs = 0
  /** The next line begins in a later turn of the event loop at the earliest. */
  const nextTurn = Effect.async<void>((resume) => timers.soon(() => resume(Effect.void)))

  const ownerOf = (name: string): Owner => {
    const known = owners.get(name)
    if (known !== undefined) return known
    const owner: Owner = { name, running: 0, inside: 0, isLooking: false, turns: makeLane(1) }
    owners.set(name, owner)
    return owner
  }

  const begin = (owner: Owner, nowMs: number): void => {
    if (shedder.inFlight() > 0 || shedder.admitted() !== admitted) liveAtMs = nowMs
    admitted = shedder.admitted()
    nextAtMs = nowMs + spacingMs(nowMs - liveAtMs)
    running += 1
    owner.running += 1
    owner.isLooking = false
    owners.delete(owner.name)
    owners.set(owner.name, owner)
  }

  const take = (owner: Owner): Effect.Effect<void> =>
    Effect.suspend(function look(): Effect.Effect<void> {
      owner.isLooking = true
      const nowMs = timers.monotonicMs()
      if (nowMs < nextAtMs) return Effect.flatMap(Effect.sleep(nextAtMs - nowMs), look)
      if (mayNow() && nextOf(owners.values()) === owner) {
        begin(owner, nowMs)
        // The next one looks at once. Nothing may interrupt here: the place is taken.
        left.unsafeOpen()
        return Effect.void
      }
      const again = Effect.raceFirst(left.await, Effect.sleep(lookAgainMs))
      return Effect.flatMap(Effect.zipRight(left.close, again), look)
    }).pipe(Effect.onInterrupt(() => Effect.sync(() => (owner.isLooking = false))))

  const over = (owner: Owner): void => {
    owner.inside -= 1
    if (owner.inside === 0) owners.delete(owner.name)
  }

  const leave = (owner: Owner): Effect.Effect<void> =>
    Effect.suspend(() => {
      running -= 1
      owner.running -= 1
      over(owner)
      return left.open
    })

  return LineGate.of({
    // Between taking and holding nothing may interrupt.
    enter: (name) =>
      Effect.acquireRelease(
        Effect.suspend(() => {
          const owner = ownerOf(name)
          owner.inside += 1
          const entering = owner.turns.inTurn(Effect.zipRight(nextTurn, take(owner)))
          return Effect.as(
            Effect.onInterrupt(Effect.interruptible(entering), () => Effect.sync(() => over(owner))),
            owner
          )
        }),
        leave
      ).pipe(Effect.asVoid),
    maxConcurrency
  })
})

export const layer: Layer.Layer<LineGate, never, EventLoop | GatewaySettings | LoadShedder | Settings | Timers> =
  Layer.effect(LineGate, make)
