/** The whole walk again: a quota share that waits for a short cooldown, and a combo's further rounds (`maxSetRetries`). */
import * as Effect from "effect/Effect"
import { cooldownMarginMs } from "../../routing/walk/RoutePolicy.ts"
import type * as Timers from "../../platform/Timers.ts"
import type * as Settings from "../../resilience/Settings.ts"
import type { TargetHealth } from "../../routing/TargetHealth.ts"
import { isPassing, type LoopEnd } from "./LoopEnd.ts"
import type { Pauses } from "./Pauses.ts"
import { earliestRecoveryMs, endOf, mayAsk, type Round } from "./Round.ts"

export interface RepeatRooms {
  readonly timers: Pick<typeof Timers.Timers.Service, "nowMs">
  readonly settings: Pick<typeof Settings.Settings.Service, "current">
  readonly health: Pick<typeof TargetHealth.Service, "unready">
  readonly pauses: Pauses
  readonly walk: (round: Round) => Effect.Effect<LoopEnd>
}

export const makeRepeats = ({ health, pauses, settings, timers, walk }: RepeatRooms) => {
  /** Everything is as at the begin, but for what was learned. */
  const again = (round: Round): Effect.Effect<LoopEnd> =>
    Effect.suspend(() => {
      round.exhausted.forgetPassing()
      round.tired.clear()
      round.last = null
      round.soonestUnready = null
      return walk(round)
    })

  /** A quota share waits for a short, passing cooldown instead of failing (document 1 "Quota-share concurrency"). */
  const afterCooldown = (round: Round, end: LoopEnd, waits: number, spentMs: number): Effect.Effect<LoopEnd> => {
    const { budgetMs, enabled, maxAttempts, maxWaitMs } = settings.current().comboCooldownWait
    const restMs = isPassing(end) ? earliestRecoveryMs(round, health, timers.nowMs()) : null
    if (!enabled || restMs === null || waits >= maxAttempts) return Effect.succeed(end)
    const waitMs = restMs + cooldownMarginMs
    if (waitMs > maxWaitMs || spentMs + waitMs > budgetMs || pauses.leftMs(round.work) <= 0) return Effect.succeed(end)
    return Effect.flatMap(pauses.pause(round.work, waitMs), (mayGoOn) =>
      mayGoOn
        ? Effect.flatMap(again(round), (next) => afterCooldown(round, next, waits + 1, spentMs + waitMs))
        : Effect.sync(() => endOf(round, health, timers.nowMs()))
    )
  }

  /** After the wait somebody could be asked: who failed in a way that passes, or whose rest is over by then. */
  const canRepeat = (round: Round, end: LoopEnd, delayMs: number): boolean => {
    if (end._tag === "Answered" || !mayAsk(round, pauses)) return false
    if (round.tired.size > 0) return true
    const restMs = earliestRecoveryMs(round, health, timers.nowMs())
    return restMs !== null && restMs <= delayMs
  }

  /** A round in which nobody could be asked is the last: the end of the one before stands. */
  const furtherRounds = (round: Round, end: LoopEnd, rounds: number): Effect.Effect<LoopEnd> => {
    const { maxSetRetries, setRetryDelayMs } = round.policy
    if (rounds >= maxSetRetries || !canRepeat(round, end, setRetryDelayMs)) return Effect.succeed(end)
    const before = round.work.attempts.length
    return Effect.flatMap(pauses.pause(round.work, setRetryDelayMs), (mayGoOn) => {
      if (!mayGoOn) return Effect.sync(() => endOf(round, health, timers.nowMs()))
      round.exhausted.forgetPassing()
      return Effect.flatMap(walk(round), (next) =>
        round.work.attempts.length === before ? Effect.succeed(next) : furtherRounds(round, next, rounds + 1)
      )
    })
  }

  return { afterCooldown, furtherRounds }
}
