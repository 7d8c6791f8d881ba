/**
 * Prices in USD per 1,000,000 tokens, as `/api/pricing` shows them. A price is a function of what the answer says: how long the prompt was
 * (`tiers`), what kind of tokens they were (`inputAudio` …), which service tier, speed and place served it (`serviceTiers`, `speeds`, `geos`).
 * No `cached` price means cached tokens cost the input price; reasoning tokens are inside the output.
 */
import * as Schema from "effect/Schema"
import { exactOptional, field } from "../../kernel/Documented.ts"

/** Meaning and example of each price. */
export const priceWords = {
  input: ["USD per 1,000,000 tokens of the prompt.", 0.15],
  output: ["USD per 1,000,000 tokens of the answer, reasoning included.", 0.6],
  cached: ["USD per 1,000,000 tokens read from the provider's cache; absent: the price of `input`.", 0.075],
  cacheCreation: ["USD per 1,000,000 tokens written to the provider's cache; absent: the price of `input`.", 0.19],
  cacheCreation1h: [
    "USD per 1,000,000 tokens written to the provider's cache for an hour, where the provider tells them apart; absent: the price of `cacheCreation`.",
    0.3
  ],
  reasoning: ["USD per 1,000,000 tokens of reasoning; absent: the price of `output`.", 0.6],
  citation: [
    "USD per 1,000,000 tokens of citations that the provider counts by themselves; absent: they cost nothing.",
    2
  ],
  inputAudio: ["USD per 1,000,000 tokens of sound in the prompt; absent: the price of `input`.", 1],
  inputImage: ["USD per 1,000,000 tokens of pictures in the prompt; absent: the price of `input`.", 10],
  inputVideo: ["USD per 1,000,000 tokens of film in the prompt; absent: the price of `input`.", 1],
  cachedAudio: [
    "USD per 1,000,000 tokens of sound read from the provider's cache; absent: the price of `cached`.",
    0.1
  ],
  cachedImage: [
    "USD per 1,000,000 tokens of pictures read from the provider's cache; absent: the price of `cached`.",
    2.5
  ],
  cachedVideo: ["USD per 1,000,000 tokens of film read from the provider's cache; absent: the price of `cached`.", 0.1],
  outputAudio: ["USD per 1,000,000 tokens of sound in the answer; absent: the price of `output`.", 20],
  outputImage: ["USD per 1,000,000 tokens of pictures in the answer; absent: the price of `output`.", 40],
  outputVideo: ["USD per 1,000,000 tokens of film in the answer; absent: the price of `output`.", 40],
  perImage: [
    "USD per image; or by `<size>/<quality>` and `<size>`, where an image of none of them has no price.",
    { "1024x1024": 0.04, "1024x1024/hd": 0.08 }
  ],
  perSecond: ["USD per second of sound or film.", 0.0001],
  perCharacter: ["USD per character that is spoken.", 0.000015],
  perSearchUnit: ["USD per search, or per unit of a ranking.", 0.002],
  perPage: ["USD per page that is read.", 0.001],
  perRequest: ["USD per answer, whatever it holds.", 0.005],
  perWebSearch: ["USD per search of the web that the provider makes for an answer.", 0.01],
  perGroundedAnswer: ["USD per answer that the provider has grounded by searches, however many it made.", 0.035],
  perFileSearch: ["USD per search of the provider's own store of files.", 0.0025],
  perCodeExecution: ["USD per run of code at the provider.", 0.03],
  minSeconds: ["Seconds that are paid at least, where a sound or film is paid by the second.", 10],
  tiers: [
    "Prices of longer prompts, the shortest first. The whole request is paid at the last tier whose `above` the prompt exceeds, cached tokens counted; what a tier does not name stays.",
    [{ above: 200_000, input: 2.5, output: 15 }]
  ],
  serviceTiers: [
    "By the service tier that the answer names (`flex`, `priority`, `batch`): a factor on all prices of tokens, prices of its own, or both.",
    { flex: { factor: 0.5 }, priority: { input: 2.5, output: 20 } }
  ],
  speeds: ["By the speed that the answer names: the same.", { fast: { factor: 2 } }],
  geos: ["By the place of inference that the answer names: the same.", { us: { factor: 1.1 } }]
} as const

/** A million dollars for a million tokens: far above any price, and small enough for sums to stay exact. */
const mostUsdPer1M = 1_000_000

const PricePer1M = Schema.NonNegative

