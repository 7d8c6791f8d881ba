/**
 * The text of a kept decision. A record names each factor of each candidate; of a choice among many that is a long text, and costs more to
 * write than the decision cost to make. Kept are lists instead: the targets, a column for each factor, and the order as places in the
 * list of targets. A decision that does not fit the form is kept as its whole record, as all were before there was this form. Pure.
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { DecisionView } from "../../../subjects/routing/routes.ts"
import type { Candidate, DecisionRecord } from "../../../subjects/routing/entity.ts"
import type { Score } from "../candidate/Strategy.ts"
import { type DecisionEntry, type ListedRecord, listedOf, recordOf } from "./DecisionRecords.ts"
import { bounded, boundedHead, maxCandidates, short } from "./StoredDecision.ts"

/** A number that all have in common; or 64-bit floating-point numbers, the low byte first, in base64. */
const Column = Schema.Union(Schema.Number, Schema.String)
type Column = typeof Column.Type

const { candidates: _candidates, order: _order, ...headFields } = DecisionView.fields

const Kept = Schema.Struct({
  v: Schema.Literal(2),
  record: Schema.Struct(headFields),
  /** Provider, connection and model of each candidate, one after the other. */
  targets: Schema.Array(Schema.String),
  /** Null: no candidate has a score. */
  factors: Schema.NullOr(Schema.Array(Schema.String)),
  /** The scores of all candidates, then each of the factors. */
  columns: Schema.Array(Column),
  /** Place of the candidate, rule, until, detail. */
  excluded: Schema.Array(Schema.Tuple(Schema.Number, Schema.String, Schema.NullOr(Schema.String), Schema.String)),
  /** `place` of a candidate for its `provider/model`, `-1 - place` where its connection follows. */
  order: Schema.Array(Schema.Number)
})
type Kept = typeof Kept.Type

const bytesPerNumber = 8

/** Null: one of them has no place in JSON. */
const columnOf = (values: ReadonlyArray<number>): Column | null => {
  const [first = 0] = values
  let isSame = true
  for (const value of values) {
    if (!Number.isFinite(value)) return null
    isSame &&= value === first
  }
  if (isSame) return first
  const bytes = Buffer.allocUnsafe(values.length * bytesPerNumber)
  for (const [index, value] of values.entries()) bytes.writeDoubleLE(value, index * bytesPerNumber)
  return bytes.toString("base64")
}

/** Null: it does not hold so many. */
const valuesOf = (column: Column, count: number): ReadonlyArray<number> | null => {
  if (typeof column === "number") return Array.from({ length: count }, () => column)
  const bytes = Buffer.from(column, "base64")
  if (bytes.length !== count * bytesPerNumber) return null
  return Array.from({ length: count }, (_, index) => bytes.readDoubleLE(index * bytesPerNumber))
}

type Columns = Pick<Kept, "factors" | "columns">

const noColumns: Columns = { factors: null, columns: [] }

/** Null: not all have scores of the same factors. */
const columnsOf = (scores: ReadonlyArray<Score | undefined>): Columns | null => {
  if (scores.every((score) => score === undefined)) return noColumns
  const factors = Object.keys(scores[0]?.factors ?? {})
  const values: Array<Array<number>> = Array.from({ length: factors.length + 1 }, () => [])
  for (const score of scores) {
    if (score === undefined) return null
    const names = Object.keys(score.factors)
    if (names.length !== factors.length) return null
    values[0]?.push(score.score)
    for (let index = 0; index < factors.length; index += 1) {
      const name = factors[index] ?? ""
      if (names[index] !== name) return null
      values[index + 1]?.push(score.factors[name] ?? Number.NaN)
    }
  }
  const columns = values.map(columnOf)
  return columns.includes(null) ? null : { factors, columns: columns.flatMap((column) => column ?? []) }
}

/** Null: one of them is not shown. */
const orderOf = ({ order, shown }: ListedRecord): ReadonlyArray<number> | null => {
  const places = new Map(shown.map((target, place) => [target, place]))
  const kept: Array<number> = []
  for (const { target, withConnection } of order) {
    const place = places.get(target)
    if (place === undefined) return null
    kept.push(withConnection ? -1 - place : place)
  }
  return kept
}

/** `node`: name of the gateway that has decided, of several on one database. */
export const textOf = (entry: DecisionEntry, node: string | null = null): string => {
  const ofNode = node === null ? {} : { node: short(node) }
  const listed = listedOf(entry, maxCandidates)
  const columns = columnsOf(listed.scores)
  const order = orderOf(listed)
  if (columns === null || order === null)
    return JSON.stringify({ ...bounded(recordOf(entry, maxCandidates)), ...ofNode })
  const kept: Kept = {
    v: 2,
    record: { ...boundedHead(listed.head), ...ofNode },
    targets: listed.shown.flatMap(({ account, model }) => [account.spec.id, account.connection.id, short(model)]),
    ...columns,
    excluded: listed.excluded.map(([place, { detail, rule, until }]) => [place, rule, until, short(detail)]),
    order
  }
  return JSON.stringify(kept)
}

/** Null: a column holds more or fewer numbers than there are candidates. */
const candidatesOf = ({ columns, excluded, factors, targets }: Kept): ReadonlyArray<Candidate> | null => {
  const count = targets.length / 3
  const numbers = columns.map((column) => valuesOf(column, count))
  if (!Number.isInteger(count) || numbers.includes(null) || columns.length !== (factors?.length ?? -1) + 1) return null
  const exclusions = new Map(excluded.map(([place, rule, until, detail]) => [place, { rule, until, detail }] as const))
  return Array.from({ length: count }, (_, place) => ({
    provider: targets[3 * place] ?? "",
    connectionId: targets[3 * place + 1] ?? "",
    model: targets[3 * place + 2] ?? "",
    score: numbers[0]?.[place] ?? null,
    factors:
      factors === null
        ? null
        : Object.fromEntries(factors.map((name, index) => [name, numbers[index + 1]?.[place] ?? 0])),
    excluded: exclusions.get(place) ?? null
  }))
}

const expanded = (kept: Kept): DecisionRecord | null => {
  const candidates = candidatesOf(kept)
  if (candidates === null) return null
  const order: Array<string> = []
  for (const each of kept.order) {
    const candidate = candidates[each < 0 ? -1 - each : each]
    if (candidate === undefined) return null
    const name = `${candidate.provider}/${candidate.model}`
    order.push(short(each < 0 ? `${name}@${candidate.connectionId}` : name))
  }
  return { ...kept.record, candidates, order }
}

// A schema's parser is made when it is first asked for, not at the start.
const decode = (text: string) => Schema.decodeUnknownEither(Schema.parseJson(Schema.Union(Kept, DecisionView)))(text)

/** Reads a record of this form, or of the one before it. Null: the text is neither. */
export const recordIn = (text: string): DecisionRecord | null => {
  const decoded = decode(text)
  if (Either.isLeft(decoded)) return null
  return "v" in decoded.right ? expanded(decoded.right) : decoded.right
}
