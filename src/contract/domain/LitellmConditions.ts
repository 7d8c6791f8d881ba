/**
 * Conditions in LiteLLM's names of prices: longer prompts, sound and pictures, service tiers and searches. Pure.
 * https://docs.litellm.ai/docs/proxy/custom_pricing
 */

const ofTokens: ReadonlyMap<string, string> = new Map([
  ["input_cost_per_token", "input"],
  ["output_cost_per_token", "output"],
  ["cache_read_input_token_cost", "cached"],
  ["cache_creation_input_token_cost", "cacheCreation"],
  ["cache_creation_input_token_cost_above_1hr", "cacheCreation1h"],
  ["output_cost_per_reasoning_token", "reasoning"],
  ["input_cost_per_audio_token", "inputAudio"],
  ["output_cost_per_audio_token", "outputAudio"],
  ["cache_read_input_audio_token_cost", "cachedAudio"],
  ["input_cost_per_image_token", "inputImage"],
  ["output_cost_per_image_token", "outputImage"],
  ["input_cost_per_video_token", "inputVideo"]
])

/** Names without a condition: the reader of the base prices has them. */
const base = new Set([
  "input_cost_per_token",
  "output_cost_per_token",
  "cache_read_input_token_cost",
  "cache_creation_input_token_cost",
  "cache_creation_input_token_cost_above_1hr",
  "output_cost_per_reasoning_token"
])

const tiers: Readonly<Record<string, string>> = { priority: "priority", flex: "flex", batches: "batch" }

type Prices = Record<string, number>

interface Terms {
  readonly prices: Prices
  readonly byLength: Map<number, Prices>
}

const emptyTerms = (): Terms => ({ prices: {}, byLength: new Map() })

const listOf = ({ byLength }: Terms): ReadonlyArray<Readonly<Record<string, number>>> =>
  [...byLength].toSorted(([a], [b]) => a - b).map(([above, prices]) => Object.assign({ above }, prices))

export interface LitellmConditions {
  /** Members of a price. */
  readonly members: Readonly<Record<string, unknown>>
  /** Names that were read. */
  readonly read: ReadonlySet<string>
}

/** `usdOf`: the amount that a name has; null: none that can be taken. Names come from files: a few hundred of them. */
export const litellmConditions = (
  names: Iterable<string>,
  usdOf: (name: string) => number | null,
  perMillion: (usd: number) => number
): LitellmConditions => {
  const read = new Set<string>()
  const standard = emptyTerms()
  const named = new Map<string, Terms>()
  for (const name of names) {
    const [, stem = "", thousands, tier] =
      /^([a-z_]+?(?:_above_1hr)?)(?:_above_(\d{1,6})k_tokens)?(?:_(priority|flex|batches))?$/.exec(name) ?? []
    const ours = ofTokens.get(stem)
    if (ours === undefined || (thousands === undefined && tier === undefined && base.has(name))) continue
    const usd = usdOf(name)
    if (usd === null) continue
    read.add(name)
    const termName = tier === undefined ? null : (tiers[tier] ?? tier)
    const terms = termName === null ? standard : (named.get(termName) ?? emptyTerms())
    if (termName !== null) named.set(termName, terms)
    if (thousands === undefined) terms.prices[ours] = perMillion(usd)
    else {
      const above = Number(thousands) * 1_000
      terms.byLength.set(above, { ...terms.byLength.get(above), [ours]: perMillion(usd) })
    }
  }
  const lengths = listOf(standard)
  const serviceTiers = Object.fromEntries(
    Array.from(named, ([name, terms]) => {
      const ofLength = listOf(terms)
      return [name, { ...terms.prices, ...(ofLength.length === 0 ? {} : { tiers: ofLength }) }]
    })
  )
  return {
    members: {
      ...standard.prices,
      ...(lengths.length === 0 ? {} : { tiers: lengths }),
      ...(named.size === 0 ? {} : { serviceTiers })
    },
    read
  }
}
