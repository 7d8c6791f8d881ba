/** Has a model improve the prompt, and shows what would change before it is taken. */
import { useSignal } from "@preact/signals"
import type { AnswerOf } from "../../api/client.ts"
import { playgroundImprovePrompt } from "../../api/calls.generated.ts"
import { Dialog } from "../../ui/dialogs/Dialog.tsx"
import { Failure } from "../../ui/Failure.tsx"
import { TextDiff } from "../../ui/merge/TextDiff.tsx"
import { useWork } from "../../ui/useWork.ts"
import { words } from "../../words/playground.ts"
import { columns, draft } from "./store.ts"

type Improved = AnswerOf<typeof playgroundImprovePrompt>

const Form = ({ onClose }: { readonly onClose: () => void }) => {
  const model = useSignal(columns.value[0]?.model.value ?? "auto")
  const tone = useSignal("")
  const { isBusy, problem: error, run } = useWork([], true)
  const improved = useSignal<Improved | null>(null)
  const { prompt, system } = draft.value
  const improve = (): void =>
    void run(async () => {
      improved.value = null
      improved.value = await playgroundImprovePrompt({
        body: {
          prompt,
          model: model.value,
          ...(system === "" ? {} : { system }),
          ...(tone.value.trim() === "" ? {} : { tone: tone.value.trim() })
        }
      })
    })
  const take = ({ improvedPrompt, improvedSystem }: Improved): void => {
    draft.value = { ...draft.value, prompt: improvedPrompt, system: improvedSystem ?? system }
    onClose()
  }
  const found = improved.value
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        improve()
      }}
    >
      <div class="parameters">
        <div class="field">
          <label for="improve-model">{words.improveModel}</label>
          <input
            id="improve-model"
            class="input"
            list="playground-models"
            value={model.value}
            onInput={(event) => {
              model.value = event.currentTarget.value
            }}
          />
        </div>
        <div class="field">
          <label for="improve-tone">{words.tone}</label>
          <input
            id="improve-tone"
            class="input"
            placeholder={words.toneHint}
            value={tone.value}
            onInput={(event) => {
              tone.value = event.currentTarget.value
            }}
          />
        </div>
      </div>
      {error.value !== null && <Failure error={error.value} />}
      {found !== null && (
        <>
          <h3>{words.improvedPrompt}</h3>
          <TextDiff label={words.improvedPrompt} before={prompt} after={found.improvedPrompt} />
          {found.improvedSystem !== undefined && (
            <>
              <h3>{words.improvedSystem}</h3>
              <TextDiff label={words.improvedSystem} before={system} after={found.improvedSystem} />
            </>
          )}
        </>
      )}
      <div class="buttons">
        {found !== null && (
          <button key="take" type="button" class="button main-action" onClick={() => take(found)}>
            {words.takeIt}
          </button>
        )}
        <button key="improve" type="submit" class="button" disabled={isBusy.value || prompt.trim() === ""}>
          {isBusy.value ? words.improving : words.improve}
        </button>
        <button key="leave" type="button" class="button" onClick={onClose}>
          {words.leaveIt}
        </button>
      </div>
    </form>
  )
}

export const Improve = ({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) => (
  <Dialog title={words.improve} isOpen={isOpen} onClose={onClose}>
    <Form onClose={onClose} />
  </Dialog>
)
