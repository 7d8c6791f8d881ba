/** `gateway pricing …`: prices of the operator's own, in USD per 1,000,000 tokens. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { ModelPrice, PriceTable } from "./entity.ts"
import * as Client from "../../cli/gateway/Client.ts"
import { BadArgument } from "../../cli/Failure.ts"
import { taking } from "../../cli/flags/Forms.ts"
import * as Column from "../../cli/output/Column.ts"
import { providerAndModel } from "../../cli/flags/ModelName.ts"
import * as Output from "../../cli/output/Output.ts"
import { fields } from "../../cli/output/Table.ts"
import { didYouMean, near } from "../../cli/tree/Near.ts"
import { asking } from "../../cli/verbs/asking.ts"

interface Row {
  readonly model: string
  readonly price: ModelPrice
}

const rowsOf = (table: PriceTable): ReadonlyArray<Row> =>
  Object.entries(table).flatMap(([provider, models]) =>
    Object.entries(models).map(([model, price]) => ({ model: `${provider}/${model}`, price }))
  )

const columns: ReadonlyArray<Column.Column<Row>> = [
  Column.name("MODEL", ({ model }) => model),
  Column.number("INPUT", ({ price }) => price.input),
  Column.number("OUTPUT", ({ price }) => price.output),
  Column.number("CACHED", ({ price }) => price.cached ?? null),
  Column.number("CACHE CREATION", ({ price }) => price.cacheCreation ?? null),
  Column.number("CACHE CREATION 1H", ({ price }) => price.cacheCreation1h ?? null),
  Column.number("REASONING", ({ price }) => price.reasoning ?? null)
]

const One = Schema.Struct({ model: Schema.String, price: ModelPrice })

const model = Args.text({ name: "model" }).pipe(Args.withDescription("<provider>/<model>."))

const partsOf = (typed: string) => providerAndModel(typed, "gateway pricing set openai/gpt-4o-mini --in 0.15 --out 0.6")

const rowNamed = (table: PriceTable, id: string) => {
  const rows = rowsOf(table)
  const row = rows.find((each) => each.model === id)
  if (row !== undefined) return Effect.succeed(row)
  return new BadArgument({
    message: `No price was set for '${id}'.`,
    hint:
      didYouMean(
        near(
          id,
          rows.map((each) => each.model)
        )
      ) ?? "'gateway pricing list' shows those that were set; other models have the price that the gateway comes with."
  })
}

const page = ({ model: id, price }: Row) =>
  Output.print(
    fields([
      ["Model", id],
      ["Input", String(price.input)],
      ["Output", String(price.output)],
      ["Cached", String(price.cached ?? `${price.input} (as input)`)],
      ["Cache creation", String(price.cacheCreation ?? `${price.input} (as input)`)],
      ["Cache creation, 1 h", String(price.cacheCreation1h ?? `${price.cacheCreation ?? price.input} (as the others)`)],
      ["Reasoning", String(price.reasoning ?? `${price.output} (as output)`)],
      ["Unit", "USD per 1,000,000 tokens"]
    ])
  )

export const pricingList = asking("list", "pricing", {}, function* (client) {
  const table = yield* client.get({ urlParams: {} })
  yield* Output.list({
    schema: PriceTable,
    value: table,
    rows: rowsOf(table),
    columns,
    empty: "No prices were set; models have those that the gateway comes with. Set one with 'gateway pricing set'."
  })
})

export const pricingShow = asking("show", "pricing", { model }, function* (client, given) {
  const row = yield* rowNamed(yield* client.get({ urlParams: {} }), given.model)
  yield* Output.result({ schema: One, value: row, text: page(row), name: row.model })
})

const usd = (name: string, description: string) =>
  Options.float(name).pipe(
    taking(Schema.Number.pipe(Schema.between(0, 1_000_000)), () => `--${name} must be a number from 0 to 1000000.`),
    Options.withDescription(`USD per 1,000,000 tokens ${description}`)
  )

const setFlags = {
  model,
  input: usd("in", "of the prompt."),
  output: usd("out", "of the answer, reasoning included."),
  cached: usd("cached", "read from the provider's cache; else the price of --in.").pipe(Options.optional),
  cacheCreation: usd("cache-creation", "written to the provider's cache; else the price of --in.").pipe(
    Options.optional
  ),
  cacheCreation1h: usd(
    "cache-creation-1h",
    "written to the provider's cache for an hour; else the price of other cache writes."
  ).pipe(Options.optional),
  reasoning: usd("reasoning", "of reasoning; else the price of --out.").pipe(Options.optional),
  ...Client.connection
}

const optionalPrice = (
  name: "cached" | "cacheCreation" | "cacheCreation1h" | "reasoning",
  given: Option.Option<number>
) => Option.match(given, { onNone: () => ({}), onSome: (value) => ({ [name]: value }) })

export const pricingSet = Command.make("set", setFlags, (given) =>
  Effect.gen(function* () {
    const [provider, id] = yield* partsOf(given.model)
    const price = {
      input: given.input,
      output: given.output,
      ...optionalPrice("cached", given.cached),
      ...optionalPrice("cacheCreation", given.cacheCreation),
      ...optionalPrice("cacheCreation1h", given.cacheCreation1h),
      ...optionalPrice("reasoning", given.reasoning)
    }
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "pricing")
    const table = yield* client.update({ payload: { [provider]: { [id]: price } } }).pipe(Client.orExplain(to))
    const row = yield* rowNamed(table, given.model)
    const text = Output.note(
      `'${row.model}' costs ${price.input} in and ${price.output} out, USD per 1,000,000 tokens.`
    )
    yield* Output.result({ schema: One, value: row, text, name: row.model })
  })
)

export const pricingUnset = Command.make("unset", { model, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const [provider, id] = yield* partsOf(given.model)
    const to = yield* Client.target(given)
    const client = yield* Client.group(to, "pricing")
    yield* rowNamed(yield* client.get({ urlParams: {} }).pipe(Client.orExplain(to)), given.model)
    yield* client.update({ payload: { [provider]: { [id]: null } } }).pipe(Client.orExplain(to))
    yield* Output.done(
      { unset: given.model },
      `The price of '${given.model}' that was set is gone; the one the gateway comes with counts again.`,
      given.model
    )
  })
)
