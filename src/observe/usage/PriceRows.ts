/**
 * Reads a fetched table of prices: one of this gateway's own form (`/api/pricing`), or the list that LiteLLM publishes
 * (https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json). Pure. Rows that are not valid are left out.
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { litellmConditions } from "../../contract/domain/LitellmConditions.ts"
import { ModelPrice, PriceInput, type PriceTable } from "../../subjects/pricing/entity.ts"

/** Models of all providers together; further ones are left out. */
export const maxRows = 20_000
const maxNameChars = 256

/** Names of providers: theirs → ours, where they differ. */
const providers: ReadonlyMap<string, string> = new Map([
  ["fireworks_ai", "fireworks"],
  ["together_ai", "together"]
])

const Listed = Schema.Struct({
  litellm_provider: Schema.String,
  input_cost_per_token: Schema.Number,
  output_cost_per_token: Schema.Number,
  cache_read_input_token_cost: Schema.optional(Schema.Number),
  cache_creation_input_token_cost: Schema.optional(Schema.Number),
  cache_creation_input_token_cost_above_1hr: Schema.optional(Schema.Number)
})
const decodeListed = Schema.decodeUnknownEither(Listed)
const decodePrice = Schema.decodeUnknownEither(ModelPrice)
const isPrice = Schema.is(PriceInput)

/** Rounded to 9 decimals, because a price per token times a million is not exact. */
const perMillion = (usdPerToken: number): number => Math.round(usdPerToken * 1e15) / 1e9

const isName = (name: string): boolean => name !== "" && name.length <= maxNameChars

interface Row {
  readonly provider: string
  readonly model: string
  readonly price: unknown
}

const listedRow = (name: string, entry: unknown): Row | null => {
  const decoded = decodeListed(entry)
  if (Either.isLeft(decoded)) return null
  const listed = decoded.right
  const theirs = listed.litellm_provider
  const members = Predicate.isRecord(entry) ? entry : {}
  const conditions = litellmConditions(
    Object.keys(members),
    (each) => {
      const usd = members[each]
      return typeof usd === "number" && usd >= 0 && Number.isFinite(usd) ? usd : null
    },
    perMillion
  )
  const {
    cache_creation_input_token_cost: creation,
    cache_creation_input_token_cost_above_1hr: creation1h,
    cache_read_input_token_cost: read
  } = listed
  return {
    provider: providers.get(theirs) ?? theirs,
    model: name.startsWith(`${theirs}/`) ? name.slice(theirs.length + 1) : name,
    price: {
      input: perMillion(listed.input_cost_per_token),
      output: perMillion(listed.output_cost_per_token),
      ...(read === undefined ? {} : { cached: perMillion(read) }),
      ...(creation === undefined ? {} : { cacheCreation: perMillion(creation) }),
      ...(creation1h === undefined ? {} : { cacheCreation1h: perMillion(creation1h) }),
      ...conditions.members
    }
  }
}

const rowsOf = function* (table: Readonly<Record<string, unknown>>): Generator<Row | null> {
  for (const [name, value] of Object.entries(table)) {
    if (!Predicate.isRecord(value)) yield null
    else if ("litellm_provider" in value) yield listedRow(name, value)
    else for (const [model, price] of Object.entries(value)) yield { provider: name, model, price }
  }
}

/** The prices of a text and how many rows were left out, or what is wrong with it. */
export const readPrices = (
  text: string
): Either.Either<{ readonly table: PriceTable; readonly leftOut: number }, string> => {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return Either.left("it is no JSON")
  }
  if (!Predicate.isRecord(parsed) || Array.isArray(parsed)) return Either.left("it is no table of prices")
  const table = new Map<string, Map<string, ModelPrice>>()
  let count = 0
  let leftOut = 0
  for (const row of rowsOf(parsed)) {
    const decoded = row === null || !isName(row.provider) || !isName(row.model) ? null : decodePrice(row.price)
    if (row === null || decoded === null || Either.isLeft(decoded) || count >= maxRows) {
      leftOut += 1
      continue
    }
    if (!Object.values(decoded.right).every((each) => typeof each !== "number" || isPrice(each))) {
      leftOut += 1
      continue
    }
    const models = table.get(row.provider) ?? new Map<string, ModelPrice>()
    models.set(row.model, decoded.right)
    table.set(row.provider, models)
    count += 1
  }
  if (count === 0) return Either.left("it has no valid price")
  return Either.right({
    table: Object.fromEntries([...table].map(([provider, models]) => [provider, Object.fromEntries(models)])),
    leftOut
  })
}
