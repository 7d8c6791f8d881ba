/**
 * Costs against the price package's own calculator: every price of the embedded table, with its tiers, kinds of tokens and tools, under counts
 * that are drawn and counts at the tiers' limits. Equal to 1e-9 of a dollar.
 */
import { assert, describe, it } from "@effect/vitest"
import { calcPrice, findProvider, type ModelInfo, type Provider, type Usage } from "@pydantic/genai-prices"
import * as Effect from "effect/Effect"
import type { ModelPrice } from "../../../src/subjects/pricing/entity.ts"
import { nanoUsdPerUsd, noTokens, type TokenCounts } from "../../../src/contract/domain/Usage.ts"
import { publishedAs } from "../../../src/plane/providers/PublishedAs.ts"
import { costNanoUsd } from "../../../src/observe/usage/Cost.ts"
import * as DefaultPrices from "../../../src/observe/usage/DefaultPrices.ts"

const nowMs = Date.UTC(2026, 10, 25, 12, 34)

/** Counted by nothing that the gateway serves: Mistral's pages of documents, xAI's messages that are held back. */
const notCounted = new Set(["input_document_kpages", "input_annotated_document_kpages", "input_text_messages_kcount"])

/** The same numbers in every run. */
const makeRandom = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const pricesOf = ({ prices }: ModelInfo) => (Array.isArray(prices) ? prices.map((each) => each.prices) : [prices])

interface Listed {
  readonly ours: string
  readonly provider: Provider
  readonly model: ModelInfo
}

/** Every model of a provider that the gateway knows, once. */
const listed: ReadonlyArray<Listed> = [
  ...new Map([...publishedAs].map(([ours, theirs]) => [theirs, ours])).entries()
].flatMap(([theirs, ours]) => {
  const provider = findProvider({ providerId: theirs })
  return provider === undefined ? [] : provider.models.map((model) => ({ ours, provider, model }))
})

/** A count of each kind that the price names, the parts within their wholes. */
const drawn = (keys: ReadonlySet<string>, random: () => number, promptTokens: number | null): Usage => {
  const below = (most: number): number => Math.floor(random() * (most + 1))
  const all = promptTokens ?? below(400_000)
  const read = below(all)
  const written = keys.has("cache_write_mtok") ? below(all - read) : 0
  const kinds: Record<string, number> = {}
  let fresh = all - read - written
  let kept = read
  for (const kind of ["audio", "image", "video"]) {
    if (!keys.has(`input_${kind}_mtok`)) continue
    const ofCache = keys.has(`cache_${kind}_read_mtok`) ? below(kept) : 0
    const ofFresh = below(fresh)
    kept -= ofCache
    fresh -= ofFresh
    kinds[`input_${kind}_tokens`] = ofCache + ofFresh
    kinds[`cache_${kind}_read_tokens`] = ofCache
    kinds[`cache_${kind}_write_tokens`] = 0
  }
  const out = below(60_000)
  let rest = out
  const part = (): number => {
    const taken = below(rest)
    rest -= taken
    return taken
  }
  const reasoning = keys.has("output_reasoning_mtok") ? part() : 0
  const citations = keys.has("output_citation_mtok") ? part() : 0
  for (const kind of ["audio", "image", "video"]) {
    if (keys.has(`output_${kind}_mtok`)) kinds[`output_${kind}_tokens`] = part()
  }
  return {
    input_tokens: all,
    cache_read_tokens: keys.has("cache_read_mtok") ? read : 0,
    cache_write_tokens: written,
    cache_write_1h_tokens: keys.has("cache_write_1h_mtok") ? below(written) : 0,
    ...kinds,
    output_tokens: out,
    output_reasoning_tokens: reasoning,
    output_citation_tokens: citations,
    web_searches: below(12),
    storage_searches: below(3),
    ...(keys.has("audio_hours") || keys.has("input_audio_hours")
      ? { audio_seconds: 1 + below(900), input_audio_seconds: 0 }
      : {})
  }
}

const count = (usage: Usage, name: string): number => usage[name] ?? 0

