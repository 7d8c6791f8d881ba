/** The first question to a new connection: that it works is seen, with its time and cost. */
import { useSignal } from "@preact/signals"
import type { ApiError } from "../../api/ApiError.ts"
import { ask, type Told } from "../../api/ask.ts"
import { providersModels } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Failure } from "../../ui/Failure.tsx"
import { State } from "../../ui/State.tsx"
import { duration, money, visible } from "../../ui/format.ts"
import { placeOf } from "../../ui/places.ts"
import { words } from "../../words/providers.ts"

export interface Saved {
  readonly id: string
  readonly name: string
  readonly provider: string
}

const Question = ({ models, saved }: { readonly saved: Saved; readonly models: ReadonlyArray<string> }) => {
  const prompt = useSignal<string>(words.wizard.firstPrompt)
  const model = useSignal(models[0] ?? "")
  const isBusy = useSignal(false)
  const told = useSignal<Told | null>(null)
  const error = useSignal<ApiError | null>(null)
  const run = async (): Promise<void> => {
    isBusy.value = true
    error.value = null
    told.value = null
    try {
      told.value = await ask({ model: `${saved.provider}/${model.value}`, prompt: prompt.value, asKey: null })
    } catch (failure) {
      error.value = failure as ApiError
    } finally {
      isBusy.value = false
    }
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <div class="field">
        <label for="model">{words.wizard.model}</label>
        <input
          id="model"
          class="input"
          list="models"
          required
          value={model.value}
          onInput={(event) => {
            model.value = event.currentTarget.value
          }}
        />
        <datalist id="models">
          {models.map((id) => (
            <option key={id} value={id} />
          ))}
        </datalist>
      </div>
      <div class="field">
        <label for="prompt">{words.wizard.prompt}</label>
        <textarea
          id="prompt"
          class="input"
          rows={2}
          value={prompt.value}
          onInput={(event) => {
            prompt.value = event.currentTarget.value
          }}
        />
      </div>
      <div class="buttons">
        <button type="submit" class="button main-action" disabled={isBusy.value}>
          {isBusy.value ? words.wizard.asking : words.wizard.ask}
        </button>
      </div>
      {told.value !== null && (
        <div class="card" role="status">
          <p class="told">{visible(told.value.text)}</p>
          <p class="quiet">
            {duration(told.value.ms)}
            {told.value.costUsd !== null && `, ${money(told.value.costUsd)}`}{" "}
            <a href={placeOf(`requests/${told.value.requestId}`)}>{told.value.requestId}</a>
          </p>
        </div>
      )}
      {error.value !== null && <Failure error={error.value} />}
    </form>
  )
}

export const FirstQuestion = ({ saved }: { readonly saved: Saved }) => {
  const models = useAnswer({
    key: ["models", saved.id],
    ask: (signal) => providersModels({ path: { id: saved.id }, signal })
  })
  return (
    <section class="stack" aria-labelledby="question">
      <State kind="good">{words.wizard.saved(saved.name)}</State>
      <h2 id="question">{words.wizard.question}</h2>
      <Answered of={models} height={160}>
        {(answer) => <Question saved={saved} models={answer.models.map(({ id }) => id)} />}
      </Answered>
    </section>
  )
}