/** Far above any price of one image, second, character, search or page. */
const mostUsdPerUnit = 1_000_000

const PricePerUnit = Schema.NonNegative.pipe(
  Schema.lessThanOrEqualTo(mostUsdPerUnit, { message: () => `must be at most ${mostUsdPerUnit} USD` })
)
export const MinSeconds = Schema.NonNegative.pipe(
  Schema.lessThanOrEqualTo(86_400, { message: () => "must be at most 86400 seconds" })
)

/** Prices in USD that do not count tokens. */
export const unitPrices = {
  perImage: Schema.Union(PricePerUnit, Schema.Record({ key: Schema.String, value: PricePerUnit })),
  perSecond: PricePerUnit,
  perCharacter: PricePerUnit,
  perSearchUnit: PricePerUnit,
  perPage: PricePerUnit,
  perRequest: PricePerUnit,
  perWebSearch: PricePerUnit,
  perGroundedAnswer: PricePerUnit,
  perFileSearch: PricePerUnit,
  perCodeExecution: PricePerUnit
} as const

export const unitPriceFields = {
  perImage: field(exactOptional(unitPrices.perImage), ...priceWords.perImage),
  perSecond: field(exactOptional(unitPrices.perSecond), ...priceWords.perSecond),
  perCharacter: field(exactOptional(unitPrices.perCharacter), ...priceWords.perCharacter),
  perSearchUnit: field(exactOptional(unitPrices.perSearchUnit), ...priceWords.perSearchUnit),
  perPage: field(exactOptional(unitPrices.perPage), ...priceWords.perPage),
  perRequest: field(exactOptional(unitPrices.perRequest), ...priceWords.perRequest),
  perWebSearch: field(exactOptional(unitPrices.perWebSearch), ...priceWords.perWebSearch),
  perGroundedAnswer: field(exactOptional(unitPrices.perGroundedAnswer), ...priceWords.perGroundedAnswer),
  perFileSearch: field(exactOptional(unitPrices.perFileSearch), ...priceWords.perFileSearch),
  perCodeExecution: field(exactOptional(unitPrices.perCodeExecution), ...priceWords.perCodeExecution),
  minSeconds: field(exactOptional(MinSeconds), ...priceWords.minSeconds)
}

/** The prices of tokens. */
export const tokenPriceNames = [
  "input",
  "output",
  "cached",
  "cacheCreation",
  "cacheCreation1h",
  "reasoning",
  "citation",
  "inputAudio",
  "inputImage",
  "inputVideo",
  "cachedAudio",
  "cachedImage",
  "cachedVideo",
  "outputAudio",
  "outputImage",
  "outputVideo"
] as const
export type TokenPriceName = (typeof tokenPriceNames)[number]

/** A field per price of tokens besides `input` and `output`, each of which may be absent. */
const partFieldsOf = <A, I>(price: Schema.Schema<A, I>) => ({
  cached: field(exactOptional(price), ...priceWords.cached),
  cacheCreation: field(exactOptional(price), ...priceWords.cacheCreation),
  cacheCreation1h: field(exactOptional(price), ...priceWords.cacheCreation1h),
  reasoning: field(exactOptional(price), ...priceWords.reasoning),
  citation: field(exactOptional(price), ...priceWords.citation),
  inputAudio: field(exactOptional(price), ...priceWords.inputAudio),
  inputImage: field(exactOptional(price), ...priceWords.inputImage),
  inputVideo: field(exactOptional(price), ...priceWords.inputVideo),
  cachedAudio: field(exactOptional(price), ...priceWords.cachedAudio),
  cachedImage: field(exactOptional(price), ...priceWords.cachedImage),
  cachedVideo: field(exactOptional(price), ...priceWords.cachedVideo),
  outputAudio: field(exactOptional(price), ...priceWords.outputAudio),
  outputImage: field(exactOptional(price), ...priceWords.outputImage),
  outputVideo: field(exactOptional(price), ...priceWords.outputVideo)
})

/** A price as it may be given. */
export const PriceInput = PricePer1M.pipe(
  Schema.lessThanOrEqualTo(mostUsdPer1M, { message: () => `must be at most ${mostUsdPer1M} USD per 1,000,000 tokens` })
)

const partPriceFields = partFieldsOf(PriceInput)

const changedPrices = {
  input: field(exactOptional(PriceInput), ...priceWords.input),
  output: field(exactOptional(PriceInput), ...priceWords.output),
  ...partPriceFields
}

