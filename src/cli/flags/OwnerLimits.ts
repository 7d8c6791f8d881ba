/** Flags for the budget and the other limits of a person or a team. */
import * as Options from "@effect/cli/Options"
import * as Option from "effect/Option"
import type { UserView } from "../../subjects/users/routes.ts"
import * as Column from "../output/Column.ts"
import { FiniteNumber, notOf, taking } from "./Forms.ts"

const usd = (name: string, window: string) =>
  Options.text(name).pipe(
    Options.withDescription(`USD per ${window}; 0: no limit. The budget is replaced as a whole.`),
    taking(FiniteNumber, notOf(`--${name}`, "a number of USD")),
    Options.optional
  )

const most = (name: string, what: string) =>
  Options.integer(name).pipe(
    Options.withDescription(`${what}; 0: no limit. These limits are replaced as a whole.`),
    Options.optional
  )

export const ownerLimits = {
  daily: usd("daily", "day"),
  weekly: usd("weekly", "week, from Monday"),
  monthly: usd("monthly", "month"),
  warnAt: Options.text("warn-at").pipe(
    Options.withDescription("Part of a budget from which a warning is sent, 0 to 1."),
    taking(FiniteNumber, notOf("--warn-at", "a number from 0 to 1")),
    Options.optional
  ),
  resetTime: Options.text("reset-time").pipe(
    Options.withDescription("Time of day at which the windows of the budget begin, HH:MM."),
    Options.optional
  ),
  tz: Options.text("tz").pipe(Options.withDescription("Its time zone, such as Europe/Zurich."), Options.optional),
  dailyTokens: most("tokens-per-day", "Tokens in a day"),
  weeklyTokens: most("tokens-per-week", "Tokens in a week"),
  monthlyTokens: most("tokens-per-month", "Tokens in a month"),
  requestsPerDay: most("requests-per-day", "Requests in a day")
}

export const ownerLimitNames = { budget: "--daily, --weekly, --monthly", limits: "--tokens-per-day" }

export interface GivenOwnerFlags {
  readonly daily: Option.Option<number>
  readonly weekly: Option.Option<number>
  readonly monthly: Option.Option<number>
  readonly warnAt: Option.Option<number>
  readonly resetTime: Option.Option<string>
  readonly tz: Option.Option<string>
  readonly dailyTokens: Option.Option<number>
  readonly weeklyTokens: Option.Option<number>
  readonly monthlyTokens: Option.Option<number>
  readonly requestsPerDay: Option.Option<number>
}

/** Members that are given; undefined where none is. */
const given = (members: Readonly<Record<string, string | number | undefined>>) => {
  const found = Object.entries(members).filter(([, value]) => value !== undefined)
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

/** Converts the given flags to the members `budget` and `limits`. */
export const ownerLimitsOf = (flags: GivenOwnerFlags) => ({
  budget: given({
    dailyLimitUsd: Option.getOrUndefined(flags.daily),
    weeklyLimitUsd: Option.getOrUndefined(flags.weekly),
    monthlyLimitUsd: Option.getOrUndefined(flags.monthly),
    warningThreshold: Option.getOrUndefined(flags.warnAt),
    resetTime: Option.getOrUndefined(flags.resetTime),
    tz: Option.getOrUndefined(flags.tz)
  }),
  limits: given({
    dailyTokens: Option.getOrUndefined(flags.dailyTokens),
    weeklyTokens: Option.getOrUndefined(flags.weeklyTokens),
    monthlyTokens: Option.getOrUndefined(flags.monthlyTokens),
    requestsPerDay: Option.getOrUndefined(flags.requestsPerDay)
  })
})

type MeterView = UserView["meters"][number]

/** Columns of limits as they are now. */
export const meterColumns: ReadonlyArray<Column.Column<MeterView>> = [
  Column.text("LIMIT", ({ interval, unit }) => `${unit} ${interval}`),
  Column.number("OF", ({ limit }) => limit, Column.thousands),
  Column.number(
    "USED",
    ({ used }) => used,
    (value) => String(Number(value.toFixed(6)))
  ),
  Column.number(
    "RESERVED",
    ({ reserved }) => reserved,
    (value) => String(Number(value.toFixed(6)))
  ),
  Column.time("RESETS", ({ nextResetAt }) => nextResetAt)
]

/** Limits in a cell of a table, such as `usd daily 5`. */
export const metersText = (meters: ReadonlyArray<MeterView>): string =>
  meters.map(({ interval, limit, unit }) => `${unit} ${interval} ${limit}`).join(", ") || "none"
