/** Decides which targets draw on which quota group, and which of their quotas are shared. Pure. */
import type { Account } from "../../providers/Catalog.ts"
import type { Target } from "../resolve/ModelTargets.ts"
import type { QuotaView } from "./QuotaState.ts"

/** Targets of a request that draw on one group at one provider. */
export interface Drawing {
  readonly quotaGroup: string
  readonly provider: string
  readonly targets: ReadonlyArray<Target>
}

export type Accounts = ReadonlyArray<Account>

/** One member's quota of a window and unit that all members have. */
export interface SharedQuota {
  readonly connectionId: string
  readonly view: QuotaView
}

/** A resolution stays the same object until the configuration changes, so it is read once. */
const known = new WeakMap<ReadonlyArray<Target>, ReadonlyArray<Drawing>>()

/** Hot. */
export const drawingsOf = (targets: ReadonlyArray<Target>): ReadonlyArray<Drawing> => {
  const before = known.get(targets)
  if (before !== undefined) return before
  const byPlace = new Map<string, Drawing & { readonly targets: Array<Target> }>()
  for (const target of targets) {
    if (target.share === undefined) continue
    const provider = target.account.spec.id
    const place = `${target.share} ${provider}`
    const drawing = byPlace.get(place)
    if (drawing === undefined) byPlace.set(place, { quotaGroup: target.share, provider, targets: [target] })
    else drawing.targets.push(target)
  }
  const found = [...byPlace.values()]
  known.set(targets, found)
  return found
}

/**
 * Windows, in one unit, of which every one of these members is known to have one. A member without a known quota can serve keys that have
 * used a share of the others', so nothing is shared out then.
 */
export const sharedQuotas = (
  accounts: Accounts,
  knownOf: (account: Account) => ReadonlyMap<string, QuotaView>
): ReadonlyArray<ReadonlyArray<SharedQuota>> => {
  const pools = new Map<string, Array<SharedQuota>>()
  for (const account of accounts) {
    for (const [key, view] of knownOf(account)) {
      const shared = { connectionId: account.connection.id, view }
      const pool = pools.get(key)
      if (pool === undefined) pools.set(key, [shared])
      else pool.push(shared)
    }
  }
  return [...pools.values()].filter((pool) => pool.length === accounts.length)
}
