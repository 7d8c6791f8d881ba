/**
 * The blocks that were put into sessions, by the turn they stand at. A later request of the session gets the same block at the same place
 * again, so that what the provider has in its prompt cache stays the beginning of it. In memory, bounded; pure state.
 */
import { LruMap } from "../kernel/LruMap.ts"
import type { Block } from "./Block.ts"

export interface PlacedBlock extends Block {
  /** As a turn before it, or behind the client's own mark in it. */
  readonly place: "before" | "behindMark"
}

export interface Blocks {
  /** Null: nothing is put there; undefined: it is not decided. */
  readonly at: (turn: string, nowMs: number) => PlacedBlock | null | undefined
  readonly put: (turn: string, block: PlacedBlock | null, nowMs: number) => void
  /** No block holds the memory from now on. */
  readonly forget: (memoryId: string) => void
}

const maxTurns = 50_000
const maxWeight = 67_108_864
/** Since the last request with the turn. */
const keptMs = 86_400_000
const bytesPerTurn = 256

export const makeBlocks = (): Blocks => {
  const turns = new LruMap<string, PlacedBlock | null>({
    capacity: maxTurns,
    maxWeight,
    weightOf: (block) => bytesPerTurn + (block === null ? 0 : block.text.length * 2),
    ttlMs: keptMs
  })
  return {
    at: (turn, nowMs) => {
      const block = turns.get(turn, nowMs)
      if (block !== undefined) turns.set(turn, block, nowMs)
      return block
    },
    put: (turn, block, nowMs) => turns.set(turn, block, nowMs),
    forget: (memoryId) => turns.prune((block) => block?.ids.includes(memoryId) === true)
  }
}
