/** Flags of `gateway key add` and `key edit` that say what a key may be used for. */
import * as Options from "@effect/cli/Options"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { notOf, taking } from "../../../cli/flags/Forms.ts"

const several = (name: string, description: string) =>
  Options.text(name).pipe(Options.withDescription(`${description} Several times; 'all' for all.`), Options.repeated)

const most = (name: string, description: string) =>
  Options.integer(name).pipe(Options.withDescription(`${description} 0: no limit.`), Options.optional)

const form = /^([0-6](?:[,-][0-6])*)@(\d\d:\d\d)-(\d\d:\d\d)@(\S+)$/

/** `1-5,0` as its days; 0 is Sunday. */
const daysOf = (text: string): ReadonlyArray<number> =>
  text.split(",").flatMap((part) => {
    const [from = 0, until = from] = part.split("-").map(Number)
    return Array.from({ length: Math.max(0, until - from + 1) }, (_, at) => from + at)
  })

export interface Schedule {
  readonly from: string
  readonly until: string
  readonly days: ReadonlyArray<number>
  readonly tz: string
}

/** `<days>@<from>-<until>@<zone>`, or `none`. */
const ScheduleText: Schema.Schema<Schedule | null, string> = Schema.declare(
  (value): value is Schedule | null => value === null || typeof value === "object"
).pipe((schedule) =>
  Schema.transformOrFail(Schema.String, schedule, {
    strict: true,
    decode: (text, _, ast) => {
      if (text === "none") return Either.right(null)
      const [whole, days = "", from = "", until = "", tz = ""] = form.exec(text) ?? []
      return whole === undefined
        ? Either.left(new ParseResult.Type(ast, text))
        : Either.right({ days: daysOf(days), from, until, tz })
    },
    encode: (value) =>
      Either.right(value === null ? "none" : `${value.days.join(",")}@${value.from}-${value.until}@${value.tz}`)
  })
)

const onOff = ["on", "off"] as const

export const restrictions = {
  blockedModels: several("block-model", "A model that never serves it, `*` in it for any text."),
  allowedEndpoints: several("endpoint", "A kind of endpoint it may use: chat, embeddings, models, images, …"),
  allowedCombos: several("combo", "A combo it may use, `*` in it for any text."),
  allowedProviders: several("only-provider", "The id of a provider, or the prefix of a node, that may serve it."),
  allowedConnections: several("only-connection", "The id of a connection that may serve it."),
  ipAllowlist: several("ip", "An address or CIDR block it may be used from."),
  maxRequestsPerDay: most("per-day", "Most requests in 24 hours."),
  maxRequestsPerMinute: most("per-minute", "Most requests in a minute."),
  maxSessions: most("max-sessions", "Most requests under way at the same time."),
  accessSchedule: Options.text("schedule").pipe(
    Options.withDescription("When it may be used: <days>@<from>-<until>@<zone>, 0 is Sunday; 'none': always."),
    taking(ScheduleText, notOf("--schedule", "<days>@<from>-<until>@<zone>, such as 1-5@08:00-18:00@Europe/Zurich")),
    Options.optional
  ),
  noLog: Options.choice("no-log", onOff).pipe(
    Options.withDescription("on: nothing of what is said with it is kept."),
    Options.optional
  )
}

export const restrictionNames = {
  blockedModels: "--block-model",
  allowedEndpoints: "--endpoint",
  allowedCombos: "--combo",
  allowedProviders: "--only-provider",
  allowedConnections: "--only-connection",
  ipAllowlist: "--ip",
  maxRequestsPerDay: "--per-day",
  maxRequestsPerMinute: "--per-minute",
  maxSessions: "--max-sessions",
  accessSchedule: "--schedule",
  noLog: "--no-log"
}

export interface Restrictions {
  readonly blockedModels: ReadonlyArray<string>
  readonly allowedEndpoints: ReadonlyArray<string>
  readonly allowedCombos: ReadonlyArray<string>
  readonly allowedProviders: ReadonlyArray<string>
  readonly allowedConnections: ReadonlyArray<string>
  readonly ipAllowlist: ReadonlyArray<string>
  readonly maxRequestsPerDay: Option.Option<number>
  readonly maxRequestsPerMinute: Option.Option<number>
  readonly maxSessions: Option.Option<number>
  readonly accessSchedule: Option.Option<Schedule | null>
  readonly noLog: Option.Option<(typeof onOff)[number]>
}

/** Undefined: not given; `cleared`: only the word that clears was given. */
export const listOf = <A>(given: ReadonlyArray<string>, word: string, cleared: A) =>
  given.length === 0 ? undefined : given.length === 1 && given[0] === word ? cleared : given

/** Converts the given flags to members of a key's settings. */
export const restrictionsOf = (given: Restrictions) => ({
  blockedModels: listOf(given.blockedModels, "all", null),
  allowedEndpoints: listOf(given.allowedEndpoints, "all", null),
  allowedCombos: listOf(given.allowedCombos, "all", null),
  allowedProviders: listOf(given.allowedProviders, "all", null),
  allowedConnections: listOf(given.allowedConnections, "all", null),
  ipAllowlist: listOf(given.ipAllowlist, "all", null),
  maxRequestsPerDay: Option.getOrUndefined(given.maxRequestsPerDay),
  maxRequestsPerMinute: Option.getOrUndefined(given.maxRequestsPerMinute),
  maxSessions: Option.getOrUndefined(given.maxSessions),
  accessSchedule: Option.getOrUndefined(given.accessSchedule),
  noLog: Option.getOrUndefined(Option.map(given.noLog, (word) => word === "on"))
})
