/** `gateway eval suite show`, `add`, `edit` and `remove`: suites as JSON files. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { CreateSuite, OneSuite, SuiteView, UpdateSuite } from "../routes.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { body } from "../../../cli/flags/Flags.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { readJson } from "../../../cli/flags/JsonInput.ts"
import * as Column from "../../../cli/output/Column.ts"
import { latestVersion } from "../../../cli/gateway/Versions.ts"
import * as Output from "../../../cli/output/Output.ts"
import { suites, suiteArg } from "./rows.ts"
import { findOne, on, removeOf } from "../../../cli/verbs/noun.ts"

type Case = SuiteView["cases"][number]

const lastMessage = ({ input }: Case): string => {
  const content = input.messages.at(-1)?.content ?? ""
  return typeof content === "string" ? content : JSON.stringify(content)
}

const caseColumns: ReadonlyArray<Column.Column<Case>> = [
  Column.name("CASE", ({ name }) => name),
  Column.text("JUDGED BY", ({ expected }) => expected.strategy),
  Column.prose("EXPECTED", ({ expected }) =>
    typeof expected.value === "string" ? expected.value : JSON.stringify(expected.value)
  ),
  Column.prose("ASKED", lastMessage)
]

export const suiteShow = on("show", suites, {}, function* ({ client, found: { id }, to }) {
  const { suite: found } = yield* client.suite({ path: { id } })
  const rows = Output.rows(found.cases, caseColumns, "It has no cases.")
  yield* Output.result({
    schema: SuiteView,
    value: found,
    text: rows,
    csv: rows,
    name: found.id,
    version: latestVersion(to)
  })
})

const file = Args.text({ name: "file" }).pipe(
  Args.withDescription("A JSON file with 'name' and 'cases', as 'eval suite show --json' prints one; '-' for stdin.")
)

const readSuite = Effect.fnUntraced(function* (from: string) {
  const given = yield* readJson("<file>", from)
  if (Predicate.isRecord(given)) return given
  return yield* new BadArgument({ message: `<file>: '${from}' must hold a JSON object with 'name' and 'cases'.` })
})

/** Members of a suite that are shown beside its name and cases. */
const shownOnly = new Set(["etag", "id", "builtIn", "createdAt", "updatedAt"])

const written = (suite: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(suite).filter(([name]) => !shownOnly.has(name)))

export const suiteAdd = Command.make("add", { file, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const payload = yield* body(CreateSuite, written(yield* readSuite(given.file)), {})
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "evals")
    const created = yield* client.createSuite({ payload }).pipe(Client.orExplain(to))
    const { cases, id, name } = created.suite
    const sentence = `'${name}' has ${Output.counted(cases.length, "case")}. Run it with 'gateway eval run "${name}" <model>'.`
    yield* Output.result({ schema: OneSuite, value: created, text: Output.note(sentence), name: id })
  })
)

export const suiteEdit = Command.make("edit", { suite: suiteArg, file, ...Client.editing }, (given) =>
  Effect.gen(function* () {
    const payload = yield* body(UpdateSuite, written(yield* readSuite(given.file)), {})
    const to = yield* Client.target(given)
    const { client, found } = yield* findOne(suites, to, given.suite)
    const answer = yield* client.updateSuite({ path: { id: found.id }, payload })
    const { id, name } = answer.suite
    yield* Output.result({ schema: OneSuite, value: answer, text: Output.note(`'${name}' is changed.`), name: id })
  })
)

export const suiteRemove = removeOf(suites, {
  ask: (client, id) => client.removeSuite({ path: { id } }),
  sentence: ({ name }) => `'${name}' was removed. Its runs stay.`,
  shown: ({ id }) => id
})
