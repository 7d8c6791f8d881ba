/** Shows what runs now: the sums of the last minute, second by second, from the live feed. */
import { useSignal } from "@preact/signals"
import { useCallback } from "preact/hooks"
import { useFeed } from "../../live/feed.ts"
import type { FeedEvent } from "../../live/socket.ts"
import { Sparkline } from "../../ui/Sparkline.tsx"
import { duration, percent } from "../../ui/format.ts"
import { words } from "../../words/home.ts"

/** Sums of a second (docs/live-feed.md). */
interface Sums {
  readonly inflight: number
  readonly completed: number
  readonly failed: number
  readonly aborted: number
  readonly p95Ms: number | null
}

const keptSeconds = 60

const endedOf = ({ aborted, completed, failed }: Sums): number => completed + failed + aborted

export const Now = () => {
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
  const seconds = sums.value
  const last = seconds.at(-1)
  const ended = seconds.reduce((sum, second) => sum + endedOf(second), 0)
  const failed = seconds.reduce((sum, second) => sum + second.failed, 0)
  const slow = Math.max(0, ...seconds.map(({ p95Ms }) => p95Ms ?? 0))
  const perSecond = seconds.length === 0 ? 0 : ended / seconds.length
  return (
    <section class="card now" aria-label={words.now.title}>
      <span>
        <strong>{perSecond.toFixed(1)}</strong> {words.now.perSecond}
      </span>
      <Sparkline
        label={words.now.course}
        values={[...Array(keptSeconds - seconds.length).fill(0), ...seconds.map(endedOf)]}
      />
      <span>
        <strong>{last?.inflight ?? 0}</strong> {words.now.running}
      </span>
      <span>
        <strong>{ended === 0 ? "–" : percent(failed / ended)}</strong> {words.now.failed}
      </span>
      <span>
        <strong>{slow === 0 ? "–" : duration(slow)}</strong> {words.now.slow}
      </span>
    </section>
  )
}
