/** `gateway quota groups …`: connections that serve `qtSd/<group>/<provider>/<model>` by weight. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { CreateQuotaGroup, QuotaGroupView } from "../../../api/Groups/QuotaGroups.ts"
import * as Client from "../../Client.ts"
import { body, pick } from "../../Flags.ts"
import { each, FiniteNumber, named, notOf } from "../../Forms.ts"
import * as Output from "../../output/Output.ts"
import * as Column from "../../output/Column.ts"

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

/** What one key has drawn of one window. */
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

export const quotaGroupsList = Command.make("list", Client.connection, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "quotaGroups")
    const answer = yield* client.list().pipe(Client.orExplain(to))
    yield* Output.list({
      schema: Groups,
      value: answer,
      rows: answer.groups,
      columns,
      empty: "There are no quota groups. Make one with 'gateway quota groups add'."
    })
    yield* Output.section(answer.groups.flatMap(drawnOf), drawnColumns)
  })
)

export const quotaGroupsAdd = Command.make(
  "add",
  {
    name: Args.text({ name: "name" }),
    members: Args.text({ name: "connection" }).pipe(
      Args.withDescription("<connection id> or <connection id>=<weight>."),
      Args.atLeast(1),
      Args.map((texts): Array<string> => texts),
      Args.withSchema(each(Weighted, notOf("<connection>", "<connection id>=<weight>")))
    ),
    allocations: Options.text("allow").pipe(
      Options.withDescription("<API key id>=<weight>; may be given several times."),
      Options.repeated,
      Options.withSchema(each(Weighted, notOf("--allow", "<API key id>=<weight>")))
    ),
    ...Client.connection
  },
  (given) =>
    Effect.gen(function* () {
      const payload = yield* body(
        CreateQuotaGroup,
        {
          name: given.name,
          members: given.members.map(([connectionId, weight]) => ({ connectionId, weight })),
          allocations: given.allocations.map(([apiKeyId, weight]) => ({ apiKeyId, weight }))
        },
        { name: "<name>", members: "<connection>", allocations: "--allow" }
      )
      const to = yield* Client.target(given)
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

export const quotaGroupsRemove = Command.make(
  "remove",
  { group: Args.text({ name: "quota group" }), ...Client.connection },
  (given) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const client = yield* Client.group(to, "quotaGroups")
      const { groups } = yield* client.list().pipe(Client.orExplain(to))
      const found = yield* pick("quota group", groups, given.group, "gateway quota groups list")
      yield* client.remove({ path: { id: found.id } }).pipe(Client.orExplain(to))
      yield* Output.done(
        { removed: found.id, name: found.name },
        `The quota group '${found.name}' is gone.`,
        found.name
      )
    })
)
