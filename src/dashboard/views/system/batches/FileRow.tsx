/** One stored file. */
import { contentOf, deleteFile, type Owner, type StoredFile } from "../../../api/batches.ts"
import { refresh } from "../../../api/queries.ts"
import { download } from "../../../api/raw.ts"
import { Time } from "../../../ui/Time.tsx"
import { visible } from "../../../ui/format.ts"
import { words } from "../../../words/system/batches.ts"
import { size } from "../parts/size.ts"
import { DangerButton } from "../../../ui/parts/DangerButton.tsx"
import { useWork } from "../../../ui/useWork.ts"

export const FileRow = ({ file, owner }: { readonly file: StoredFile; readonly owner: Owner }) => {
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
          <DangerButton
            title={words.removeFileTitle}
            means={words.removeFileMeans}
            name={file.filename}
            verb={words.remove}
            run={async () => {
              await deleteFile(owner, file.id)
              void refresh("files")
            }}
          />
        </span>
      </td>
    </tr>
  )
}
