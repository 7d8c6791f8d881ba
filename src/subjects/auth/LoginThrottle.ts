/**
 * Slows down password guessing: one token bucket per address and one for all together. Pure; the caller keeps the state and the clock.
 * Every try costs a token before the password is checked; a right password gives it back.
 */

export interface Bucket {
  readonly tokens: number
  readonly updatedMs: number
}

export interface ThrottleState {
  readonly global: Bucket
  readonly byAddress: ReadonlyMap<string, Bucket>
}

interface Policy {
  readonly burst: number
  /** One token comes back per this many milliseconds. */
  readonly refillMs: number
}

export const perAddress: Policy = { burst: 8, refillMs: 30_000 }
export const overall: Policy = { burst: 60, refillMs: 1_000 }
const maxAddresses = 4_096

export const initial = (nowMs: number): ThrottleState => ({
  global: { tokens: overall.burst, updatedMs: nowMs },
  byAddress: new Map()
})

const refilled = (bucket: Bucket, policy: Policy, nowMs: number): Bucket => ({
  tokens: Math.min(policy.burst, bucket.tokens + Math.max(0, nowMs - bucket.updatedMs) / policy.refillMs),
  updatedMs: nowMs
})

const waitMs = (bucket: Bucket, policy: Policy): number =>
  bucket.tokens >= 1 ? 0 : Math.ceil((1 - bucket.tokens) * policy.refillMs)

const spent = (bucket: Bucket): Bucket => ({ ...bucket, tokens: bucket.tokens - 1 })

/** Full buckets hold no information and are dropped first; then the oldest. */
const bounded = (buckets: Map<string, Bucket>, nowMs: number): Map<string, Bucket> => {
  if (buckets.size <= maxAddresses) return buckets
  for (const [address, bucket] of buckets) {
    if (refilled(bucket, perAddress, nowMs).tokens >= perAddress.burst) buckets.delete(address)
  }
  for (const address of buckets.keys()) {
    if (buckets.size <= maxAddresses) break
    buckets.delete(address)
  }
  return buckets
}

/** Takes a token for one try. `retryAfterMs` is 0 when the try is allowed. */
export const take = (
  state: ThrottleState,
  address: string,
  nowMs: number
): { readonly state: ThrottleState; readonly retryAfterMs: number } => {
  const global = refilled(state.global, overall, nowMs)
  const own = refilled(
    state.byAddress.get(address) ?? { tokens: perAddress.burst, updatedMs: nowMs },
    perAddress,
    nowMs
  )
  const retryAfterMs = Math.max(waitMs(own, perAddress), waitMs(global, overall))
  if (retryAfterMs > 0) return { state, retryAfterMs }
  const byAddress = new Map(state.byAddress)
  byAddress.delete(address)
  byAddress.set(address, spent(own))
  return { state: { global: spent(global), byAddress: bounded(byAddress, nowMs) }, retryAfterMs: 0 }
}

/** Name for all addresses together. */
export const everyone = "*"

/** Lists the addresses that have to wait now, and `*` while the tries of all together are used up. */
export const locked = (state: ThrottleState, nowMs: number): ReadonlyArray<string> => [
  ...(waitMs(refilled(state.global, overall, nowMs), overall) > 0 ? [everyone] : []),
  ...Array.from(state.byAddress).flatMap(([address, bucket]) =>
    waitMs(refilled(bucket, perAddress, nowMs), perAddress) > 0 ? [address] : []
  )
]

/** Lets an address, or with `*` all together, try again at once. */
export const unlock = (state: ThrottleState, identifier: string, nowMs: number): ThrottleState => {
  if (identifier === everyone) return { ...state, global: initial(nowMs).global }
  const byAddress = new Map(state.byAddress)
  byAddress.delete(identifier)
  return { ...state, byAddress }
}

/** Gives one try back, of one that was no guess; the failures before it stay. */
export const giveBack = (state: ThrottleState, address: string): ThrottleState => {
  const own = state.byAddress.get(address)
  const byAddress = new Map(state.byAddress)
  if (own !== undefined) byAddress.set(address, { ...own, tokens: Math.min(perAddress.burst, own.tokens + 1) })
  return { global: { ...state.global, tokens: Math.min(overall.burst, state.global.tokens + 1) }, byAddress }
}

/** Forgets the failures of an address that has shown the right password. */
export const succeed = (state: ThrottleState, address: string): ThrottleState => {
  const byAddress = new Map(state.byAddress)
  byAddress.delete(address)
  return { global: { ...state.global, tokens: Math.min(overall.burst, state.global.tokens + 1) }, byAddress }
}
