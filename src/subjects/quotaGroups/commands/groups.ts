/** `gateway quota groups …`: connections that serve `qtSd/<group>/<provider>/<model>` by weight. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { CreateQuotaGroup, QuotaGroupView, UpdateQuotaGroup } from "../routes.ts"
import { confirmOnTerminal, yes } from "../../../cli/asking/confirm.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { body, pick } from "../../../cli/flags/Flags.ts"
import { each, FiniteNumber, named, notOf } from "../../../cli/flags/Forms.ts"
import * as Output from "../../../cli/output/Output.ts"
import * as Column from "../../../cli/output/Column.ts"
import { pickConnection } from "../../../cli/pickConnection.ts"
import { pickKey } from "../../../cli/finding/pickKey.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const Groups = Schema.Struct({ groups: Schema.Array(QuotaGroupView) })

const columns: ReadonlyArray<Column.Column<QuotaGroupView>> = [
  Column.name("NAME", ({ name }) => name),
  Column.prose("MEMBERS", ({ members }) =>
    members.map(({ connectionId, weight }) => `${connectionId}=${weight}`).join(", ")
  ),
  Column.prose("ALLOCATIONS", ({ allocations, restricted }) =>
    allocations.length === 0 && restricted
      ? "none"
      : allocations.map(({ apiKeyId, weight }) => `${apiKeyId}=${weight}`).join(", ")
  ),
  Column.id("ID", ({ id }) => id)
]

/** Use of one window by one key. */
interface Drawn {
  readonly group: string
  readonly apiKeyId: string
  readonly quota: QuotaGroupView["allocations"][number]["quotas"][number]
}

const drawnColumns: ReadonlyArray<Column.Column<Drawn>> = [
  Column.name("GROUP", ({ group }) => group),
  Column.id("API KEY", ({ apiKeyId }) => apiKeyId),
  Column.text("PROVIDER", ({ quota }) => quota.provider),
  Column.text("WINDOW", ({ quota }) => quota.window),
  Column.number("USED", ({ quota }) => quota.used),
  Column.number("SHARE", ({ quota }) => quota.limit),
  Column.text("UNIT", ({ quota }) => quota.unit),
  Column.time("RESETS", ({ quota }) => quota.resetAt)
]

const drawnOf = ({ allocations, name }: QuotaGroupView): ReadonlyArray<Drawn> =>
  allocations.flatMap(({ apiKeyId, quotas }) => quotas.map((quota) => ({ group: name, apiKeyId, quota })))

/** `id` or `id=weight`. */
const Weighted = Schema.Union(
  named(FiniteNumber),
  Schema.transform(Schema.String.pipe(Schema.pattern(/^[^=]+$/)), Schema.Tuple(Schema.String, Schema.Number), {
    strict: true,
    decode: (id) => [id, 1] as const,
    encode: ([id]) => id
  })
)

export const quotaGroupsList = asking("list", "quotaGroups", {}, function* (client) {
  const answer = yield* client.list()
  yield* Output.list({
    schema: Groups,
    value: answer,
    rows: answer.groups,
    columns,
    empty: "There are no quota groups. Make one with 'gateway quota groups add'."
  })
  yield* Output.section(answer.groups.flatMap(drawnOf), drawnColumns)
})

const allow = Options.text("allow").pipe(
  Options.withDescription("<API key>=<weight>, by name or id; may be given several times."),
  Options.repeated,
  Options.withSchema(each(Weighted, notOf("--allow", "<API key>=<weight>")))
)

export const quotaGroupsAdd = Command.make(
  "add",
  {
    name: Args.text({ name: "name" }),
    members: Args.text({ name: "connection" }).pipe(
      Args.withDescription("<connection> or <connection>=<weight>, by name or id."),
      Args.atLeast(1),
      Args.map((texts): Array<string> => texts),
      Args.withSchema(each(Weighted, notOf("<connection>", "<connection>=<weight>")))
    ),
    allocations: allow,
    ...Client.connection
  },
  (given) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const named = yield* resolved(to, given.members, given.allocations)
      const payload = yield* body(
        CreateQuotaGroup,
        { name: given.name, ...named },
        { name: "<name>", members: "<connection>", allocations: "--allow" }
      )
      const client = yield* Client.group(to, "quotaGroups")
      const answer = yield* client.create({ payload }).pipe(Client.orExplain(to))
      const { name } = answer.group
      yield* Output.result({
        schema: Schema.Struct({ group: QuotaGroupView }),
        value: answer,
        text: Output.note(`The quota group '${name}' is there; ask for 'qtSd/${name}/<provider>/<model>'.`),
        name
      })
    })
)

