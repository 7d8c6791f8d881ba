/** `gateway model show`, and `declare`, `declared`, `undeclare`: what the operator says of models, which wins over what providers say. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { ProviderModelInput, ProviderModelView } from "../routes.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { body } from "../../../cli/flags/Flags.ts"
import * as Column from "../../../cli/output/Column.ts"
import { providerAndModel } from "../../../cli/flags/ModelName.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { didYouMean, near } from "../../../cli/tree/Near.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const Declared = Schema.Struct({ models: Schema.Array(ProviderModelView) })
const OneDeclared = Schema.Struct({ model: ProviderModelView })
const Shown = Schema.Record({ key: Schema.String, value: Schema.Unknown })

const nameOf = ({ modelId, provider }: ProviderModelView): string => `${provider}/${modelId}`
const can = ({ capabilities }: ProviderModelView): string =>
  Object.entries(capabilities)
    .map(([name, has]) => (has ? name : `no ${name}`))
    .join(", ")

const columns: ReadonlyArray<Column.Column<ProviderModelView>> = [
  Column.name("MODEL", nameOf),
  Column.number("CONTEXT", ({ contextLength }) => contextLength, Column.thousands),
  Column.number("MOST OUTPUT", ({ maxOutputTokens }) => maxOutputTokens, Column.thousands),
  Column.yesNo("HIDDEN", ({ hidden }) => hidden),
  Column.prose("CAN", can),
  Column.text("NAME", ({ name }) => name, { in: "wide" })
]

const model = Args.text({ name: "model" }).pipe(Args.withDescription("<provider>/<model>."))

const partsOf = (typed: string) =>
  Effect.map(
    providerAndModel(typed, "gateway model declare openai/my-finetune-1 --context-length 128000"),
    ([provider, modelId]) => ({ provider, modelId })
  )

const shown = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? "-"))

export const modelShow = Command.make("show", { model, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* Client.inference(to)
    const { data } = yield* client.models().pipe(Client.orExplain(to))
    const found = data.find(({ id }) => id === given.model)
    if (found === undefined) {
      return yield* new BadArgument({
        message: `There is no model '${given.model}'.`,
        hint:
          didYouMean(
            near(
              given.model,
              data.map(({ id }) => id)
            )
          ) ?? "See 'gateway model list'."
      })
    }
    const text = Output.print(fields(Object.entries(found).map(([name, value]) => [name, shown(value)])))
    yield* Output.result({ schema: Shown, value: { ...found }, text, name: found.id })
  })
)

export const declaredList = asking("declared", "providerModels", {}, function* (client) {
  const answer = yield* client.list({ urlParams: {} })
  yield* Output.list({
    schema: Declared,
    value: answer,
    rows: answer.models,
    columns,
    empty: "No models were declared. Declare one with 'gateway model declare <provider>/<model>'."
  })
})

const onOff = (name: string, description: string) =>
  Options.choice(name, ["yes", "no"]).pipe(Options.withDescription(description), Options.optional)
const tokens = (name: string, description: string) =>
  Options.integer(name).pipe(Options.withDescription(description), Options.optional)

const flags = {
  model,
  name: Options.text("name").pipe(Options.withDescription("Name for people."), Options.optional),
  contextLength: tokens("context-length", "Tokens of prompt and answer together."),
  maxOutputTokens: tokens("max-output", "Tokens of the longest answer."),
  vision: onOff("vision", "Whether it takes pictures."),
  reasoning: onOff("reasoning", "Whether it can think before it answers."),
  toolCalling: onOff("tools", "Whether it can call tools."),
  structuredOutput: onOff("structured", "Whether it answers in a given JSON schema."),
  hidden: onOff("hidden", "Whether it is left out of lists of models."),
  ...Client.connection
}

const flagNames = {
  provider: "<model>",
  modelId: "<model>",
  name: "--name",
  contextLength: "--context-length",
  maxOutputTokens: "--max-output",
  capabilities: "a capability",
  hidden: "--hidden"
}

const isYes = (given: Option.Option<string>) => Option.getOrUndefined(Option.map(given, (word) => word === "yes"))

export const modelDeclare = Command.make("declare", flags, (given) =>
  Effect.gen(function* () {
    const key = yield* partsOf(given.model)
    const capabilities = Object.fromEntries(
      (["vision", "reasoning", "toolCalling", "structuredOutput"] as const).flatMap((name) => {
        const value = isYes(given[name])
        return value === undefined ? [] : [[name, value]]
      })
    )
    const payload = yield* body(
      ProviderModelInput,
      {
        ...key,
        name: Option.getOrUndefined(given.name),
        contextLength: Option.getOrUndefined(given.contextLength),
        maxOutputTokens: Option.getOrUndefined(given.maxOutputTokens),
        capabilities: Object.keys(capabilities).length === 0 ? undefined : capabilities,
        hidden: isYes(given.hidden)
      },
      flagNames
    )
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "providerModels")
    const { models } = yield* client.list({ urlParams: { provider: key.provider } }).pipe(Client.orExplain(to))
    const isKnown = models.some((each) => nameOf(each) === given.model)
    // What was declared before and is not named now stays.
    const answer = yield* (isKnown ? client.update({ payload }) : client.create({ payload })).pipe(Client.orExplain(to))
    const text = Output.note(`'${given.model}' is declared; 'gateway model declared' shows what is said of it.`)
    yield* Output.result({ schema: OneDeclared, value: answer, text, name: given.model })
  })
)

export const modelUndeclare = Command.make("undeclare", { model, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const key = yield* partsOf(given.model)
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "providerModels")
    const { models } = yield* client.list({ urlParams: {} }).pipe(Client.orExplain(to))
    if (!models.some((each) => nameOf(each) === given.model)) {
      return yield* new BadArgument({
        message: `'${given.model}' was not declared.`,
        hint: didYouMean(near(given.model, models.map(nameOf))) ?? "See 'gateway model declared'."
      })
    }
    yield* client.remove({ urlParams: key, payload: null }).pipe(Client.orExplain(to))
    yield* Output.done(
      { undeclared: given.model },
      `'${given.model}' is again what its provider says of it.`,
      given.model
    )
  })
)
