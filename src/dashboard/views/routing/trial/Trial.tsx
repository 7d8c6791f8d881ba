/** Tries a combo before it is saved: the decision now, a simulation with faults, and recorded requests decided anew, side by side. */
import { useSignal } from "@preact/signals"
import { ModelInput } from "../../../ui/ModelInput.tsx"
import { words } from "../../../words/routing.ts"
import type { Editable } from "../editable.ts"
import { DecisionNow } from "./DecisionNow.tsx"
import { Replay } from "./Replay.tsx"
import { Simulation } from "./Simulation.tsx"
import type { Tried } from "./tried.ts"

interface Properties {
  /** Null: it is new. */
  readonly id: string | null
  readonly combo: Editable | null
  /** Name of the combo as it is stored; null: it is not, or is turned off, so that nothing can be compared with it. */
  readonly storedName: string | null
  /** True when it differs from the stored one. */
  readonly isEdited: boolean
}

export const Trial = ({ combo, id, isEdited, storedName }: Properties) => {
  const typed = useSignal<string | null>(null)
  const compareWith = typed.value ?? (isEdited ? (storedName ?? "") : "")
  const isNamed = combo !== null && combo.name !== ""
  const tried: Tried = {
    // One that is turned off is tried as if it were on: what it would do is the question.
    combo: isNamed ? { ...combo, isActive: true, ...(id === null ? {} : { id }) } : null,
    compareWith: compareWith.trim()
  }
  return (
    <section class="trial stack" aria-label={words.trial.title}>
      <header class="view-head">
        <h2>{words.trial.title}</h2>
        <label for="compare-with">{words.trial.compareWith}</label>
        <span class="compare">
          <ModelInput
            id="compare-with"
            placeholder={words.trial.alone}
            value={compareWith}
            onValue={(value) => {
              typed.value = value
            }}
          />
        </span>
      </header>
      <p class="quiet">{isNamed ? words.trial.hint : words.trial.nameFirst}</p>
      <div class="tried">
        <DecisionNow tried={tried} />
        <Simulation tried={tried} />
        <Replay tried={tried} />
      </div>
    </section>
  )
}
