/** Creates a webhook; the key of its signatures is shown this once. */
import { useSignal } from "@preact/signals"
import { webhooksCreate } from "../../../api/calls.generated.ts"
import { refresh } from "../../../api/queries.ts"
import { ValuesForm } from "../../../forms/ValuesForm.tsx"
import { Copyable } from "../../../ui/copy/Copyable.tsx"
import { Dialog } from "../../../ui/dialogs/Dialog.tsx"
import { State } from "../../../ui/State.tsx"
import { words as common } from "../../../words/common.ts"
import { words } from "../../../words/system/webhooks.ts"
import { Body } from "../parts/Body.tsx"

const nothing = {}

export const Create = ({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) => {
  const secret = useSignal<string | null>(null)
  const close = (): void => {
    secret.value = null
    onClose()
  }
  return (
    <Dialog title={secret.value === null ? words.create : words.made} isOpen={isOpen} onClose={close}>
      {secret.value === null ? (
        <Body operation="webhooksCreate">
          {(schema) => (
            <ValuesForm
              schema={schema}
              values={nothing}
              verb={words.create}
              canUndo={false}
              save={async (body) => {
                const { webhook } = await webhooksCreate({ body: body as never })
                secret.value = webhook.secret
                void refresh("webhooks")
              }}
              onCancel={close}
            />
          )}
        </Body>
      ) : (
        <>
          <State kind="warning">{words.once}</State>
          <Copyable text={secret.value} />
          <div class="buttons">
            <button type="button" class="button main-action" onClick={close}>
              {common.close}
            </button>
          </div>
        </>
      )}
    </Dialog>
  )
}
