/**
 * A client gets its last byte only when its usage row is on file. Requests that end in the same turn of the event loop share one
 * write: under load the price of that promise is a fraction of a system call per request.
 */
import type { UsageRow } from "../domain/Usage.ts"
import type { Exchange } from "./Exchange.ts"

/** Puts the row on file, then runs `answer`, which tells the client of the exchange how it ended. */
export type Acknowledge = (row: UsageRow, answer: () => void, exchange: Exchange) => void

export interface AcknowledgementRooms {
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

export const makeAcknowledge = ({ append, defect, lost, soon }: AcknowledgementRooms): Acknowledge => {
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
