/** Answers what is asked without waiting: the batches and files of a key, how far they are, and their results. */
import { useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import { useLocation } from "preact-iso"
import { keysList } from "../../../api/calls.generated.ts"
import { loadBatches, loadFiles, type Owner } from "../../../api/batches.ts"
import { useAnswer } from "../../../api/queries.ts"
import { AddButton } from "../../../ui/AddButton.tsx"
import { opening } from "../../../ui/handlers.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { visible } from "../../../ui/format.ts"
import { words } from "../../../words/system/batches.ts"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Head } from "../parts/Head.tsx"
import { Pages, withQuery } from "../../../ui/parts/Pages.tsx"
import { Table } from "../../../ui/parts/Table.tsx"
import { BatchRow } from "./BatchRow.tsx"
import { FileRow } from "./FileRow.tsx"
import { NewBatch } from "./NewBatch.tsx"

/** Keys that can be chosen by name; any other by its id in the address. */
const mostKeys = 200

const ChooseKey = ({ owner }: { readonly owner: Owner }) => {
  const { path, route } = useLocation()
  const id = useId()
  const keys = useAnswer({
    key: ["keys", "to choose", mostKeys],
    ask: (signal) => keysList({ query: { limit: mostKeys }, signal })
  })
  const known = keys.value.data?.keys ?? []
  return (
    <div class="field key-choice">
      <label for={id}>{words.whose}</label>
      <select
        id={id}
        class="input"
        value={owner ?? ""}
        onChange={({ currentTarget }) => route(withQuery(path, {}, { key: currentTarget.value }))}
      >
        <option value="">{words.nobodys}</option>
        {owner !== null && !known.some((key) => key.id === owner) && <option value={owner}>{visible(owner)}</option>}
        {known.map((key) => (
          <option key={key.id} value={key.id}>
            {words.key(visible(key.name))}
          </option>
        ))}
      </select>
    </div>
  )
}

const BatchTable = ({ owner }: { readonly owner: Owner }) => {
  const { query } = useLocation()
  const after = query["after"] ?? ""
  const list = useAnswer({
    key: ["batches", owner, after],
    ask: (signal) => loadBatches(owner, after, signal)
  })
  return (
    <Answered of={list} height={160}>
      {({ data, has_more: hasMore, last_id: lastId }) =>
        data.length === 0 ? (
          <Empty text={words.none} />
        ) : (
          <>
            <Table label={words.list} columns={words.columns}>
              {data.map((batch) => (
                <BatchRow key={batch.id} batch={batch} owner={owner} />
              ))}
            </Table>
            <Pages name="after" before={after === "" ? null : ""} next={hasMore ? lastId : null} />
          </>
        )
      }
    </Answered>
  )
}

const Files = ({ owner }: { readonly owner: Owner }) => {
  const { query } = useLocation()
  const after = query["file"] ?? ""
  const list = useAnswer({ key: ["files", owner, after], ask: (signal) => loadFiles(owner, after, signal) })
  return (
    <section class="stack" aria-label={words.files}>
      <h2>{words.files}</h2>
      <Answered of={list} height={120}>
        {({ data, has_more: hasMore, last_id: lastId }) =>
          data.length === 0 ? (
            <Empty text={words.noFiles} />
          ) : (
            <>
              <Table label={words.files} columns={words.fileColumns} numbers={[2]}>
                {data.map((file) => (
                  <FileRow key={file.id} file={file} owner={owner} />
                ))}
              </Table>
              <Pages name="file" before={after === "" ? null : ""} next={hasMore ? lastId : null} />
            </>
          )
        }
      </Answered>
    </section>
  )
}

export const Batches = () => {
  const { query } = useLocation()
  const owner = query["key"] ?? null
  const isMaking = useSignal(false)
  return (
    <div class="stack">
      <Head title={words.title} hint={words.hint}>
        <AddButton opens={isMaking} label={words.make} />
      </Head>
      <CopyAs call={{ method: "GET", path: "/v1/batches" }} />
      <ChooseKey owner={owner} />
      <BatchTable owner={owner} />
      <Files owner={owner} />
      <NewBatch owner={owner} {...opening(isMaking)} />
    </div>
  )
}
