/** `gateway playground presets`. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { CreatePreset, type PresetView, UpdatePreset } from "../routes.ts"
import { harmlessLines } from "../../../kernel/text/TerminalText.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { body } from "../../../cli/flags/Flags.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { orDash } from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { columns, endpoint, presets, model, OnePreset, params, preset, Presets, system } from "./rows.ts"
import { findOne, listOf, removeOf, showOf } from "../../../cli/verbs/noun.ts"

export const presetsList = listOf(presets, {
  schema: Presets,
  columns,
  empty: "There are no presets yet. Make one with 'gateway playground presets add <name> --model <model>'."
})

const page = (shown: PresetView) => {
  const system = orDash(shown.system)
  // Of several lines, it is below the others.
  const isText = system.includes("\n")
  const facts = fields([
    ["Name", shown.name],
    ["Endpoint", shown.endpoint],
    ["Model", shown.model],
    ["System", isText ? "(below)" : system],
    ["Params", shown.params_json],
    ["Created", Output.shortTime(shown.created_at)],
    ["Id", shown.id]
  ])
  return isText ? `${facts}\n\n${harmlessLines(system)}` : facts
}

export const presetsShow = showOf(presets, {
  schema: OnePreset,
  ask: (client, id) => client.preset({ path: { id } }),
  text: (answer) => page(answer.preset)
})

const flagsOf = {
  name: "<name>",
  model: "--model",
  endpoint: "--endpoint",
  system: "--system",
  params_json: "--params"
}

const presetName = Args.text({ name: "name" }).pipe(Args.withDescription("Its name."), Args.optional)

const fromRequest = Options.text("from-request").pipe(
  Options.withDescription("The id of a captured request ('inspect list') to take what is not given from."),
  Options.optional
)

const maybeFields = {
  model: model.pipe(Options.optional),
  endpoint: endpoint.pipe(Options.optional),
  system,
  params
}

interface MaybeFields {
  readonly model: Option.Option<string>
  readonly endpoint: Option.Option<string>
  readonly system: Option.Option<string>
  readonly params: Option.Option<string>
}

const givenFields = (given: MaybeFields) => ({
  model: Option.getOrUndefined(given.model),
  endpoint: Option.getOrUndefined(given.endpoint),
  // An empty one is none.
  system: Option.getOrUndefined(Option.map(given.system, (text) => (text === "" ? null : text))),
  params_json: Option.getOrUndefined(given.params)
})

const known = (fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

export const presetsAdd = Command.make(
  "add",
  { name: presetName, ...maybeFields, fromRequest, ...Client.connection },
  (given) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const captured = Option.isNone(given.fromRequest)
        ? { endpoint: "chat" }
        : yield* Effect.flatMap(Client.group(to, "inspector"), (client) =>
            client.preset({ path: { id: Option.getOrElse(given.fromRequest, () => "") } }).pipe(Client.orExplain(to))
          )
      const own = known({ name: Option.getOrUndefined(given.name), ...givenFields(given) })
      const payload = yield* body(CreatePreset, { ...captured, ...own }, flagsOf)
      const client = yield* Client.group(to, "playground")
      const answer = yield* client.createPreset({ payload }).pipe(Client.orExplain(to))
      const { id, name } = answer.preset
      yield* Output.result({
        schema: OnePreset,
        value: answer,
        text: Effect.zipRight(Output.note(`The preset '${name}' is kept.`), Output.print(id)),
        name: id
      })
    })
)

const newName = Options.text("name").pipe(Options.withDescription("Another name."), Options.optional)

export const presetsEdit = Command.make("edit", { preset, name: newName, ...maybeFields, ...Client.editing }, (given) =>
  Effect.gen(function* () {
    const changes = known({ name: Option.getOrUndefined(given.name), ...givenFields(given) })
    if (Object.keys(changes).length === 0) {
      return yield* new BadArgument({
        message: "Nothing is to be changed.",
        hint: "Give --name, --model, --endpoint, --system or --params."
      })
    }
    const payload = yield* body(UpdatePreset, changes, { ...flagsOf, name: "--name" })
    const to = yield* Client.target(given)
    const { client, found } = yield* findOne(presets, to, given.preset)
    const answer = yield* client.updatePreset({ path: { id: found.id }, payload })
    const { id, name } = answer.preset
    yield* Output.result({ schema: OnePreset, value: answer, text: Output.note(`'${name}' is changed.`), name: id })
  })
)

export const presetsRemove = removeOf(presets, {
  ask: (client, id) => client.removePreset({ path: { id } }),
  sentence: ({ name }) => `The preset '${name}' is removed.`,
  shown: ({ id }) => id
})
