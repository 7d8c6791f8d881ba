/**
 * `gateway usage series`: usage step by step, one line a series; `gateway usage breakdown`: by two dimensions; and `gateway usage facets`: values of
 * filters.
 */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { BadArgument } from "../../../cli/Failure.ts"
import * as EnvFile from "../../../cli/flags/EnvFile.ts"
import { taking } from "../../../cli/flags/Forms.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Column from "../../../cli/output/Column.ts"
import { usd } from "../../../cli/output/money.ts"
import * as Output from "../../../cli/output/Output.ts"
import { hasBars, sparkline } from "../../../cli/output/Sparkline.ts"
import { isTimeZone } from "../../../kernel/time/TimeZones.ts"
import { UsageBreakdownView } from "../../usageHistory/routes.ts"
import { UsageFacets, UsageSeriesView } from "../routes.ts"
import { filterFlags, rowFilter } from "./logs/filters.ts"
import { time } from "./range.ts"

type Steps = UsageSeriesView["total"]

interface Row {
  readonly name: string
  readonly steps: Steps
}

const shownSteps = ["auto", "minute", "hour", "day"] as const
const splits = ["provider", "model", "connection", "apiKey", "combo", "outcome"] as const
const measures = ["requests", "failed", "tokensIn", "tokensOut", "costUsd", "p95Ms"] as const

const sum = (values: ReadonlyArray<number>): number => values.reduce((all, each) => all + each, 0)

/** Bars of a chart at most; more steps are taken together. */
const mostBars = 60

/** The steps as few enough values: sums, and the greatest of latencies. */
const valuesOf = (steps: Steps, measure: (typeof measures)[number]): ReadonlyArray<number> => {
  const all = steps[measure].map((value) => value ?? 0)
  const each = Math.ceil(all.length / mostBars)
  return Array.from({ length: Math.ceil(all.length / Math.max(1, each)) }, (_, n) => {
    const part = all.slice(n * each, (n + 1) * each)
    return measure === "p95Ms" ? Math.max(...part) : sum(part)
  })
}

const rowsOf = ({ by, rest, series, total }: UsageSeriesView): ReadonlyArray<Row> => [
  ...series.map((each) => ({ name: each.name ?? each.key ?? "-", steps: each })),
  ...(by !== null && sum(rest.requests) > 0 ? [{ name: "(all others)", steps: rest }] : []),
  { name: "(total)", steps: total }
]

const columnsOf = (measure: (typeof measures)[number], unicode: boolean): ReadonlyArray<Column.Column<Row>> => [
  Column.name("NAME", ({ name }) => name),
  Column.number("REQUESTS", ({ steps }) => sum(steps.requests), Column.thousands),
  Column.number("FAILED", ({ steps }) => sum(steps.failed), Column.thousands),
  Column.number("TOKENS IN", ({ steps }) => sum(steps.tokensIn), Column.thousands),
  Column.number("TOKENS OUT", ({ steps }) => sum(steps.tokensOut), Column.thousands),
  Column.number("USD", ({ steps }) => sum(steps.costUsd), usd),
  Column.prose(measure.toUpperCase(), ({ steps }) => sparkline(valuesOf(steps, measure), unicode))
]

const flags = {
  from: Options.text("from").pipe(
    Options.withDescription("Where it begins: a day such as 2035-01-31, a time, or 12h (ago); by default 24h."),
    Options.optional
  ),
  to: Options.text("to").pipe(
    Options.withDescription("Where it ends, likewise; the day itself is not in it. By default now."),
    Options.optional
  ),
  step: Options.choice("step", shownSteps).pipe(
    Options.withDescription("Length of a step; auto chooses by the range."),
    Options.withDefault("auto" as const)
  ),
  timezone: Options.text("timezone").pipe(
    Options.withDescription("The time zone of the steps, such as Europe/Zurich; by default UTC."),
    Options.optional
  ),
  by: Options.choice("by", splits).pipe(Options.withDescription("What to split by."), Options.optional),
  top: Options.integer("top").pipe(
    taking(Schema.Int.pipe(Schema.between(1, 30)), () => "--top must be a whole number from 1 to 30."),
    Options.withDescription("Series at most; all others are summed up."),
    Options.withDefault(10)
  ),
  measure: Options.choice("measure", measures).pipe(
    Options.withDescription("What the chart shows."),
    Options.withDefault("requests" as const)
  ),
  ...filterFlags
}

export const usageSeries = Command.make("series", { ...flags, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const tz = Option.getOrUndefined(given.timezone)
    if (tz !== undefined && !isTimeZone(tz)) {
      return yield* new BadArgument({
        message: `--timezone: '${tz}' is no time zone.`,
        hint: "Give a name of the IANA database, such as Europe/Zurich or UTC."
      })
    }
    const to = yield* Client.target(given)
    const begin = yield* time("--from", given.from)
    const end = yield* time("--to", given.to)
    const client = yield* Client.group(to, "usage")
    const answer = yield* client
      .series({
        urlParams: {
          ...(yield* rowFilter(to, given)),
          ...(begin === undefined ? {} : { from: begin }),
          ...(end === undefined ? {} : { to: end }),
          ...(tz === undefined ? {} : { tz }),
          ...(Option.isNone(given.by) ? {} : { by: given.by.value }),
          step: given.step,
          top: given.top
        }
      })
      .pipe(Client.orExplain(to))
    const { environment } = yield* EnvFile.loadConfig
    yield* Output.list({
      schema: UsageSeriesView,
      value: answer,
      rows: sum(answer.total.requests) === 0 ? [] : rowsOf(answer),
      columns: columnsOf(given.measure, hasBars(environment)),
      empty: `There were no such requests from ${answer.starts[0] ?? answer.end} to ${answer.end}.`
    })
    yield* Output.remark(
      `${answer.starts.length} steps, one a ${answer.step}, from ${answer.starts[0] ?? answer.end} to ${answer.end}.`
    )
    if (answer.scannedTo !== null) {
      yield* Output.remark(`Requests before ${answer.scannedTo} were not looked at: ask for a shorter range.`)
    }
    yield* Effect.forEach(answer.inexact, (sentence) => Output.remark(sentence), { discard: true })
  })
)

