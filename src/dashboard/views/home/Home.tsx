/** Shows the state of the gateway, its cost and what needs attention; for a new gateway, the steps to its first answer. */
import { useCallback } from "preact/hooks"
import type { AnswerOf } from "../../api/client.ts"
import { providersList, usageHistoryAnalytics } from "../../api/calls.generated.ts"
import { refresh, useAnswer } from "../../api/queries.ts"
import { useFeed } from "../../live/feed.ts"
import { Answered } from "../../ui/Answered.tsx"
import { State } from "../../ui/State.tsx"
import { count, duration, money, percent, short, visible } from "../../ui/format.ts"
import { words } from "../../words/home.ts"
import { Attention } from "./Attention.tsx"
import { Day } from "./Day.tsx"
import { FirstSteps } from "./FirstSteps.tsx"
import { Now } from "./Now.tsx"

type Summary = AnswerOf<typeof usageHistoryAnalytics>["summary"]
type Connection = AnswerOf<typeof providersList>["connections"][number]

const everyMs = 30_000

const Tiles = ({ summary }: { readonly summary: Summary }) => (
  <dl class="tiles">
    <div class="card tile">
      <dt class="quiet">{words.tiles.requests}</dt>
      <dd class="value">{count(summary.requests)}</dd>
    </div>
    <div class="card tile">
      <dt class="quiet">{words.tiles.failed}</dt>
      <dd class="value">{summary.requests === 0 ? "–" : percent(summary.failed / summary.requests)}</dd>
    </div>
    <div class="card tile">
      <dt class="quiet">{words.tiles.cost}</dt>
      <dd class="value">{money(summary.costUsd)}</dd>
    </div>
    <div class="card tile">
      <dt class="quiet">{words.tiles.tokens}</dt>
      <dd class="value">
        {short(summary.tokensIn)} → {short(summary.tokensOut)}
      </dd>
    </div>
    <div class="card tile">
      <dt class="quiet">{words.tiles.latency}</dt>
      <dd class="value">{summary.requests === 0 ? "–" : duration(summary.avgLatencyMs)}</dd>
    </div>
  </dl>
)

const Strip = ({ connections }: { readonly connections: ReadonlyArray<Connection> }) => (
  <section class="card" aria-labelledby="providers">
    <h2 id="providers">{words.providers}</h2>
    <ul class="strip">
      {connections.map(({ id, isActive, name, provider }) => (
        <li key={id}>
          <State kind={isActive ? "good" : "quiet"}>{visible(name === "" ? provider : `${provider} / ${name}`)}</State>
        </li>
      ))}
    </ul>
  </section>
)

export const Home = () => {
  const connections = useAnswer({ key: ["connections"], ask: (signal) => providersList({ signal }) })
  const usage = useAnswer({
    key: ["analytics", "24h"],
    ask: (signal) => usageHistoryAnalytics({ query: { range: "24h" }, signal }),
    everyMs
  })
  useFeed(
    "health",
    useCallback(() => void refresh("connections"), [])
  )
  return (
    <div class="stack">
      <header class="view-head">
        <h1>{words.title}</h1>
      </header>
      <Answered of={connections} height={80}>
        {({ connections: all }) =>
          all.length === 0 ? (
            <FirstSteps requests={usage.value.data?.summary.requests ?? 0} />
          ) : (
            <>
              <Now />
              <Answered of={usage} height={84}>
                {({ summary }) => <Tiles summary={summary} />}
              </Answered>
              <Attention />
              <Strip connections={all} />
              <Day />
            </>
          )
        }
      </Answered>
    </div>
  )
}
