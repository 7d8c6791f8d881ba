/**
 * Prices that stand in a configuration of LiteLLM, among a deployment's parameters or in its `model_info`. Pure.
 * https://docs.litellm.ai/docs/proxy/custom_pricing
 */
import { litellmConditions } from "../../domain/LitellmConditions.ts"
import { type Json, type JsonObject, numberOr, stringOr } from "../../wire/json/Json.ts"

/** USD per token. */
const ofTokens: Readonly<Record<string, string>> = {
  input_cost_per_token: "input",
  output_cost_per_token: "output",
  cache_read_input_token_cost: "cached",
  cache_creation_input_token_cost: "cacheCreation",
  cache_creation_input_token_cost_above_1hr: "cacheCreation1h",
  output_cost_per_reasoning_token: "reasoning"
}

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

/** Without the noise of a multiplication: 1.5e-7 for a token is 0.15 for a million. */
const perMillion = (value: number): number => Number((value * 1_000_000).toPrecision(12))

export interface LitellmPrice {
  /** USD per million tokens and per unit; null: there is none that can be taken. */
  readonly price: JsonObject | null
  /** Members that were read, and so are not told of as left out. */
  readonly read: ReadonlySet<string>
  /** Why a price was not taken, as a sentence; null: it was, or there is none. */
  readonly problem: string | null
}

/** The price of a deployment. Parameters go before `model_info`, as LiteLLM has it. */
export const priceOf = (params: JsonObject, info: JsonObject): LitellmPrice => {
  const mode = stringOr(info["mode"]) ?? "chat"
  const read = new Set<string>()
  const price = new Map<string, number>()
  const take = (names: Readonly<Record<string, string>>, convert: (value: number) => number): void => {
    for (const [name, ours] of Object.entries(names)) {
      const value = usd(params[name]) ?? usd(info[name])
      if (value === null || convert(value) > mostUsd) continue
      read.add(name)
      price.set(ours, convert(value))
    }
  }
  take(ofTokens, perMillion)
  const counted = price.size
  const hasOutput = price.has("output") || (price.has("input") && withoutOutput.has(mode))
  take(ofUnits[mode] ?? {}, (value) => value)
  if (price.size === 0) return { price: null, read, problem: null }
  // What is not known must not be free.
  if (counted > 0 && !(price.has("input") && hasOutput)) {
    const missing = price.has("input") ? "output_cost_per_token" : "input_cost_per_token"
    return { price: null, read, problem: `Its price is not taken: ${missing} is missing.` }
  }
  const further = litellmConditions(
    new Set([...Object.keys(params), ...Object.keys(info)]),
    (name) => {
      const value = usd(params[name]) ?? usd(info[name])
      return value === null || perMillion(value) > mostUsd ? null : value
    },
    perMillion
  )
  for (const name of further.read) read.add(name)
  const members = further.members as JsonObject
  return { price: { input: 0, output: 0, ...Object.fromEntries(price), ...members }, read, problem: null }
}
