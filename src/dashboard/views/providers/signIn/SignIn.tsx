/**
 * Signing in at a provider: in a browser, by a code that is typed elsewhere, or with tokens from elsewhere. What is pending lives in the gateway for
 * ten minutes; leaving the page ends it.
 */
import { type Signal, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { ApiError } from "../../../api/ApiError.ts"
import { oauthAct } from "../../../api/calls.generated.ts"
import { Failure } from "../../../ui/Failure.tsx"
import { Entry } from "../../../ui/parts/Entry.tsx"
import { useWork } from "../../../ui/useWork.ts"
import { words } from "../../../words/account.ts"
import { type Answer, Browser, Device } from "./Pending.tsx"

export type How = "device" | "browser"

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
  const { isBusy, problem: error, run: work } = useWork([], true)
  const cancel = (): void => {
    const sessionId = pending.peek()?.sessionId
    pending.value = null
    if (sessionId !== undefined) {
      void oauthAct({ path: { provider, action: "cancel" }, body: { sessionId } }).catch(() => undefined)
    }
  }
  // A sign-in whose page was left is ended.
  useEffect(() => cancel, [])
  const take = (answer: Answer): void => {
    if (answer.status === "connected" && answer.connection !== undefined) {
      pending.value = null
      onConnected(answer.connection)
    } else pending.value = answer
  }
  const fail = (failure: ApiError): void => {
    pending.value = null
    void work(() => Promise.reject(failure))
  }
  const run = async (action: string, given: Readonly<Record<string, string>>): Promise<void> => {
    const body = connectionId === null ? given : { ...given, connectionId }
    await work(async () => take(await oauthAct({ path: { provider, action }, body })))
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