const asTokens = (usage: Usage): TokenCounts => {
  const seconds = count(usage, "audio_seconds")
  return {
    ...noTokens,
    in: count(usage, "input_tokens"),
    out: count(usage, "output_tokens") - count(usage, "output_citation_tokens"),
    cacheRead: count(usage, "cache_read_tokens"),
    cacheWrite: count(usage, "cache_write_tokens"),
    cacheWrite1h: count(usage, "cache_write_1h_tokens"),
    reasoning: count(usage, "output_reasoning_tokens"),
    ...(seconds === 0 ? {} : { units: { seconds } }),
    billing: {
      modalities: {
        audioIn: count(usage, "input_audio_tokens"),
        imageIn: count(usage, "input_image_tokens"),
        videoIn: count(usage, "input_video_tokens"),
        audioCached: count(usage, "cache_audio_read_tokens"),
        imageCached: count(usage, "cache_image_read_tokens"),
        videoCached: count(usage, "cache_video_read_tokens"),
        audioOut: count(usage, "output_audio_tokens"),
        imageOut: count(usage, "output_image_tokens"),
        videoOut: count(usage, "output_video_tokens"),
        citations: count(usage, "output_citation_tokens")
      },
      tools: { webSearches: count(usage, "web_searches"), fileSearches: count(usage, "storage_searches") }
    }
  }
}

/** Prices of ours that the package does not hold, taken out for the comparison. */
const ofThePackage = ({ model, provider }: Listed, price: ModelPrice): ModelPrice => {
  const { perGroundedAnswer: _, ...rest } = price
  const hasSearches = pricesOf(model).some((each) => each["web_searches_kcount"] !== undefined)
  return hasSearches || provider.id !== "google" ? rest : { ...rest, perWebSearch: 0 }
}

const limitsOf = (model: ModelInfo): ReadonlyArray<number> => [
  ...new Set(
    pricesOf(model).flatMap((prices) =>
      Object.values(prices).flatMap((price) =>
        typeof price === "object" ? price.tiers.flatMap(({ start }) => [start, start + 1]) : []
      )
    )
  )
]

describe("the price package's own calculator", () => {
  it.effect(
    "gives the same cost for every price of the embedded table",
    () =>
      Effect.gen(function* () {
        const { find } = yield* DefaultPrices.load
        const random = makeRandom(41)
        const failures: Array<string> = []
        let compared = 0
        let tiered = 0
        for (const entry of listed) {
          const { model, ours, provider } = entry
          // By its own data alone, so that an id that another model's rule matches first is compared as well.
          const alone: Provider = { ...provider, models: [{ ...model, match: { equals: model.id } }] }
          const shown = calcPrice({}, model.id, { providerId: provider.id })
          if (shown?.model.id !== model.id) continue
          const price = find(ours, model.id)?.(nowMs) ?? null
          const keys = new Set(pricesOf(model).flatMap((each) => Object.keys(each)))
          if (price === null) {
            if ([...keys].some((key) => !notCounted.has(key))) failures.push(`${provider.id}/${model.id}: no price`)
            continue
          }
          const limits = limitsOf(model)
          tiered += limits.length > 0 ? 1 : 0
          for (const promptTokens of [...limits, ...limits, null, null, null, null]) {
            const usage = drawn(keys, random, promptTokens)
            const heard = keys.has("input_audio_hours")
              ? { ...usage, input_audio_seconds: usage["audio_seconds"] }
              : usage
            const theirs = calcPrice(heard, model.id, { provider: alone, timestamp: new Date(nowMs) })
            if (theirs === null) {
              failures.push(`${provider.id}/${model.id}: the package has none`)
              continue
            }
            const usd = costNanoUsd(asTokens(usage), ofThePackage(entry, price)) / nanoUsdPerUsd
            compared += 1
            if (Math.abs(usd - theirs.total_price) > 1e-9) {
              failures.push(`${provider.id}/${model.id}: ${usd} for ${theirs.total_price} of ${JSON.stringify(usage)}`)
            }
          }
        }
        assert.deepStrictEqual(failures.slice(0, 20), [])
        assert.isAbove(compared, 4_000)
        assert.isAbove(tiered, 40)
      }),
    120_000
  )
})
