/** The login: a page of its own at first, a dialog over the view when a session has ended, so that nothing typed is lost. */
import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { authLogin, signInOffered } from "../api/calls.generated.ts"
import { addressOf } from "../api/raw.ts"
import { queries } from "../api/queries.ts"
import { learnMe } from "../api/rights.ts"
import { hasPassword, opened, sessionState } from "../api/session.ts"
import { tellTabs } from "../api/tabs.ts"
import { learnSetup } from "./begin.ts"
import { Icon } from "../ui/Icon.tsx"
import { placeOf } from "../ui/address/places.ts"
import { waitingLogin } from "../ui/address/waitingLogin.ts"
import { State } from "../ui/State.tsx"
import { useWork } from "../ui/useWork.ts"
import { words } from "../words/shell.ts"

const LoginForm = () => {
  const password = useSignal("")
  const { isBusy, problem, run } = useWork([], true)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [])
  const logIn = async (): Promise<void> => {
    const isIn = await run(async () => {
      const { csrfToken } = await authLogin({ body: { password: password.value } })
      // Another gateway may answer by now: nothing of the one before is shown again.
      queries.removeQueries({ type: "inactive" })
      await learnMe()
      opened(csrfToken)
      tellTabs()
      void queries.invalidateQueries()
    })
    if (!isIn) input.current?.select()
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    void logIn()
  }
  return (
    <form class="stack" onSubmit={submit}>
      <div class="field">
        <label for="password">{words.login.password}</label>
        <input
          id="password"
          ref={input}
          class="input"
          type="password"
          autocomplete="current-password"
          required
          aria-invalid={problem.value !== null}
          aria-describedby="password-problem"
          value={password.value}
          onInput={(event) => {
            password.value = event.currentTarget.value
          }}
        />
        <p id="password-problem" class="problem" role="alert">
          {problem.value?.message}
        </p>
      </div>
      <div class="buttons">
        <button type="submit" class="button main-action" disabled={isBusy.value}>
          {isBusy.value ? words.login.wait : words.login.submit}
        </button>
      </div>
    </form>
  )
}

/** Buttons of the issuers that sign people in; nothing where there is none. */
const Issuers = () => {
  const issuers = useSignal<ReadonlyArray<{ readonly id: string; readonly name: string }>>([])
  useEffect(() => {
    const learn = async (): Promise<void> => {
      try {
        issuers.value = (await signInOffered()).issuers
      } catch {
        // The gateway is away: the form says so.
      }
    }
    void learn()
  }, [])
  return issuers.value.length === 0 ? null : (
    <ul class="stack plain" aria-label={words.login.issuers}>
      {issuers.value.map(({ id, name }) => (
        <li key={id}>
          <a
            class="button"
            href={addressOf(`api/sign-in/${encodeURIComponent(id)}/begin${waitingLogin()}`)}
            target="_self"
          >
            {words.login.by(name)}
          </a>
        </li>
      ))}
    </ul>
  )
}

const NoPassword = () => (
  <div class="stack">
    <p>{words.login.noPassword}</p>
    <pre>
      <code>{words.login.command}</code>
    </pre>
    <p class="quiet">{words.login.opened}</p>
  </div>
)

/** The first page without a session. */
export const LoginPage = () => (
  <main class="login stack">
    <h1>
      <Icon name="live" /> {words.title}
    </h1>
    <Issuers />
    {hasPassword.value ? <LoginForm /> : <NoPassword />}
    <p>
      <a href={placeOf("me")}>{words.login.own}</a>
    </p>
  </main>
)

/** Asks to log in over the page, when its session has ended. */
export const LoginAgain = () => {
  const dialog = useRef<HTMLDialogElement>(null)
  const isOver = sessionState.value === "over"
  useEffect(() => {
    if (isOver) {
      void learnSetup()
      dialog.current?.showModal()
    } else dialog.current?.close()
  }, [isOver])
  return (
    <dialog class="sheet stack" ref={dialog} aria-labelledby="login-again" onCancel={(event) => event.preventDefault()}>
      <h2 id="login-again">{words.login.title}</h2>
      <State kind="warning">{words.login.again}</State>
      {isOver && <Issuers />}
      {isOver && (hasPassword.value ? <LoginForm /> : <NoPassword />)}
    </dialog>
  )
}
