/** `gateway teams …`: teams whose keys share their limits. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { ownerOf, pickTeam, pickUser, teamIdOf } from "../../../cli/finding/pickOwner.ts"
import { body, changes } from "../../../cli/flags/Flags.ts"
import {
  meterColumns,
  metersText,
  ownerLimitNames,
  ownerLimits,
  ownerLimitsOf
} from "../../../cli/flags/OwnerLimits.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { serviceOf } from "../../../cli/gateway/Service.ts"
import { latestVersion } from "../../../cli/gateway/Versions.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { findOne, listOf, noun, on, removeOf } from "../../../cli/verbs/noun.ts"
import { contentReaders } from "../entity.ts"
import { CreateTeam, TeamContent, TeamView, UpdateTeam } from "../routes.ts"

const Teams = Schema.Struct({ teams: Schema.Array(TeamView) })
const OneTeam = Schema.Struct({ team: TeamView })

const teamArg = Args.text({ name: "team" }).pipe(Args.withDescription("Its name, or its id or the beginning of it."))

const teams = noun({
  what: "team",
  group: "teams",
  argument: teamArg,
  listing: "gateway teams list",
  list: (client) => client.list(),
  one: (client, id) => Effect.map(client.get({ path: { id } }), (answer) => answer.team),
  rows: (answer) => answer.teams,
  nameOf: ({ name }) => name,
  pick: pickTeam
})

const columns: ReadonlyArray<Column.Column<TeamView>> = [
  Column.name("NAME", ({ name }) => name),
  Column.number("MEMBERS", ({ members }) => members.length),
  Column.prose("LIMITS", ({ meters }) => metersText(meters)),
  Column.text("MODELS", ({ models }) => models?.join(", ") || "all"),
  Column.text("BELOW", ({ parent }) => parent ?? "-"),
  Column.id("ID", ({ id }) => id)
]

export const teamsList = listOf(teams, {
  schema: Teams,
  columns,
  empty: "There are no teams. Add one with 'gateway teams add <name>'."
})

export const teamsShow = on("show", teams, {}, function* ({ all, client, found, to }) {
  const answer = yield* client.get({ path: { id: found.id } })
  const { id, members, meters, models, name, parent, rate } = answer.team
  const page = fields([
    ["Name", name],
    ["Below", all.find((each) => each.id === parent)?.name ?? "no other"],
    ["Members", members.join(", ") || "none"],
    ["Models", models?.join(", ") || "all"],
    ["Content", answer.team.notice],
    ["Billed", rate === 1 ? "as it costs" : `${rate} × what it costs`],
    ["Id", id]
  ])
  yield* Output.result({
    schema: OneTeam,
    value: answer,
    text: Effect.zipRight(Output.print(page), Output.section(meters, meterColumns)),
    name,
    version: latestVersion(to)
  })
})

const settings = {
  parent: Options.text("parent").pipe(
    Options.withDescription("The team above, by name or id; 'none'."),
    Options.optional
  ),
  models: Options.text("model").pipe(
    Options.withDescription("A model its keys may use, '*' in it for any text; 'all' for all. Several times."),
    Options.repeated
  ),
  rate: Options.float("rate").pipe(
    Options.withDescription("Factor by which what it costs is billed to it, such as 1.15; 1: as it is."),
    Options.optional
  ),
  content: Options.choice("content", contentReaders).pipe(
    Options.withDescription("Who may see prompts and answers of its keys: none (nobody), admins, or leads and admins."),
    Options.optional
  ),
  contentNotice: Options.text("content-notice").pipe(
    Options.withDescription("What members are told about --content; 'none': the usual text."),
    Options.optional
  ),
  members: Options.text("member").pipe(
    Options.withDescription("A person in the team, by name, e-mail address or id; 'none'. Several times."),
    Options.repeated
  ),
  ...ownerLimits
}

const flagNames = {
  name: "<name>",
  parent: "--parent",
  models: "--model",
  rate: "--rate",
  content: "--content",
  contentNotice: "--content-notice",
  members: "--member",
  ...ownerLimitNames
}

/** Undefined: not given; `word` alone clears. */
const listGiven = <A>(given: ReadonlyArray<string>, word: string, cleared: A) =>
  given.length === 0 ? undefined : given.length === 1 && given[0] === word ? cleared : given

