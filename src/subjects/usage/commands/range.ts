/** Flags of commands that look back over a range of time, and what they ask for. */
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { RangeQuery, UsageAnalytics } from "../../usageHistory/routes.ts"
import { type UsageRange, usageRanges } from "../../usageHistory/entity.ts"
import { isDay } from "../../../kernel/time/IsoInstant.ts"
import { isTimeZone } from "../../../kernel/time/TimeZones.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import * as Output from "../../../cli/output/Output.ts"
import { timeFlag } from "./logs/timeFlag.ts"

export const rangeFlags = (usual: UsageRange) => ({
  range: Options.choice("range", usageRanges).pipe(
    Options.withDescription(`How far back: ${usageRanges.join(", ")}; by default ${usual}.`),
    Options.optional
  ),
  from: Options.text("from").pipe(
    Options.withDescription("Where it begins instead: a day such as 2035-01-31, a time, or 12h (ago)."),
    Options.optional
  ),
  to: Options.text("to").pipe(
    Options.withDescription("Where it ends, likewise; the day itself is not in it. By default now."),
    Options.optional
  ),
  timezone: Options.text("timezone").pipe(
    Options.withDescription("The time zone of the days, such as Europe/Zurich; by default UTC."),
    Options.optional
  )
})

interface RangeFlags {
  readonly range: Option.Option<UsageRange>
  readonly from: Option.Option<string>
  readonly to: Option.Option<string>
  readonly timezone: Option.Option<string>
}

/** A day is left to the gateway: it begins by the clocks of the time zone. */
export const time = (flag: string, given: Option.Option<string>) =>
  Option.isSome(given) && isDay(given.value) ? Effect.succeed(given.value) : timeFlag(flag, given)

export const rangeQuery = Effect.fnUntraced(function* (given: RangeFlags, usual: UsageRange) {
  const timezone = Option.getOrUndefined(given.timezone)
  if (timezone !== undefined && !isTimeZone(timezone)) {
    return yield* new BadArgument({
      message: `--timezone: '${timezone}' is no time zone.`,
      hint: "Give a name of the IANA database, such as Europe/Zurich or UTC."
    })
  }
  const from = yield* time("--from", given.from)
  const to = yield* time("--to", given.to)
  const range = Option.getOrUndefined(given.range) ?? (from === undefined ? usual : undefined)
  const query: RangeQuery = {
    ...(range === undefined ? {} : { range }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(timezone === undefined ? {} : { timezone })
  }
  return query
})

/** The time that an answer is of, as part of a sentence. */
export const spanText = ({ from, range, to }: Pick<UsageAnalytics, "range" | "from" | "to">): string =>
  range === null ? `from ${from} to ${to}` : `in the last ${range}`

/** Says what of an answer is not exact. */
export const remarkInexact = ({ inexact }: Pick<UsageAnalytics, "inexact">) =>
  Effect.forEach(inexact, (sentence) => Output.remark(sentence), { discard: true })
