/** Puts a suite to a model or combo, and to another one beside it where they are to be compared. */
import { useSignal } from "@preact/signals"
import { useLocation } from "preact-iso"
import { evalsStart } from "../../../api/calls.generated.ts"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { Dialog } from "../../../ui/dialogs/Dialog.tsx"
import { visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/system/evals.ts"
import { Entry, Pick } from "../../../ui/parts/Entry.tsx"
import { FormEnd } from "../parts/FormEnd.tsx"
import { useWork } from "../../../ui/useWork.ts"
import type { Suite } from "./RunState.tsx"

interface Properties {
  readonly suites: ReadonlyArray<Suite>
  /** Suite to begin with; empty: the first. Null: the dialog is closed. */
  readonly chosen: string | null
  readonly onClose: () => void
}

const types = ["model", "combo"] as const

const typeOf = (text: string): (typeof types)[number] => (text === "combo" ? "combo" : "model")

const typeChoices = types.map((each) => [each, words.types[each]] as const)

const Form = ({ chosen, onClose, suites }: Properties) => {
  const { route } = useLocation()
  const suite = useSignal(chosen === null || chosen === "" ? (suites[0]?.id ?? "") : chosen)
  const type = useSignal("model")
  const target = useSignal("")
  const otherType = useSignal("model")
  const other = useSignal("")
  const work = useWork(["evals"], true)
  const body = {
    suiteId: suite.value,
    target: { type: typeOf(type.value), id: target.value.trim() },
    ...(other.value.trim() === "" ? {} : { compareTarget: { type: typeOf(otherType.value), id: other.value.trim() } })
  }
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    let id = ""
    const start = async (): Promise<void> => {
      const started = await evalsStart({ body })
      id = started.run.id
    }
    if (!(await work.run(start))) return
    onClose()
    route(placeOf(`system/evaluations/${id}`))
  }
  return (
    <form class="stack" noValidate onSubmit={(event) => void submit(event)}>
      <Pick
        name={words.suite}
        value={suite}
        choices={suites.map(({ cases, id, name }) => [id, words.suiteChoice(visible(name), cases.length)])}
      />
      <div class="parameters">
        <Pick name={words.what} value={type} choices={typeChoices} />
        <Entry name={words.target} value={target} isRequired placeholder="openai/gpt-4o-mini" />
      </div>
      <div class="parameters">
        <Pick name={words.otherWhat} value={otherType} choices={typeChoices} />
        <Entry name={words.other} value={other} hint={words.otherHint} />
      </div>
      <CopyAs call={evalsStart} body={body} />
      <p class="quiet">{words.costs}</p>
      <FormEnd work={work} verb={words.run} onClose={onClose} isIncomplete={target.value.trim() === ""} />
    </form>
  )
}

export const RunSuite = (properties: Properties) => (
  <Dialog title={words.runSuite} isOpen={properties.chosen !== null} onClose={properties.onClose}>
    <Form {...properties} />
  </Dialog>
)
