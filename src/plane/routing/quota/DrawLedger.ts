/** The counts of what was drawn, by key: in memory, written to the store soon after, and read back by the next start. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import { makeWriteBehind } from "../../resilience/WriteBehind.ts"
import type { StoreError } from "../../../store/Errors.ts"
import { QuotaUseRepo } from "../../../subjects/quotaGroups/QuotaUseRepo.ts"
import { readStates } from "../health/StoredStates.ts"
import { currentDraws, type Draws, noDraws, StoredDraws } from "./Draws.ts"

export interface DrawLedger {
  /** Hot. */
  readonly of: (key: string) => Draws
  /** Hot: puts draws; in force at once, in the store soon after. */
  readonly put: (key: string, draws: Draws) => void
  /** Waits until everything that was put before is in the store. */
  readonly flush: Effect.Effect<void>
}

/** Keys kept at most; beyond it the one that was longest silent goes. */
export const capacity = 50_000

const what = "What was drawn of the quotas"

export const makeDrawLedger: Effect.Effect<DrawLedger, StoreError, QuotaUseRepo | Scope.Scope> = Effect.gen(
  function* () {
    const repo = yield* QuotaUseRepo
    const entries = new LruMap<string, Draws>({ capacity, onRemove: (key) => writeBehind.touch(key) })
    const { corrupt, states } = yield* readStates(what, StoredDraws, yield* repo.list)

    const writeBehind = yield* makeWriteBehind(what, (key) => {
      const draws = entries.peek(key)
      return draws === undefined ? repo.remove(key) : repo.save(key, JSON.stringify(draws))
    })

    const startMs = yield* Clock.currentTimeMillis
    for (const key of corrupt) writeBehind.touch(key)
    for (const [key, state] of states) {
      const draws = currentDraws(state, startMs)
      // Also how what is known of removed groups, connections and keys leaves the store in the end.
      if (Object.keys(draws).length > 0) entries.set(key, draws)
      else writeBehind.touch(key)
    }

    return {
      of: (key) => entries.peek(key) ?? noDraws,
      put: (key, draws) => {
        entries.set(key, draws)
        writeBehind.touch(key)
      },
      flush: writeBehind.flush
    }
  }
)
