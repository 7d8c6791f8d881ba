/** Offers to choose an admin password where none was ever set: who was let in by a code of the owner's could not log in from another browser. */
import { useSignal } from "@preact/signals"
import { authChangePassword } from "../api/calls.generated.ts"
import { signedIn } from "../api/rights.ts"
import { hasPassword, sessionState } from "../api/session.ts"
import { Dialog } from "../ui/dialogs/Dialog.tsx"
import { visible } from "../ui/format.ts"
import { useWork } from "../ui/useWork.ts"
import { words } from "../words/shell.ts"

const Form = ({ onLater }: { readonly onLater: () => void }) => {
  const password = useSignal("")
  const { isBusy, problem, run } = useWork([], true)
  const save = async (event: Event): Promise<void> => {
    event.preventDefault()
    await run(async () => {
      await authChangePassword({ body: { password: password.value } })
      hasPassword.value = true
    })
  }
  return (
    <form class="stack" noValidate onSubmit={(event) => void save(event)}>
      <p>{words.password.why}</p>
      <div class="field">
        <label for="new-password">{words.password.field}</label>
        <input
          id="new-password"
          class="input"
          type="password"
          autocomplete="new-password"
          aria-invalid={problem.value !== null}
          aria-describedby="new-password-hint new-password-problem"
          value={password.value}
          onInput={(event) => {
            password.value = event.currentTarget.value
          }}
        />
        <p id="new-password-hint" class="hint">
          {words.password.hint}
        </p>
        <p id="new-password-problem" class="problem" role="alert">
          {problem.value === null ? null : visible(problem.value.message)}
        </p>
      </div>
      <div class="buttons">
        <button type="submit" class="button main-action" disabled={isBusy.value || password.value === ""}>
          {words.password.save}
        </button>
        <button type="button" class="button" onClick={onLater}>
          {words.password.later}
        </button>
      </div>
    </form>
  )
}

export const ChoosePassword = () => {
  const isPutOff = useSignal(false)
  const later = (): void => {
    isPutOff.value = true
  }
  // People sign in by their directory: the password is not theirs.
  const isMissing = !hasPassword.value && signedIn() === null
  const isOpen = sessionState.value === "open" && isMissing && !isPutOff.value
  return (
    <Dialog title={words.password.title} isOpen={isOpen} onClose={later}>
      <Form onLater={later} />
    </Dialog>
  )
}
