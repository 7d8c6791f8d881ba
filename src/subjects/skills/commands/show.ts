/** `gateway skills list`, `show` and `coverage`. */
import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { SkillCoverage, SkillView } from "../routes.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const List = Schema.Struct({ skills: Schema.Array(SkillView) })

const columns: ReadonlyArray<Column.Column<SkillView>> = [
  Column.name("SKILL", ({ id }) => id),
  Column.text("ABOUT", ({ category }) => (category === "api" ? "routes" : "commands")),
  Column.prose("WHEN TO READ IT", ({ description }) => description)
]

const category = Options.choice("category", ["api", "cli"]).pipe(
  Options.withDescription("Only those about routes (api) or commands (cli)."),
  Options.optional
)

export const skillsList = asking("list", "agentSkills", { category }, function* (client, given) {
  const urlParams = Option.match(given.category, { onNone: () => ({}), onSome: (only) => ({ category: only }) })
  const value = yield* client.list({ urlParams })
  yield* Output.list({ schema: List, value, rows: value.skills, columns, empty: "There are no skills." })
})

const id = Args.text({ name: "id" }).pipe(Args.withDescription("Id of a skill; see 'skills list'."))

const Page = Schema.Struct({ id: Schema.String, page: Schema.String })

export const skillsShow = asking("show", "agentSkills", { id }, function* (client, given) {
  const page = yield* client.raw({ path: { id: given.id } })
  yield* Output.result({
    schema: Page,
    value: { id: given.id, page },
    text: Output.print(page.trimEnd()),
    name: given.id
  })
})

const coverageText = ({ commands, generatedAt, routes, totalSkills }: SkillCoverage): string =>
  fields([
    ["skills", String(totalSkills)],
    ["routes told of", `${routes.have} of ${routes.total}`],
    ["commands told of", `${commands.have} of ${commands.total}`],
    ["missing", [...routes.missing, ...commands.missing].join(", ") || "none"],
    ["made", generatedAt]
  ])

export const skillsCoverage = asking("coverage", "agentSkills", {}, function* (client) {
  const value = yield* client.coverage()
  yield* Output.result({ schema: SkillCoverage, value, text: Output.print(coverageText(value)), name: "" })
})
