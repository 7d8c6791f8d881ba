/** `gateway attention`: what needs a person. */
import * as Options from "@effect/cli/Options"
import * as Option from "effect/Option"
import { AlreadyReported } from "../../../cli/Failure.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { asking } from "../../../cli/verbs/asking.ts"
import { severities } from "../entity.ts"
import { AttentionList, type AttentionView } from "../routes.ts"

const columns: ReadonlyArray<Column.Column<AttentionView>> = [
  Column.name("SEVERITY", ({ severity }) => severity),
  Column.text("WHAT", ({ subject }) => `${subject.type} ${subject.name}`),
  Column.text("KIND", ({ kind }) => kind, { in: "wide" }),
  Column.time("SINCE", ({ since }) => since),
  Column.prose("TEXT", ({ text }) => text)
]

const severity = Options.choice("severity", severities).pipe(
  Options.withDescription("Only those of this severity."),
  Options.optional
)

export const attentionCommand = asking("attention", "attention", { severity }, function* (client, given) {
  const { items: all } = yield* client.list()
  const items = Option.match(given.severity, {
    onNone: () => all,
    onSome: (wanted) => all.filter((each) => each.severity === wanted)
  })
  yield* Output.list({
    schema: AttentionList,
    value: { items, total: items.length },
    rows: items,
    columns,
    empty: "Nothing needs attention."
  })
  if (items.some((each) => each.severity === "error")) return yield* new AlreadyReported()
})
