/** Answers the holder of an API key what it may do, what it has used, and how it is used. The key is typed in, and nothing else opens the page. */
import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { limitsMe } from "../../api/calls.generated.ts"
import { askAs, ownKey } from "../../api/own.ts"
import { queries, useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { visible } from "../../ui/format.ts"
import { useWork } from "../../ui/useWork.ts"
import { placeOf } from "../../ui/address/places.ts"
import { words } from "../../words/me.ts"
import { Limits } from "./Limits.tsx"
import { Models } from "./Models.tsx"
import { Requests } from "./Requests.tsx"
import { Spend } from "./Spend.tsx"

const KeyForm = () => {
  const typed = useSignal("")
  const { isBusy, problem, run } = useWork([], true)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [])
  const show = async (): Promise<void> => {
    const key = typed.value.trim()
    if (await run(() => askAs(limitsMe, {}, key))) ownKey.value = key
    else input.current?.select()
  }
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void show()
      }}
    >
      <p>{words.intro}</p>
      <div class="field">
        <label for="own-key">{words.key}</label>
        <input
          id="own-key"
          ref={input}
          class="input"
          type="password"
          autocomplete="off"
          spellcheck={false}
          aria-invalid={problem.value !== null}
          aria-describedby="own-key-problem"
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value
          }}
        />
        <p id="own-key-problem" class="problem" role="alert">
          {problem.value === null ? null : visible(problem.value.message)}
        </p>
      </div>
      <div class="buttons">
        <button type="submit" class="button main-action" disabled={isBusy.value || typed.value.trim() === ""}>
          {isBusy.value ? words.showing : words.show}
        </button>
        <a class="button plain" href={placeOf("")}>
          {words.admin}
        </a>
      </div>
    </form>
  )
}

const forget = (): void => {
  ownKey.value = null
  queries.removeQueries({ queryKey: ["own"] })
}

const Own = () => {
  const usage = useAnswer({ key: ["own", "usage"], ask: (signal) => askAs(limitsMe, { signal }), everyMs: 30_000 })
  return (
    <>
      <header class="view-head">
        <h1>
          <Icon name="keys" /> {visible(usage.value.data?.name ?? words.title)}
        </h1>
        <button type="button" class="button" onClick={forget}>
          <Icon name="leave" /> {words.leave}
        </button>
      </header>
      <Answered of={usage} height={160}>
        {(answer) => <Limits usage={answer} />}
      </Answered>
      <Spend />
      <Requests />
      <Models />
    </>
  )
}

export const Me = () => {
  if (ownKey.value === null) {
    return (
      <main class="login stack">
        <h1>
          <Icon name="keys" /> {words.title}
        </h1>
        <KeyForm />
      </main>
    )
  }
  return (
    <main class="own stack" id="content">
      <Own />
    </main>
  )
}
