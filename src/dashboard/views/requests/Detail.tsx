/** Shows one request: what it was, the calls that were made, and the decision with its scores. */
import { routingDecision } from "../../api/calls.generated.ts"
import { useCallback } from "preact/hooks"
import { refresh, useAnswer } from "../../api/queries.ts"
import { useFeed } from "../../live/feed.ts"
import { type FeedEvent, requestIdOf } from "../../live/socket.ts"
import { Answered } from "../../ui/Answered.tsx"
import { CopyAs } from "../../ui/copy/CopyAs.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { State } from "../../ui/State.tsx"
import { Time } from "../../ui/Time.tsx"
import { count, duration, money, visible } from "../../ui/format.ts"
import { placeOf } from "../../ui/places.ts"
import { words } from "../../words/requests.ts"
import { Decision } from "../../ui/decision/Decision.tsx"
import { ExplainAgain } from "./ExplainAgain.tsx"
import { Ledger } from "./Ledger.tsx"
import type { Row } from "./row.ts"

const kinds = { completed: "good", failed: "bad", aborted: "warning" } as const

const Facts = ({ row }: { readonly row: Row }) => (
  <dl class="facts">
    <dt>{words.facts.asked}</dt>
    <dd>{visible(row.requestedModel)}</dd>
    <dt>{words.facts.wire}</dt>
    <dd>
      {row.sourceWire}
      {row.targetWire !== null && row.targetWire !== row.sourceWire && ` → ${row.targetWire}`}
    </dd>
    <dt>{words.facts.key}</dt>
    <dd class="mono">{row.apiKeyId ?? words.facts.noKey}</dd>
    <dt>{words.facts.tokens}</dt>
    <dd>
      {count(row.tokens.in)} → {count(row.tokens.out)}
      {row.tokens.cacheRead > 0 && `, ${count(row.tokens.cacheRead)} ${words.facts.cached}`}
    </dd>
    <dt>{words.facts.cost}</dt>
    <dd>{row.priced ? money(row.costUsd) : words.facts.unpriced}</dd>
    {row.error !== null && (
      <>
        <dt>{words.facts.error}</dt>
        <dd class="bad">{visible(row.error)}</dd>
      </>
    )}
  </dl>
)

interface Properties {
  readonly id: string
  readonly row: Row | undefined
  /** Address of the list. */
  readonly back: string
}

export const Detail = ({ back, id, row }: Properties) => {
  const decision = useAnswer({
    key: ["decision", id],
    ask: (signal) => routingDecision({ path: { requestId: id }, signal })
  })
  useFeed(
    "requests",
    useCallback(
      (event: FeedEvent) => {
        // One that stands for several may have left out what is waited for.
        if (requestIdOf(event) === id || event.sampled !== undefined) void refresh("decision", id)
      },
      [id]
    )
  )
  return (
    <section class="card detail stack" aria-label={words.detail}>
      <header class="view-head">
        <h2 class="mono">{visible(id)}</h2>
        <a class="button plain" href={back} aria-label={words.close} title={words.close}>
          <Icon name="close" />
        </a>
      </header>
      {row !== undefined && (
        <>
          <p class="buttons">
            <State kind={kinds[row.outcome]}>
              {row.status} {words.outcome[row.outcome]}
            </State>
            <span>{duration(row.latencyMs)}</span>
            <Time at={row.timestamp} />
          </p>
          <Facts row={row} />
        </>
      )}
      <Answered of={decision} height={240}>
        {(answer) => (
          <>
            {answer.decision.state === "running" && (
              <State kind="quiet" icon="wait">
                {words.stillRunning}
              </State>
            )}
            <Decision decision={answer.decision} />
            <ExplainAgain decision={answer.decision} apiKeyId={row?.apiKeyId ?? null} />
          </>
        )}
      </Answered>
      {row !== undefined && <Ledger key={id} id={id} />}
      {row?.sessionId != null && (
        <a href={`${placeOf("requests")}?q=${encodeURIComponent(`session:"${row.sessionId.replaceAll('"', "")}"`)}`}>
          {words.session}
        </a>
      )}
      <CopyAs call={routingDecision} path={{ requestId: id }} />
    </section>
  )
}
