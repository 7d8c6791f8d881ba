/**
 * Finds the targets of a request that names no model: accounts of the providers that have such a service, by priority.
 * Pure.
 */
import { noPolicy } from "../../../subjects/combos/entity/ComboPolicy.ts"
import { NoTarget } from "../../../contract/domain/Errors.ts"
import type { Account } from "../../providers/Catalog.ts"
import type { Resolution } from "./ModelResolver.ts"
import { type ResolverView, target } from "./ModelTargets.ts"

/** Accounts that are chosen between. */
const mostTargets = 100

export interface ServiceRequest {
  /** Name in the place of a model's. */
  readonly model: string
  readonly serves: (account: Account) => boolean
  /** Names the accounts: as long as it is the same, so is what `serves` says of each. */
  readonly key: string
  /** Advice for people where there is none. */
  readonly advice: string
}

export const resolveService = (
  { catalog }: Pick<ResolverView, "catalog">,
  { advice, model, serves }: ServiceRequest
): Resolution | NoTarget => {
  const accounts = catalog.accounts.filter(serves).slice(0, mostTargets)
  if (accounts.length === 0) return new NoTarget({ model, reason: advice, retryAfterMs: null })
  const targets = accounts.map((account) => target(account, model))
  return {
    combo: null,
    strategy: "priority",
    targets,
    weights: targets.map(() => 1 / targets.length),
    steps: targets.map((_, index) => index),
    auto: null,
    quotaGroup: null,
    policy: noPolicy
  }
}
