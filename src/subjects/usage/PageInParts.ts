/** Reads a long page of the log in parts, with a turn of others between them: to read and decode a thousand rows in one go makes everybody wait. */
import * as Effect from "effect/Effect"
import type { UsageRow } from "../../domain/Usage.ts"
import type { UsageFilter, UsagePage, UsageRepo } from "./repo.ts"

/** Rows of one part: some 5 ms. */
const rowsOfPart = 100

export interface PageQuery {
  readonly limit: number
  readonly cursor: string | null
  readonly filter: UsageFilter
}

/** Gives what `UsageRepo.page` would; `turn` waits until the event loop has done what is ready. */
export const pageInParts = Effect.fn("UsageRepo.pageInParts")(function* (
  { page }: Pick<typeof UsageRepo.Service, "page">,
  turn: Effect.Effect<void>,
  { cursor: from, filter, limit }: PageQuery
) {
  const rows: Array<UsageRow> = []
  let cursor: string | null = from
  for (;;) {
    const wanted = Math.min(rowsOfPart, limit - rows.length)
    const part: UsagePage = yield* page({ limit: wanted, cursor, filter })
    for (const row of part.rows) rows.push(row)
    cursor = part.nextCursor
    if (cursor === null || part.rows.length < wanted || rows.length >= limit) return { rows, nextCursor: cursor }
    yield* turn
  }
})
