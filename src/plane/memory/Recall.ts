/**
 * Places the blocks of memories in a request: before each user turn that had one in an earlier request of the session, and before the last one.
 * A turn is recognised by all the content up to it. Pure.
 */
import { createHash } from "node:crypto"
import type { PlacedBlock } from "../../subjects/memory/entity.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import type { Json } from "../../wire/json/Json.ts"
import { asksTool, behindMark, identityOf, isMarked, isUserTurn, turnWith } from "./Turns.ts"

/** Memories that are looked at for one block, the best match first. */
export const mostRecalled = 12

/** A turn of the user, before which a block may be. */
export interface UserTurn {
  readonly at: number
  /** Names the turn, with all that was said before it. */
  readonly name: string
  readonly place: PlacedBlock["place"]
  /** The request ends in it, so that a block changes nothing that the upstream has seen. */
  readonly isLast: boolean
}

/** A turn whose block is known. */
export interface Standing {
  readonly at: number
  readonly turn: string
  readonly block: PlacedBlock
}

export interface Recalled {
  /** Blocks in the order of the turns. */
  readonly standing: ReadonlyArray<Standing>
  /** The last turn, of which it is not decided whether a block is before it. Null: it is, or the request ends in something else. */
  readonly undecided: UserTurn | null
}

/** `session`: whose conversation it is, and all of it that is not among the turns. */
export const userTurns = (wire: WireName, session: string, turns: ReadonlyArray<Json>): ReadonlyArray<UserTurn> => {
  const said = createHash("sha256").update(`${wire}\n${session}\n`)
  const named: Array<UserTurn> = []
  for (const [at, turn] of turns.entries()) {
    said.update(identityOf(turn)).update("\n")
    if (!isUserTurn(wire, turn) || asksTool(wire, turns[at - 1])) continue
    const name = said.copy().digest("base64url")
    const place = isMarked(wire, turn) ? "behindMark" : "before"
    named.push({ at, name, place, isLast: at === turns.length - 1 })
  }
  return named
}

/** Finds the known blocks of the turns. `blockAt`: see `SessionBlocks.at`. */
export const recalled = (
  turns: ReadonlyArray<UserTurn>,
  blockAt: (turn: string) => PlacedBlock | null | undefined
): Recalled => {
  const standing: Array<Standing> = []
  let undecided: UserTurn | null = null
  for (const turn of turns) {
    const block = blockAt(turn.name)
    if (block !== null && block !== undefined) standing.push({ at: turn.at, turn: turn.name, block })
    if (block === undefined && turn.isLast) undecided = turn
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
