/** A budget as it burns down: what is left, an even pace beside it, and where it goes. */
import { usageSeries } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Time } from "../../../ui/Time.tsx"
import { clockTime, money, nowMs } from "../../../ui/format.ts"
import { words } from "../../../words/keys.ts"
import type { Window } from "../budgets.ts"
import { zone } from "../money/useMoney.ts"
import { PaceBar, Stopped } from "../Pace.tsx"
import { type Burn, burnOf, type Point } from "./burn.ts"

const everyMs = 60_000
const stepOf = { daily: "hour", weekly: "hour", monthly: "day" } as const

const pathOf = (points: ReadonlyArray<Point>): string =>
  points
    .map(({ x, y }, index) => `${index === 0 ? "M" : "L"}${(100 * x).toFixed(2)} ${(100 * (1 - y)).toFixed(2)}`)
    .join("")

const Lines = ({ burn: { expected, left }, window }: { readonly burn: Burn; readonly window: Window }) => (
  <>
    <div class="burn-plot" aria-hidden="true">
      <span class="scale">
        <span>{money(window.limitUsd)}</span>
        <span>{money(0)}</span>
      </span>
      <svg viewBox="0 0 100 100" preserveAspectRatio="none">
        <path class="even" d="M0 0L100 100" />
        <path class="area" d={`${pathOf(left)}L${(100 * (left.at(-1)?.x ?? 0)).toFixed(2)} 100L0 100Z`} />
        <path class="left" d={pathOf(left)} />
        {expected.length > 0 && <path class="expected" d={pathOf(expected)} />}
      </svg>
    </div>
    <p class="burn-times quiet" aria-hidden="true">
      <span>{clockTime(window.windowStart)}</span>
      <span>{clockTime(window.nextResetAt)}</span>
    </p>
  </>
)

const Legend = () => (
  <p class="legends quiet" aria-hidden="true">
    <span class="legend">
      <span class="mark left" /> {words.page.left}
    </span>
    <span class="legend">
      <span class="mark expected" /> {words.page.expected}
    </span>
    <span class="legend">
      <span class="mark even" /> {words.page.pace}
    </span>
  </p>
)

export const BurnDown = ({ keyId, window }: { readonly keyId: string; readonly window: Window }) => {
  const query = {
    apiKeyId: keyId,
    from: window.windowStart,
    to: window.nextResetAt,
    step: stepOf[window.interval],
    tz: zone
  } as const
  const series = useAnswer({
    key: ["money", "burn", query],
    ask: (signal) => usageSeries({ query, signal }),
    everyMs
  })
  const leftUsd = Math.max(0, window.limitUsd - window.spentUsd)
  return (
    <section class="card stack burn" aria-label={words.page.burn[window.interval]}>
      <h3>{words.page.burn[window.interval]}</h3>
      <p>
        <strong class="big">{words.page.leftOf(money(leftUsd), money(window.limitUsd))}</strong>
      </p>
      <p class="burn-state">
        <PaceBar window={window} /> <Stopped window={window} />
      </p>
      <Answered of={series} height={150}>
        {({ end, starts, total }) => (
          <Lines burn={burnOf(window, { starts, end, costs: total.costUsd }, nowMs())} window={window} />
        )}
      </Answered>
      <Legend />
      <p class="quiet">
        {words.page.renewed} <Time at={window.nextResetAt} />
        {window.reservedUsd > 0 && `, ${words.page.reserved(money(window.reservedUsd))}`}
      </p>
    </section>
  )
}
