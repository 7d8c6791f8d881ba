/** The ids of virtual `auto` models and what each of them means: variants, and categories with a tier. Pure. */
import { closest } from "../../../kernel/text/Closest.ts"
import type { PackName } from "../../../subjects/combos/entity/AutoWeights.ts"

export type Variant = "coding" | "fast" | "cheap" | "offline" | "smart" | "lkgp"
export type Category = "coding" | "reasoning" | "vision" | "chat" | "multimodal"
export type Tier = "fast" | "cheap" | "reliable" | "free" | "pro"

/** Requirements for a candidate; every one of them is a filter that may be relaxed. */
export interface AutoFilter {
  /** The category that asks for a model that sees. */
  readonly sight: "vision" | "multimodal" | null
  readonly reasoning: boolean
  readonly tier: "free" | "pro" | null
}

export interface AutoSpec {
  /** Id as it was asked for. */
  readonly id: string
  readonly pack: PackName
  readonly filter: AutoFilter
  /** Fraction of requests that explore, [0, 1]. */
  readonly explorationRate: number
  /** The router strategy where the combo names none. */
  readonly routerStrategy: string
}

const defaultExplorationRate = 0.05

const anything: AutoFilter = { sight: null, reasoning: false, tier: null }

const plain = (id: string): AutoSpec => ({
  id,
  pack: "default",
  filter: anything,
  explorationRate: defaultExplorationRate,
  routerStrategy: "rules"
})

/** Returns the specification that a saved combo of strategy `auto` starts from; its `config` adds the rest. */
export const comboSpec = (name: string): AutoSpec => plain(name)

const variants: Readonly<Record<Variant, Partial<AutoSpec>>> = {
  coding: { pack: "quality-first" },
  fast: { pack: "ship-fast" },
  // "Lowest cost first" is an order, not a preference: the weights alone would let a fast, dear model win.
  cheap: { pack: "cost-saver", routerStrategy: "cost" },
  offline: { pack: "offline-friendly" },
  smart: { pack: "quality-first", explorationRate: 0.1 },
  lkgp: { routerStrategy: "lkgp" }
}

const categories: Readonly<Record<Category, Partial<AutoFilter>>> = {
  coding: {},
  reasoning: { reasoning: true },
  vision: { sight: "vision" },
  chat: {},
  multimodal: { sight: "multimodal" }
}

const tierPacks: Readonly<Record<Tier, PackName>> = {
  fast: "ship-fast",
  cheap: "cost-saver",
  reliable: "reliability-first",
  free: "default",
  pro: "default"
}

const tierSpellings: ReadonlyMap<string, Tier> = new Map<string, Tier>([
  ["fast", "fast"],
  ["cheap", "cheap"],
  ["floor", "cheap"],
  ["reliable", "reliable"],
  ["free", "free"],
  ["pro", "pro"]
])

const isVariant = (word: string): word is Variant => Object.hasOwn(variants, word)
const isCategory = (word: string): word is Category => Object.hasOwn(categories, word)

const composed = (id: string, category: Category, tier: Tier | null): AutoSpec => ({
  ...plain(id),
  pack: tier === null ? "default" : tierPacks[tier],
  filter: { ...anything, ...categories[category], tier: tier === "free" || tier === "pro" ? tier : null }
})

/**
 * The meaning of an id; null when it is no auto id. `auto/coding` is the variant (quality first), `auto/coding:<tier>` the
 * category with a tier: without a tier the variant is meant.
 */
export const parseAutoId = (id: string): AutoSpec | null => {
  if (id === "auto") return { ...plain(id), ...variants.lkgp }
  if (!id.startsWith("auto/")) return null
  const rest = id.slice("auto/".length)
  if (isVariant(rest)) return { ...plain(id), ...variants[rest] }
  const colon = rest.indexOf(":")
  if (colon === -1) return isCategory(rest) ? composed(id, rest, null) : null
  const category = rest.slice(0, colon)
  const tier = tierSpellings.get(rest.slice(colon + 1))
  return tier !== undefined && isCategory(category) ? composed(id, category, tier) : null
}

/** Bare `auto` and the 6 variants. */
export const invokableAutoIds: ReadonlyArray<string> = [
  "auto",
  ...Object.keys(variants).map((variant) => `auto/${variant}`)
]

/** Ids shown in the model list; every other valid composition resolves all the same. */
export const advertisedAutoIds: ReadonlyArray<string> = [
  ...invokableAutoIds,
  ...["fast", "cheap", "reliable", "free", "pro"].map((tier) => `auto/coding:${tier}`),
  "auto/reasoning",
  "auto/reasoning:pro",
  "auto/vision",
  "auto/multimodal",
  "auto/chat",
  "auto/chat:free"
]

const composedIds = Object.keys(categories).flatMap((category) =>
  ["", ...[...tierSpellings.keys()].map((tier) => `:${tier}`)].map((suffix) => `auto/${category}${suffix}`)
)

/** Every id that means something. */
export const allAutoIds: ReadonlyArray<string> = [...new Set([...advertisedAutoIds, ...composedIds])]

/** Valid ids that a wrong one may have meant, nearest first. */
export const nearAutoIds = (id: string, count = 3): ReadonlyArray<string> => closest(id, allAutoIds, count)
