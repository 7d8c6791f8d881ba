/** `gateway users …`: people whose keys share their limits. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { pickUser } from "../../../cli/finding/pickOwner.ts"
import { body, changes } from "../../../cli/flags/Flags.ts"
import {
  meterColumns,
  metersText,
  ownerLimitNames,
  ownerLimits,
  ownerLimitsOf
} from "../../../cli/flags/OwnerLimits.ts"
import { confirmOnTerminal, yes } from "../../../cli/asking/confirm.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { latestVersion } from "../../../cli/gateway/Versions.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { findOne, listOf, noun, on, removeOf } from "../../../cli/verbs/noun.ts"
import { userRoles, userStates } from "../entity.ts"
import { CreateUser, PersonErased, PersonExport, UpdateUser, UserView } from "../routes.ts"

const Users = Schema.Struct({ users: Schema.Array(UserView) })
const OneUser = Schema.Struct({ user: UserView })

const person = Args.text({ name: "person" }).pipe(
  Args.withDescription("Name or e-mail address, or the id or the beginning of it.")
)

const users = noun({
  what: "person",
  group: "users",
  argument: person,
  listing: "gateway users list",
  list: (client) => client.list(),
  one: (client, id) => Effect.map(client.get({ path: { id } }), (answer) => answer.user),
  rows: (answer) => answer.users,
  nameOf: ({ name }) => name,
  pick: pickUser
})

const columns: ReadonlyArray<Column.Column<UserView>> = [
  Column.name("NAME", ({ name }) => name),
  Column.text("E-MAIL", ({ email }) => email),
  Column.text("ROLE", ({ role }) => role),
  Column.text("STATE", ({ state }) => state),
  Column.prose("LIMITS", ({ meters }) => metersText(meters)),
  Column.id("ID", ({ id }) => id)
]

export const usersList = listOf(users, {
  schema: Users,
  columns,
  empty: "There are no people. Add one with 'gateway users add <name> --email <address>'."
})

export const usersShow = on("show", users, {}, function* ({ client, found, to }) {
  const answer = yield* client.get({ path: { id: found.id } })
  const { email, id, meters, name, role, source, state, teams } = answer.user
  const page = fields([
    ["Name", name],
    ["E-mail", email],
    ["Role", role],
    ["Teams", teams.join(", ") || "none"],
    ["Kept", source],
    ["State", state],
    ["Id", id]
  ])
  yield* Output.result({
    schema: OneUser,
    value: answer,
    text: Effect.zipRight(Output.print(page), Output.section(meters, meterColumns)),
    name,
    version: latestVersion(to)
  })
})

const role = Options.choice("role", userRoles).pipe(Options.withDescription("Rights of the person."), Options.optional)

const flagNames = { name: "<name>", email: "--email", role: "--role", state: "--state", ...ownerLimitNames }

export const usersAdd = Command.make(
  "add",
  {
    name: Args.text({ name: "name" }),
    email: Options.text("email").pipe(Options.withDescription("E-mail address; one person has it.")),
    role,
    ...ownerLimits,
    ...Client.connection
  },
  (given) =>
    Effect.gen(function* () {
      const payload = yield* body(
        CreateUser,
        { name: given.name, email: given.email, role: Option.getOrUndefined(given.role), ...ownerLimitsOf(given) },
        flagNames
      )
      const to = yield* Client.target(given)
      const client = yield* Client.group(to, "users")
      const answer = yield* client.create({ payload }).pipe(Client.orExplain(to))
      const { name } = answer.user
      yield* Output.result({ schema: OneUser, value: answer, text: Output.note(`'${name}' is added.`), name })
    })
)

export const usersEdit = Command.make(
  "edit",
  {
    person,
    name: Options.text("name").pipe(Options.withDescription("Another name."), Options.optional),
    email: Options.text("email").pipe(Options.withDescription("Another e-mail address."), Options.optional),
    role,
    state: Options.choice("state", userStates).pipe(
      Options.withDescription("suspended: the person's keys are refused."),
      Options.optional
    ),
    ...ownerLimits,
    ...Client.editing
  },
  (given) =>
    Effect.gen(function* () {
      const payload = yield* changes(
        UpdateUser,
        {
          name: Option.getOrUndefined(given.name),
          email: Option.getOrUndefined(given.email),
          role: Option.getOrUndefined(given.role),
          state: Option.getOrUndefined(given.state),
          ...ownerLimitsOf(given)
        },
        { ...flagNames, name: "--name" },
        "users edit ada@example.com --role lead"
      )
      const to = yield* Client.target(given)
      const { client, found } = yield* findOne(users, to, given.person)
      const answer = yield* client.update({ path: { id: found.id }, payload })
      const { name } = answer.user
      yield* Output.result({ schema: OneUser, value: answer, text: Output.note(`'${name}' is changed.`), name })
    })
)

export const usersRemove = removeOf(users, {
  ask: (client, id) => client.remove({ path: { id } }),
  question: ({ name }) => `Remove '${name}'? The person's keys are refused then.`,
  record: ({ name }) => ({ name }),
  sentence: ({ name }) => `'${name}' is gone; the person's keys are refused from now on.`
})

export const usersErase = on("erase", users, { yes }, function* ({ client, found, given }) {
  yield* confirmOnTerminal(given, `Erase '${found.name}' with all keys? It cannot be taken back.`)
  const answer = yield* client.erase({ path: { id: found.id } })
  yield* Output.result({
    schema: PersonErased,
    value: answer,
    text: Output.note(`'${found.name}' is erased, with ${answer.keys} keys; the sums of their requests stay.`),
    name: found.name
  })
})

export const usersExport = on("export", users, {}, function* ({ client, found }) {
  const answer = yield* client.export({ path: { id: found.id } })
  yield* Output.result({
    schema: PersonExport,
    value: answer,
    text: Output.print(JSON.stringify(answer, null, 2)),
    name: answer.user.name
  })
})
