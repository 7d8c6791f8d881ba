/** `gateway key show`, `edit`, `rotate`, `enable` and `disable`. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { KeyView, RotateKey, UpdateKey } from "../routes.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { confirmOnTerminal, yes } from "../../../cli/asking/confirm.ts"
import { body, changes } from "../../../cli/flags/Flags.ts"
import { allowSameName, refuseTaken } from "../../../cli/sameName.ts"
import { each, notOf, twoNumbers } from "../../../cli/flags/Forms.ts"
import { ownerNames, owners, ownersOf } from "./owners.ts"
import { listOf, restrictionNames, restrictions, restrictionsOf } from "./restrictions.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { pickKey } from "../../../cli/finding/pickKey.ts"
import { findOne, noun, showOf, switchesOf } from "../../../cli/verbs/noun.ts"

const OneKey = Schema.Struct({ key: KeyView })

const key = Args.text({ name: "key" }).pipe(
  Args.withDescription("Its name, its id or the beginning of it, or what its secret begins with.")
)

const keys = noun({
  what: "key",
  group: "keys",
  argument: key,
  listing: "gateway key list",
  list: (client) => client.list(),
  one: (client, id) => Effect.map(client.get({ path: { id } }), (answer) => answer.key),
  rows: (answer) => answer.keys,
  nameOf: ({ name }) => name,
  pick: pickKey
})

const mostText = (most: number | null): string => (most === null || most === 0 ? "no limit" : String(most))

const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
const scheduleText = (schedule: KeyView["accessSchedule"]): string => {
  if (schedule === null || !schedule.enabled) return "always"
  const { days, from, tz, until } = schedule
  return `${days.map((day) => weekdays[day]).join(" ")} ${from}-${until} ${tz}`
}

const page = (shown: KeyView) =>
  fields([
    ["Name", shown.name],
    ["Begins with", shown.prefix],
    ["Scopes", shown.scopes.join(", ") || "inference"],
    ["Models", shown.allowedModels?.join(", ") || "all"],
    ["Limits", shown.rateLimits.map(({ limit, window }) => `${limit} requests in ${window} s`).join(", ") || "none"],
    ["Blocked models", shown.blockedModels.join(", ") || "none"],
    ["Endpoints", shown.allowedEndpoints.join(", ") || "all"],
    ["Combos", shown.allowedCombos.join(", ") || "all"],
    ["Providers", shown.allowedProviders.join(", ") || "all"],
    ["Connections", shown.allowedConnections.join(", ") || "all"],
    ["Addresses", shown.ipAllowlist.join(", ") || "all"],
    ["Schedule", scheduleText(shown.accessSchedule)],
    ["Requests per day", mostText(shown.maxRequestsPerDay)],
    ["Requests per minute", mostText(shown.maxRequestsPerMinute)],
    ["At the same time", mostText(shown.maxSessions)],
    ["Content is kept", Output.yesNo(!shown.noLog)],
    ...(shown.userId === null ? [] : [["Person", shown.userId] as const]),
    ...(shown.teamId === null ? [] : [["Team", shown.teamId] as const]),
    ["Active", Output.yesNo(shown.isActive)],
    ["Expires", Output.shortTime(shown.expiresAt)],
    ["Last used", Output.shortTime(shown.lastUsedAt)],
    ["Created", Output.shortTime(shown.createdAt)],
    ["Id", shown.id]
  ])

export const keyShow = showOf(keys, {
  schema: OneKey,
  ask: (client, id) => client.get({ path: { id } }),
  text: (answer) => page(answer.key)
})

const several = (name: string, description: string) =>
  Options.text(name).pipe(Options.withDescription(description), Options.repeated)

const editFlags = {
  key,
  name: Options.text("name").pipe(Options.withDescription("Another name."), Options.optional),
  scopes: several(
    "scope",
    "What it may do beside inference, one of the scopes below; 'none' for nothing. Several times."
  ),
  allowedModels: several("model", "A model it may use, '*' in it for any text; 'all' for all. Several times."),
  expiresAt: Options.text("expires").pipe(
    Options.withDescription("When it stops working, ISO 8601; 'never'."),
    Options.optional
  ),
  rateLimits: Options.text("rate-limit").pipe(
    Options.withDescription("<requests>/<seconds>, such as 60/60. Several times; '0/0' for none."),
    Options.repeated,
    Options.withSchema(each(twoNumbers("/"), notOf("--rate-limit", "<requests>/<seconds>")))
  ),
  ...owners,
  allowSameName,
  ...restrictions,
  ...Client.editing
}

const flagNames = {
  ...restrictionNames,
  ...ownerNames,
  name: "--name",
  scopes: "--scope",
  allowedModels: "--model",
  expiresAt: "--expires",
  rateLimits: "--rate-limit"
}

export const keyEdit = Command.make("edit", editFlags, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const limits = given.rateLimits.filter(([limit]) => limit > 0).map(([limit, window]) => ({ limit, window }))
    const payload = yield* changes(
      UpdateKey,
      {
        ...restrictionsOf(given),
        ...(yield* ownersOf(to, given)),
        name: Option.getOrUndefined(given.name),
        scopes: listOf(given.scopes, "none", []),
        allowedModels: listOf(given.allowedModels, "all", null),
        expiresAt: Option.getOrUndefined(Option.map(given.expiresAt, (at) => (at === "never" ? null : at))),
        rateLimits: given.rateLimits.length === 0 ? undefined : limits
      },
      flagNames,
      "key edit laptop --expires 2030-01-31T00:00:00Z"
    )
    const { client, found, all } = yield* findOne(keys, to, given.key)
    if (payload.name !== undefined) {
      const taken = { what: "key", name: payload.name, isAllowed: given.allowSameName, ownId: found.id }
      yield* refuseTaken(all, taken)
    }
    const answer = yield* client.update({ path: { id: found.id }, payload })
    const { name } = answer.key
    yield* Output.result({ schema: OneKey, value: answer, text: Output.note(`The key '${name}' is changed.`), name })
  })
)

const Rotated = Schema.Struct({ key: KeyView, secret: Schema.String })

const rotateFlags = {
  key,
  overlapSeconds: Options.integer("overlap").pipe(
    Options.withDescription("Seconds for which the secret before still works; without it that ends at once."),
    Options.optional
  ),
  yes,
  ...Client.connection
}

export const keyRotate = Command.make("rotate", rotateFlags, (given) =>
  Effect.gen(function* () {
    const payload = yield* body(
      RotateKey,
      { overlapSeconds: Option.getOrUndefined(given.overlapSeconds) },
      { overlapSeconds: "--overlap" }
    )
    const to = yield* Client.target(given)
    const { client, found } = yield* findOne(keys, to, given.key)
    const overlap = payload?.overlapSeconds ?? 0
    if (overlap === 0) yield* confirmOnTerminal(given, `End the secret of '${found.name}' (${found.prefix}…) at once?`)
    const rotated = yield* client.rotate({ path: { id: found.id }, payload })
    const before = overlap === 0 ? "the one before has ended" : `the one before works for ${overlap} s more`
    yield* Output.result({
      schema: Rotated,
      value: rotated,
      text: Effect.zipRight(
        Output.note(`The new secret of '${found.name}' is shown once; keep it now (${before}):`),
        Output.print(rotated.secret)
      ),
      name: found.name
    })
  })
)

const switches = switchesOf(keys, {
  schema: OneKey,
  ask: (client, id, isActive) => client.update({ path: { id }, payload: { isActive } }),
  enabled: ({ name }) => `The key '${name}' works again.`,
  disabled: ({ name }) => `The key '${name}' is refused from now on; 'gateway key enable' brings it back.`
})

export const keyEnable = switches.enable
export const keyDisable = switches.disable
