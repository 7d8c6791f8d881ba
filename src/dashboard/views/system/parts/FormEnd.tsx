/** The end of a form in a dialog: why it was refused, the button that sends it, and the way out. */
import type { ComponentChildren } from "preact"
import { Failure } from "../../../ui/Failure.tsx"
import { words as common } from "../../../words/common.ts"
import { words } from "../../../words/parts.ts"
import type { Work } from "../../../ui/useWork.ts"

interface Properties {
  readonly work: Work
  readonly verb: string
  /** Nothing can be sent yet. */
  readonly isIncomplete?: boolean
  readonly onClose: () => void
  /** Other buttons. */
  readonly children?: ComponentChildren
}

export const FormEnd = ({ children, isIncomplete = false, onClose, verb, work: { isBusy, problem } }: Properties) => (
  <>
    {problem.value !== null && <Failure error={problem.value} />}
    <div class="buttons">
      <button type="submit" class="button main-action" disabled={isBusy.value || isIncomplete}>
        {isBusy.value ? words.wait : verb}
      </button>
      {children}
      <button type="button" class="button" onClick={onClose}>
        {common.cancel}
      </button>
    </div>
  </>
)
