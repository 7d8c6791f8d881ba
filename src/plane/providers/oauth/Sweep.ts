/** Looks now and then for unused accounts whose tokens expire soon. One at a time, and not all gateways at once. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { claimed } from "../../../plane/state/Claims.ts"

export interface Due {
  readonly dueMs: number
  readonly renew: Effect.Effect<void>
}

/** More wait for the next round, those that end first go first. */
const mostPerRound = 100

/** Schedule of the rounds; well below the time by which tokens are renewed early. */
const rounds = Schedule.jittered(Schedule.spaced("1 minute"))

export const startSweep = (dueAt: (nowMs: number) => ReadonlyArray<Due>): Effect.Effect<void, never, Scope.Scope> => {
  const round = Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
    const due = dueAt(nowMs).toSorted((a, b) => a.dueMs - b.dueMs)
    return Effect.forEach(due.slice(0, mostPerRound), ({ renew }) => renew, { discard: true })
  }).pipe(Effect.catchAllDefect((defect) => Effect.logError("Looking after OAuth tokens broke off", defect)))
  return Effect.asVoid(Effect.forkScoped(claimed("token-sweep", Effect.schedule(round, rounds))))
}
