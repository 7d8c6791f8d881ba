/** Sums of bills, read on the reading thread. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { nanoUsdParts } from "../../contract/domain/Usage.ts"
import { type ReadRefused, type ReadRow, ReadWorker } from "../../store/engine/ReadWorker.ts"
import { tagsOf } from "../../contract/domain/Tags.ts"
import { edge, lastSeq, lateRows, linesOf, taggedLines, wholePeriods } from "../../store/usage/BillSql.ts"
import { dayMs, days, hourMs, hours } from "../../store/usage/UsageSumsSql.ts"
import { idAt } from "../usage/repo.ts"
import type { BillLine, Correction, Span } from "./entity.ts"

export interface BillSums {
  readonly lines: ReadonlyArray<BillLine>
  readonly corrections: ReadonlyArray<Correction>
  /** Number of the last row of the log. */
  readonly lastSeq: number
}

/** Months whose bills were closed, and the number behind which rows of them are in no bill. */
export interface Billed {
  readonly months: ReadonlyArray<Span & { readonly month: string }>
  readonly lastSeq: number
}

export class BillSumsRepo extends Context.Tag("gateway/subjects/bills/BillSumsRepo")<
  BillSumsRepo,
  {
    /** Sums of a span by tags as well, of the rows that the log has. */
    readonly tagged: (
      span: Span
    ) => Effect.Effect<ReadonlyArray<{ readonly line: BillLine; readonly tags: ReadonlyArray<string> }>, ReadRefused>
    /** Sums of a span, from `splitMs` on by the hour and before by the day, with what came late to billed months; all of one moment. */
    readonly sums: (span: Span, splitMs: number, billed: Billed) => Effect.Effect<BillSums, ReadRefused>
  }
>() {}

const up = (ms: number, unit: number): number => Math.ceil(ms / unit) * unit
const down = (ms: number, unit: number): number => Math.floor(ms / unit) * unit

const partsOf = (span: Span, unit: number) => {
  const fromMs = Math.min(up(span.fromMs, unit), span.untilMs)
  const untilMs = Math.max(fromMs, down(span.untilMs, unit))
  return {
    whole: { fromMs, untilMs },
    edges: [
      { fromMs: span.fromMs, untilMs: fromMs },
      { fromMs: untilMs, untilMs: span.untilMs }
    ]
  }
}

/** Parts of a span by sums of one grain. */
const byGrain = (span: Span, grain: typeof days | typeof hours) => {
  if (span.fromMs >= span.untilMs) return []
  const { edges, whole } = partsOf(span, grain.ms)
  return [wholePeriods(grain, whole, idAt), ...edges.map((each) => edge(each, idAt))]
}

const numberIn = (row: ReadRow, name: string): number => Number(row[name] ?? 0)

const lineOf = (row: ReadRow): BillLine => ({
  person: String(row["person"]),
  team: String(row["team"]),
  key: String(row["api_key"]),
  model: String(row["model"]),
  provider: String(row["provider"]),
  requests: numberIn(row, "requests"),
  unpriced: numberIn(row, "unpriced"),
  tokensIn: numberIn(row, "tokens_in"),
  tokensOut: numberIn(row, "tokens_out"),
  costNanoUsd: numberIn(row, "cost_nano_usd") + numberIn(row, "cost_nano_parts") / nanoUsdParts
})

const hasAmount = ({ costNanoUsd, requests, tokensIn, tokensOut, unpriced }: BillLine): boolean =>
  [costNanoUsd, requests, tokensIn, tokensOut, unpriced].some((amount) => amount !== 0)

export const make = Effect.map(ReadWorker, (worker) =>
  BillSumsRepo.of({
    tagged: Effect.fn("BillSumsRepo.tagged")((span: Span) =>
      Effect.map(worker.read([taggedLines(span, idAt)]), ([rows = []]) =>
        rows.map((row) => ({ line: lineOf(row), tags: tagsOf(row["tags"] === "" ? null : String(row["tags"])) }))
      )
    ),
    sums: Effect.fn("BillSumsRepo.sums")(function* (span: Span, splitMs: number, billed: Billed) {
      const split = Math.min(Math.max(up(splitMs, dayMs), span.fromMs), span.untilMs)
      const parts = [
        ...byGrain({ fromMs: span.fromMs, untilMs: split }, days),
        ...byGrain({ fromMs: split, untilMs: span.untilMs }, hours)
      ]
      const [last = [], found = [], ...late] = yield* worker.read([
        lastSeq,
        linesOf(parts),
        ...billed.months.map((month) => linesOf([lateRows(month, billed.lastSeq)]))
      ])
      return {
        lines: found.map(lineOf).filter(hasAmount),
        corrections: late.flatMap((rows, index) => {
          const month = billed.months[index]?.month ?? ""
          return rows.map((row) => Object.assign({ month }, lineOf(row)))
        }),
        lastSeq: Math.max(billed.lastSeq, numberIn(last[0] ?? {}, "last"))
      }
    })
  })
)

export const layer: Layer.Layer<BillSumsRepo, never, ReadWorker> = Layer.effect(BillSumsRepo, make)

/** Times before this are known by the day only. */
export const hoursSince = (nowMs: number, keptMs: number): number => up(nowMs - keptMs, dayMs)

/** Sums begin and end at whole hours or, where only days are kept, at those of UTC. */
export const isWhole = ({ fromMs, untilMs }: Span, splitMs: number): boolean =>
  [fromMs, untilMs].every((ms) => ms % (ms < splitMs ? dayMs : hourMs) === 0)
