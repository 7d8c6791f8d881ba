/** Finds the prefix of a prompt that the provider's cache should hold. Pure. */
import { type CachePolicy, lookBackBlocks } from "./CachePolicy.ts"
import type { Mark } from "../prompt/Prompt.ts"
import { type ChainNode, stateOf } from "./PromptChains.ts"

/** Numbers of parts; 0: none. */
export interface Readable {
  /** Longest prefix that is kept, whatever the marks of this call. */
  readonly alive: number
  /** Longest prefix that is kept and that this call asks for. */
  readonly reached: number
}

/** A mark finds entries that end at it or up to 20 blocks before it. */
const isReached = (depth: number, marks: ReadonlyArray<Mark>): boolean =>
  marks.some(({ after }) => after >= depth && after - depth <= lookBackBlocks)

export const readable = (
  path: ReadonlyArray<ChainNode>,
  scope: string,
  atMs: number,
  marks: ReadonlyArray<Mark>,
  { writes }: CachePolicy
): Readable => {
  let alive = 0
  for (let depth = path.length; depth > 0; depth -= 1) {
    const node = path[depth - 1]
    const state = node === undefined ? undefined : stateOf(node, scope)
    if (state === undefined || !state.isWritten || state.availableAtMs > atMs || state.untilMs < atMs) continue
    if (alive === 0) alive = depth
    if (writes !== "marks" || isReached(depth, marks)) return { alive, reached: depth }
  }
  return { alive, reached: 0 }
}
