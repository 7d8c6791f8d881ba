/** How a routing decision is shown: who was chosen between, by which numbers, and who was left out. */
import * as Schema from "effect/Schema"
import { DecisionView } from "../../api/Groups/Routing.ts"
import { orDash, shortTime } from "./Output.ts"
import type { Column } from "./Table.ts"

export const OneDecision = Schema.Struct({ decision: DecisionView })

type Candidate = DecisionView["candidates"][number]
type Attempt = DecisionView["attempts"][number]

interface Placed extends Candidate {
  /** From 1 on; null when it is not in the order. */
  readonly place: number | null
}

/** Three digits tell scores apart; the record itself has them all. */
const number = (value: number | null): string => (value === null ? "-" : value.toFixed(3))

const factorsOf = ({ factors }: Candidate): string =>
  factors === null
    ? "-"
    : Object.entries(factors)
        .map(([name, value]) => `${name} ${Number(value.toFixed(3))}`)
        .join(", ")

const exclusionOf = ({ excluded }: Candidate): string => {
  if (excluded === null) return "-"
  const until = excluded.until === null ? "" : ` until ${shortTime(excluded.until)}`
  return `${excluded.rule}${until}: ${excluded.detail}`
}

/** The candidates in the order they are tried, those left out behind. */
export const placed = ({ candidates, order }: DecisionView): ReadonlyArray<Placed> => {
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

export const candidateColumns: ReadonlyArray<Column<Placed>> = [
  { header: "#", value: ({ place }) => orDash(place), align: "right" },
  { header: "TARGET", value: ({ model, provider }) => `${provider}/${model}` },
  { header: "CONNECTION", value: ({ connectionId }) => connectionId },
  { header: "SCORE", value: ({ score }) => number(score), align: "right" },
  { header: "FACTORS", value: factorsOf },
  { header: "LEFT OUT", value: exclusionOf }
]

export const attemptColumns: ReadonlyArray<Column<Attempt>> = [
  { header: "TRIED (UTC)", value: ({ startedAt }) => shortTime(startedAt) },
  { header: "TARGET", value: ({ model, provider }) => `${provider}/${model}` },
  { header: "OUTCOME", value: ({ outcome }) => outcome },
  { header: "STATUS", value: ({ status }) => orDash(status), align: "right" },
  { header: "REASON", value: ({ reason }) => reason },
  { header: "MS", value: ({ latencyMs }) => String(Math.round(latencyMs)), align: "right" }
]

/** What is said of the decision as a whole. */
export const headline = (decision: DecisionView): ReadonlyArray<readonly [string, string]> => [
  ["Asked for", decision.requestedModel],
  ...(decision.combo === null ? [] : [["Combo", decision.combo] as const]),
  ["Strategy", decision.strategy],
  ...(decision.reason === undefined ? [] : [["Reason", decision.reason] as const]),
  ["Seed", String(decision.seed)],
  ...(decision.weights === null
    ? []
    : [
        [
          "Weights",
          Object.entries(decision.weights)
            .filter(([, weight]) => weight !== 0)
            .map(([name, weight]) => `${name} ${Number(weight.toFixed(3))}`)
            .join(", ")
        ] as const
      ]),
  ["Order", decision.order.join(", ") || "-"],
  ...(decision.relaxedFilters.length === 0 ? [] : [["Relaxed", decision.relaxedFilters.join(", ")] as const]),
  ...(decision.chosen === null ? [] : [["Answered by", decision.chosen] as const])
]
