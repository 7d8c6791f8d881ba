/** View of a routing decision: the candidates, their numbers, and those left out. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { DecisionView } from "../../subjects/routing/routes.ts"
import * as Output from "./Output.ts"
import { localTime } from "./Time.ts"
import * as Column from "./Column.ts"

export const OneDecision = Schema.Struct({ decision: DecisionView })

type Candidate = DecisionView["candidates"][number]
type Attempt = DecisionView["attempts"][number]

interface Placed extends Candidate {
  /** Place from 1 on; null when it is not in the order. */
  readonly place: number | null
}

/** Three digits are enough to distinguish scores; the record has them all. */
const digits = (value: number): string => value.toFixed(3)

/** Most candidates that are compared side by side. */
export const mostCompared = 8

interface Factor {
  readonly name: string
  readonly weight: number | null
}

/** A line per factor that counts, a column per scored candidate under its number; no lines where nothing was scored. */
export const factorTable = ({
  candidates,
  weights
}: Pick<DecisionView, "weights"> & { readonly candidates: ReadonlyArray<Placed> }): {
  readonly factors: ReadonlyArray<Factor>
  readonly columns: ReadonlyArray<Column.Column<Factor>>
} => {
  const scored = candidates.filter(({ factors, place }) => factors !== null && place !== null)
  const names = [...new Set(scored.flatMap(({ factors }) => Object.keys(factors ?? {})))]
  const compared = scored.slice(0, mostCompared)
  return {
    factors: names
      .map((name): Factor => ({ name, weight: weights === null ? null : (weights[name] ?? 0) }))
      .filter(({ weight }) => weight !== 0)
      .toSorted((a, b) => (b.weight ?? 0) - (a.weight ?? 0)),
    columns: [
      Column.name("FACTOR", ({ name }) => name),
      Column.number("WEIGHT", ({ weight }) => weight, digits),
      ...compared.map(({ factors, place }) =>
        Column.number<Factor>(`#${place}`, ({ name }) => factors?.[name] ?? null, digits)
      )
    ]
  }
}

const exclusionOf = ({ excluded }: Candidate, nowMs: number): string => {
  if (excluded === null) return "-"
  const until = excluded.until === null ? "" : ` until ${localTime(excluded.until, nowMs)}`
  return `${excluded.rule}${until}: ${excluded.detail}`
}

/** The candidates in the order they are tried, those left out behind. */
const placed = ({ candidates, order }: DecisionView): ReadonlyArray<Placed> => {
  const placeOf = ({ connectionId, model, provider }: Candidate): number | null => {
    const name = `${provider}/${model}`
    const index = order.findIndex((each) => each === `${name}@${connectionId}`)
    const place = index === -1 ? order.indexOf(name) : index
    return place === -1 ? null : place + 1
  }
  return candidates
    .map((candidate) => ({ ...candidate, place: placeOf(candidate) }))
    .toSorted((a, b) => (a.place ?? Infinity) - (b.place ?? Infinity) || 0)
}

export const candidateColumns: ReadonlyArray<Column.Column<Placed>> = [
  Column.number("#", ({ place }) => place, String, { fit: "keep" }),
  Column.name("TARGET", ({ model, provider }) => `${provider}/${model}`),
  Column.number("SCORE", ({ score }) => score, digits),
  {
    header: "LEFT OUT",
    value: (candidate, { nowMs }) => exclusionOf(candidate, nowMs),
    data: ({ excluded }) => (excluded === null ? null : `${excluded.rule}: ${excluded.detail}`),
    fit: "cut"
  },
  Column.id("CONNECTION", ({ connectionId }) => connectionId)
]

export const attemptColumns: ReadonlyArray<Column.Column<Attempt>> = [
  Column.time("TRIED", ({ startedAt }) => startedAt),
  Column.name("TARGET", ({ model, provider }) => `${provider}/${model}`),
  Column.text("OUTCOME", ({ outcome }) => outcome),
  Column.number("STATUS", ({ status }) => status),
  Column.number(
    "MS",
    ({ latencyMs }) => latencyMs,
    (ms) => String(Math.round(ms))
  ),
  Column.prose("REASON", ({ reason }) => reason)
]

/** The candidates, and the factors of the first of them. */
export const showCandidates = (decision: DecisionView, whenEmpty: string) =>
  Effect.gen(function* () {
    const candidates = placed(decision)
    yield* Output.rows(candidates, candidateColumns, whenEmpty)
    const { columns, factors } = factorTable({ candidates, weights: decision.weights })
    if (factors.length === 0) return
    yield* Output.section(factors, columns)
    if (candidates.length > mostCompared) yield* Output.remark(`Factors of the first ${mostCompared}; --json has all.`)
  })

/** Lists the facts of the decision as a whole. */
export const headline = (decision: DecisionView): ReadonlyArray<readonly [string, string]> => [
  ["Asked for", decision.requestedModel],
  ...(decision.fallbackModel === undefined ? [] : [["Mapped to", decision.fallbackModel] as const]),
  ...(decision.combo === null ? [] : [["Combo", decision.combo] as const]),
  ["Strategy", decision.strategy],
  ...(decision.reason === undefined ? [] : [["Reason", decision.reason] as const]),
  ...(decision.node === undefined ? [] : [["Gateway", decision.node] as const]),
  ["Seed", String(decision.seed)],
  ["Order", decision.order.join(", ") || "-"],
  ...(decision.relaxedFilters.length === 0 ? [] : [["Relaxed", decision.relaxedFilters.join(", ")] as const]),
  ...(decision.plugins === undefined
    ? []
    : [
        ["Plugins", decision.plugins.map(({ action, hook, name }) => `${name} ${hook}: ${action}`).join(", ")] as const
      ]),
  ...(decision.chosen === null ? [] : [["Answered by", decision.chosen] as const])
]

/** The candidates alone, for `csv`. */
export const candidateRows = (decision: DecisionView) => Output.rows(placed(decision), candidateColumns, "")
