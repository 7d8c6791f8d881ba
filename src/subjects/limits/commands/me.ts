/** `gateway me`: what a key may spend and has used, for who has no more than a key; and what is a person's own, who has logged in. */
import * as Effect from "effect/Effect"
import { meterColumns } from "../../../cli/flags/OwnerLimits.ts"
import { serviceOf } from "../../../cli/gateway/Service.ts"
import { loadModule } from "../../../cli/lazy.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { asking } from "../../../cli/verbs/asking.ts"
import { usdText } from "../../../kernel/text/UsdText.ts"
import { OwnUsage, type OwnerMeter } from "../routes.ts"

const loadPerson = loadModule(() => import("./person.ts"))

/** A limit that holds for the key, and whose it is. */
interface Held extends OwnerMeter {
  readonly whose: string
}

const columns: ReadonlyArray<Column.Column<Held>> = [Column.name("WHOSE", ({ whose }) => whose), ...meterColumns]

/** All limits that hold for a key: its own, those of its person and of its teams. */
const heldBy = ({ budget, limits, owners }: OwnUsage): ReadonlyArray<Held> => [
  ...budget.windows.map(({ limitUsd, reservedUsd, spentUsd, ...window }) => ({
    whose: "this key",
    unit: "usd" as const,
    limit: limitUsd,
    used: spentUsd,
    reserved: reservedUsd,
    ...window
  })),
  ...limits
    .filter(({ enabled }) => enabled)
    .map(({ nextResetAt, resetInterval, tokenLimit, tokensReserved, tokensUsed, windowStart }) => ({
      whose: "this key",
      unit: "tokens" as const,
      interval: resetInterval,
      limit: tokenLimit,
      used: tokensUsed,
      reserved: tokensReserved,
      windowStart,
      nextResetAt
    })),
  ...owners.flatMap(({ kind, meters, name }) =>
    meters.map((meter) => ({ whose: `${kind === "team" ? "team" : "person"} ${name}`, ...meter }))
  )
]

export const meCommand = asking("me", "limits", {}, function* (client, _given, to) {
  const { content, limits, person, principal } = yield* (yield* serviceOf(to, "auth")).me()
  if (principal.type === "session" && person !== null) {
    const { showPerson } = yield* loadPerson
    return yield* showPerson(to, person.id)
  }
  const value = yield* client.me()
  const { owners, totals } = value
  const page = fields([
    ["Gateway", to.url],
    ["Key", value.name],
    ...owners.map(({ kind, name }) => [kind === "team" ? "Team" : "Person", name] as const),
    ...(person === null || person.role === null ? [] : [["Role", person.role] as const]),
    ...(content === null ? [] : [["Content", content.notice] as const]),
    ["Models", limits?.allowedModels.join(", ") || "all"],
    ["Today", `${usdText(totals.today.costUsd)}, ${Output.counted(totals.today.requests, "request")}`],
    ["This month", `${usdText(totals.month.costUsd)}, ${Output.counted(totals.month.requests, "request")}`]
  ])
  yield* Output.result({
    schema: OwnUsage,
    value,
    text: Effect.zipRight(Output.print(page), Output.section(heldBy(value), columns)),
    name: value.name
  })
})
