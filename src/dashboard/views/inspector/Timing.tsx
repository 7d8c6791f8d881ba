/** Shows where the time went. */
import { count, duration, exact, size, visible } from "../../ui/format.ts"
import { words } from "../../words/inspector.ts"
import type { WholeRecord } from "./record.ts"

const told = (ms: number | null | undefined): string =>
  ms === null || ms === undefined ? words.timing.unknown : duration(ms)

const Bar = ({ record }: { readonly record: WholeRecord }) => {
  const whole = record.totalLatencyMs ?? 0
  const first = record.llm?.ttftMs ?? null
  if (whole <= 0 || first === null) return null
  const share = Math.min(100, (first / whole) * 100)
  const label = `${words.timing.first} ${duration(first)}, ${words.timing.whole} ${duration(whole)}`
  return (
    <span class="anatomy-bar" role="img" aria-label={`${words.timing.bar}: ${label}`}>
      <span
        class="piece series-6"
        style={{ inlineSize: `${share}%` }}
        title={`${words.timing.first}: ${duration(first)}`}
      />
      <span class="piece series-1" style={{ flexGrow: 1 }} />
    </span>
  )
}

export const Timing = ({ record }: { readonly record: WholeRecord }) => (
  <div class="stack">
    <Bar record={record} />
    <dl class="facts">
      <dt>{words.timing.began}</dt>
      <dd>{exact(record.timestamp)}</dd>
      <dt>{words.timing.first}</dt>
      <dd>{told(record.llm?.ttftMs)}</dd>
      <dt>{words.timing.upstream}</dt>
      <dd>{told(record.upstreamLatencyMs)}</dd>
      <dt>{words.timing.proxy}</dt>
      <dd>{told(record.proxyLatencyMs)}</dd>
      <dt>{words.timing.whole}</dt>
      <dd>{told(record.totalLatencyMs)}</dd>
      <dt>{words.timing.speed}</dt>
      <dd>
        {record.llm?.tokensPerSecond === null || record.llm === null
          ? words.timing.unknown
          : count(record.llm.tokensPerSecond ?? 0)}
      </dd>
      <dt>{words.timing.sizes}</dt>
      <dd>
        {size(record.requestSize)} → {size(record.responseSize)}
      </dd>
      {record.processName !== null && (
        <>
          <dt>{words.timing.process}</dt>
          <dd>
            {visible(record.processName)} {record.pid ?? ""}
          </dd>
        </>
      )}
    </dl>
  </div>
)