/** The connections and the keys that people name, by the ids of the contract. */
const resolved = Effect.fnUntraced(function* (
  to: Client.Target,
  members: ReadonlyArray<readonly [string, number]>,
  allocations: ReadonlyArray<readonly [string, number]>
) {
  const { connections } = yield* Effect.flatMap(Client.group(to, "providers"), (client) => client.list()).pipe(
    Client.orExplain(to)
  )
  const { keys } =
    allocations.length === 0
      ? { keys: [] }
      : yield* Effect.flatMap(Client.group(to, "keys"), (client) => client.list()).pipe(Client.orExplain(to))
  return {
    members: yield* Effect.forEach(members, ([word, weight]) =>
      Effect.map(pickConnection(connections, word), ({ id }) => ({ connectionId: id, weight }))
    ),
    allocations: yield* Effect.forEach(allocations, ([word, weight]) =>
      Effect.map(pickKey(keys, word), ({ id }) => ({ apiKeyId: id, weight }))
    )
  }
})

export const quotaGroupsShow = asking(
  "show",
  "quotaGroups",
  { group: Args.text({ name: "quota group" }) },
  function* (client, given) {
    const { groups } = yield* client.list()
    const { id } = yield* pick("quota group", groups, given.group, "gateway quota groups list")
    const answer = yield* client.get({ path: { id } })
    const { group } = answer
    const text = Effect.zipRight(Output.rows([group], columns, ""), Output.section(drawnOf(group), drawnColumns))
    yield* Output.result({ schema: Schema.Struct({ group: QuotaGroupView }), value: answer, text, name: group.name })
  }
)

export const quotaGroupsEdit = Command.make(
  "edit",
  {
    group: Args.text({ name: "quota group" }),
    name: Options.text("name").pipe(Options.withDescription("Another name."), Options.optional),
    members: Options.text("member").pipe(
      Options.withDescription("<connection> or <connection>=<weight>, in place of the former ones. Several times."),
      Options.repeated,
      Options.withSchema(each(Weighted, notOf("--member", "<connection>=<weight>")))
    ),
    allocations: allow,
    ...Client.editing
  },
  (given) =>
    Effect.gen(function* () {
      const name = Option.getOrUndefined(given.name)
      if (name === undefined && given.members.length === 0 && given.allocations.length === 0) {
        return yield* new BadArgument({
          message: "What is to be changed is not said.",
          hint: "Example: gateway quota groups edit team --member work=3 --member spare=1"
        })
      }
      const to = yield* Client.target(given)
      const client = yield* Client.group(to, "quotaGroups")
      const { groups } = yield* client.list().pipe(Client.orExplain(to))
      const { id } = yield* pick("quota group", groups, given.group, "gateway quota groups list")
      const { group: found } = yield* client.get({ path: { id } }).pipe(Client.orExplain(to))
      const { allocations, members } = yield* resolved(to, given.members, given.allocations)
      const payload = yield* body(
        UpdateQuotaGroup,
        {
          name,
          members: members.length === 0 ? undefined : members,
          allocations: allocations.length === 0 ? undefined : allocations
        },
        { name: "--name", members: "--member", allocations: "--allow" }
      )
      const answer = yield* client.update({ path: { id: found.id }, payload }).pipe(Client.orExplain(to))
      yield* Output.result({
        schema: Schema.Struct({ group: QuotaGroupView }),
        value: answer,
        text: Output.note(`The quota group '${answer.group.name}' is changed.`),
        name: answer.group.name
      })
    })
)

export const quotaGroupsRemove = asking(
  "remove",
  "quotaGroups",
  { group: Args.text({ name: "quota group" }), yes },
  function* (client, given) {
    const { groups } = yield* client.list()
    const found = yield* pick("quota group", groups, given.group, "gateway quota groups list")
    yield* confirmOnTerminal(given, `Remove the quota group '${found.name}'?`)
    yield* client.remove({ path: { id: found.id } })
    yield* Output.done({ removed: found.id, name: found.name }, `The quota group '${found.name}' is gone.`, found.name)
  }
)