/** Undefined: not given; null: the usual text. */
const noticeGiven = (given: Option.Option<string>): string | null | undefined =>
  Option.match(given, { onNone: () => undefined, onSome: (text) => (text === "none" ? null : text) })

const idsOf = Effect.fnUntraced(function* (to: Client.Target, given: ReadonlyArray<string>) {
  const named = listGiven(given, "none", [])
  if (named === undefined || named.length === 0) return named
  const { users } = yield* (yield* serviceOf(to, "users")).list()
  return yield* Effect.forEach(named, (word) => Effect.map(pickUser(users, word), ({ id }) => id))
})

export const teamsAdd = Command.make(
  "add",
  { name: Args.text({ name: "name" }), ...settings, ...Client.connection },
  (given) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const payload = yield* body(
        CreateTeam,
        {
          name: given.name,
          parent: yield* ownerOf(given.parent, (word) => teamIdOf(to, word)),
          models: listGiven(given.models, "all", null),
          rate: Option.getOrUndefined(given.rate),
          content: Option.getOrUndefined(given.content),
          contentNotice: noticeGiven(given.contentNotice),
          members: yield* idsOf(to, given.members),
          ...ownerLimitsOf(given)
        },
        flagNames
      )
      const client = yield* Client.group(to, "teams")
      const answer = yield* client.create({ payload }).pipe(Client.orExplain(to))
      const { name } = answer.team
      yield* Output.result({ schema: OneTeam, value: answer, text: Output.note(`The team '${name}' is there.`), name })
    })
)

export const teamsEdit = Command.make(
  "edit",
  {
    team: teamArg,
    name: Options.text("name").pipe(Options.withDescription("Another name."), Options.optional),
    ...settings,
    ...Client.editing
  },
  (given) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const payload = yield* changes(
        UpdateTeam,
        {
          name: Option.getOrUndefined(given.name),
          parent: yield* ownerOf(given.parent, (word) => teamIdOf(to, word)),
          models: listGiven(given.models, "all", null),
          rate: Option.getOrUndefined(given.rate),
          content: Option.getOrUndefined(given.content),
          contentNotice: noticeGiven(given.contentNotice),
          members: yield* idsOf(to, given.members),
          ...ownerLimitsOf(given)
        },
        { ...flagNames, name: "--name" },
        "teams edit Research --daily 30"
      )
      const { client, found } = yield* findOne(teams, to, given.team)
      const answer = yield* client.update({ path: { id: found.id }, payload })
      const { name } = answer.team
      yield* Output.result({
        schema: OneTeam,
        value: answer,
        text: Output.note(`The team '${name}' is changed.`),
        name
      })
    })
)

export const teamsRemove = removeOf(teams, {
  ask: (client, id) => client.remove({ path: { id } }),
  question: ({ name }) => `Remove the team '${name}'? Its keys are refused then.`,
  record: ({ name }) => ({ name }),
  sentence: ({ name }) => `The team '${name}' is gone; its keys are refused from now on.`
})

const request = Args.text({ name: "request" }).pipe(
  Args.withDescription("Id of the request, as its answer's X-Gateway-Request-Id and 'logs' have it.")
)

export const teamsContent = on("content", teams, { request }, function* ({ client, found, given }) {
  const answer = yield* client.content({ path: { id: found.id, requestId: given.request } })
  const page = fields([
    ["Request", answer.request ?? "not kept any more"],
    ["Answer", answer.answer ?? "not kept any more"]
  ])
  yield* Output.result({ schema: TeamContent, value: answer, text: Output.print(page), name: answer.requestId })
})
