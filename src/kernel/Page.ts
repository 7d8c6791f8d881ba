/**
 * Pages of a list that is in memory. A cursor names the last entry of its page by position and id, so that a page begins behind it although
 * entries were added or removed in between. Pure.
 */

export interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** The cursor of the next page; null on the last one. */
  readonly nextCursor: string | null
}

export interface PageRequest {
  /** Absent: everything. */
  readonly limit?: number
  /** Absent: from the beginning. */
  readonly cursor?: string
}

const cursorOf = (index: number, id: string): string => Buffer.from(`${index}.${id}`, "utf8").toString("base64url")

/** Finds the beginning of the page behind a cursor; null when no list gave it out. */
const startOf = <A>(all: ReadonlyArray<A>, idOf: (entry: A) => string, cursor: string): number | null => {
  const [, position, id] = /^(\d{1,9})\.(.*)$/su.exec(Buffer.from(cursor, "base64url").toString("utf8")) ?? []
  if (position === undefined) return null
  const index = Number(position)
  const there = all[index]
  if (there !== undefined && idOf(there) === id) return index + 1
  const now = all.findIndex((entry) => idOf(entry) === id)
  // The entry is gone: what followed it has its place.
  return now === -1 ? Math.min(index, all.length) : now + 1
}

/** The part of a list that is asked for; null when the cursor is not one of a list. Ids are unique in the list. */
export const pageOf = <A>(
  all: ReadonlyArray<A>,
  idOf: (entry: A) => string,
  { cursor, limit }: PageRequest
): Page<A> | null => {
  const start = cursor === undefined ? 0 : startOf(all, idOf, cursor)
  if (start === null) return null
  const end = limit === undefined ? all.length : Math.min(start + limit, all.length)
  const last = all[end - 1]
  return {
    items: all.slice(start, end),
    nextCursor: end < all.length && last !== undefined ? cursorOf(end - 1, idOf(last)) : null
  }
}
