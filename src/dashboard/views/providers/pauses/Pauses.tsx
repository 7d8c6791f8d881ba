/** All that pauses now, over all accounts: with why, until when, and a button that ends it. */
import type { VNode } from "preact"
import { useCallback, useId } from "preact/hooks"
import {
  providersList,
  resilienceBreakers,
  resilienceClearCooldowns,
  resilienceModelCooldowns
} from "../../../api/calls.generated.ts"
import { renew, useAnswer } from "../../../api/queries.ts"
import { useFeed } from "../../../live/feed.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { State } from "../../../ui/State.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { nowMs, visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/providerModels.ts"
import { letGoOn } from "../actions.ts"
import { ConnectionState } from "../ConnectionState.tsx"
import { type Connection, nameOf } from "../names.ts"
import { BreakerPause, isPausing, LockPause, Pause } from "./Pause.tsx"

const most = 200

const ask = async (signal: AbortSignal) => {
  const inState = (state: string) => providersList({ query: { state, limit: most }, signal })
  const [cooling, ended, { breakers }, locks] = await Promise.all([
    inState("cooling"),
    inState("terminal"),
    resilienceBreakers({ signal }),
    resilienceModelCooldowns({ query: { limit: most }, signal })
  ])
  return {
    atMs: nowMs(),
    accounts: [...ended.connections, ...cooling.connections],
    hidden:
      ended.total +
      cooling.total -
      ended.connections.length -
      cooling.connections.length +
      locks.total -
      locks.items.length,
    breakers: breakers.filter(isPausing),
    locks: locks.items
  }
}

const AccountPause = ({ connection }: { readonly connection: Connection }) => (
  <Pause name={nameOf(connection)} letGo={() => letGoOn(connection)}>
    <a href={placeOf(`providers/${encodeURIComponent(connection.id)}`)}>{nameOf(connection)}</a>
    <ConnectionState connection={connection} />
    {connection.lastError !== null && <span class="quiet">{visible(connection.lastError.slice(0, 300))}</span>}
  </Pause>
)

/** Pauses of a kind; nothing where there are none. */
const Kind = ({ rows, title }: { readonly title: string; readonly rows: ReadonlyArray<VNode> }) => {
  const id = useId()
  return rows.length === 0 ? null : (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <ul class="pauses">{rows}</ul>
    </section>
  )
}

export const Pauses = () => {
  const pauses = useAnswer({ key: ["pauses"], ask })
  useFeed(
    "health",
    useCallback(() => void renew("pauses"), [])
  )
  const { pauses: text } = words
  return (
    <>
      <p class="quiet">{text.hint}</p>
      <Answered of={pauses} height={200}>
        {({ accounts, atMs, breakers, hidden, locks }) =>
          accounts.length + breakers.length + locks.length === 0 ? (
            <div class="empty">
              <State kind="good">{text.none}</State>
            </div>
          ) : (
            <>
              <Kind
                title={text.accounts}
                rows={accounts.map((connection) => (
                  <AccountPause key={connection.id} connection={connection} />
                ))}
              />
              <Kind
                title={text.breakers}
                rows={breakers.map((breaker) => (
                  <BreakerPause key={breaker.provider} breaker={breaker} atMs={atMs} />
                ))}
              />
              <Kind
                title={text.locks}
                rows={locks.map((lock) => (
                  <LockPause key={`${lock.connectionId} ${lock.model}`} lock={lock} hasAccount />
                ))}
              />
              {hidden > 0 && <p class="quiet">{text.more(hidden)}</p>}
              <CopyAs call={resilienceClearCooldowns} body={{ all: true }} />
            </>
          )
        }
      </Answered>
    </>
  )
}
