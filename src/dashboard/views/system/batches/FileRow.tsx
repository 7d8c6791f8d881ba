/** One stored file. */
import { useSignal } from "@preact/signals"
import { contentOf, deleteFile, type Owner, type StoredFile } from "../../../api/batches.ts"
import { refresh } from "../../../api/queries.ts"
import { download } from "../../../api/raw.ts"
import { Danger } from "../../../ui/Danger.tsx"
import { Time } from "../../../ui/Time.tsx"
import { visible } from "../../../ui/format.ts"
import { words } from "../../../words/system/batches.ts"
import { size } from "../parts/size.ts"
import { useWork } from "../parts/useWork.ts"

export const FileRow = ({ file, owner }: { readonly file: StoredFile; readonly owner: Owner }) => {
  const isAsked = useSignal(false)
  const { isBusy, run } = useWork([])
  return (
    <tr>
      <td class="wide-cell">
        {visible(file.filename)}
        <br />
        <code class="quiet">{visible(file.id)}</code>
      </td>
      <td>{visible(file.purpose)}</td>
      <td class="number">{size(file.bytes)}</td>
      <td>
        <Time at={new Date(file.created_at * 1_000).toISOString()} />
      </td>
      <td>
        <span class="buttons">
          <button
            type="button"
            class="button"
            disabled={isBusy.value}
            onClick={() => void run(() => download(contentOf(file.id), file.filename, { asKey: owner }))}
          >
            {words.download}
          </button>
          <button
            type="button"
            class="button danger"
            onClick={() => {
              isAsked.value = true
            }}
          >
            {words.remove}
          </button>
        </span>
        <Danger
          title={words.removeFileTitle}
          means={words.removeFileMeans}
          name={file.filename}
          verb={words.remove}
          isOpen={isAsked.value}
          onClose={() => {
            isAsked.value = false
          }}
          run={async () => {
            await deleteFile(owner, file.id)
            void refresh("files")
          }}
        />
      </td>
    </tr>
  )
}
