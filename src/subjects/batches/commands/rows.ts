/** Shared parts of the commands about batches: the routes, the search for batches, and their form for people. */
import * as Args from "@effect/cli/Args"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import { BatchList, BatchObject } from "../../../contract/compat/Batches.ts"
import type { CliFailure } from "../../../cli/Failure.ts"
import { pick } from "../../../cli/flags/Flags.ts"
import type { Target } from "../../../cli/gateway/Client.ts"
import * as Inference from "../../../cli/gateway/Inference.ts"
import * as Column from "../../../cli/output/Column.ts"
import { fields } from "../../../cli/output/Table.ts"

export type Batch = typeof BatchObject.Type

export const batchArg = Args.text({ name: "batch" }).pipe(
  Args.withDescription("Id of a batch, or the beginning of its id.")
)

export const pathOf = (id: string): string => `/v1/batches/${encodeURIComponent(id)}`

export const hint = "'gateway batches list' shows the batches."

const isoOf = (seconds: number | null): string | null =>
  seconds === null ? null : new Date(seconds * 1000).toISOString()

/** Lines that nothing more becomes of. */
export const doneOf = ({ request_counts: { completed, failed } }: Batch): number => completed + failed

export const isOver = ({ status }: Batch): boolean =>
  status === "completed" || status === "failed" || status === "expired" || status === "cancelled"

export const columns: ReadonlyArray<Column.Column<Batch>> = [
  Column.id("ID", ({ id }) => id, { isName: true }),
  Column.text("STATUS", ({ status }) => status),
  Column.text("DONE", (batch) => `${doneOf(batch)}/${batch.request_counts.total}`),
  Column.number("FAILED", ({ request_counts: counts }) => counts.failed),
  Column.text("ENDPOINT", ({ endpoint }) => endpoint),
  Column.time("MADE", ({ created_at: made }) => isoOf(made))
]

/** Most batches of a page. */
const pageBatches = 100

export const list = (to: Target, limit = pageBatches) => {
  const request = HttpClientRequest.setUrlParams(HttpClientRequest.get(`${to.url}/v1/batches`), {
    limit: String(limit)
  })
  return Effect.flatMap(Inference.ask(to, request, null), Inference.jsonOf(to, BatchList))
}

export const retrieve = (to: Target, id: string): Effect.Effect<Batch, CliFailure> =>
  Effect.flatMap(
    Inference.ask(to, HttpClientRequest.get(`${to.url}${pathOf(id)}`), hint),
    Inference.jsonOf(to, BatchObject)
  )

/** Finds the one batch by its id, or the beginning of it. */
export const find = (to: Target, idOrBeginning: string): Effect.Effect<Batch, CliFailure> =>
  /^batch_[\da-f]{32}$/.test(idOrBeginning)
    ? retrieve(to, idOrBeginning)
    : Effect.flatMap(list(to), ({ data }) =>
        pick(
          "batch",
          data.map((batch) => ({ ...batch, name: batch.id })),
          idOrBeginning,
          "gateway batches list"
        )
      )

export const page = (batch: Batch): string => {
  const { error_file_id: errors, output_file_id: output, request_counts: counts } = batch
  return fields([
    ["Id", batch.id],
    ["Status", batch.status],
    ["Endpoint", batch.endpoint],
    ["Lines", `${counts.total}: ${counts.completed} completed, ${counts.failed} failed`],
    ["Input", batch.input_file_id],
    ["Output", output ?? "-"],
    ["Errors", errors ?? "-"],
    ["Made", isoOf(batch.created_at) ?? "-"],
    ["Expires", isoOf(batch.expires_at) ?? "-"],
    ...(batch.errors?.data ?? []).map(({ message }): [string, string] => ["Problem", message])
  ])
}
