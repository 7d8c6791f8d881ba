/**
 * Restores rotations after a crash. What strategies remember is stored shortly after a request, the usage row before its last byte. So
 * the rows that are newer than a stored memory show which targets have had their turn since. Pure.
 */
import type { UsageRow } from "../../../contract/domain/Usage.ts"
import type { StrategyMemory } from "../candidate/Strategy.ts"
import { blankMemory } from "../candidate/Strategy.ts"
import { targetKey } from "../resolve/TargetKey.ts"

/** Newest rows that are looked at, and how much older than the newest one may be: memory is never behind by more. */
export const mostUnsaved = 500
const longestUnsavedMs = 2_000

type Rows = ReadonlyArray<Pick<UsageRow, "combo" | "connectionId" | "model" | "outcome" | "timestampMs">>

/** The memories by combo, after the turns in `rows` (newest first). `savedAtMs`: epoch milliseconds at which each memory was stored. */
export const caughtUp = (
  memories: ReadonlyMap<string, StrategyMemory>,
  savedAtMs: ReadonlyMap<string, number>,
  rows: Rows
): ReadonlyMap<string, StrategyMemory> => {
  const after = new Map(memories)
  const youngestMs = rows[0]?.timestampMs ?? 0
  for (const { combo, connectionId, model, outcome, timestampMs } of rows.toReversed()) {
    if (combo === null || connectionId === null || model === null || outcome !== "completed") continue
    // In the same millisecond the turn may be in the memory already; applying it twice changes nothing.
    if (timestampMs < youngestMs - longestUnsavedMs || timestampMs < (savedAtMs.get(combo) ?? 0)) continue
    const memory = after.get(combo) ?? blankMemory
    // A memory without a dealt target is not of a strategy that deals.
    if (memory.lastDealt === null && after.has(combo)) continue
    const key = targetKey(connectionId, model)
    after.set(combo, { ...memory, lastDealt: key, deck: memory.deck.filter((card) => card !== key) })
  }
  return after
}