const mostTokens = 1_000_000_000

export const PriceTier = Schema.Struct({
  above: field(
    Schema.Int.pipe(Schema.between(0, mostTokens, { message: () => `must be a whole number up to ${mostTokens}` })),
    "Tokens of the prompt, above which the tier counts; a prompt of exactly so many is below it.",
    200_000
  ),
  ...changedPrices
}).annotations({ identifier: "PriceTier" })
export type PriceTier = typeof PriceTier.Type

/** Tiers of one model; there is no provider with more than three. */
const mostTiers = 16

const PriceTiers = Schema.Array(PriceTier).pipe(
  Schema.maxItems(mostTiers, { message: () => `must be at most ${mostTiers} tiers` }),
  Schema.filter((tiers) => tiers.every(({ above }, index) => above > (tiers[index - 1]?.above ?? -1)), {
    message: () => "must have each `above` larger than the one before it"
  })
)

const mostFactor = 1_000

export const PriceTerms = Schema.Struct({
  factor: field(
    exactOptional(
      Schema.NonNegative.pipe(Schema.lessThanOrEqualTo(mostFactor, { message: () => `must be at most ${mostFactor}` }))
    ),
    "What all prices of tokens are multiplied by; absent: 1.",
    0.5
  ),
  ...changedPrices,
  tiers: field(exactOptional(PriceTiers), "Prices of longer prompts under these terms, the shortest first.", [
    { above: 200_000, input: 2.5, output: 15 }
  ])
}).annotations({ identifier: "PriceTerms" })
export type PriceTerms = typeof PriceTerms.Type

/** Names of one kind of terms. */
const mostTerms = 32
const maxTermChars = 64

const Terms = Schema.Record({
  key: Schema.String.pipe(Schema.minLength(1), Schema.maxLength(maxTermChars)),
  value: PriceTerms
}).pipe(
  Schema.filter((terms) => Object.keys(terms).length <= mostTerms, {
    message: () => `must be at most ${mostTerms} names`
  })
)

/** Prices that depend on what the answer says. */
export const conditions = { tiers: PriceTiers, serviceTiers: Terms, speeds: Terms, geos: Terms } as const

const conditionFields = {
  tiers: field(exactOptional(conditions.tiers), ...priceWords.tiers),
  serviceTiers: field(exactOptional(conditions.serviceTiers), ...priceWords.serviceTiers),
  speeds: field(exactOptional(conditions.speeds), ...priceWords.speeds),
  geos: field(exactOptional(conditions.geos), ...priceWords.geos)
}

export const ModelPrice = Schema.Struct({
  input: field(PricePer1M, ...priceWords.input),
  output: field(PricePer1M, ...priceWords.output),
  ...partFieldsOf(PricePer1M),
  ...unitPriceFields,
  ...conditionFields
}).annotations({ identifier: "ModelPrice" })
export type ModelPrice = typeof ModelPrice.Type

/** A price, and where it comes from when that was asked for. */
export const SourcedModelPrice = Schema.Struct({
  ...ModelPrice.fields,
  source: field(
    Schema.optionalWith(Schema.Literal("override", "synced", "embedded"), { exact: true }),
    "Who says so: the operator, a fetched table, or the table the gateway comes with; only with `includeSources`.",
    "embedded"
  ),
  dated: field(
    Schema.optionalWith(Schema.NullOr(Schema.String), { exact: true }),
    "The day the price is of; null: it was set here; only with `includeSources`.",
    "2035-01-01"
  )
}).annotations({ identifier: "SourcedModelPrice" })

/** provider → model → price with its source. */
export const SourcedPriceTable = Schema.Record({
  key: Schema.String,
  value: Schema.Record({ key: Schema.String, value: SourcedModelPrice })
}).annotations({
  identifier: "SourcedPriceTable",
  examples: [{ openai: { "gpt-4o-mini": { input: 0.15, output: 0.6, cached: 0.075 } } }]
})

/** provider → model → price. */
export const PriceTable = Schema.Record({
  key: Schema.String,
  value: Schema.Record({ key: Schema.String, value: ModelPrice })
}).annotations({
  identifier: "PriceTable",
  examples: [{ openai: { "gpt-4o-mini": { input: 0.15, output: 0.6, cached: 0.075 } } }]
})
export type PriceTable = typeof PriceTable.Type
