/**
 * Classifies the cost of a model to its owner, in three steps: by price where it is known, by name and account where it
 * is not. Pure.
 */
import type { Account } from "../../providers/Catalog.ts"
import * as Registry from "../../providers/Registry.ts"
import { guardedOf } from "../health/AccountClass.ts"
import type { Candidate } from "../candidate/Candidate.ts"

export type ModelTier = "free" | "cheap" | "premium"

/** Ranks from cheap to expensive: the distance between two tiers is the distance of their ranks. */
const places: Readonly<Record<ModelTier, number>> = { free: 0, cheap: 1, premium: 2 }

export const stepsBetween = (one: ModelTier, other: ModelTier): number => Math.abs(places[one] - places[other])

/** Up to this price of a million input tokens a model is cheap. */
const cheapUpToUsd = 1

const cheapNames = /deepseek|glm|minimax|meta-llama|gpt-4o-mini|claude-haiku|claude-3-(?:5-)?haiku/
const freeNames = /(?::|-)free$/

/**
 * Checks whether the registry has the account as free: a free provider, or one of its local servers at a local address.
 * The type of a node is not considered.
 */
const isMarkedFree = (account: Account): boolean => {
  const { category, id } = account.spec
  if (category === "free") return true
  return category === "local" && guardedOf(account).class === "local" && Registry.find(id) === account.spec
}

/**
 * Finds the tier of a candidate's model; null when neither price, name, provider nor account show it. A free account pays
 * nothing for whatever it may use, so it decides before the price list.
 */
export const modelTierOf = ({ price, target, tier }: Candidate): ModelTier | null => {
  if (tier === "free") return "free"
  if (price !== null) {
    if (price.inputUsd <= 0 && price.outputUsd <= 0) return "free"
    return price.inputUsd <= cheapUpToUsd ? "cheap" : "premium"
  }
  const name = target.model.toLowerCase()
  if (freeNames.test(name) || isMarkedFree(target.account)) return "free"
  if (cheapNames.test(name)) return "cheap"
  return tier === "pro" || tier === "ultra" ? "premium" : null
}

/** Checks whether a candidate is known to be free, for `:free`. */
export const isFree = (candidate: Candidate): boolean => modelTierOf(candidate) === "free"

/**
 * Checks whether a candidate is a premium model, or one that a paid account offers beyond the free ones, for `:pro`.
 */
export const isPro = (candidate: Candidate): boolean => {
  const tier = modelTierOf(candidate)
  return tier === "premium" || (tier !== "free" && (candidate.tier === "pro" || candidate.tier === "ultra"))
}
