/** `gateway eval run`: begins a run, and waits for its end. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { OneReport, Started, StartRun } from "../routes.ts"
import { BadArgument, CommandFailed } from "../../../cli/Failure.ts"
import { body } from "../../../cli/flags/Flags.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"
import { findKey } from "../../limits/commands/budgets.ts"
import { caseRows, suites, page, percent, suiteArg } from "./rows.ts"
import { findOne } from "../../../cli/verbs/noun.ts"

const askEvery = "500 millis"

const target = Args.text({ name: "target" }).pipe(
  Args.withDescription("What is asked: a model id, an alias, 'auto' or a combo; 'auto' without one."),
  Args.withDefault("auto")
)

const options = {
  compare: Options.text("compare").pipe(
    Options.withDescription("Another model or combo that is asked the same."),
    Options.optional
  ),
  key: Options.text("key").pipe(
    Options.withDescription("Name or id of an API key: in its name, within its rules and budgets."),
    Options.optional
  ),
  min: Options.float("min").pipe(
    Options.withDescription("Least percent of the cases that must pass; exit 1 below it. Default: 0."),
    Options.withDefault(0)
  ),
  noWait: Options.boolean("no-wait").pipe(
    Options.withDescription("Print the run's id and do not wait; 'gateway eval show' shows how it goes.")
  )
}

/** A word that is the name of a combo is that combo, as it is for clients. */
const targetOf = (combos: ReadonlyArray<{ readonly id: string; readonly name: string }>, word: string) => ({
  type: combos.some(({ id, name }) => name === word || id === word) ? ("combo" as const) : ("model" as const),
  id: word
})

/** Waits for the end of a run, with a line on stderr whenever more is known. */
const waitFor = Effect.fnUntraced(function* (to: Client.Target, id: string) {
  const client = yield* Client.group(to, "evals")
  let seen = -1
  while (true) {
    const { run } = yield* client.run({ path: { id } }).pipe(Client.orExplain(to))
    if (run.status !== "running") return run
    if (run.cases.length !== seen) {
      seen = run.cases.length
      yield* Output.remark(`${run.target.id}: ${seen} of ${run.summary.total} asked, ${run.summary.passed} passed`)
    }
    yield* Effect.sleep(askEvery)
  }
})

export const evalRun = Command.make("run", { suite: suiteArg, target, ...options, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    if (!(given.min >= 0 && given.min <= 100)) {
      return yield* new BadArgument({ message: "--min must be a percentage from 0 to 100." })
    }
    const to = yield* Client.target(given)
    const { client, found } = yield* findOne(suites, to, given.suite)
    const { combos } = yield* Effect.flatMap(Client.group(to, "combos"), (group) =>
      group.list().pipe(Client.orExplain(to))
    )
    const other = Option.getOrUndefined(given.compare)
    const key = Option.getOrUndefined(given.key)
    const payload = yield* body(
      StartRun,
      {
        suiteId: found.id,
        target: targetOf(combos, given.target),
        compareTarget: other === undefined ? undefined : targetOf(combos, other),
        apiKeyId: key === undefined ? undefined : (yield* findKey(to, key)).id
      },
      { target: "<target>", compareTarget: "--compare", apiKeyId: "--key" }
    )
    const started = yield* client.start({ payload }).pipe(Client.orExplain(to))
    const { id } = started.run
    if (given.noWait) {
      const text = Effect.zipRight(
        Output.note("The run has begun. 'gateway eval show' shows how it goes, with this id:"),
        Output.print(id)
      )
      return yield* Output.result({ schema: Started, value: started, text, name: id })
    }
    yield* Output.remark(
      "It runs in the gateway, whether this command waits or not; 'gateway eval cancel last' ends it."
    )
    yield* waitFor(to, id)
    if (started.compareRun !== null) yield* waitFor(to, started.compareRun.id)
    const answer = yield* client.run({ path: { id } }).pipe(Client.orExplain(to))
    const { run } = answer
    yield* Output.result({ schema: OneReport, value: answer, text: page(run), csv: caseRows(run), name: id })
    if (run.status !== "completed") {
      return yield* new CommandFailed({ message: `The run is ${run.status}: ${run.reason ?? "it was ended"}` })
    }
    if (run.summary.passRate * 100 < given.min) {
      yield* new CommandFailed({
        message: `${percent(run.summary.passRate)} of the cases passed; at least ${given.min} % were asked for.`
      })
    }
  })
)
