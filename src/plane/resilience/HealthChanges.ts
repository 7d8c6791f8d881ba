/** Publishes every change of a breaker, of a connection's health, and of the lock of a model: what is told is another state than the one before. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { LruMap } from "../../kernel/collections/LruMap.ts"
import * as Events from "../../observe/Events.ts"
import { Timers } from "../../platform/Timers.ts"
import { Breakers } from "./breaker/Breakers.ts"
import { Cooldowns } from "./cooldown/Cooldowns.ts"
import { Lockouts } from "./lockout/Lockouts.ts"

export class HealthChanges extends Context.Tag("gateway/plane/resilience/HealthChanges")<
  HealthChanges,
  Record<never, never>
>() {}

/** States that were told last; one that was forgotten is told once more. */
const mostTold = 10_000

/** Checks whether a state is another one than was told of the same thing. */
const makeNews = () => {
  const told = new LruMap<string, string>({ capacity: mostTold })
  return (id: string, state: string): boolean => {
    if (told.peek(id) === state) return false
    told.set(id, state)
    return true
  }
}

export const make = Effect.gen(function* () {
  const { publish } = yield* Events.Events
  const { nowMs } = yield* Timers
  const breakers = yield* Breakers
  const cooldowns = yield* Cooldowns
  const lockouts = yield* Lockouts
  const isNews = makeNews()

  const stops = [
    breakers.listen(({ failures, provider, state }) => {
      const isKnown = !isNews(`breaker\n${provider}`, state)
      // A first failure that opens nothing is no change of what may be asked.
      if (isKnown || (state === "CLOSED" && failures > 0)) return
      publish({ type: "breaker.changed", atMs: nowMs(), provider, state, failures })
    }),
    cooldowns.listen(({ connectionId, health: { errorCode, rateLimitedUntilMs: untilMs, testStatus: status } }) => {
      if (!isNews(`cooldown\n${connectionId}`, `${status} ${untilMs}`)) return
      publish({ type: "cooldown.changed", atMs: nowMs(), connectionId, status, untilMs, errorCode })
    }),
    lockouts.listen(({ connectionId, model, provider, reason, untilMs }) => {
      if (!isNews(`lockout\n${provider}\n${connectionId}\n${model}`, String(untilMs))) return
      publish({ type: "lockout.changed", atMs: nowMs(), provider, connectionId, model, untilMs, reason })
    })
  ]
  yield* Effect.addFinalizer(() => Effect.sync(() => stops.forEach((stop) => stop())))
  return HealthChanges.of({})
})

export const layer: Layer.Layer<HealthChanges, never, Breakers | Cooldowns | Events.Events | Lockouts | Timers> =
  Layer.scoped(HealthChanges, make)
