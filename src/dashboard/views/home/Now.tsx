/** Shows what runs now, from the live feed second by second, and what was spent today of the daily budgets. */
import { type Signal, useSignal } from "@preact/signals"
import { useCallback } from "preact/hooks"
import { limitsBudget, telemetrySummary } from "../../api/calls.generated.ts"
import { renew, useAnswer } from "../../api/queries.ts"
import { useFeed } from "../../live/feed.ts"
import type { FeedEvent } from "../../live/socket.ts"
import { Sparkline } from "../../ui/plots/Sparkline.tsx"
import { duration, money, percent } from "../../ui/format.ts"
import { words } from "../../words/home.ts"
import { type Budgeted, dailyOf, figuresOf, type Sums } from "./now.ts"

const keptSeconds = 60
const drawnSeconds = 30
const windowMs = keptSeconds * 1_000
const budgetsEveryMs = 30_000

const useSums = (): Signal<ReadonlyArray<Sums>> => {
  const sums = useSignal<ReadonlyArray<Sums>>([])
  useFeed(
    "stats",
    useCallback(
      ({ data }: FeedEvent) => {
        sums.value = [...sums.value, data as unknown as Sums].slice(-keptSeconds)
      },
      [sums]
    )
  )
  return sums
}

const Today = ({ budgets, spentUsd }: { readonly spentUsd: number | null; readonly budgets: Budgeted | null }) => (
  <span class="figure">
    <strong>{spentUsd === null ? "–" : money(spentUsd)}</strong>
    {budgets === null ? (
      words.now.today
    ) : budgets.isAll ? (
      words.now.of(money(budgets.limitUsd))
    ) : (
      <>
        {words.now.today}{" "}
        <span class="quiet">({words.now.budgets(money(budgets.spentUsd), money(budgets.limitUsd))})</span>
      </>
    )}
    {budgets !== null && (
      <meter
        min={0}
        max={1}
        high={0.8}
        value={Math.min(1, budgets.spentUsd / budgets.limitUsd)}
        aria-label={words.now.budgetsOf}
      />
    )}
  </span>
)

/** `spentUsd`: what all requests of today cost; null: not known yet. */
export const Now = ({ spentUsd }: { readonly spentUsd: number | null }) => {
  const sums = useSums()
  // The feed tells of what comes; the minute before is asked for once.
  const before = useAnswer({
    key: ["telemetry", "minute"],
    ask: (signal) => telemetrySummary({ query: { windowMs }, signal })
  })
  const budgets = useAnswer({
    key: ["budgets"],
    ask: (signal) => limitsBudget({ signal }),
    everyMs: budgetsEveryMs
  })
  useFeed(
    "budget",
    useCallback(() => void renew("budgets"), [])
  )
  const seconds = sums.value
  const { failed, p95Ms, perSecond, running } = figuresOf(seconds, before.value.data ?? null)
  const all = budgets.value.data
  return (
    <section class="card now" aria-label={words.now.title}>
      <span class="figure">
        <strong>{perSecond === null ? "–" : perSecond.toFixed(perSecond < 10 ? 1 : 0)}</strong> {words.now.perSecond}
        <Sparkline
          label={words.now.course}
          values={[
            ...Array(Math.max(0, drawnSeconds - seconds.length)).fill(0),
            ...seconds.slice(-drawnSeconds).map(({ aborted, completed, failed: lost }) => completed + lost + aborted)
          ]}
        />
      </span>
      <span class="figure">
        <strong class={failed !== null && failed >= 0.05 ? "bad" : undefined}>
          {failed === null ? "–" : percent(failed)}
        </strong>{" "}
        {words.now.failed}
      </span>
      <span class="figure">
        {words.now.slow} <strong>{p95Ms === null ? "–" : duration(p95Ms)}</strong>
      </span>
      <span class="figure">
        <strong>{running ?? "–"}</strong> {words.now.running}
      </span>
      <Today
        spentUsd={spentUsd}
        budgets={all !== undefined && "budgets" in all ? dailyOf(all.budgets, spentUsd) : null}
      />
    </section>
  )
}
