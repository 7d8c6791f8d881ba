/** Shows how far a budget is used beside how far its time has gone, and when it will be used up. */
import { State } from "../../ui/State.tsx"
import { clockTime, nowMs, percent } from "../../ui/format.ts"
import { words } from "../../words/keys.ts"
import type { Window } from "./budgets.ts"
import { reachedAtMs } from "../../ui/time/pace.ts"

/** Part of a window that is over. */
export const goneOf = ({ nextResetAt, windowStart }: Window, atMs: number): number => {
  const startMs = Date.parse(windowStart)
  return Math.min(1, Math.max(0, (atMs - startMs) / (Date.parse(nextResetAt) - startMs)))
}

const kindOf = (share: number, isReached: boolean): string => (share >= 1 ? "bad" : isReached ? "warning" : "good")

/** A bar of what is spent, with a mark where an even pace would be. */
export const PaceBar = ({ window }: { readonly window: Window }) => {
  const at = nowMs()
  const share = window.spentUsd / window.limitUsd
  const gone = goneOf(window, at)
  const text = words.used(percent(share), percent(gone))
  return (
    <span class="pace" role="img" aria-label={text} title={text}>
      <span class="pace-bar">
        <span
          class={`spent ${kindOf(share, reachedAtMs(window, at) !== null)}`}
          style={{ width: `${100 * Math.min(1, share)}%` }}
        />
        <span class="even" style={{ left: `${100 * gone}%` }} />
      </span>
      <span>{percent(share)}</span>
    </span>
  )
}

/** Says when the key will be stopped, or until when it is. */
export const Stopped = ({ window }: { readonly window: Window }) => {
  const atMs = reachedAtMs(window, nowMs())
  if (window.spentUsd >= window.limitUsd) {
    return <State kind="bad">{words.isStopped(clockTime(window.nextResetAt))}</State>
  }
  if (atMs === null)
    return (
      <span class="quiet" title={words.withinWhy}>
        {words.within}
      </span>
    )
  return <State kind="warning">{words.reached(clockTime(new Date(atMs).toISOString()))}</State>
}
