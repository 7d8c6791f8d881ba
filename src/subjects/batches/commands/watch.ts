/** `gateway batches watch`: how a batch goes on, until it is over. */
import * as Command from "@effect/cli/Command"
import * as Effect from "effect/Effect"
import { BatchObject } from "../../../contract/compat/Batches.ts"
import { type CliFailure, CommandFailed } from "../../../cli/Failure.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { OutputFormat } from "../../../cli/output/Format.ts"
import * as Output from "../../../cli/output/Output.ts"
import { type Progress, withProgress } from "../../../cli/output/Progress.ts"
import { type Batch, batchArg, doneOf, find, isOver, page, retrieve } from "./rows.ts"

const every = "500 millis"

/** Writes the state of a bar whose steps are lines. */
const words = ({ bytes: done, elapsedMs, totalBytes: total }: Progress): string => {
  const rate = elapsedMs < 500 ? "" : `  ${Math.round((done * 1000) / elapsedMs)} lines/s`
  return `${done} of ${total ?? "?"} lines${rate}`
}

const stateOf = (batch: Batch): string =>
  `${batch.status} ${doneOf(batch)}/${batch.request_counts.total}, ${batch.request_counts.failed} failed`

/** Asks until it is over; `changed` is called with what is new. */
const follow = (
  to: Client.Target,
  first: Batch,
  changed: (batch: Batch) => Effect.Effect<void>
): Effect.Effect<Batch, CliFailure> =>
  Effect.gen(function* () {
    let batch = first
    yield* changed(batch)
    while (!isOver(batch)) {
      yield* Effect.sleep(every)
      const next = yield* retrieve(to, batch.id)
      if (stateOf(next) !== stateOf(batch)) yield* changed(next)
      batch = next
    }
    return batch
  })

/** The batch with the number of its lines. */
const whenCounted = (to: Client.Target, batch: Batch): Effect.Effect<Batch, CliFailure> =>
  batch.status === "validating"
    ? Effect.flatMap(Effect.zipRight(Effect.sleep(every), retrieve(to, batch.id)), (next) => whenCounted(to, next))
    : Effect.succeed(batch)

/**
 * Shows a bar on a terminal, in pipes a line for each change, and at the end the batch. Fails when the batch is not
 * completed.
 */
export const watch = (to: Client.Target, first: Batch) =>
  Effect.gen(function* () {
    const format = yield* OutputFormat
    const isForPeople = format === "table" || format === "wide"
    const hasBar = isForPeople && process.stderr.isTTY === true
    const tell = (batch: Batch): Effect.Effect<void> =>
      isForPeople ? Output.print(stateOf(batch)) : Output.jsonLine(BatchObject, batch)
    const counted = hasBar ? yield* whenCounted(to, first) : first
    const last = yield* hasBar
      ? withProgress(
          counted.id,
          counted.request_counts.total,
          (report) => follow(to, counted, (batch) => Effect.sync(() => report(doneOf(batch)))),
          words
        )
      : follow(to, first, tell)
    if (isForPeople) yield* Output.print(page(last))
    if (last.output_file_id !== null) {
      yield* Output.remark(`'gateway files get ${last.output_file_id}' fetches the answers.`)
    }
    if (last.status !== "completed") {
      return yield* new CommandFailed({
        message: `The batch is ${last.status}.`,
        hint: last.errors?.data[0]?.message ?? `'gateway batches show ${last.id}' says more.`
      })
    }
  })

export const batchesWatch = Command.make("watch", { batch: batchArg, ...Client.connection }, ({ batch, ...given }) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    yield* watch(to, yield* find(to, batch))
  })
)
