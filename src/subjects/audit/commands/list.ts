/** `gateway audit`: the audit log of the running gateway. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { AuditEntry, AuditQuery } from "../routes.ts"
import { body } from "../../../cli/flags/Flags.ts"
import { taking } from "../../../cli/flags/Forms.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { timeFlag } from "../../usage/commands/logs/timeFlag.ts"

const text = (name: string, description: string) =>
  Options.text(name).pipe(Options.withDescription(description), Options.optional)

const flags = {
  action: text("action", "What was done: auth.login.failed, or 'auth.*' for all that begin so."),
  actor: text("actor", "Who did it: admin-key, owner, 'apiKey:<id>', 'session:*', anonymous."),
  target: text("target", "Id or name of what it was done to."),
  status: text("status", "success or failure."),
  since: text("since", "Rows since then: 30m, 2h, 7d ago, a day such as 2026-11-22, or a time."),
  until: text("until", "Rows before then, given as for --since."),
  limit: Options.integer("limit").pipe(
    taking(Schema.Int.pipe(Schema.between(1, 500)), () => "--limit must be a whole number from 1 to 500."),
    Options.withDescription("How many rows to show, 1 to 500."),
    Options.withDefault(50)
  ),
  ...Client.connection
}

const columns: ReadonlyArray<Column.Column<AuditEntry>> = [
  Column.time("TIME", ({ timestamp }) => timestamp),
  Column.name("ACTION", ({ action }) => action),
  Column.text("STATUS", ({ details, status }) => (status === "success" ? status : `${status} (${details.httpStatus})`)),
  Column.text("ACTOR", ({ actor, details: { apiKeyName, userName } }) =>
    userName === undefined ? (apiKeyName ?? actor) : `${userName} (${apiKeyName ?? actor})`
  ),
  Column.text("TARGET", ({ target }) => target ?? "-"),
  Column.text("FROM", ({ ip }) => ip),
  Column.id("REQUEST", ({ requestId }) => requestId, { in: "wide" })
]

const flagNames = { action: "--action", actor: "--actor", target: "--target", status: "--status" }

export const auditCommand = Command.make("audit", flags, (given) =>
  Effect.gen(function* () {
    const filter = yield* body(
      AuditQuery.pick("action", "actor", "target", "status", "from", "to"),
      {
        action: Option.getOrUndefined(given.action),
        actor: Option.getOrUndefined(given.actor),
        target: Option.getOrUndefined(given.target),
        status: Option.getOrUndefined(given.status),
        from: yield* timeFlag("--since", given.since),
        to: yield* timeFlag("--until", given.until)
      },
      flagNames
    )
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "audit")
    const rows = yield* client.list({ urlParams: { ...filter, limit: given.limit } }).pipe(Client.orExplain(to))
    yield* Output.list({
      schema: Schema.Array(AuditEntry),
      value: rows,
      rows,
      columns,
      empty: "The audit log has no such rows."
    })
  })
)
