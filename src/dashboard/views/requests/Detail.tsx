/** Shows one request: what it was, where its time went, the decision with its scores, what it used and cost, and what would be otherwise. */
import { routingDecision, usageLogs } from "../../api/calls.generated.ts"
import { useCallback } from "preact/hooks"
import { refresh, renew, useAnswer } from "../../api/queries.ts"
import { isAdministrator } from "../../api/rights.ts"
import { useFeed } from "../../live/feed.ts"
import { type FeedEvent, requestIdOf } from "../../live/socket.ts"
import { Answered } from "../../ui/Answered.tsx"
import { CopyAs } from "../../ui/copy/CopyAs.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { State } from "../../ui/State.tsx"
import { Time } from "../../ui/Time.tsx"
import { duration, money, visible } from "../../ui/format.ts"
import { words } from "../../words/requests.ts"
import { Decision } from "../../ui/decision/Decision.tsx"
import { Captured } from "./Captured.tsx"
import { ExplainAgain } from "./ExplainAgain.tsx"
import { Bill, Facts } from "./Facts.tsx"
import { Ledger } from "./Ledger.tsx"
import { kinds, type Row } from "./row.ts"
import { Session } from "./Session.tsx"
import { WhyNot } from "./WhyNot.tsx"
import { Without } from "./Without.tsx"

const Head = ({ row }: { readonly row: Row }) => (
  <p class="buttons">
    <State kind={kinds[row.outcome]}>
      {row.status} {words.outcome[row.outcome]}
    </State>
    <span>{duration(row.latencyMs)}</span>
    <span>{row.priced ? money(row.costUsd) : words.facts.unpriced}</span>
    <Time at={row.timestamp} />
  </p>
)

/** The row of the list, else asked for: it may be on no page of the list, or under way until just now. */
const useRow = (id: string, listed: Row | undefined): Row | undefined => {
  const asked = useAnswer({
    key: ["request", id],
    when: listed === undefined,
    ask: (signal) => usageLogs({ query: { requestId: id, limit: 1 }, signal })
  })
  return listed ?? asked.value.data?.logs.find(({ requestId }) => requestId === id)
}

interface Properties {
  readonly id: string
  readonly row: Row | undefined
  /** Address of the list. */
  readonly back: string
}

/** Shows how the target was chosen, to who administers the gateway. */
const Decided = ({ id, row }: Omit<Properties, "back">) => {
  const decision = useAnswer({
    key: ["decision", id],
    ask: (signal) => routingDecision({ path: { requestId: id }, signal })
  })
  useFeed(
    "requests",
    useCallback(
      (event: FeedEvent) => {
        if (requestIdOf(event) === id) {
          void refresh("decision", id)
          void refresh("request", id)
        } else if (event.sampled !== undefined) {
          // One that stands for several may have left out what is waited for.
          void renew("decision", id)
          void renew("request", id)
        }
      },
      [id]
    )
  )
  const whole = row === undefined ? null : { startedAt: row.timestamp, latencyMs: row.latencyMs, ttftMs: row.ttftMs }
  return (
    <Answered of={decision} height={240}>
      {(answer) => (
        <>
          {answer.decision.state === "running" && (
            <State kind="quiet" icon="wait">
              {words.stillRunning}
            </State>
          )}
          <Decision decision={answer.decision} whole={whole} />
          <WhyNot key={`why not ${id}`} decision={answer.decision} apiKeyId={row?.apiKeyId ?? null} />
          <Without key={`without ${id}`} decision={answer.decision} tokens={row?.tokens ?? null} />
          <ExplainAgain key={`again ${id}`} decision={answer.decision} apiKeyId={row?.apiKeyId ?? null} />
        </>
      )}
    </Answered>
  )
}

export const Detail = ({ back, id, row: listed }: Properties) => {
  const row = useRow(id, listed)
  const isWhole = isAdministrator()
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
          <Head row={row} />
          <Facts row={row} />
        </>
      )}
      {isWhole && <Decided id={id} row={row} />}
      {row !== undefined && (
        <>
          <Bill row={row} />
          {isWhole && <Ledger key={`ledger ${id}`} id={id} />}
          {isWhole && row.sessionId !== null && <Session key={`session ${id}`} id={id} sessionId={row.sessionId} />}
          {isWhole && <Captured key={`captured ${id}`} captureId={row.captureId} />}
        </>
      )}
      {isWhole && <CopyAs call={routingDecision} path={{ requestId: id }} />}
    </section>
  )
}
