/** Bills of a month: what requests cost, by person, team, key, model and provider. */
import * as Schema from "effect/Schema"

export const billDimensions = ["person", "team", "key", "model", "provider"] as const
export type BillDimension = (typeof billDimensions)[number]

/** Dimensions of a report: those of its lines, and tags, which are read of the log. */
export const reportDimensions = [...billDimensions, "tag"] as const
export type ReportDimension = (typeof reportDimensions)[number]

/** Sums of requests that have all dimensions in common; an id or name is empty where there is none. */
export const BillLine = Schema.Struct({
  /** Owners of the key when the requests arrived. */
  person: Schema.String,
  team: Schema.String,
  key: Schema.String,
  model: Schema.String,
  provider: Schema.String,
  requests: Schema.Number,
  /** Requests of unknown price, which cost 0. */
  unpriced: Schema.Number,
  tokensIn: Schema.Number,
  tokensOut: Schema.Number,
  /** Nano-USD, a whole multiple of 1/64. */
  costNanoUsd: Schema.Number
})
export type BillLine = typeof BillLine.Type

/** Sums of requests that have a tag in common, too; empty: they have none. A request with several is in a line of each. */
export type TaggedLine = BillLine & { readonly tag: string }

/** With what is billed: the cost times the factor of the team. */
export type BilledLine = TaggedLine & { readonly billedNanoUsd: number }

/** Requests of a month that was closed before they were written. */
export const Correction = Schema.Struct({ month: Schema.String, ...BillLine.fields })
export type Correction = typeof Correction.Type

const Names = Schema.Record({ key: Schema.String, value: Schema.String })

export const BillReport = Schema.Struct({
  month: Schema.String,
  timeZone: Schema.String,
  fromMs: Schema.Number,
  untilMs: Schema.Number,
  lines: Schema.Array(BillLine),
  corrections: Schema.Array(Correction),
  /** Names at the time, by ids. */
  names: Schema.Struct({ person: Names, team: Names, key: Names }),
  /** Factors by teams' ids, of those that are not 1. Reports of earlier versions have none. */
  rates: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.Number }), { default: () => ({}) })
})
export type BillReport = typeof BillReport.Type

export interface ClosedBill {
  /** `<month>/<time zone>`. */
  readonly id: string
  readonly month: string
  readonly timeZone: string
  /** Number of the last row of the log that it knows. */
  readonly lastSeq: number
  /** SHA-256 of the report's text, lower-case hex. */
  readonly checksum: string
  readonly report: string
  readonly createdAtMs: number
}

/** Teams above others, the nearest first, and names of teams. */
export interface TeamsAbove {
  readonly idsOf: (teamId: string) => ReadonlyArray<string>
  readonly nameOf: (teamId: string) => string | undefined
}

/** A part of time, epoch milliseconds. */
export interface Span {
  readonly fromMs: number
  readonly untilMs: number
}

/** Kinds of reports that are told when their period is over. */
export const reportPeriods = ["weekly", "monthly"] as const
export type ReportPeriod = (typeof reportPeriods)[number]

export interface ReportSums {
  readonly requests: number
  /** Requests of a model without a known price. */
  readonly unpriced: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly costUsd: number
  readonly billedUsd: number
}

/** One of those that cost the most; `id` null: requests of none of them. */
export interface Spender extends ReportSums {
  readonly id: string | null
  readonly name: string | null
}

/** Figures of a week or a month that is over, by the clocks of a zone. */
export interface SpendReport extends Span {
  readonly period: ReportPeriod
  readonly timeZone: string
  /** `YYYY-MM-DD`, by the clocks of the zone. */
  readonly firstDay: string
  readonly total: ReportSums
  /** Cost of the week or month before. */
  readonly previousCostUsd: number
  /** Five at most of each, those that cost the most first. */
  readonly top: Readonly<Record<"person" | "team" | "key" | "model", ReadonlyArray<Spender>>>
}
