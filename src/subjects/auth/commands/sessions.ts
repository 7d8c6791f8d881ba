/** `gateway admin-session`: who is signed in to the dashboard, and the end of that. */
import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import { AdminSessions } from "../routes.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { pick } from "../../../cli/flags/Flags.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { asking } from "../../../cli/verbs/asking.ts"

type Row = (typeof AdminSessions.Type)["sessions"][number]

const columns: ReadonlyArray<Column.Column<Row>> = [
  Column.name("SESSION", ({ id }) => id),
  Column.text("BY", ({ via }) => via),
  Column.text("FROM", ({ address }) => address),
  Column.time("BEGAN", ({ createdAt }) => createdAt),
  Column.time("LAST USED", ({ lastSeenAt }) => lastSeenAt),
  Column.time("ENDS", ({ expiresAt }) => expiresAt, { in: "wide" }),
  Column.prose("BROWSER", ({ userAgent }) => userAgent)
]

export const sessionList = asking("list", "auth", {}, function* (client) {
  const value = yield* client.listSessions()
  yield* Output.list({
    schema: AdminSessions,
    value,
    rows: value.sessions,
    columns,
    empty: "Nobody is signed in as administrator."
  })
})

const which = Args.text({ name: "session" }).pipe(
  Args.withDescription("Id of the session, or its beginning."),
  Args.optional
)
const all = Options.boolean("all").pipe(Options.withDescription("End every session."))

export const sessionEnd = asking("end", "auth", { which, all }, function* (client, given) {
  const word = given.which._tag === "Some" ? given.which.value : null
  if (given.all === (word !== null)) {
    return yield* new BadArgument({
      message: given.all ? "--all ends every session, so none is to be named." : "Which session is to end?",
      hint: "Name one of 'gateway admin-session list', or give --all."
    })
  }
  if (word === null) {
    const { ended } = yield* client.endSessions()
    return yield* Output.done({ ended }, `${Output.counted(ended, "session")} ended.`, String(ended))
  }
  const { sessions } = yield* client.listSessions()
  const named = sessions.map(({ id }) => ({ id, name: id }))
  const { id } = yield* pick("session", named, word, "gateway admin-session list")
  yield* client.endSession({ path: { id } })
  yield* Output.done({ ended: 1, id }, `The session ${id} has ended.`, id)
})
