/** Answers a person whose command line asks to act as the person: shows what asks, and lets the person allow it or not. */
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { loginsAnswer, loginsLook } from "../../api/calls.generated.ts"
import type { AnswerOf } from "../../api/client.ts"
import { signedIn } from "../../api/rights.ts"
import { takeRequest } from "../../ui/address/waitingLogin.ts"
import { visible } from "../../ui/format.ts"
import { Entry } from "../../ui/parts/Entry.tsx"
import { Prose } from "../../ui/Prose.tsx"
import { State } from "../../ui/State.tsx"
import { useWork } from "../../ui/useWork.ts"
import { words } from "../../words/login.ts"
import { Question } from "./Question.tsx"

type Asking = AnswerOf<typeof loginsLook> & { readonly code: string }

/** The person's own machine: no answer leads the browser elsewhere. */
const ownMachine = "http://127.0.0.1:"

/** Goes back to the command line, which checks that it was this gateway that was allowed. */
const goBack = (redirect: string): void => {
  if (!redirect.startsWith(ownMachine)) throw new Error("The gateway names an address that is not of this machine.")
  const url = new URL(redirect)
  url.searchParams.set("iss", location.host)
  location.assign(url.href)
}

const useLogin = () => {
  const asking = useSignal<Asking | null>(null)
  const said = useSignal<string | null>(null)
  const work = useWork([], true)
  const look = (code: string) =>
    work.run(async () => {
      said.value = null
      asking.value = { ...(await loginsLook({ body: { code } })), code }
    })
  const answer = (allow: boolean) =>
    work.run(async () => {
      const code = asking.value?.code ?? ""
      const { redirect } = await loginsAnswer({ body: { code, allow } })
      asking.value = null
      said.value = redirect !== null ? words.back : allow ? words.allowed : words.refused
      if (redirect !== null) goBack(redirect)
    })
  useEffect(() => {
    const code = takeRequest()
    if (code !== null && signedIn() !== null) void look(code)
  }, [])
  return { asking, said, look, answer, work }
}

const Ask = ({ isBusy, look }: { readonly isBusy: boolean; readonly look: (code: string) => unknown }) => {
  const code = useSignal("")
  const submit = (event: Event): void => {
    event.preventDefault()
    void look(code.value)
  }
  return (
    <form class="stack" onSubmit={submit}>
      <Entry name={words.code} hint={words.hint} value={code} isRequired />
      <div class="buttons">
        <button type="submit" class="button main-action" disabled={isBusy}>
          {isBusy ? words.wait : words.look}
        </button>
      </div>
    </form>
  )
}

export const CommandLine = () => {
  const { answer, asking, look, said, work } = useLogin()
  const person = signedIn()
  const question = asking.value
  return (
    <div class="own-view stack">
      <header class="view-head">
        <h1>{words.title}</h1>
      </header>
      {person === null ? (
        <p>
          <Prose text={words.noPerson} />
        </p>
      ) : (
        <section class="card stack" aria-label={words.title}>
          {question === null ? (
            <>
              <p>
                <Prose text={words.intro} />
              </p>
              <Ask isBusy={work.isBusy.value} look={look} />
            </>
          ) : (
            <Question asking={question} name={visible(person.name ?? "")} isBusy={work.isBusy.value} answer={answer} />
          )}
          <p role="status">{said.value !== null && <State kind="good">{said.value}</State>}</p>
          <p role="alert" class="problem">
            {work.problem.value !== null && visible(work.problem.value.message)}
          </p>
        </section>
      )}
    </div>
  )
}
