/** Answers whether one can get back: the backups, how often one is made, and the ways to another machine. */
import { useSignal } from "@preact/signals"
import { useLocation } from "preact-iso"
import type { AnswerOf } from "../../../api/client.ts"
import { backupsCreate, backupsList, backupsRestore } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { addressOf } from "../../../api/raw.ts"
import { jobs } from "../../../live/jobs.ts"
import { setting } from "../../../ui/handlers.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { Danger } from "../../../ui/dialogs/Danger.tsx"
import { JobProgress } from "../../../ui/jobs/Jobs.tsx"
import { State } from "../../../ui/State.tsx"
import { Time } from "../../../ui/Time.tsx"
import { count, exact, visible } from "../../../ui/format.ts"
import { toast } from "../../../ui/toasts.tsx"
import { words } from "../../../words/system/backups.ts"
import { Empty } from "../../../ui/parts/Empty.tsx"
import { Head } from "../parts/Head.tsx"
import { Pages } from "../../../ui/parts/Pages.tsx"
import { size } from "../parts/size.ts"
import { Table } from "../../../ui/parts/Table.tsx"
import { useWork } from "../../../ui/useWork.ts"
import { Schedule } from "./Schedule.tsx"
import { Upload } from "./Upload.tsx"

type Backup = AnswerOf<typeof backupsList>["backups"][number]

const pageRows = 50

const UnderWay = () => {
  const running = jobs.value.filter(({ kind }) => kind === "backup")
  return running.length === 0 ? null : (
    <section class="card now" aria-label={words.underWay}>
      <strong>{words.underWay}</strong>
      {running.map(({ done, id, total }) => (
        <JobProgress key={id} done={done} total={total} />
      ))}
    </section>
  )
}

const Rows = ({ backups, onRestore }: { backups: ReadonlyArray<Backup>; onRestore: (backup: Backup) => void }) => (
  <Table label={words.list} columns={words.columns} numbers={[2, 3]}>
    {backups.map((backup) => (
      <tr key={backup.id}>
        <td>
          <Time at={backup.createdAt} />
          <br />
          <code class="quiet">{visible(backup.id)}</code>
        </td>
        <td>{words.reason(backup.reason)}</td>
        <td class="number">{size(backup.sizeBytes)}</td>
        <td class="number">{count(backup.schemaVersion)}</td>
        <td>
          <button type="button" class="button danger" onClick={() => onRestore(backup)}>
            {words.restore}
          </button>
        </td>
      </tr>
    ))}
  </Table>
)

const Downloads = () => (
  <section class="card stack">
    <h2>{words.elsewhere}</h2>
    <p class="quiet">{words.elsewhereHint}</p>
    <div class="buttons">
      <a class="button" href={addressOf("api/db-backups/export")} download>
        {words.download}
      </a>
      <a class="button" href={addressOf("api/db-backups/exportall")} download>
        {words.downloadAll}
      </a>
      <Upload />
    </div>
  </section>
)

export const Backups = () => {
  const { query } = useLocation()
  const cursor = query["cursor"] ?? ""
  const list = useAnswer({
    key: ["backups", cursor],
    ask: (signal) => backupsList({ query: { limit: pageRows, cursor }, signal })
  })
  const asked = useSignal<Backup | null>(null)
  const { isBusy, run } = useWork(["backups"])
  const restore = async (): Promise<void> => {
    const { preRestoreBackupId } = await backupsRestore({ body: { backupId: asked.value?.id ?? "" } })
    toast("good", words.restored(preRestoreBackupId))
  }
  return (
    <div class="stack">
      <Head title={words.title} hint={words.hint}>
        <button
          type="button"
          class="button main-action"
          disabled={isBusy.value}
          onClick={() => void run(() => backupsCreate(), words.made)}
        >
          {isBusy.value ? words.making : words.make}
        </button>
      </Head>
      <CopyAs call={backupsCreate} />
      <UnderWay />
      <Answered of={list} height={240}>
        {({ backups, nextCursor, total }) =>
          backups.length === 0 ? (
            <Empty text={words.none} />
          ) : (
            <>
              <State kind="quiet" icon="info">
                {words.found(total)}
              </State>
              <Rows
                backups={backups}
                onRestore={(backup) => {
                  asked.value = backup
                }}
              />
              <Pages name="cursor" before={cursor === "" ? null : ""} next={nextCursor} />
            </>
          )
        }
      </Answered>
      <Schedule />
      <Downloads />
      <Danger
        title={words.restoreTitle}
        means={words.restoreMeans(asked.value === null ? "" : exact(asked.value.createdAt))}
        name={asked.value?.id ?? ""}
        verb={words.restore}
        isOpen={asked.value !== null}
        onClose={setting(asked, null)}
        run={restore}
      />
    </div>
  )
}
