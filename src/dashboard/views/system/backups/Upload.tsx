/** Replaces the database by a file, after the name of the file was typed. */
import { useSignal } from "@preact/signals"
import { useRef } from "preact/hooks"
import type { AnswerOf } from "../../../api/client.ts"
import type { backupsImport } from "../../../api/calls.generated.ts"
import { queries } from "../../../api/queries.ts"
import { raw } from "../../../api/raw.ts"
import { Danger } from "../../../ui/dialogs/Danger.tsx"
import { toast } from "../../../ui/toasts.tsx"
import { words } from "../../../words/system/backups.ts"

export const Upload = () => {
  const input = useRef<HTMLInputElement>(null)
  const file = useSignal<File | null>(null)
  const close = (): void => {
    file.value = null
    if (input.current !== null) input.current.value = ""
  }
  const send = async (): Promise<void> => {
    const response = await raw("api/db-backups/import", {
      method: "POST",
      body: file.value,
      contentType: "application/octet-stream"
    })
    const { preImportBackupId } = (await response.json()) as AnswerOf<typeof backupsImport>
    toast("good", words.restored(preImportBackupId))
    void queries.invalidateQueries()
  }
  return (
    <>
      <label class="button danger file-button">
        {words.upload}
        <input
          ref={input}
          type="file"
          class="visually-hidden"
          onChange={({ currentTarget }) => {
            file.value = currentTarget.files?.[0] ?? null
          }}
        />
      </label>
      <Danger
        title={words.uploadTitle}
        means={words.uploadMeans}
        name={file.value?.name ?? ""}
        verb={words.replace}
        isOpen={file.value !== null}
        onClose={close}
        run={send}
      />
    </>
  )
}
