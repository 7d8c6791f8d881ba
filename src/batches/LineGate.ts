/** Lets lines of batches begin: at most so many at once, of all batches together, and after live traffic. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Scope } from "effect/Scope"
import { GatewaySettings } from "../flags/GatewaySettings.ts"
import { EventLoop } from "../platform/EventLoop.ts"
import { Timers } from "../platform/Timers.ts"
import { LoadShedder } from "../resilience/LoadShedder.ts"
import { Settings } from "../resilience/Settings.ts"

/** The part of `loadShedding.maxInFlight` that live requests may take before no line begins: they must not be refused on a line's account. */
const liveShare = 0.8
/** Live traffic is expected to go on for so long after its last request. */
const liveForMs = 1_000
/** Between the beginnings of two lines beside live traffic: several in one turn of the event loop would delay all that comes meanwhile. */
const besideLiveMs = 4
/** How often it is looked whether live traffic leaves room. */
const lookAgainMs = 20

export interface Load {
  readonly maxConcurrency: number
  /** Lines under way. */
  readonly running: number
  /** Live requests under way, and how many there may be. */
  readonly live: number
  readonly maxLive: number
  /** From 0 to 1. */
  readonly loopBusy: number
}

/** Whether one more line may begin. Beside live requests lines get what these leave of the event loop, and one line always goes on. Pure. */
export const mayBegin = ({ live, loopBusy, maxConcurrency, maxLive, running }: Load): boolean => {
  if (running >= maxConcurrency || live >= maxLive * liveShare) return false
  return live === 0 || running < Math.max(1, Math.floor(maxConcurrency * (1 - loopBusy)))
}

/** Milliseconds between the beginnings of two lines. `sinceLiveMs`: since the last live request was under way. Pure. */
export const spacingMs = (sinceLiveMs: number): number => (sinceLiveMs < liveForMs ? besideLiveMs : 0)

export class LineGate extends Context.Tag("gateway/batches/LineGate")<
  LineGate,
  {
    /** Waits for a place, which the scope holds. In the order of asking. */
    readonly enter: Effect.Effect<void, never, Scope>
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
  const turns = yield* Effect.makeSemaphore(1)
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

  const begin = (nowMs: number): void => {
    if (shedder.inFlight() > 0 || shedder.admitted() !== admitted) liveAtMs = nowMs
    admitted = shedder.admitted()
    nextAtMs = nowMs + spacingMs(nowMs - liveAtMs)
    running += 1
  }

  const take = Effect.suspend(function look(): Effect.Effect<void> {
    const nowMs = timers.monotonicMs()
    if (nowMs < nextAtMs) return Effect.flatMap(Effect.sleep(nextAtMs - nowMs), look)
    if (mayNow()) {
      begin(nowMs)
      return Effect.void
    }
    const again = Effect.raceFirst(left.await, Effect.sleep(lookAgainMs))
    return Effect.flatMap(Effect.zipRight(left.close, again), look)
  })

  const leave = Effect.suspend(() => {
    running -= 1
    return left.open
  })

  return LineGate.of({
    // Between taking and holding nothing may interrupt.
    enter: Effect.acquireRelease(
      Effect.interruptible(turns.withPermits(1)(Effect.zipRight(nextTurn, take))),
      () => leave
    ),
    maxConcurrency
  })
})

export const layer: Layer.Layer<LineGate, never, EventLoop | GatewaySettings | LoadShedder | Settings | Timers> =
  Layer.effect(LineGate, make)
