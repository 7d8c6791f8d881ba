/** The keys with their budgets, those first that will be stopped next; searched and paged by the gateway. */
import type { ReadonlySignal } from "@preact/signals"
import { useCallback } from "preact/hooks"
import type { AnswerOf } from "../../api/client.ts"
import { keysList, type limitsBudget, usageHistoryBreakdown } from "../../api/calls.generated.ts"
import { renew, type Result, useAnswer } from "../../api/queries.ts"
import { useFeed } from "../../live/feed.ts"
import { CopyAs } from "../../ui/copy/CopyAs.tsx"
import { nowMs } from "../../ui/format.ts"
import { words } from "../../words/keys.ts"
import { useAddress } from "./address.ts"
import { type Standing, standingOf, tightest } from "./budgets.ts"
import { type ApiKey, KeyRow } from "./KeyRow.tsx"
import { Listed } from "./Listed.tsx"
import { monthOf } from "./money/period.ts"
import { rangeOf } from "./money/useMoney.ts"
import { reachedAtMs } from "../../ui/time/pace.ts"

const pageSize = 100
const everyMs = 60_000
const mostSpenders = 500

/** The time at which a key is stopped, for the order of the rows: those without a time last. */
const stoppedAt = (standing: Standing | undefined): number => {
  const window = standing === undefined ? undefined : tightest(standing)
  return window === undefined ? Number.MAX_VALUE : (reachedAtMs(window, nowMs()) ?? Number.MAX_VALUE)
}

const spentOf = (standing: Standing | undefined, monthUsd: number | undefined): number =>
  Math.max(standing?.spentUsd ?? 0, monthUsd ?? 0)

const Rows = ({ budgets, keys }: { readonly keys: ReadonlyArray<ApiKey>; readonly budgets: Budgets | undefined }) => {
  const query = { ...rangeOf(monthOf(nowMs())), by: "apiKey", top: mostSpenders } as const
  const month = useAnswer({
    key: ["money", "keys", query],
    ask: (signal) => usageHistoryBreakdown({ query, signal }),
    everyMs
  })
  const spent = new Map(month.value.data?.rows.map(({ costUsd, key }) => [key, costUsd] as const))
  const rows = keys
    .map((apiKey) => ({ apiKey, standing: standingOf(budgets, apiKey.id), spentUsd: spent.get(apiKey.id) }))
    .toSorted(
      (one, other) =>
        stoppedAt(one.standing) - stoppedAt(other.standing) ||
        spentOf(other.standing, other.spentUsd) - spentOf(one.standing, one.spentUsd)
    )
  return (
    <div class="scroller card" tabIndex={0} role="region" aria-label={words.list}>
      <table class="plain-table key-table">
        <thead>
          <tr>
            <th>{words.columns.key}</th>
            <th>{words.columns.state}</th>
            <th class="number">{words.columns.spent}</th>
            <th>{words.columns.pace}</th>
            <th>{words.columns.stopped}</th>
            <th>{words.columns.actions}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ apiKey, spentUsd, standing }) => (
            <KeyRow key={apiKey.id} apiKey={apiKey} standing={standing} spentUsd={spentUsd ?? null} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

type Budgets = AnswerOf<typeof limitsBudget>

const tableName = ["keys", "table"] as const

export const KeyTable = ({ budgets }: { readonly budgets: ReadonlySignal<Result<Budgets>> }) => {
  const { query } = useAddress()
  useFeed(
    "budget",
    useCallback(() => void renew("budgets"), [])
  )
  return (
    <section class="stack" aria-label={words.list}>
      <Listed<ApiKey>
        title={words.list}
        searchLabel={words.search}
        moreLabel={words.more}
        name={tableName}
        height={200}
        ask={async (asked, signal) => {
          const found = await keysList({ query: { ...asked, view: "summary", limit: pageSize }, signal })
          return { items: found.keys, nextCursor: found.nextCursor ?? null }
        }}
        empty={(isSearched) => <p>{isSearched ? words.noneFound : words.none}</p>}
      >
        {(keys) => <Rows keys={keys} budgets={budgets.value.data} />}
      </Listed>
      <CopyAs call={keysList} query={{ search: query["q"] }} />
    </section>
  )
}
