/** `gateway quota groups …`: connections that serve `qtSd/<group>/<provider>/<model>` by weight. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { CreateQuotaGroup, QuotaGroupView } from "../../../api/Groups/QuotaGroups.ts"
import * as Client from "../../Client.ts"
import { body, json, pick } from "../../Flags.ts"
import { each, FiniteNumber, named, notOf } from "../../Forms.ts"
import * as Output from "../../output/Output.ts"
import type { Column } from "../../output/Table.ts"

const Groups = Schema.Struct({ groups: Schema.Array(QuotaGroupView) })

const columns: ReadonlyArray<Column<QuotaGroupView>> = [
  { header: "NAME", value: ({ name }) => name },
  {
    header: "MEMBERS",
    value: ({ members }) => members.map(({ connectionId, weight }) => `${connectionId}=${weight}`).join(", ") || "-"
  },
  {
    header: "ALLOCATIONS",
    value: ({ allocations, restricted }) =>
      allocations.map(({ apiKeyId, weight }) => `${apiKeyId}=${weight}`).join(", ") || (restricted ? "none" : "-")
  },
  { header: "ID", value: ({ id }) => id }
]

/** What one key has drawn of one window. */
interface Drawn {
  readonly group: string
  readonly apiKeyId: string
  readonly quota: QuotaGroupView["allocations"][number]["quotas"][number]
}

const drawnColumns: ReadonlyArray<Column<Drawn>> = [
  { header: "GROUP", value: ({ group }) => group },
  { header: "API KEY", value: ({ apiKeyId }) => apiKeyId },
  { header: "PROVIDER", value: ({ quota }) => quota.provider },
  { header: "WINDOW", value: ({ quota }) => quota.window },
  { header: "USED", value: ({ quota }) => String(quota.used), align: "right" },
  { header: "SHARE", value: ({ quota }) => String(quota.limit), align: "right" },
  { header: "UNIT", value: ({ quota }) => quota.unit },
  { header: "RESETS (UTC)", value: ({ quota }) => Output.shortTime(quota.resetAt) }
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

export const quotaGroupsList = Command.make("list", { ...Client.connection, json }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "quotaGroups")
    const answer = yield* client.list().pipe(Client.orExplain(to))
    if (given.json) return yield* Output.json(Groups, answer)
    yield* Output.rows(answer.groups, columns, "There are no quota groups. Make one with 'gateway quota groups add'.")
    const drawn = answer.groups.flatMap(drawnOf)
    if (drawn.length === 0) return
    yield* Output.print("")
    yield* Output.rows(drawn, drawnColumns, "")
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
    ...Client.connection,
    json
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
      yield* given.json
        ? Output.json(Schema.Struct({ group: QuotaGroupView }), answer)
        : Output.note(
            `The quota group '${answer.group.name}' is there; ask for 'qtSd/${answer.group.name}/<provider>/<model>'.`
          )
    })
)

export const quotaGroupsRemove = Command.make(
  "remove",
  { group: Args.text({ name: "id or name" }), ...Client.connection },
  (given) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const client = yield* Client.group(to, "quotaGroups")
      const { groups } = yield* client.list().pipe(Client.orExplain(to))
      const found = yield* pick("quota group", groups, given.group, "gateway quota groups list")
      yield* client.remove({ path: { id: found.id } }).pipe(Client.orExplain(to))
      yield* Output.note(`The quota group '${found.name}' is gone.`)
    })
)
