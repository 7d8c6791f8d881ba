/** A sign-in that waits for a person: by a code that is typed elsewhere, or in a browser that brings an answer back or shows it. */
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { ApiError } from "../../../api/ApiError.ts"
import type { AnswerOf } from "../../../api/client.ts"
import { oauthAct } from "../../../api/calls.generated.ts"
import { Copyable } from "../../../ui/copy/Copyable.tsx"
import { Entry } from "../../../ui/parts/Entry.tsx"
import { OutLink } from "../../../ui/parts/OutLink.tsx"
import { useWork } from "../../../ui/useWork.ts"
import { Countdown } from "../../../ui/time/Countdown.tsx"
import { words } from "../../../words/account.ts"

export type Answer = AnswerOf<typeof oauthAct>

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

export const Device = (properties: PendingProperties) => {
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

export const Browser = (properties: PendingProperties) => {
  const { answer, onAnswer, onCancel, onError, provider } = properties
  const comesBack = answer.comesBack === true
  const code = useSignal("")
  const { isBusy, problem, run } = useWork([], true)
  usePoll(properties, comesBack)
  const finish = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (code.value.trim() === "") return
    const { sessionId, state } = answer
    const given = { code: code.value.trim(), ...(sessionId === undefined ? {} : { sessionId }) }
    const body = state === undefined ? given : { ...given, state }
    await run(async () => onAnswer(await oauthAct({ path: { provider, action: "exchange" }, body })))
    if (problem.value !== null) onError(problem.value)
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
