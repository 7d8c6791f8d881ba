/**
 * Sends a client its last byte once its usage row is on file. Requests that end in the same turn of the event loop share one write, so
 * that under load this costs a fraction of a system call per request.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import { InternalError } from "../../contract/domain/Errors.ts"
import type { UsageRow } from "../../contract/domain/Usage.ts"
import * as Events from "../../observe/Events.ts"
import * as Timers from "../../platform/Timers.ts"
import * as UsageJournal from "../../store/usage/UsageJournal.ts"
import type { Exchange } from "../request/Exchange.ts"
import { answerError } from "../request/OwnAnswer.ts"

export class Acknowledgement extends Context.Tag("gateway/plane/settle/Acknowledgement")<
  Acknowledgement,
  { readonly acknowledge: Acknowledge }
>() {}

/** Stores the row, then runs `answer`, which informs the client of the exchange of its end. */
export type Acknowledge = (row: UsageRow, answer: () => void, exchange: Exchange) => void

export interface AcknowledgementOptions {
  readonly append: (row: UsageRow, ...more: ReadonlyArray<UsageRow>) => void
  readonly soon: (run: () => void) => void
  /** The rows could not be taken. */
  readonly lost: (rows: ReadonlyArray<UsageRow>, cause: unknown) => void
  /** Telling the client has thrown. Must not throw itself. */
  readonly defect: (exchange: Exchange, cause: unknown) => void
}

interface Waiting {
  readonly answer: () => void
  readonly exchange: Exchange
}

export const makeAcknowledge = ({ append, defect, lost, soon }: AcknowledgementOptions): Acknowledge => {
  let rows: Array<UsageRow> = []
  let answers: Array<Waiting> = []

  const endOfTurn = (): void => {
    const written = rows
    const waiting = answers
    rows = []
    answers = []
    // Each step for itself: an exception out of here would end the process, and with it all answers of this turn.
    try {
      const [first, ...more] = written
      if (first !== undefined) append(first, ...more)
    } catch (cause) {
      lost(written, cause)
    }
    for (const { answer, exchange } of waiting) {
      try {
        answer()
      } catch (cause) {
        defect(exchange, cause)
      }
    }
  }
  return (row, answer, exchange) => {
    if (rows.push(row) === 1) soon(endOfTurn)
    answers.push({ answer, exchange })
  }
}

export const make = Effect.gen(function* () {
  const { append } = yield* UsageJournal.UsageJournal
  const events = yield* Events.Events
  const { soon } = yield* Timers.Timers
  const inBackground = yield* FiberSet.makeRuntime<never>()
  return Acknowledgement.of({
    acknowledge: makeAcknowledge({
      append: (row, ...more) => {
        append(row, ...more)
        events.ended(row)
        for (const other of more) events.ended(other)
      },
      soon,
      lost: (rows, cause) => {
        const ids = rows.map(({ id }) => id).join(" ")
        inBackground(Effect.annotateLogs(Effect.logError("Usage rows could not be written", cause), { ids }))
      },
      defect: (exchange, cause) => {
        const { reply, requestId } = exchange
        inBackground(Effect.annotateLogs(Effect.logError("An answer could not be told", cause), { requestId }))
        try {
          answerError(exchange, new InternalError({ cause }))
        } catch {
          // Its head has gone out already.
          reply.cut()
        }
      }
    })
  })
})

export const layer: Layer.Layer<Acknowledgement, never, Events.Events | UsageJournal.UsageJournal | Timers.Timers> =
  Layer.scoped(Acknowledgement, make)
