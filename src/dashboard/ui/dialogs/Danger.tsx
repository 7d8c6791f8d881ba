/** Asks before what cannot be undone: says in one sentence what will happen, and lets it happen when the name was typed. */
import { useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import { words } from "../../words/common.ts"
import { typing } from "../handlers.ts"
import { Dialog } from "./Dialog.tsx"
import { visible } from "../format.ts"
import { useWork } from "../useWork.ts"

interface Properties {
  readonly title: string
  /** Consequence, in one sentence. */
  readonly means: string
  /** Has to be typed. */
  readonly name: string
  /** The word on the button, such as "Delete". */
  readonly verb: string
  readonly isOpen: boolean
  readonly onClose: () => void
  /** Does it; the dialog closes when it is done, and stays with the reason when it is refused. */
  readonly run: () => Promise<void>
}

const Asked = ({ means, name, onClose, run, verb }: Properties) => {
  const typed = useSignal("")
  const { isBusy, problem, run: work } = useWork([], true)
  const id = useId()
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (typed.value === name && (await work(run))) onClose()
  }
  return (
    <form class="stack" onSubmit={(event) => void submit(event)}>
      <p>{means}</p>
      <div class="field">
        <label for={id}>{words.typeName(visible(name))}</label>
        <input
          id={id}
          class="input"
          autocomplete="off"
          spellcheck={false}
          value={typed.value}
          onInput={typing(typed)}
        />
      </div>
      {problem.value !== null && (
        <p class="problem" role="alert">
          {visible(problem.value.message)}
        </p>
      )}
      <div class="buttons">
        <button type="submit" class="button danger" disabled={isBusy.value || typed.value !== name}>
          {verb}
        </button>
        <button type="button" class="button" onClick={onClose}>
          {words.cancel}
        </button>
      </div>
    </form>
  )
}

export const Danger = (properties: Properties) => (
  <Dialog title={properties.title} isOpen={properties.isOpen} onClose={properties.onClose}>
    <Asked {...properties} />
  </Dialog>
)
