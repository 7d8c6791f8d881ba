/** One batch: where it stands, how many of its lines are done, and its results. */
import { useSignal } from "@preact/signals"
import { type Batch, cancelBatch, contentOf, deleteBatch, type Owner } from "../../../api/batches.ts"
import { refresh } from "../../../api/queries.ts"
import { download } from "../../../api/raw.ts"
import { jobs } from "../../../live/jobs.ts"
import { setting } from "../../../ui/handlers.ts"
import { Danger } from "../../../ui/dialogs/Danger.tsx"
import { JobProgress } from "../../../ui/jobs/Jobs.tsx"
import { type Kind, State } from "../../../ui/State.tsx"
import { Time } from "../../../ui/Time.tsx"
import { count, visible } from "../../../ui/format.ts"
import { words } from "../../../words/system/batches.ts"
import { useWork } from "../../../ui/useWork.ts"

const kinds: Readonly<Record<Batch["status"], Kind>> = {
  validating: "trial",
  in_progress: "trial",
  finalizing: "trial",
  cancelling: "warning",
  completed: "good",
  failed: "bad",
  expired: "bad",
  cancelled: "quiet"
}

const running: ReadonlySet<string> = new Set(["validating", "in_progress", "finalizing", "cancelling"])

const iso = (seconds: number): string => new Date(seconds * 1_000).toISOString()

/** Shows how far it is: as the live feed tells it, else as it was when the list was loaded. */
const Progress = ({ batch }: { readonly batch: Batch }) => {
  const told = jobs.value.find(({ id, kind }) => kind === "batch" && id === batch.id)
  const { completed, failed, total } = batch.request_counts
  if (running.has(batch.status)) {
    return <JobProgress done={told?.done ?? completed + failed} total={told?.total ?? (total === 0 ? null : total)} />
  }
  return (
    <span>
      {words.answered(completed, total)}
      {failed > 0 && (
        <>
          {" "}
          <State kind="warning">{words.failed(failed)}</State>
        </>
      )}
    </span>
  )
}

interface Properties {
  readonly batch: Batch
  readonly owner: Owner
}

const Actions = ({ batch, owner }: Properties) => {
  const asked = useSignal<"cancel" | "delete" | null>(null)
  const { isBusy, run } = useWork([])
  const isRunning = running.has(batch.status)
  const isCancelling = asked.value === "cancel"
  const results = [
    [words.results, batch.output_file_id, "output"],
    [words.errors, batch.error_file_id, "errors"]
  ] as const
  return (
    <>
      <span class="buttons">
        {results.map(
          ([name, fileId, part]) =>
            fileId !== null && (
              <button
                key={part}
                type="button"
                class="button"
                disabled={isBusy.value}
                onClick={() =>
                  void run(() => download(contentOf(fileId), `${batch.id}-${part}.jsonl`, { asKey: owner }))
                }
              >
                {name}
              </button>
            )
        )}
        <button
          key={isRunning ? "cancel" : "delete"}
          type="button"
          class="button danger"
          disabled={batch.status === "cancelling"}
          onClick={() => {
            asked.value = isRunning ? "cancel" : "delete"
          }}
        >
          {isRunning ? words.cancel : words.remove}
        </button>
      </span>
      <Danger
        title={isCancelling ? words.cancelTitle : words.removeTitle}
        means={isCancelling ? words.cancelMeans : words.removeMeans}
        name={batch.id}
        verb={isCancelling ? words.cancel : words.remove}
        isOpen={asked.value !== null}
        onClose={setting(asked, null)}
        run={async () => {
          await (isCancelling ? cancelBatch(owner, batch.id) : deleteBatch(owner, batch.id))
          void refresh("batches")
        }}
      />
    </>
  )
}

export const BatchRow = ({ batch, owner }: Properties) => {
  const problem = batch.errors?.data[0]?.message
  return (
    <tr>
      <td>
        <Time at={iso(batch.created_at)} />
        <br />
        <code class="quiet">{visible(batch.id)}</code>
      </td>
      <td>
        <code>{batch.endpoint}</code>
      </td>
      <td>
        <State kind={kinds[batch.status]}>{words.states[batch.status]}</State>
        {problem !== undefined && <p class="problem">{visible(problem)}</p>}
        {batch.errors !== null && batch.errors.data.length > 1 && (
          <p class="quiet">{words.moreProblems(count(batch.errors.data.length - 1))}</p>
        )}
      </td>
      <td>
        <Progress batch={batch} />
      </td>
      <td>
        <Actions batch={batch} owner={owner} />
      </td>
    </tr>
  )
}
