/** Shows the providers in a line, those that need a look first, each with the time left until it is asked again. */
import { useCallback } from "preact/hooks"
import type { AnswerOf } from "../../api/client.ts"
import { providersList, resilienceBreakers, type usageHistoryAnalytics } from "../../api/calls.generated.ts"
import { renew, useAnswer } from "../../api/queries.ts"
import { useFeed } from "../../live/feed.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Countdown } from "../../ui/time/Countdown.tsx"
import type { IconName } from "../../ui/Icon.tsx"
import { State, type Kind } from "../../ui/State.tsx"
import { nowMs, percent, visible } from "../../ui/format.ts"
import { placeOf } from "../../ui/address/places.ts"
import { words } from "../../words/home.ts"
import { type ProviderState, stripOf } from "./strip.ts"

const mostAccounts = 1_000
const mostShown = 24

const looks: Readonly<Record<ProviderState["_tag"], readonly [Kind, IconName?]>> = {
  Open: ["bad"],
  Ended: ["bad"],
  Trying: ["warning", "wait"],
  Resting: ["warning", "wait"],
  Some: ["warning"],
  Works: ["good"],
  Untried: ["quiet", "wait"],
  Off: ["quiet"]
}

const renewStrip = (): void => void renew("connections", "strip")

const Words = ({ state }: { readonly state: ProviderState }) => {
  switch (state._tag) {
    case "Open":
      return (
        <>
          {words.providers.open} {state.until !== null && <Countdown until={state.until} onOver={renewStrip} />}
        </>
      )
    case "Resting":
      return (
        <>
          {words.providers.resting} <Countdown until={state.until} onOver={renewStrip} />
        </>
      )
    case "Some":
      return <>{words.providers.some(state.down, state.all)}</>
    case "Trying":
      return <>{words.providers.trying}</>
    case "Ended":
      return <>{words.providers.ended}</>
    case "Off":
      return <>{words.providers.off}</>
    case "Untried":
      return <>{words.providers.untried}</>
    case "Works":
      return <>{words.providers.works}</>
  }
}

const ask = async (signal: AbortSignal) => {
  const [{ connections, total }, { breakers }] = await Promise.all([
    providersList({ query: { view: "summary", limit: mostAccounts }, signal }),
    resilienceBreakers({ signal })
  ])
  return { connections, total, breakers, atMs: nowMs() }
}

export const questionOfStrip = { key: ["connections", "strip"], ask } as const

type Served = AnswerOf<typeof usageHistoryAnalytics>["byProvider"]

export const Strip = ({ served }: { readonly served: Served }) => {
  const found = useAnswer(questionOfStrip)
  useFeed("health", useCallback(renewStrip, []))
  return (
    <section class="card" aria-labelledby="providers">
      <div class="card-head">
        <h2 id="providers">{words.providers.title}</h2>
        <a href={placeOf("providers")}>{words.providers.all}</a>
      </div>
      <Answered of={found} height={32}>
        {({ atMs, breakers, connections }) => {
          const rows = stripOf(connections, breakers, served, atMs)
          return (
            <ul class="strip">
              {rows.slice(0, mostShown).map(({ provider, state, successRate }) => (
                <li key={provider}>
                  <a href={placeOf(`providers?q=${encodeURIComponent(provider)}`)}>
                    <strong>{visible(provider)}</strong>
                  </a>{" "}
                  <State
                    kind={looks[state._tag][0]}
                    {...(looks[state._tag][1] === undefined ? {} : { icon: looks[state._tag][1] as IconName })}
                  >
                    <span>
                      <Words state={state} />
                    </span>
                  </State>
                  {successRate !== null && (
                    <span class="quiet" title={words.providers.served(percent(successRate))}>
                      {percent(successRate)}
                    </span>
                  )}
                </li>
              ))}
              {rows.length > mostShown && (
                <li>
                  <a href={placeOf("providers")}>{words.providers.more(rows.length - mostShown)}</a>
                </li>
              )}
            </ul>
          )
        }}
      </Answered>
    </section>
  )
}
