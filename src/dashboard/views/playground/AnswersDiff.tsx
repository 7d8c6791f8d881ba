/** Shows what the other answers say in place of the first one. */
import { Dialog } from "../../ui/dialogs/Dialog.tsx"
import { TextDiff } from "../../ui/merge/TextDiff.tsx"
import { visible } from "../../ui/format.ts"
import { words } from "../../words/playground.ts"
import { columns } from "./store.ts"

export const AnswersDiff = ({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) => {
  const [first, ...others] = columns.value.filter(({ run }) => run.value.text !== "")
  return (
    <Dialog title={words.diffTitle} isOpen={isOpen} onClose={onClose}>
      {first !== undefined &&
        others.map((other) => {
          const title = words.diffOf(visible(first.model.value), visible(other.model.value))
          return (
            <div key={other.id} class="stack">
              <h3>{title}</h3>
              <TextDiff label={title} before={first.run.value.text} after={other.run.value.text} />
            </div>
          )
        })}
    </Dialog>
  )
}
