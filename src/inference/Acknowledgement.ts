/**
 * A client gets its last byte only when its usage row is on file. Requests that end in the same turn of the event loop share one
 * write: under load the price of that promise is a fraction of a system call per request.
 */
import type { UsageRow } from "../domain/Usage.ts"

/** Puts the row on file, then runs `answer`. */
export type Acknowledge = (row: UsageRow, answer: () => void) => void

export const makeAcknowledge = (
  append: (row: UsageRow, ...more: ReadonlyArray<UsageRow>) => void,
  soon: (run: () => void) => void
): Acknowledge => {
  let rows: Array<UsageRow> = []
  let answers: Array<() => void> = []

  const endOfTurn = (): void => {
    const [first, ...more] = rows
    const waiting = answers
    rows = []
    answers = []
    if (first !== undefined) append(first, ...more)
    for (const answer of waiting) answer()
  }
  return (row, answer) => {
    if (rows.push(row) === 1) soon(endOfTurn)
    answers.push(answer)
  }
}
