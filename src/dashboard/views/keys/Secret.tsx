/** A secret, shown this once. It is in no storage, address or cache of the page. */
import { Copyable } from "../../ui/copy/Copyable.tsx"
import { State } from "../../ui/State.tsx"
import { words as common } from "../../words/common.ts"
import { words } from "../../words/keys.ts"

interface Properties {
  readonly secret: string
  readonly onClose: () => void
}

export const Secret = ({ onClose, secret }: Properties) => (
  <>
    <State kind="warning">{words.once}</State>
    <Copyable text={secret} />
    <div class="buttons">
      <button type="button" class="button main-action" onClick={onClose}>
        {common.close}
      </button>
    </div>
  </>
)
