/** Shows, for `gateway me`, what is a person's who has logged in: the own keys, the limits that hold for all of them, and what they cost this month. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { meterColumns } from "../../../cli/flags/OwnerLimits.ts"
import { serviceOf } from "../../../cli/gateway/Service.ts"
import type { Target } from "../../../cli/gateway/Target.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { usdText } from "../../../kernel/text/UsdText.ts"
import { userRoles } from "../../users/entity.ts"
import { OwnerMeter } from "../routes.ts"

const OwnPerson = Schema.Struct({
  person: Schema.Struct({
    id: Schema.String,
    name: Schema.String,
    email: Schema.String,
    role: Schema.Literal(...userRoles)
  }),
  keys: Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String, isActive: Schema.Boolean })),
  owners: Schema.Array(
    Schema.Struct({
      kind: Schema.Literal("user", "team"),
      id: Schema.String,
      name: Schema.String,
      meters: Schema.Array(OwnerMeter),
      /** Of a team: who sees its prompts and answers, as its members are told. */
      notice: Schema.NullOr(Schema.String)
    })
  ),
  month: Schema.Struct({ requests: Schema.Number, costUsd: Schema.Number })
})
type OwnPerson = typeof OwnPerson.Type

type Held = OwnerMeter & { readonly whose: string }

const columns: ReadonlyArray<Column.Column<Held>> = [Column.name("WHOSE", ({ whose }) => whose), ...meterColumns]

/** Asks for what is the person's own; a lead's rights reach further, which is left out. */
const ownOf = Effect.fnUntraced(function* (to: Target, userId: string) {
  const { user } = yield* (yield* serviceOf(to, "users")).get({ path: { id: userId } })
  const { teams } = yield* (yield* serviceOf(to, "teams")).list()
  const { keys } = yield* (yield* serviceOf(to, "keys")).list()
  const month = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 7)
  const { rows } = yield* (yield* serviceOf(to, "bills")).show({ urlParams: { month, by: "person" } })
  const row = rows.find((each) => each.person === userId)
  const { email, id, meters, name, role } = user
  return {
    person: { id, name, email, role },
    keys: keys
      .filter((key) => key.userId === userId)
      .map((key) => ({ id: key.id, name: key.name, isActive: key.isActive })),
    owners: [
      { kind: "user", id, name, meters, notice: null },
      ...teams
        .filter(({ members }) => members.includes(userId))
        .map((team) => ({
          kind: "team" as const,
          id: team.id,
          name: team.name,
          meters: team.meters,
          notice: team.notice
        }))
    ],
    month: { requests: row?.requests ?? 0, costUsd: row?.costUsd ?? 0 }
  } satisfies OwnPerson
})

export const showPerson = Effect.fnUntraced(function* (to: Target, userId: string) {
  const value = yield* ownOf(to, userId)
  const { keys, month, owners, person } = value
  const held = owners.flatMap(({ kind, meters, name }) =>
    meters.map((meter): Held => ({ ...meter, whose: kind === "team" ? `team ${name}` : "you" }))
  )
  const page = fields([
    ["Gateway", to.url],
    ["Person", `${person.name} (${person.email})`],
    ["Role", person.role],
    ["Teams", owners.flatMap(({ kind, name }) => (kind === "team" ? name : [])).join(", ") || "none"],
    ...owners.flatMap(({ name, notice }) => (notice === null ? [] : [[`Content of ${name}`, notice] as const])),
    ["Keys", keys.map(({ name }) => name).join(", ") || "none"],
    ["This month", `${usdText(month.costUsd)}, ${Output.counted(month.requests, "request")}`]
  ])
  yield* Output.result({
    schema: OwnPerson,
    value,
    text: Effect.zipRight(Output.print(page), Output.section(held, columns)),
    name: person.name
  })
})
