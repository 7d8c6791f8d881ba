/**
 * Where the blocks of memories stand in a request: before each user turn that had one in an earlier request of the session, and before the last
 * one. A turn is known again by all that was said up to it. Pure.
 */
import { createHash } from "node:crypto"
import type { WireName } from "../domain/Wire.ts"
import type { Json } from "../wire/json/Json.ts"
import type { PlacedBlock } from "./Blocks.ts"
import { asksTool, behindMark, identityOf, isMarked, isUserTurn, turnWith } from "./Turns.ts"

/** Memories that are looked at for one block, the best match first. */
export const mostRecalled = 12

/** A turn whose block is known. */
export interface Standing {
  readonly at: number
  readonly block: PlacedBlock
}

/** The last turn, of which it is not decided whether a block stands before it. */
export interface Undecided {
  readonly at: number
  /** Names the turn, with all that was said before it. */
  readonly turn: string
  readonly place: PlacedBlock["place"]
}

export interface Recalled {
  /** In the order of the turns. */
  readonly standing: ReadonlyArray<Standing>
  /** Null where the request does not end in what a user says, so that a block would change what the upstream has seen. */
  readonly undecided: Undecided | null
}

/**
 * What is known of the turns. `session`: whose conversation it is, and all of it that is not among the turns; `blockAt`: see `Blocks.at`.
 */
export const recalled = (
  wire: WireName,
  session: string,
  turns: ReadonlyArray<Json>,
  blockAt: (turn: string) => PlacedBlock | null | undefined
): Recalled => {
  const said = createHash("sha256").update(`${wire}\n${session}\n`)
  const standing: Array<Standing> = []
  let undecided: Undecided | null = null
  for (const [at, turn] of turns.entries()) {
    said.update(identityOf(turn)).update("\n")
    if (!isUserTurn(wire, turn) || asksTool(wire, turns[at - 1])) continue
    const name = said.copy().digest("base64url")
    const block = blockAt(name)
    if (block !== null && block !== undefined) standing.push({ at, block })
    if (block !== undefined || at !== turns.length - 1) continue
    undecided = { at, turn: name, place: isMarked(wire, turn) ? "behindMark" : "before" }
  }
  return { standing, undecided }
}

/** The turns with the blocks at their places. `asUser`: see `turnWith`. */
export const withBlocks = (
  wire: WireName,
  turns: ReadonlyArray<Json>,
  standing: ReadonlyArray<Standing>,
  asUser: boolean
): ReadonlyArray<Json> => {
  const blocks = new Map(standing.map(({ at, block }) => [at, block]))
  return turns.flatMap((turn, at) => {
    const block = blocks.get(at)
    if (block === undefined) return [turn]
    return block.place === "before" ? [turnWith(wire, block.text, asUser), turn] : [behindMark(wire, turn, block.text)]
  })
}
