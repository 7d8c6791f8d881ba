/** Counts of searches at each provider, by API key: in memory, and in the store soon after. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { mayManage } from "../../subjects/auth/Access.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import { nanoUsdPerUsd } from "../../contract/domain/Usage.ts"
import { LruMap } from "../../kernel/collections/LruMap.ts"
import { makeWriteBehind } from "../resilience/WriteBehind.ts"
import { readStates } from "../routing/health/StoredStates.ts"
import type { StoreError } from "../../store/Errors.ts"
import { SearchCountsRepo } from "../../subjects/usage/SearchCountsRepo.ts"

const Counts = Schema.Struct({
  /** Searches that went to the provider, and those that its earlier answer was for. */
  requests: Schema.Number,
  errors: Schema.Number,
  /** Calls that it answered, and what they took together. */
  answered: Schema.Number,
  latencyMs: Schema.Number,
  cacheHits: Schema.Number,
  costNanoUsd: Schema.Number
})
type Counts = typeof Counts.Type

const nothing: Counts = { requests: 0, errors: 0, answered: 0, latencyMs: 0, cacheHits: 0, costNanoUsd: 0 }

const sum = (one: Counts, other: Partial<Counts>): Counts => ({
  requests: one.requests + (other.requests ?? 0),
  errors: one.errors + (other.errors ?? 0),
  answered: one.answered + (other.answered ?? 0),
  latencyMs: one.latencyMs + (other.latencyMs ?? 0),
  cacheHits: one.cacheHits + (other.cacheHits ?? 0),
  costNanoUsd: one.costNanoUsd + (other.costNanoUsd ?? 0)
})

export interface ProviderCounts {
  readonly provider: string
  readonly requests: number
  readonly errors: number
  /** Average latency of the calls that were answered, in ms; null: none was. */
  readonly avgLatencyMs: number | null
  readonly cacheHits: number
  readonly costUsd: number
}

export class SearchCounts extends Context.Tag("gateway/plane/search/SearchCounts")<
  SearchCounts,
  {
    /** Hot. `owner`: id of an API key; empty for callers without one. */
    readonly add: (owner: string, provider: string, counts: Partial<Counts>) => void
    /** Lists the counts that a caller may see: a key that may not manage the gateway sees its own. */
    readonly list: (principal: Principal) => ReadonlyArray<ProviderCounts>
  }
>() {}

/** API keys times providers; beyond it the one that was silent for longest is dropped. */
export const capacity = 20_000

const what = "What searches have done"

const ownOf = (principal: Principal): string | null =>
  principal._tag === "Key" && !mayManage(principal.key) ? principal.key.id : null

const viewOf = ([provider, { answered, cacheHits, costNanoUsd, errors, latencyMs, requests }]: readonly [
  string,
  Counts
]): ProviderCounts => ({
  provider,
  requests,
  errors,
  avgLatencyMs: answered === 0 ? null : Math.round(latencyMs / answered),
  cacheHits,
  costUsd: costNanoUsd / nanoUsdPerUsd
})

export const make = Effect.gen(function* () {
  const repo = yield* SearchCountsRepo
  const entries = new LruMap<string, Counts>({ capacity, onRemove: (key) => writeBehind.touch(key) })
  const { corrupt, states } = yield* readStates(what, Counts, yield* repo.list)
  const writeBehind = yield* makeWriteBehind(what, (key) => {
    const counts = entries.peek(key)
    return counts === undefined ? repo.remove(key) : repo.save(key, JSON.stringify(counts))
  })
  for (const key of corrupt) writeBehind.touch(key)
  for (const [key, state] of states) entries.set(key, state)

  const list = (principal: Principal): ReadonlyArray<ProviderCounts> => {
    const own = ownOf(principal)
    const all = new Map<string, Counts>()
    for (const [key, counts] of entries) {
      const mark = key.indexOf("/")
      if (own !== null && key.slice(0, mark) !== own) continue
      const provider = key.slice(mark + 1)
      all.set(provider, sum(all.get(provider) ?? nothing, counts))
    }
    return [...all]
      .map(viewOf)
      .toSorted((one, other) => other.requests - one.requests || (one.provider < other.provider ? -1 : 1))
  }

  return SearchCounts.of({
    add: (owner, provider, counts) => {
      const key = `${owner}/${provider}`
      entries.set(key, sum(entries.peek(key) ?? nothing, counts))
      writeBehind.touch(key)
    },
    list
  })
})

export const layer: Layer.Layer<SearchCounts, StoreError, SearchCountsRepo> = Layer.scoped(SearchCounts, make)
