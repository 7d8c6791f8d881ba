/** A whole answer without personal data. */
import { spliceValues, type ValueEdit } from "../../../../wire/json/DeepSplice.ts"
import { isObject, parseJson } from "../../../../wire/json/Json.ts"
import type { AnswerReader, Reading } from "./Reading.ts"
import { allOf, type Steps } from "./Steps.ts"
import { makeTextFilter } from "./TextFilter.ts"
import type { Finding, TextGuard } from "./TextGuard.ts"

export interface WholeFilterOptions {
  readonly reader: AnswerReader
  /** Null: texts are not looked at. */
  readonly guard: TextGuard | null
  readonly found: (finding: Finding) => void
  readonly read: (reading: Reading) => void
  /** The answer cannot be looked at: it goes on as it came. */
  readonly unread: () => void
}

/** The edits that take out what is found. */
const editsOf = function* (
  reading: Reading,
  guard: TextGuard,
  found: (finding: Finding) => void
): Steps<ReadonlyArray<ValueEdit>> {
  let edits: ReadonlyArray<ValueEdit> = []
  const filter = makeTextFilter<null>({
    guard,
    found,
    release: (_item, made) => {
      edits = made
    }
  })
  yield* filter.addIn(null, reading, 0)
  filter.flush()
  return edits
}

/** The body as it may go out; the same when nothing of it is changed. */
export const filterWholeIn = function* (body: Buffer | string, options: WholeFilterOptions): Steps<Buffer | string> {
  const { found, guard, read, reader, unread } = options
  const text = body.toString()
  const parsed = parseJson(text)
  try {
    if (isObject(parsed)) {
      const reading = reader.answer(parsed)
      read(reading)
      const edits = guard === null ? [] : yield* editsOf(reading, guard, found)
      return edits.length === 0 ? body : spliceValues(text, edits)
    }
  } catch {
    // A failure is reported like text that cannot be read.
  }
  unread()
  return body
}

/** The same at once. */
export const filterWhole = (body: Buffer | string, options: WholeFilterOptions): Buffer | string =>
  allOf(filterWholeIn(body, options))
