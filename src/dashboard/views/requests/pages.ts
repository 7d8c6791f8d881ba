/** The pages of the log that are in memory: a window around what was asked for last. */
import type { ApiError } from "../../api/ApiError.ts"
import type { Row } from "./row.ts"

export const pageSize = 100
/** Pages in memory. */
export const mostPages = 10

export interface Log {
  readonly pages: ReadonlyMap<number, ReadonlyArray<Row>>
  /** Beginning of each page; null: at the newest row. */
  readonly cursors: ReadonlyArray<string | null>
  /** Rows that are known of. */
  readonly count: number
  readonly next: string | null
  readonly error: ApiError | null
  readonly isLoading: boolean
}

export const nothing: Log = { pages: new Map(), cursors: [null], count: 0, next: null, error: null, isLoading: true }

export const rowAt = ({ pages }: Log, index: number): Row | undefined =>
  pages.get(Math.floor(index / pageSize))?.[index % pageSize]

/** The place of a request among the rows in memory; -1: it is not there. */
export const indexOf = ({ pages }: Log, requestId: string | undefined): number => {
  for (const [page, rows] of pages) {
    const at = rows.findIndex((row) => row.requestId === requestId)
    if (at >= 0) return page * pageSize + at
  }
  return -1
}

/** The log with one more page, and without those that are farthest from it. */
export const withPage = (log: Log, page: number, rows: ReadonlyArray<Row>, next: string | null): Log => {
  const pages = new Map(log.pages).set(page, rows)
  while (pages.size > mostPages) {
    const farthest = [...pages.keys()].reduce((one, other) =>
      Math.abs(other - page) > Math.abs(one - page) ? other : one
    )
    pages.delete(farthest)
  }
  const isLast = page === log.cursors.length - 1
  return {
    pages,
    cursors: isLast && next !== null ? [...log.cursors, next] : log.cursors,
    count: Math.max(log.count, page * pageSize + rows.length),
    next: isLast ? next : log.next,
    error: null,
    isLoading: false
  }
}
