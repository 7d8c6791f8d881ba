/**
 * Outcomes for the texts of a session's turns, so that they are sent again as before: a provider's prompt cache knows a conversation by its
 * beginning. A turn is known by everything before it. Bounded; a dropped entry is decided anew, with the same result.
 */
import { createHash } from "node:crypto"
import type { ContentPermission } from "../../contract/domain/ContentPermission.ts"
import { LruMap } from "../../kernel/collections/LruMap.ts"
import { isArray, isObject, type Json, objectOr } from "../../wire/json/Json.ts"

/** Outcome of the texts of one turn, in their order; null: as the client wrote it. */
export type TurnOutcome = ReadonlyArray<string | null>

const maxTurns = 50_000
const maxChars = 32 * 1_048_576

const charsOf = (outcome: TurnOutcome): number =>
  outcome.reduce((sum, text) => sum + (text === null ? 8 : text.length), 64)

export interface KeptOutcomes {
  readonly known: (turn: string) => TurnOutcome | undefined
  readonly keep: (turn: string, outcome: TurnOutcome) => void
}

export class Stability {
  readonly #outcomes = new LruMap<string, TurnOutcome>({ capacity: maxTurns, maxWeight: maxChars, weightOf: charsOf })

  /** Returns the outcomes of callers whose content may be kept. */
  of(_permission: ContentPermission): KeptOutcomes {
    return { known: (turn) => this.#outcomes.get(turn), keep: (turn, outcome) => this.#outcomes.set(turn, outcome) }
  }
}

export const isMarkName = (name: string): boolean => name === "cache_control" || name === "prompt_cache_breakpoint"

const withoutMarks = (name: string, value: unknown): unknown => (isMarkName(name) ? undefined : value)

/** A text alone is the same as a list with it as its one part: clients write the second to set a mark. */
const plainContent = (content: Json | undefined): Json | undefined => {
  if (!isArray(content) || content.length !== 1) return content
  const { text, type, ...others } = objectOr(content[0])
  const isText = typeof text === "string" && (type === "text" || type === "input_text")
  return isText && Object.keys(others).every(isMarkName) ? text : content
}

/** The turn as it is known by: clients move their cache marks from request to request. */
const textOf = (turn: Json): string =>
  JSON.stringify(
    isObject(turn) && turn["content"] !== undefined ? { ...turn, content: plainContent(turn["content"]) } : turn,
    withoutMarks
  )

/** Names of the turns, each made of the one before it. `owner`: whose conversation it is. */
export const turnNames = (owner: string, turns: ReadonlyArray<Json>): ReadonlyArray<string> => {
  let name = owner
  return turns.map((turn) => (name = createHash("sha256").update(`${name}\n`).update(textOf(turn)).digest("hex")))
}