type SplitRow = UsageBreakdownView["rows"][number]

const splitColumns = ({ and, by }: UsageBreakdownView): ReadonlyArray<Column.Column<SplitRow>> => [
  Column.name(by.toUpperCase(), ({ key, name }) => name ?? key ?? "-"),
  ...(and === null
    ? []
    : [Column.text<SplitRow>(and.toUpperCase(), ({ andKey, andName }) => andName ?? andKey ?? "-")]),
  Column.number("REQUESTS", ({ requests }) => requests, Column.thousands),
  Column.number("TOKENS IN", ({ tokensIn }) => tokensIn, Column.thousands),
  Column.number("TOKENS OUT", ({ tokensOut }) => tokensOut, Column.thousands),
  Column.number("USD", ({ costUsd }) => costUsd, usd),
  Column.number("SAVED BY CACHE", ({ cacheSavedUsd }) => cacheSavedUsd, usd, { in: "wide" })
]

const splitFlags = {
  from: flags.from,
  to: flags.to,
  timezone: flags.timezone,
  by: Options.choice("by", splits).pipe(
    Options.withDescription("What to split by."),
    Options.withDefault("model" as const)
  ),
  and: Options.choice("and", splits).pipe(Options.withDescription("What to split each of them by."), Options.optional),
  top: Options.integer("top").pipe(
    taking(Schema.Int.pipe(Schema.between(1, 500)), () => "--top must be a whole number from 1 to 500."),
    Options.withDescription("Rows at most, the dearest; all others are summed up."),
    Options.withDefault(100)
  ),
  ...filterFlags
}

export const usageBreakdown = Command.make("breakdown", { ...splitFlags, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const tz = Option.getOrUndefined(given.timezone)
    const to = yield* Client.target(given)
    const begin = yield* time("--from", given.from)
    const end = yield* time("--to", given.to)
    const client = yield* Client.group(to, "usageHistory")
    const answer = yield* client
      .breakdown({
        urlParams: {
          ...(yield* rowFilter(to, given)),
          ...(begin === undefined ? {} : { from: begin }),
          ...(end === undefined ? {} : { to: end }),
          ...(tz === undefined ? {} : { tz }),
          by: given.by,
          ...(Option.isNone(given.and) ? {} : { and: given.and.value }),
          top: given.top
        }
      })
      .pipe(Client.orExplain(to))
    yield* Output.list({
      schema: UsageBreakdownView,
      value: answer,
      rows: answer.rows,
      columns: splitColumns(answer),
      empty: `There were no such requests from ${answer.from} to ${answer.to}.`
    })
    if (answer.rest.requests > 0) {
      yield* Output.remark(
        `${Column.thousands(answer.rest.requests)} more requests for ${usd(answer.rest.costUsd)} USD.`
      )
    }
    yield* Output.remark(
      `${usd(answer.total.costUsd)} USD from ${answer.from} to ${answer.to}, and ${usd(answer.total.cacheSavedUsd)} USD saved by the providers' caches.`
    )
    yield* Effect.forEach(answer.inexact, (sentence) => Output.remark(sentence), { discard: true })
  })
)

interface FacetRow {
  readonly field: string
  readonly value: string
  readonly name: string | null
  readonly count: number
}

const facetColumns: ReadonlyArray<Column.Column<FacetRow>> = [
  Column.text("FIELD", ({ field }) => field),
  Column.name("VALUE", ({ value }) => value),
  Column.text("NAME", ({ name }) => name),
  Column.number("REQUESTS", ({ count }) => count, Column.thousands)
]

const facetFlags = {
  from: flags.from,
  to: flags.to,
  field: Options.text("field").pipe(Options.withDescription("Show the values of this field only."), Options.optional),
  ...filterFlags
}

export const usageFacets = Command.make("facets", { ...facetFlags, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const begin = yield* time("--from", given.from)
    const end = yield* time("--to", given.to)
    const client = yield* Client.group(to, "usage")
    const answer = yield* client
      .facets({
        urlParams: {
          ...(yield* rowFilter(to, given)),
          ...(begin === undefined ? {} : { from: begin }),
          ...(end === undefined ? {} : { to: end })
        }
      })
      .pipe(Client.orExplain(to))
    const rows = Object.entries(answer.facets)
      .filter(([field]) => Option.isNone(given.field) || given.field.value === field)
      .flatMap(([field, values]) => values.map((value): FacetRow => Object.assign({ field }, value)))
    yield* Output.list({
      schema: UsageFacets,
      value: answer,
      rows,
      columns: facetColumns,
      empty: "No request fits these filters."
    })
    if (answer.scannedTo !== null) {
      yield* Output.remark(`Requests before ${answer.scannedTo} were not looked at: ask for a shorter range.`)
    }
  })
)
