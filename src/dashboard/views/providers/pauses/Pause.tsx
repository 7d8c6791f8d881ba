/** One pause of an account, a provider or a model: what it is, why, until when, and a button that ends it. */
import type { ComponentChildren } from "preact"
import type { AnswerOf } from "../../../api/client.ts"
import {
  type resilienceBreakers,
  type resilienceModelCooldowns,
  resilienceClearModelCooldowns,
  resilienceReset
} from "../../../api/calls.generated.ts"
import { Countdown } from "../../../ui/time/Countdown.tsx"
import { State } from "../../../ui/State.tsx"
import { visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { useWork } from "../../../ui/useWork.ts"
import { words as account } from "../../../words/account.ts"
import { words } from "../../../words/providers.ts"
import { ofAccounts } from "../actions.ts"

export type Breaker = AnswerOf<typeof resilienceBreakers>["breakers"][number]
export type Lock = AnswerOf<typeof resilienceModelCooldowns>["items"][number]

interface Properties {
  readonly children: ComponentChildren
  readonly letGo: () => Promise<unknown>
  /** Names what goes on, for who hears the button alone. */
  readonly name: string
}

export const Pause = ({ children, letGo, name }: Properties) => {
  const { isBusy, run } = useWork(ofAccounts)
  return (
    <li class="pause">
      <div class="pause-why">{children}</div>
      <button
        type="button"
        class="button"
        aria-label={`${words.letGo}: ${name}`}
        disabled={isBusy.value}
        onClick={() => void run(letGo, words.lets(name))}
      >
        {words.letGo}
      </button>
    </li>
  )
}

export const isPausing = ({ state }: Breaker): boolean => state !== "CLOSED"

const breakerKinds = { OPEN: "bad", HALF_OPEN: "warning", DEGRADED: "warning", CLOSED: "good" } as const

/** `atMs`: when it was asked for. */
export const BreakerPause = ({ atMs, breaker }: { readonly breaker: Breaker; readonly atMs: number }) => {
  const { failures, provider, retryAfterMs, state } = breaker
  const name = account.breaker(visible(provider))
  return (
    <Pause name={name} letGo={() => resilienceReset({ body: { provider } })}>
      <strong>{name}</strong>
      <State kind={breakerKinds[state]}>
        <span>
          {account.breakerStates[state]}, {account.failures(failures)}
          {retryAfterMs !== null && (
            <>
              {", "}
              {account.triesIn} <Countdown until={new Date(atMs + retryAfterMs).toISOString()} />
            </>
          )}
        </span>
      </State>
    </Pause>
  )
}

export const LockPause = ({ hasAccount = false, lock }: { readonly lock: Lock; readonly hasAccount?: boolean }) => {
  const { connection, connectionId, expiresAt, failureCount, model, provider, reason } = lock
  return (
    <Pause
      name={visible(model)}
      letGo={() => resilienceClearModelCooldowns({ body: { provider, model, connection: connectionId } })}
    >
      <strong>{visible(model)}</strong>
      {hasAccount && (
        <a href={placeOf(`providers/${encodeURIComponent(connectionId)}`)}>
          {visible(connection === null ? provider : `${provider} / ${connection}`)}
        </a>
      )}
      <State kind="warning" icon="wait">
        <span>
          {account.locked} {account.leftFor} <Countdown until={expiresAt} />, {account.failures(failureCount)}:{" "}
          {visible(account.lockReason(reason))}
        </span>
      </State>
    </Pause>
  )
}
