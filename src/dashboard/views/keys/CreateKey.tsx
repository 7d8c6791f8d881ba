/** Creates a key, with a budget where one is given. */
import { useSignal } from "@preact/signals"
import { keysCreate, limitsSetBudget } from "../../api/calls.generated.ts"
import { Dialog } from "../../ui/dialogs/Dialog.tsx"
import { Failure } from "../../ui/Failure.tsx"
import { useWork } from "../../ui/useWork.ts"
import { words as common } from "../../words/common.ts"
import { words } from "../../words/keys.ts"
import { OwnerFields, ownersOf } from "./OwnerFields.tsx"
import { Secret } from "./Secret.tsx"

interface Properties {
  readonly isOpen: boolean
  readonly onClose: () => void
}

export const CreateKey = ({ isOpen, onClose }: Properties) => {
  const name = useSignal("")
  const dailyUsd = useSignal("")
  const userId = useSignal("")
  const teamId = useSignal("")
  const secret = useSignal<string | null>(null)
  const { forget, isBusy, problem: error, run } = useWork(["keys", "budgets"], true)
  const create = (): void =>
    void run(async () => {
      const made = await keysCreate({ body: { name: name.value, ...ownersOf(userId.value, teamId.value) } })
      secret.value = made.secret
      const limit = Number(dailyUsd.value)
      if (dailyUsd.value !== "" && limit > 0) {
        await limitsSetBudget({ body: { apiKeyId: made.key.id, dailyLimitUsd: limit } })
      }
    })
  const close = (): void => {
    secret.value = null
    name.value = ""
    dailyUsd.value = ""
    forget()
    onClose()
  }
  return (
    <Dialog title={secret.value === null ? words.create : words.made(name.value)} isOpen={isOpen} onClose={close}>
      {error.value !== null && <Failure error={error.value} />}
      {secret.value === null ? (
        <form
          class="stack"
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            create()
          }}
        >
          <div class="field">
            <label for="key-name">{words.name}</label>
            <input
              id="key-name"
              class="input"
              autocomplete="off"
              aria-describedby="key-name-hint"
              value={name.value}
              onInput={(event) => {
                name.value = event.currentTarget.value
              }}
            />
            <p id="key-name-hint" class="hint">
              {words.nameHint}
            </p>
          </div>
          <div class="field">
            <label for="key-limit">{words.dailyUsd}</label>
            <input
              id="key-limit"
              class="input"
              type="number"
              min={0}
              step="any"
              aria-describedby="key-limit-hint"
              value={dailyUsd.value}
              onInput={(event) => {
                dailyUsd.value = event.currentTarget.value
              }}
            />
            <p id="key-limit-hint" class="hint">
              {words.dailyHint}
            </p>
          </div>
          <OwnerFields isOpen={isOpen} userId={userId} teamId={teamId} />
          <div class="buttons">
            <button type="submit" class="button main-action" disabled={isBusy.value}>
              {words.create}
            </button>
            <button type="button" class="button" onClick={close}>
              {common.cancel}
            </button>
          </div>
        </form>
      ) : (
        <Secret secret={secret.value} onClose={close} />
      )}
    </Dialog>
  )
}
