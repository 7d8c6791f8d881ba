/** Makes a batch of a file with one request a line. */
import { useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import { createBatch, type Owner, uploadFile } from "../../../api/batches.ts"
import { Dialog } from "../../../ui/dialogs/Dialog.tsx"
import { words } from "../../../words/system/batches.ts"
import { Pick } from "../../../ui/parts/Entry.tsx"
import { FormEnd } from "../parts/FormEnd.tsx"
import { useWork } from "../../../ui/useWork.ts"

const endpoints = [
  "/v1/chat/completions",
  "/v1/responses",
  "/v1/completions",
  "/v1/embeddings",
  "/v1/moderations",
  "/v1/images/generations",
  "/v1/videos/generations"
] as const

interface Properties {
  readonly owner: Owner
  readonly isOpen: boolean
  readonly onClose: () => void
}

const Form = ({ onClose, owner }: Omit<Properties, "isOpen">) => {
  const file = useSignal<File | null>(null)
  const endpoint = useSignal<string>(endpoints[0])
  const id = useId()
  const work = useWork(["batches", "files"], true)
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const { value: chosen } = file
    if (chosen === null) return
    const make = async () => createBatch(owner, (await uploadFile(owner, chosen)).id, endpoint.value)
    if (await work.run(make, words.made)) onClose()
  }
  return (
    <form class="stack" noValidate onSubmit={(event) => void submit(event)}>
      <div class="field">
        <label for={id}>{words.file}</label>
        <input
          id={id}
          class="input"
          type="file"
          accept=".jsonl,application/jsonl"
          aria-describedby={`${id}-hint`}
          onChange={({ currentTarget }) => {
            file.value = currentTarget.files?.[0] ?? null
          }}
        />
        <p id={`${id}-hint`} class="hint">
          {words.fileHint}
        </p>
      </div>
      <pre class="answer">
        {'{"custom_id":"one","method":"POST","url":"/v1/chat/completions","body":{"model":"auto","messages":[…]}}'}
      </pre>
      <Pick name={words.endpoint} value={endpoint} choices={endpoints.map((each) => [each, each])} />
      <FormEnd work={work} verb={words.make} onClose={onClose} isIncomplete={file.value === null} />
    </form>
  )
}

export const NewBatch = ({ isOpen, onClose, owner }: Properties) => (
  <Dialog title={words.make} isOpen={isOpen} onClose={onClose}>
    <Form owner={owner} onClose={onClose} />
  </Dialog>
)
