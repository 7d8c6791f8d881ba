/** The providers in a line: the state of each from its accounts and its breaker, and how much of the last day it answered. Pure. */
import type { AnswerOf } from "../../api/client.ts"
import type { providersList, resilienceBreakers, usageHistoryAnalytics } from "../../api/calls.generated.ts"
import { grouped } from "../../ui/parts/grouped.ts"

export type Account = Pick<
  AnswerOf<typeof providersList>["connections"][number],
  "provider" | "isActive" | "testStatus" | "rateLimitedUntil"
>
type Breaker = AnswerOf<typeof resilienceBreakers>["breakers"][number]
type Served = Pick<
  AnswerOf<typeof usageHistoryAnalytics>["byProvider"][number],
  "provider" | "requests" | "successRate"
>

export type ProviderState =
  | { readonly _tag: "Works" }
  | { readonly _tag: "Some"; readonly down: number; readonly all: number }
  | { readonly _tag: "Resting"; readonly until: string }
  | { readonly _tag: "Open"; readonly until: string | null }
  | { readonly _tag: "Trying" }
  | { readonly _tag: "Ended" }
  | { readonly _tag: "Off" }
  | { readonly _tag: "Untried" }

export interface ProviderRow {
  readonly provider: string
  readonly state: ProviderState
  /** Part of its requests of the last day that were answered; null: there was none. */
  readonly successRate: number | null
}

const rank: Readonly<Record<ProviderState["_tag"], number>> = {
  Open: 0,
  Ended: 1,
  Trying: 2,
  Resting: 3,
  Some: 4,
  Works: 5,
  Untried: 6,
  Off: 7
}

const terminal: ReadonlySet<Account["testStatus"]> = new Set(["banned", "expired", "credits_exhausted"])

/** Until when an account rests, epoch milliseconds; null: it does not. */
const restsUntilMs = ({ rateLimitedUntil }: Account, nowMs: number): number | null => {
  const untilMs = rateLimitedUntil === null ? 0 : Date.parse(rateLimitedUntil)
  return untilMs > nowMs ? untilMs : null
}

const stateOf = (accounts: ReadonlyArray<Account>, breaker: Breaker | undefined, nowMs: number): ProviderState => {
  const active = accounts.filter(({ isActive }) => isActive)
  if (active.length === 0) return { _tag: "Off" }
  if (breaker?.state === "OPEN") {
    const { retryAfterMs } = breaker
    return { _tag: "Open", until: retryAfterMs === null ? null : new Date(nowMs + retryAfterMs).toISOString() }
  }
  if (breaker?.state === "HALF_OPEN") return { _tag: "Trying" }
  const ended = active.filter(({ testStatus }) => terminal.has(testStatus)).length
  const rests = active.flatMap((account) =>
    terminal.has(account.testStatus) ? [] : (restsUntilMs(account, nowMs) ?? [])
  )
  const down = ended + rests.length
  if (ended === active.length) return { _tag: "Ended" }
  if (down === active.length) return { _tag: "Resting", until: new Date(Math.min(...rests)).toISOString() }
  if (down > 0) return { _tag: "Some", down, all: active.length }
  return { _tag: active.every(({ testStatus }) => testStatus === "unknown") ? "Untried" : "Works" }
}

/** The providers, those that need a look first. `breakers` are as of `nowMs`. */
export const stripOf = (
  accounts: ReadonlyArray<Account>,
  breakers: ReadonlyArray<Breaker>,
  served: ReadonlyArray<Served>,
  nowMs: number
): ReadonlyArray<ProviderRow> => {
  const byProvider = grouped(accounts, ({ provider }) => provider)
  const breakerOf = new Map(breakers.map((breaker) => [breaker.provider, breaker]))
  const servedOf = new Map(served.map((sums) => [sums.provider, sums]))
  return [...byProvider]
    .map(([provider, its]): ProviderRow => {
      const sums = servedOf.get(provider)
      const successRate = sums === undefined || sums.requests === 0 ? null : sums.successRate
      const state = stateOf(its, breakerOf.get(provider), nowMs)
      // One that has answered was tried, whether or not anybody has tested it.
      const known: ProviderState = state._tag === "Untried" && successRate !== null ? { _tag: "Works" } : state
      return { provider, state: known, successRate }
    })
    .toSorted(
      (one, other) =>
        rank[one.state._tag] - rank[other.state._tag] ||
        (one.provider < other.provider ? -1 : one.provider > other.provider ? 1 : 0)
    )
}
