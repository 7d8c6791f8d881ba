/** `gateway combo show` and `edit`. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { ComboView, UpdateCombo } from "../routes.ts"
import { ComboStrategy } from "../entity.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { changes } from "../../../cli/flags/Flags.ts"
import { each, FiniteNumber, NamedAny, named, notOf } from "../../../cli/flags/Forms.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { latestVersion } from "../../../cli/gateway/Versions.ts"
import { findOne, noun, on } from "../../../cli/verbs/noun.ts"

const OneCombo = Schema.Struct({ combo: ComboView })
type Target = ComboView["targets"][number]

const combo = Args.text({ name: "combo" }).pipe(Args.withDescription("Its name, its id or the beginning of it."))

const combos = noun({
  what: "combo",
  group: "combos",
  argument: combo,
  listing: "gateway combo list",
  list: (client) => client.list(),
  one: (client, id) => Effect.map(client.get({ path: { id } }), (answer) => answer.combo),
  rows: (answer) => answer.combos,
  nameOf: ({ name }) => name
})

interface Shown {
  readonly target: Target
  readonly place: number
  /** Name of the connection; null: any of the provider. */
  readonly connection: string | null
}

const columns: ReadonlyArray<Column.Column<Shown>> = [
  Column.number("#", ({ place }) => place),
  Column.name("TARGET", ({ target }) => target.model),
  Column.number("WEIGHT", ({ target }) => target.weight ?? null),
  Column.text("LABEL", ({ target }) => target.label),
  Column.text("CONNECTION", ({ connection }) => connection)
]

export const comboShow = on("show", combos, {}, function* ({ client, found, to }) {
  const answer = yield* client.get({ path: { id: found.id } })
  const version = latestVersion(to)
  const { config, id, isActive, name, strategy, targets } = answer.combo
  const isPinned = targets.some(({ connectionId }) => typeof connectionId === "string")
  const { connections } = isPinned
    ? yield* Effect.flatMap(Client.group(to, "providers"), (providers) => providers.list()).pipe(Client.orExplain(to))
    : { connections: [] }
  const text = Effect.gen(function* () {
    const nameOf = (connectionId: string | null | undefined) =>
      connections.find((connection) => connection.id === connectionId)?.name ?? connectionId ?? null
    const rows = targets.map((target, at): Shown => ({
      target,
      place: at + 1,
      connection: nameOf(target.connectionId)
    }))
    yield* Output.print(
      fields([
        ["Name", name],
        ["Strategy", strategy],
        ["Active", Output.yesNo(isActive)],
        ["Settings", Object.keys(config).length === 0 ? "-" : JSON.stringify(config)],
        ["Id", id]
      ])
    )
    yield* Output.section(rows, columns)
  })
  yield* Output.result({ schema: OneCombo, value: answer, text, name, version })
})

const repeated = (name: string, description: string) =>
  Options.text(name).pipe(Options.withDescription(description), Options.repeated)

const flags = {
  combo,
  name: Options.text("name").pipe(Options.withDescription("Another name."), Options.optional),
  strategy: Options.choice("strategy", ComboStrategy.literals).pipe(
    Options.withDescription("How a target is chosen."),
    Options.optional
  ),
  add: repeated("add", "A model to add behind the others. Several times."),
  drop: repeated("drop", "A model or label to take out. Several times."),
  weights: Options.text("weight").pipe(
    Options.withDescription("<model>=<weight>, for the strategy 'weighted'. Several times."),
    Options.repeated,
    Options.withSchema(each(named(FiniteNumber), notOf("--weight", "<model>=<weight>")))
  ),
  config: Options.text("config").pipe(
    Options.withDescription("<setting>=<value> of the strategy; an empty value removes it. Several times."),
    Options.repeated,
    Options.withSchema(each(NamedAny, notOf("--config", "<setting>=<value>")))
  ),
  active: Options.choice("active", ["yes", "no"]).pipe(
    Options.withDescription("Whether requests may use it."),
    Options.optional
  ),
  ...Client.editing
}
type EditFlags = Command.Command.ParseConfig<typeof flags>

const isNamed =
  (word: string) =>
  ({ label, model }: Target): boolean =>
    model === word || label === word

const weighted = (target: Target, weight: number | undefined): Target =>
  weight === undefined ? target : { ...target, weight }

const targetsOf = Effect.fnUntraced(function* (before: ComboView, given: EditFlags) {
  if (given.add.length === 0 && given.drop.length === 0 && given.weights.length === 0) return undefined
  const all = [...before.targets, ...given.add.map((model): Target => ({ model }))]
  const words = [...given.drop, ...given.weights.map(([model]) => model)]
  const unknown = words.find((word) => !all.some(isNamed(word)))
  if (unknown !== undefined) {
    return yield* new BadArgument({
      message: `The combo '${before.name}' has no target '${unknown}'.`,
      hint: `It has: ${before.targets.map(({ model }) => model).join(", ") || "none"}.`
    })
  }
  return all
    .filter((target) => !given.drop.some((word) => isNamed(word)(target)))
    .map((target) => weighted(target, given.weights.find(([word]) => isNamed(word)(target))?.[1]))
})

const jsonOr = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const configOf = (before: ComboView, given: EditFlags) => {
  if (given.config.length === 0) return undefined
  const cleared = new Set(given.config.filter(([, value]) => value === "").map(([name]) => name))
  const entries = [
    ...Object.entries(before.config),
    ...given.config.map(([name, value]) => [name, jsonOr(value)] as const)
  ]
  return Object.fromEntries(entries.filter(([name]) => !cleared.has(name)))
}

export const comboEdit = Command.make("edit", flags, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const { client, found } = yield* findOne(combos, to, given.combo)
    const payload = yield* changes(
      UpdateCombo,
      {
        name: Option.getOrUndefined(given.name),
        strategy: Option.getOrUndefined(given.strategy),
        targets: yield* targetsOf(found, given),
        config: configOf(found, given),
        isActive: Option.getOrUndefined(Option.map(given.active, (word) => word === "yes"))
      },
      { name: "--name", strategy: "--strategy", targets: "--add", config: "--config" },
      "combo edit fast --strategy round-robin --add openai/gpt-4o-mini"
    )
    const answer = yield* client.update({ path: { id: found.id }, payload })
    const { name } = answer.combo
    yield* Output.result({
      schema: OneCombo,
      value: answer,
      text: Output.note(`The combo '${name}' is changed.`),
      name
    })
  })
)
