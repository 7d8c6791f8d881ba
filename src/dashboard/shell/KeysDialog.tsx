/** Lists the keys of the page. */
import { Dialog } from "../ui/dialogs/Dialog.tsx"
import { words } from "../words/shell.ts"
import { openEntries } from "./entries.ts"

export const KeysDialog = ({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) => (
  <Dialog title={words.keys.title} isOpen={isOpen} onClose={onClose}>
    <dl class="keys-list">
      {words.keys.list.map(([key, means]) => (
        <>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{means}</dd>
        </>
      ))}
      {openEntries().map(({ key, name }) => (
        <>
          <dt>
            <kbd>g {key}</kbd>
          </dt>
          <dd>{name}</dd>
        </>
      ))}
    </dl>
    <p class="quiet">{words.keys.off}</p>
    <div class="buttons">
      <button type="button" class="button" onClick={onClose}>
        {words.keys.close}
      </button>
    </div>
  </Dialog>
)
