/**
 * Prices that are in a configuration of LiteLLM, among a deployment's parameters or in its `model_info`. Pure.
 * https://docs.litellm.ai/docs/proxy/custom_pricing
 */
import { isArray, type Json, type JsonObject, numberOr, objectOr, stringOr } from "../../../wire/json/Json.ts"

/** USD per token, by the name without what it holds for. */
const ofTokens: Readonly<Record<string, string>> = {
  input_cost_per_token: "input",
  output_cost_per_token: "output",
  cache_read_input_token_cost: "cached",
  input_cost_per_token_cache_hit: "cached",
  cache_creation_input_token_cost: "cacheCreation",
  cache_creation_input_token_cost_above_1hr: "cacheCreation1h",
  output_cost_per_reasoning_token: "reasoning",
  citation_cost_per_token: "citation",
  input_cost_per_audio_token: "inputAudio",
  input_cost_per_image_token: "inputImage",
  input_cost_per_video_token: "inputVideo",
  cache_read_input_audio_token_cost: "cachedAudio",
  cache_read_input_image_token_cost: "cachedImage",
  output_cost_per_audio_token: "outputAudio",
  output_cost_per_image_token: "outputImage",
  output_cost_per_video_token: "outputVideo"
}

/** Pattern of the conditions of a price: prompts of more tokens than so many thousand, and a service tier. */
const condition = /^(.*?)(?:_above_(\d{1,6})k_tokens)?(?:_(priority|flex|batches|batch))?$/

/** Members that say what something costs, in whatever way. */
const isPriceName = (name: string): boolean => /cost|pricing|uplift/.test(name)

/** USD per unit by `model_info.mode`: elsewhere the same names mean something else, such as seconds of a machine. */
const ofUnits: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  image_generation: { input_cost_per_image: "perImage", output_cost_per_image: "perImage" },
  audio_transcription: { input_cost_per_second: "perSecond", output_cost_per_second: "perSecond" },
  audio_speech: { input_cost_per_character: "perCharacter", output_cost_per_character: "perCharacter" },
  video_generation: { output_cost_per_second: "perSecond", output_cost_per_video_per_second: "perSecond" },
  rerank: { input_cost_per_query: "perSearchUnit" },
  search: { input_cost_per_query: "perSearchUnit" },
  ocr: { ocr_cost_per_page: "perPage" }
}

/** Modes whose answers have no tokens that are paid for. */
const withoutOutput: ReadonlySet<string> = new Set(["embedding", "rerank", "moderation"])

/** The highest that the gateway takes, per million tokens and per unit. */
const mostUsd = 1_000_000

/** A number, or its text: YAML reads `1e-06` as one. */
const usd = (given: Json | undefined): number | null => {
  const text = stringOr(given)
  const value = numberOr(given) ?? (text !== null && text.trim() !== "" ? Number(text) : Number.NaN)
  return Number.isFinite(value) && value >= 0 && value <= mostUsd ? value : null
}

/** Converts to a price per million, without the noise of a multiplication: 1.5e-7 for a token is 0.15 for a million. */
const perMillion = (value: number): number => Number((value * 1_000_000).toPrecision(12))

export interface LitellmPrice {
  /** USD per million tokens and per unit; null: there is none that can be taken. */
  readonly price: JsonObject | null
  /** Members that were read, and so are not reported as left out. */
  readonly read: ReadonlySet<string>
  /** Sentence on the part of a price that was not taken, and why; null: all of it was, or there is none. */
  readonly problem: string | null
}

type Prices = Map<string, number>

/** The prices of prompts of any length, and by the length above which others hold. */
interface ByLength {
  readonly base: Prices
  readonly tiers: Map<number, Prices>
}

const byLength = (): ByLength => ({ base: new Map(), tiers: new Map() })

const tierOf = ({ base, tiers }: ByLength, above: number | null): Prices => {
  if (above === null) return base
  const tier = tiers.get(above) ?? new Map<string, number>()
  tiers.set(above, tier)
  return tier
}

