/**
 * Signing in at a provider: in a browser, by a code that is typed elsewhere, or with tokens from elsewhere. What is pending lives in the gateway for
 * ten minutes; leaving the page ends it.
 */
import { type Signal, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { ApiError } from "../../../api/ApiError.ts"
import type { AnswerOf } from "../../../api/client.ts"
import { oauthAct } from "../../../api/calls.generated.ts"
import { Copyable } from "../../../ui/copy/Copyable.tsx"
import { Countdown } from "../../../ui/Countdown.tsx"
import { Failure } from "../../../ui/Failure.tsx"
import { Entry } from "../../../ui/parts/Entry.tsx"
import { OutLink } from "../../../ui/parts/OutLink.tsx"
import { words } from "../../../words/account.ts"

export type How = "device" | "browser"

type Answer = AnswerOf<typeof oauthAct>

interface Connected {
  readonly id: string
  readonly name: string
  readonly provider: string
}

interface Properties {
  readonly provider: string
  readonly how: How
  /** The account that is signed in again; null: a new one is made. */
  readonly connectionId: string | null
  readonly onConnected: (connection: Connected) => void
}

const shortestPollMs = 1_000

interface PendingProperties {
  readonly answer: Answer
  readonly provider: string
  readonly onAnswer: (answer: Answer) => void
  readonly onError: (error: ApiError) => void
  readonly onCancel: () => void
}

/** Asks again and again, at the provider's pace, whether the sign-in has come to its end. */
const usePoll = ({ answer, onAnswer, onError, provider }: PendingProperties, isPolled: boolean): void => {
  const { expiresAt, retryAfterMs, sessionId } = answer
  useEffect(() => {
    if (!isPolled || sessionId === undefined) return undefined
    const leaving = new AbortController()
    let timer: number | undefined
    const later = (waitMs: number): void => {
      timer = globalThis.setTimeout(() => void poll(), Math.max(shortestPollMs, waitMs))
    }
    const poll = async (): Promise<void> => {
      try {
        const next = await oauthAct({ path: { provider, action: "poll" }, body: { sessionId }, signal: leaving.signal })
        if (next.status === "connected") onAnswer(next)
        else later(next.retryAfterMs ?? shortestPollMs)
      } catch (error) {
        if (!leaving.signal.aborted) onError(error as ApiError)
      }
    }
    later(retryAfterMs ?? shortestPollMs)
    return () => {
      leaving.abort()
      globalThis.clearTimeout(timer)
    }
  }, [sessionId, isPolled, expiresAt, provider])
}

const Device = (properties: PendingProperties) => {
  const { answer, onCancel } = properties
  usePoll(properties, true)
  return (
    <div class="stack sign-in">
      {answer.verificationUri !== undefined && (
        <p>
          <OutLink href={answer.verificationUriComplete ?? answer.verificationUri} name={words.signIn.open} />
        </p>
      )}
      <p>{words.signIn.code}</p>
      <Copyable text={answer.userCode ?? ""} name={words.signIn.code} />
      <Waiting answer={answer} onCancel={onCancel} />
    </div>
  )
}

const Waiting = ({ answer: { expiresAt }, onCancel }: Pick<PendingProperties, "answer" | "onCancel">) => (
  <p role="status" class="quiet">
    {words.signIn.waits}{" "}
    {expiresAt !== undefined && (
      <>
        {words.signIn.endsIn} <Countdown until={expiresAt} />.
      </>
    )}{" "}
    <button type="button" class="button plain" onClick={onCancel}>
      {words.signIn.cancel}
    </button>
  </p>
)

const Browser = (properties: PendingProperties) => {
  const { answer, onAnswer, onCancel, onError, provider } = properties
  const comesBack = answer.comesBack === true
  const code = useSignal("")
  const isBusy = useSignal(false)
  usePoll(properties, comesBack)
  const finish = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (isBusy.value || code.value.trim() === "") return
    isBusy.value = true
    const { sessionId, state } = answer
    const given = { code: code.value.trim(), ...(sessionId === undefined ? {} : { sessionId }) }
    try {
      onAnswer(
        await oauthAct({
          path: { provider, action: "exchange" },
          body: state === undefined ? given : { ...given, state }
        })
      )
    } catch (error) {
      onError(error as ApiError)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <div class="stack sign-in">
      {answer.authUrl !== undefined && (
        <p>
          <OutLink href={answer.authUrl} name={words.signIn.open} />
        </p>
      )}
      {comesBack ? (
        <>
          <p>{words.signIn.comesBack}</p>
          <Waiting answer={answer} onCancel={onCancel} />
        </>
      ) : (
        <form class="stack" onSubmit={(event) => void finish(event)}>
          <Entry name={words.signIn.paste} hint={words.signIn.pasteHint} type="password" value={code} />
          <div class="buttons">
            <button type="submit" class="button main-action" disabled={isBusy.value || code.value.trim() === ""}>
              {words.signIn.finish}
            </button>
            <button type="button" class="button" onClick={onCancel}>
              {words.signIn.cancel}
            </button>
          </div>
        </form>
      )}
    </div>
  )
}

interface BeginProperties {
  readonly hasName: boolean
  readonly isBusy: boolean
  readonly run: (action: string, body: Readonly<Record<string, string>>) => void
  readonly action: "device-code" | "authorize"
}

/** Members that were typed. */
const typed = (members: Readonly<Record<string, Signal<string>>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, { value }]) => (value.trim() === "" ? [] : [[name, value.trim()]]))
  )

