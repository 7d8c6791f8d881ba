/**
 * Fates of fields in a translation from one wire to another. The tables in this folder are published as
 * `docs/wire-fields.md`; a test checks the codecs against every cell.
 */
import type { WireName } from "../../contract/domain/Wire.ts"

/**
 * - `exact` arrives with the same meaning
 * - `mapped` arrives as the nearest the other wire can express
 * - `dropped` does not arrive; a request's field is named in `X-Gateway-Dropped`
 * - `rejected` the request is refused, and nothing is sent
 */
export type Fate = "exact" | "mapped" | "dropped" | "rejected"

export interface Cell {
  readonly fate: Fate
  readonly note: string | null
}

/** Source and target of a translation. */
export type Pair = `${WireName}>${WireName}`

export interface FieldRow<Id extends string = string> {
  readonly id: Id
  /** The concept, for the published table. */
  readonly concept: string
  /** The field of each wire that can express it, by that wire's own name. */
  readonly fields: Partial<Record<WireName, string>>
  /** Fates at each target; they seldom depend on the source. */
  readonly to: Partial<Record<WireName, Cell>>
  /** Exceptions, by source and target. */
  readonly except: Partial<Record<Pair, Cell>>
}

export const exact: Cell = { fate: "exact", note: null }
export const dropped: Cell = { fate: "dropped", note: null }
export const mapped = (note: string): Cell => ({ fate: "mapped", note })
export const rejected = (note: string): Cell => ({ fate: "rejected", note })

type Targets = Readonly<Record<WireName, Cell>>

const atAll = (cell: Cell): Targets => ({ chat: cell, messages: cell, responses: cell, gemini: cell, ollama: cell })

export const everywhere = atAll(exact)
/**
 * Cell for a field of the conversation's content, which is never left out: the target is no candidate, and the next one
 * is asked.
 */
export const noPlace: Cell = rejected("what a conversation holds is not left out: the next target is asked")
export const noPlaceAnywhere = atAll(noPlace)
/** The gateway fetches what a link leads to and sends the bytes. */
export const fetched: Cell = rejected(
  "the gateway fetches it and sends the bytes; where it cannot, the next target is asked"
)
/** No other wire can express it. */
export const nowhere = atAll(dropped)

export const row = <Id extends string>(
  id: Id,
  concept: string,
  fields: FieldRow["fields"],
  to: FieldRow["to"],
  except: FieldRow["except"] = {}
): FieldRow<Id> => ({ id, concept, fields, to, except })

/** The cell of a pair; null when the source cannot express it, or the target is not in the table. */
export const cellOf = (row: FieldRow, source: WireName, target: WireName): Cell | null => {
  const cell = row.except[`${source}>${target}`] ?? row.to[target]
  if (row.fields[source] === undefined || cell === undefined) return null
  // Within one wire the bytes themselves are relayed.
  return source === target ? exact : cell
}
