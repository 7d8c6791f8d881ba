/**
 * The blocks that were put into sessions, by the turn they are at. A later request of the session gets the same block at the same place
 * again, so that what the provider has in its prompt cache stays the beginning of it. In memory, bounded; pure state.
 */
import type { PlacedBlock } from "../../subjects/memory/entity.ts"
import { LruMap } from "../../kernel/collections/LruMap.ts"

export interface Blocks {
  /** Null: nothing is put there; undefined: it is not decided. */
  readonly at: (turn: string, nowMs: number) => PlacedBlock | null | undefined
  readonly put: (turn: string, block: PlacedBlock | null, nowMs: number) => void
  /** Decides whether it is time to note in the store that the turn is used; it then counts as noted. */
  readonly isDue: (turn: string, nowMs: number) => boolean
  /** No block holds the memory from now on. */
  readonly forget: (memoryId: string) => void
}

export const maxTurns = 50_000
export const maxBytes = 67_108_864
/** Time in ms for which a block is kept since the last request with the turn. */
export const keptMs = 86_400_000
/** Shortest time in ms between two writes of the time of the last use. */
const notedEveryMs = 3_600_000
const bytesPerTurn = 256

interface Entry {
  readonly block: PlacedBlock | null
  notedAtMs: number
}

export const makeBlocks = (): Blocks => {
  const turns = new LruMap<string, Entry>({
    capacity: maxTurns,
    maxWeight: maxBytes,
    weightOf: ({ block }) => bytesPerTurn + (block === null ? 0 : block.text.length * 2),
    ttlMs: keptMs
  })
  return {
    at: (turn, nowMs) => {
      const entry = turns.get(turn, nowMs)
      if (entry !== undefined) turns.set(turn, entry, nowMs)
      return entry?.block
    },
    put: (turn, block, nowMs) => turns.set(turn, { block, notedAtMs: nowMs }, nowMs),
    isDue: (turn, nowMs) => {
      const entry = turns.peek(turn, nowMs)
      if (entry === undefined || nowMs - entry.notedAtMs < notedEveryMs) return false
      entry.notedAtMs = nowMs
      return true
    },
    forget: (memoryId) => turns.prune(({ block }) => block?.ids.includes(memoryId) === true)
  }
}
