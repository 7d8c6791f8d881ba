/** A whole answer without personal data. */
import { spliceValues, type ValueEdit } from "../../../../wire/json/DeepSplice.ts"
import { isObject, parseJson } from "../../../../wire/json/Json.ts"
import type { AnswerReader, Reading } from "./Reading.ts"
import { makeTextFilter } from "./TextFilter.ts"
import type { Finding, TextGuard } from "./TextGuard.ts"

export interface WholeFilterOptions {
  readonly reader: AnswerReader
  readonly guard: TextGuard | null
  readonly found: (finding: Finding) => void
  readonly read: (reading: Reading) => void
}

/** The body as it may go out; the same when nothing of it is changed, and null when it cannot be read. */
export const filterWhole = (
  body: Buffer | string,
  { found, guard, read, reader }: WholeFilterOptions
): Buffer | string | null => {
  const text = body.toString()
  const parsed = parseJson(text)
  if (!isObject(parsed)) return null
  const reading = reader.answer(parsed)
  read(reading)
  if (guard === null) return body
  let edits: ReadonlyArray<ValueEdit> = []
  const filter = makeTextFilter<null>({
    guard,
    found,
    release: (_item, made) => {
      edits = made
    }
  })
  filter.add(null, reading, 0)
  filter.flush()
  return edits.length === 0 ? body : spliceValues(text, edits)
}