const Begin = ({ action, hasName, isBusy, run }: BeginProperties) => {
  const [name, clientId, clientSecret] = [useSignal(""), useSignal(""), useSignal("")]
  const [accessToken, refreshToken] = [useSignal(""), useSignal("")]
  return (
    <>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          run(action, typed({ name, clientId, clientSecret }))
        }}
      >
        {hasName && <Entry name={words.signIn.name} value={name} />}
        <Entry name={words.signIn.clientId} hint={words.signIn.clientIdHint} value={clientId} />
        <Entry
          name={words.signIn.clientSecret}
          hint={words.signIn.clientSecretHint}
          type="password"
          value={clientSecret}
        />
        <div class="buttons">
          <button type="submit" class="button main-action" disabled={isBusy}>
            {isBusy ? words.signIn.beginning : words.signIn.begin}
          </button>
        </div>
      </form>
      <details>
        <summary>{words.signIn.tokens}</summary>
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault()
            run("import-token", typed({ name, clientId, clientSecret, accessToken, refreshToken }))
          }}
        >
          <Entry name={words.signIn.accessToken} type="password" value={accessToken} isRequired />
          <Entry
            name={words.signIn.refreshToken}
            hint={words.signIn.refreshTokenHint}
            type="password"
            value={refreshToken}
          />
          <div class="buttons">
            <button type="submit" class="button" disabled={isBusy || accessToken.value === ""}>
              {words.signIn.keep}
            </button>
          </div>
        </form>
      </details>
    </>
  )
}

export const SignIn = ({ connectionId, how, onConnected, provider }: Properties) => {
  const pending = useSignal<Answer | null>(null)
  const error = useSignal<ApiError | null>(null)
  const isBusy = useSignal(false)
  const cancel = (): void => {
    const sessionId = pending.peek()?.sessionId
    pending.value = null
    if (sessionId !== undefined) {
      void oauthAct({ path: { provider, action: "cancel" }, body: { sessionId } }).catch(() => undefined)
    }
  }
  // What nobody waits for any more is ended.
  useEffect(() => cancel, [])
  const take = (answer: Answer): void => {
    error.value = null
    if (answer.status === "connected" && answer.connection !== undefined) {
      pending.value = null
      onConnected(answer.connection)
    } else pending.value = answer
  }
  const fail = (failure: ApiError): void => {
    error.value = failure
    pending.value = null
  }
  const run = async (action: string, given: Readonly<Record<string, string>>): Promise<void> => {
    if (isBusy.value) return
    isBusy.value = true
    error.value = null
    try {
      const body = connectionId === null ? given : { ...given, connectionId }
      take(await oauthAct({ path: { provider, action }, body }))
    } catch (failure) {
      fail(failure as ApiError)
    } finally {
      isBusy.value = false
    }
  }
  const answer = pending.value
  const shared = { provider, onAnswer: take, onError: fail, onCancel: cancel }
  return (
    <div class="stack">
      {answer === null ? (
        <Begin
          action={how === "device" ? "device-code" : "authorize"}
          hasName={connectionId === null}
          isBusy={isBusy.value}
          run={(action, body) => void run(action, body)}
        />
      ) : answer.userCode === undefined ? (
        <Browser key={answer.sessionId} answer={answer} {...shared} />
      ) : (
        <Device key={answer.sessionId} answer={answer} {...shared} />
      )}
      {error.value !== null && <Failure error={error.value} />}
    </div>
  )
}
