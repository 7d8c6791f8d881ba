/** A first question: that it works is seen, with its time and cost, and where to look why it went there. */
import { useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import { words } from "../../words/question.ts"
import { Failure } from "../Failure.tsx"
import { duration, money, visible } from "../format.ts"
import { placeOf } from "../address/places.ts"
import { useWork } from "../useWork.ts"

export interface Told {
  readonly text: string
  readonly ms: number
  /** Null: no price is known. */
  readonly costUsd: number | null
  /** Null: it stands in no log that has its decision. */
  readonly requestId: string | null
}

interface Properties {
  /** Models to choose from; empty: none is chosen here. */
  readonly models: ReadonlyArray<string>
  readonly firstModel: string
  readonly ask: (question: { readonly model: string; readonly prompt: string }) => Promise<Told>
  readonly onAnswered?: () => void
}

export const Question = ({ ask, firstModel, models, onAnswered }: Properties) => {
  const id = useId()
  const prompt = useSignal<string>(words.first)
  const model = useSignal(firstModel)
  const { isBusy, problem: error, run: work } = useWork([], true)
  const told = useSignal<Told | null>(null)
  const run = async (): Promise<void> => {
    if (prompt.value.trim() === "") return
    await work(async () => {
      told.value = null
      told.value = await ask({ model: model.value.trim(), prompt: prompt.value })
      onAnswered?.()
    })
  }
  return (
    <form
      class="question stack"
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <div class="question-row">
        <div class="field grow">
          <label for={`${id}-prompt`}>{words.prompt}</label>
          <input
            id={`${id}-prompt`}
            class="input"
            type="text"
            autocomplete="off"
            maxLength={4_000}
            value={prompt.value}
            onInput={({ currentTarget }) => {
              prompt.value = currentTarget.value
            }}
          />
        </div>
        {models.length > 0 && (
          <div class="field">
            <label for={`${id}-model`}>{words.model}</label>
            <input
              id={`${id}-model`}
              class="input"
              type="text"
              list={`${id}-models`}
              required
              autocomplete="off"
              spellcheck={false}
              value={model.value}
              onInput={({ currentTarget }) => {
                model.value = currentTarget.value
              }}
            />
            <datalist id={`${id}-models`}>
              {models.map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          </div>
        )}
        <button type="submit" class="button" disabled={isBusy.value}>
          {isBusy.value ? words.asking : words.ask}
        </button>
      </div>
      <div role="status">
        {told.value !== null && (
          <p class="told-answer">
            <q class="told">{visible(told.value.text)}</q>{" "}
            <span class="quiet">
              {duration(told.value.ms)}
              {told.value.costUsd !== null && `, ${money(told.value.costUsd)}`}
            </span>{" "}
            {told.value.requestId !== null && <a href={placeOf(`requests/${told.value.requestId}`)}>{words.why}</a>}
          </p>
        )}
      </div>
      {error.value !== null && <Failure error={error.value} />}
    </form>
  )
}
