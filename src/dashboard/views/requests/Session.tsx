/** The other requests of a session, the newest first: asked for when it is opened. */
import { useSignal } from "@preact/signals"
import { usageLogs } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { State } from "../../ui/State.tsx"
import { Time } from "../../ui/Time.tsx"
import { duration, money, visible } from "../../ui/format.ts"
import { placeOf } from "../../ui/address/places.ts"
import { words } from "../../words/requests.ts"
import { filterLink } from "./links.ts"
import { kinds } from "./row.ts"

const mostShown = 20

interface Properties {
  readonly id: string
  readonly sessionId: string
}

const Others = ({ id, sessionId }: Properties) => {
  const rows = useAnswer({
    key: ["session", sessionId],
    ask: (signal) => usageLogs({ query: { sessionId, limit: mostShown + 1 }, signal })
  })
  return (
    <Answered of={rows} height={96}>
      {({ logs }) => {
        const others = logs.filter(({ requestId }) => requestId !== id).slice(0, mostShown)
        if (others.length === 0) return <p class="quiet">{words.session.alone}</p>
        return (
          <ul class="session">
            {others.map((row) => (
              <li key={row.id}>
                <Time at={row.timestamp} />
                <State kind={kinds[row.outcome]}>{row.status}</State>
                <a href={placeOf(`requests/${encodeURIComponent(row.requestId)}`)}>{visible(row.requestedModel)}</a>
                <span class="quiet">
                  {duration(row.latencyMs)}, {row.priced ? money(row.costUsd) : words.facts.unpriced}
                </span>
              </li>
            ))}
          </ul>
        )
      }}
    </Answered>
  )
}

export const Session = ({ id, sessionId }: Properties) => {
  const isOpen = useSignal(false)
  return (
    <details
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open
      }}
    >
      <summary>{words.session.title}</summary>
      {isOpen.value && <Others id={id} sessionId={sessionId} />}
      <a href={filterLink("session", sessionId)}>{words.session.all}</a>
    </details>
  )
}