const writtenOf = ({ base, tiers }: ByLength): JsonObject => ({
  ...Object.fromEntries(base),
  ...(tiers.size === 0
    ? {}
    : {
        tiers: [...tiers]
          .toSorted(([one], [other]) => one - other)
          .map(([above, prices]) => Object.assign({ above }, Object.fromEntries(prices)))
      })
})

/** Prices of a model, by length and by service tier. */
interface Read {
  readonly usual: ByLength
  readonly terms: Map<string, ByLength>
}

const termsOf = ({ terms, usual }: Read, service: string | undefined): ByLength => {
  if (service === undefined) return usual
  const name = service === "batches" ? "batch" : service
  const found = terms.get(name) ?? byLength()
  terms.set(name, found)
  return found
}

/** Reads a price of tokens under its conditions; false: the name is none. */
const readToken = (into: Read, name: string, value: number): boolean => {
  const [, plain = "", above, service] = condition.exec(name) ?? []
  const isWhole = Object.hasOwn(ofTokens, name)
  const ours = isWhole ? ofTokens[name] : Object.hasOwn(ofTokens, plain) ? ofTokens[plain] : undefined
  if (ours === undefined || perMillion(value) > mostUsd) return false
  const of = isWhole ? into.usual : termsOf(into, service)
  tierOf(of, isWhole || above === undefined ? null : Number(above) * 1_000).set(ours, perMillion(value))
  return true
}

/** `tiered_pricing`: a list of ranges of the prompt with the prices of each. */
const readRanges = (into: Read, given: Json | undefined): boolean => {
  if (!isArray(given) || given.length === 0) return false
  return given.map(objectOr).every((each) => {
    const from = isArray(each["range"]) ? numberOr(each["range"][0]) : null
    if (from === null) return false
    const prices = tierOf(into.usual, from === 0 ? null : from)
    for (const [name, ours] of Object.entries(ofTokens)) {
      const value = usd(each[name])
      if (value !== null && perMillion(value) <= mostUsd) prices.set(ours, perMillion(value))
    }
    return true
  })
}

/** The price of a deployment. Parameters go before `model_info`, as LiteLLM has it. */
export const priceOf = (params: JsonObject, info: JsonObject): LitellmPrice => {
  const mode = stringOr(info["mode"]) ?? "chat"
  const read = new Set<string>()
  const found: Read = { usual: byLength(), terms: new Map() }
  const all: JsonObject = { ...info, ...params }
  if (readRanges(found, all["tiered_pricing"])) read.add("tiered_pricing")
  for (const name of Object.keys(all)) {
    const value = usd(params[name]) ?? usd(info[name])
    if (value !== null && readToken(found, name, value)) read.add(name)
  }
  const { base } = found.usual
  const counted = base.size + found.usual.tiers.size + found.terms.size
  const hasOutput = base.has("output") || (base.has("input") && withoutOutput.has(mode))
  for (const [name, ours] of Object.entries(ofUnits[mode] ?? {})) {
    const value = usd(params[name]) ?? usd(info[name])
    if (value === null) continue
    read.add(name)
    base.set(ours, value)
  }
  // Those of the parameters are reported with the other parameters.
  const lost = Object.keys(info).filter(
    (name) => isPriceName(name) && !read.has(name) && info[name] !== null && params[name] === undefined
  )
  const problem = lost.length === 0 ? null : `Not taken of its price: ${lost.join(", ")}.`
  if (counted === 0 && base.size === 0) return { price: null, read, problem }
  // What is not known must not be free.
  if (counted > 0 && !(base.has("input") && hasOutput)) {
    const missing = base.has("input") ? "output_cost_per_token" : "input_cost_per_token"
    return { price: null, read, problem: `Its price is not taken: ${missing} is missing.` }
  }
  const services = [...found.terms].map(([name, terms]) => [name, writtenOf(terms)] as const)
  const price: JsonObject = {
    input: 0,
    output: 0,
    ...writtenOf(found.usual),
    ...(services.length === 0 ? {} : { serviceTiers: Object.fromEntries(services) })
  }
  return { price, read, problem }
}
