/**
 * Decides what a turn of a node changes in the rows: books what its requests have cost, takes back what it does not need, and grants slices of what is
 * left. What an expired lease held stays counted until its node has told what it spent: so no limit is passed, whatever has died. Pure but for the
 * rows in hand.
 */
import type { RefusedBy } from "../../state/ledger/Messages.ts"
import { withoutOwnerMs } from "../../state/ledger/Fence.ts"
import { sliceOf } from "../../state/ledger/Slice.ts"
import { type Books, heldOf } from "./Books.ts"
import { added, countOf, logAt, waitOf } from "./RateLog.ts"
import type {
  HolderRow,
  LeaseRow,
  News,
  Notified,
  RowNeed,
  RowTake,
  TakeOutcome,
  Turn,
  TurnOutcome,
  WindowRow
} from "./Rows.ts"

/** Time in ms after which the leases of a holder that was not heard of expire. A node serves on them for up to 30 s when it cannot reach the rows. */
export const expiryMs = withoutOwnerMs + 5_000
/** Time in ms after which what others hold of a rate may have come back. */
const heldRetryMs = 100

type Done = Extract<TurnOutcome, { readonly is: "done" }>

const noteOf = ({ used, size, warnAt }: WindowRow): Notified => (used >= size ? 2 : used >= warnAt ? 1 : 0)

/** The amount of a window that is neither used nor held. */
const leftOf = (row: WindowRow, nowMs: number): number => {
  const { doubt, held, rateMs, size } = row
  if (rateMs === 0) return size - row.used - held - doubt
  row.log = logAt(row.log, rateMs, nowMs)
  return size - countOf(row.log) - held - doubt
}

class TurnRun {
  readonly #books: Books
  readonly #turn: Turn
  readonly #holder: HolderRow
  readonly #rows: ReadonlyArray<WindowRow | undefined>
  readonly #reached = new Map<number, Notified>()

  constructor(books: Books, turn: Turn, holder: HolderRow) {
    this.#books = books
    this.#turn = turn
    this.#holder = holder
    for (const ref of turn.windows) books.follow(ref)
    this.#rows = turn.windows.map((ref) => books.window(ref))
  }

  run(): Done {
    const { attempt, news, number, takes, windows } = this.#turn
    const books = this.#books
    const holder = this.#holder
    if (number > holder.turn) {
      this.#tell(news)
      holder.turn = number
      holder.reported = [...news.reported, ...(news.inherited ?? []).map(([id]) => id)]
    }
    holder.attempt = attempt
    holder.expiresMs = books.nowMs + expiryMs
    books.touchHolder(holder)
    const outcomes = takes.map((take) => this.#take(take))
    const named = new Map(takes.flatMap(({ needs }) => needs.map(({ lease, window }) => [lease, window] as const)))
    return {
      is: "done",
      takes: outcomes,
      totals: [...named].map(([lease, at]) => [lease, books.lease(holder.id, lease)?.granted ?? 0, at] as const),
      reached: [...this.#reached],
      seen: windows.flatMap((_, at) => {
        const row = this.#rows[at]
        return row === undefined ? [] : [[at, row.used, row.held + row.doubt] as const]
      })
    }
  }

  #book(window: number, amount: number): void {
    const row = this.#rows[window]
    if (row === undefined) return
    row.used += amount
    this.#books.touch(row)
    this.#note(window, row)
  }

  #note(window: number, row: WindowRow): void {
    const notified = noteOf(row)
    if (row.rateMs > 0 || notified <= row.notified) return
    row.notified = notified
    this.#books.touch(row)
    this.#reached.set(window, notified)
  }

  #arrive(row: WindowRow, ageMs: number, count: number): void {
    const { nowMs } = this.#books
    row.log = added(logAt(row.log, row.rateMs, nowMs), row.rateMs, nowMs - Math.max(0, ageMs), count)
    this.#books.touch(row)
  }

  #spent(lease: LeaseRow | undefined, total: number): boolean {
    if (lease === undefined || total <= lease.spent) return false
    this.#books.change(lease, lease.granted, total)
    return true
  }

  #tell(news: News): void {
    const books = this.#books
    const { id, node } = this.#holder
    for (const [number, window, held] of news.adopted) {
      const row = this.#rows[window]
      if (row !== undefined) books.change(books.begin(id, number, row), held, 0)
    }
    for (const [number, total] of news.spent) this.#spent(books.lease(id, number), total)
    for (const [number, total, agesMs] of news.arrivals) {
      const lease = books.lease(id, number)
      const row = lease === undefined ? undefined : books.window(lease)
      if (row === undefined || !this.#spent(lease, total)) continue
      for (const ageMs of agesMs) this.#arrive(row, ageMs, 1)
    }
    for (const [number, amount] of news.returned) {
      const lease = books.lease(id, number)
      if (lease !== undefined) books.change(lease, lease.granted - amount, lease.spent)
    }
    for (const number of news.ended) {
      const lease = books.lease(id, number)
      if (lease !== undefined) books.end(lease)
    }
    for (const [window, amount] of news.bookings) this.#book(window, amount)
    for (const [key, session] of news.left) books.leave(key, session, id)
    for (const [key, session] of news.entered) books.enter(key, session, id)
    if (news.inherited !== null) this.#inherit(books.earlier(node, id), news.inherited)
  }

  #inherit(earlier: ReadonlyArray<HolderRow>, left: NonNullable<News["inherited"]>): void {
    const known = new Set(earlier.flatMap(({ reported }) => reported))
    for (const [requestId, bookings] of left) {
      if (known.has(requestId)) continue
      for (const [window, amount] of bookings) this.#book(window, amount)
    }
    for (const holder of earlier) endHolder(this.#books, holder)
  }

  #take({ checks, isPromised, needs, session }: RowTake): TakeOutcome {
    const books = this.#books
    if (!isPromised) {
      for (const [limit, window] of checks) {
        const row = this.#rows[window]
        if (row === undefined || row.used < row.size) continue
        this.#note(window, row)
        return { is: "refused", refused: refusedBy(limit, row, false) }
      }
      for (const need of needs) {
        const short = this.#shortOf(need)
        if (short !== null) return short
      }
    }
    if (session !== null) {
      const { key, most } = session
      if (most > 0 && !books.isRunning(key, session.session) && books.sessions(key) >= most) {
        return { is: "refused", refused: { by: "sessions", most } }
      }
      books.enter(key, session.session, this.#holder.id)
    }
    return { is: "granted", grants: needs.flatMap((need) => this.#grant(need, isPromised)) }
  }

  #shortOf({ amount, isRequests, lease, limit, need, window }: RowNeed): TakeOutcome | null {
    const { nowMs } = this.#books
    const row = this.#rows[window]
    if (row === undefined || need === 0 || leftOf(row, nowMs) >= need) return null
    const known = this.#books.lease(this.#holder.id, lease)
    const others = row.held > (known === undefined ? 0 : heldOf(known))
    if (others) {
      row.wantedMs = nowMs
      this.#books.touch(row)
    }
    if (row.rateMs > 0) return { is: "short", refused: refusedByRate(limit, row, nowMs), others }
    const isReserved = !isRequests && row.used < row.size && row.used + amount <= row.size
    if (!isReserved && !others) this.#note(window, row)
    return { is: "short", refused: refusedBy(limit, row, isReserved), others }
  }

  #grant(
    { lease: number, need, perMs, window }: RowNeed,
    isPromised: boolean
  ): ReadonlyArray<readonly [number, number, boolean]> {
    const books = this.#books
    const row = this.#rows[window]
    if (row === undefined) return []
    const slice =
      sliceOf({ need, perMs, left: leftOf(row, books.nowMs) }) ?? (isPromised ? { amount: need, isNear: true } : null)
    if (slice === null) return []
    const lease = books.lease(this.#holder.id, number) ?? books.begin(this.#holder.id, number, row)
    books.change(lease, lease.granted + slice.amount, lease.spent)
    return [[number, lease.granted, slice.isNear]]
  }
}

const refusedBy = (limit: number, { endMs, startMs, used }: WindowRow, isReserved: boolean): RefusedBy => ({
  by: "meter",
  limit,
  startMs,
  endMs,
  used,
  isReserved
})

const refusedByRate = (limit: number, row: WindowRow, nowMs: number): RefusedBy => {
  const { held, log, rateMs, size } = row
  const over = countOf(log) + held + 1 - size
  return { by: "rate", limit, waitMs: waitOf(log, rateMs, over, nowMs) ?? heldRetryMs, isSure: held === 0 }
}

/** An operator has given it up: what it held is free, and it has to begin anew. */
export const isGivenUp = ({ expiresMs, isExpired }: Pick<HolderRow, "expiresMs" | "isExpired">): boolean =>
  isExpired && expiresMs === 0

/** Answers a turn of a holder that was given up: what the rows have been told already must not be told again. */
export const givenUp = ({ turn }: Pick<HolderRow, "turn">, { number }: Pick<Turn, "number">): TurnOutcome => ({
  is: "unknown",
  isTold: number <= turn
})

/** Runs a turn on the rows in hand. */
export const runTurn = (books: Books, turn: Turn): TurnOutcome => {
  const holder = books.holder(turn.holder)
  if (holder === undefined) return { is: "unknown" }
  if (isGivenUp(holder)) return givenUp(holder, turn)
  if (holder.isExpired) return { is: "expired" }
  const { attempt, number } = turn
  if (number < holder.turn || (number === holder.turn && attempt <= holder.attempt)) return { is: "stale" }
  return new TurnRun(books, turn, holder).run()
}

/** It may have let in all that it held of a rate, a moment ago. */
const arriveAll = (books: Books, lease: LeaseRow, row: WindowRow): void => {
  const held = heldOf(lease)
  if (held === 0) return
  row.log = added(logAt(row.log, row.rateMs, books.nowMs), row.rateMs, books.nowMs, held)
  books.touch(row)
}

const endRates = (books: Books, holder: HolderRow): ReadonlyArray<number> => {
  const gone: Array<number> = []
  for (const lease of books.leasesOf(holder.id)) {
    const row = books.window(lease)
    if (row === undefined || row.rateMs === 0) continue
    arriveAll(books, lease, row)
    books.end(lease)
    gone.push(lease.number)
  }
  return gone
}

/** Its journal is told: all that it held comes back. */
const endHolder = (books: Books, holder: HolderRow): void => {
  endRates(books, holder)
  books.endHolder(holder)
}

/** A holder was not heard of: what it holds is in doubt from now on. Its sessions are over. */
export const expire = (books: Books, id: string): void => {
  const holder = books.holder(id)
  if (holder === undefined || holder.isExpired || holder.expiresMs > books.nowMs) return
  endRates(books, holder)
  moveHeld(books, holder, 1)
  holder.isExpired = true
  books.leaveAll(id)
  books.touchHolder(holder)
}

/**
 * Gives up a holder that will not come back: what it holds is free at once. Its row stays, so that requests that it has told are known when it does come
 * back. Gives its leases; null: it was heard of lately.
 */
export const giveUp = (books: Books, id: string): number | null => {
  expire(books, id)
  const holder = books.holder(id)
  if (holder === undefined || !holder.isExpired) return null
  const leases = books.leasesOf(id)
  for (const lease of leases) books.end(lease, true)
  holder.expiresMs = 0
  books.touchHolder(holder)
  return leases.length
}

/** Takes up the leases of a holder that is there again; returns false when it is not known. */
export const revive = (books: Books, id: string): boolean => {
  const holder = books.holder(id)
  if (holder === undefined) return false
  if (isGivenUp(holder)) return true
  if (holder.isExpired) {
    moveHeld(books, holder, -1)
    holder.isExpired = false
  }
  holder.expiresMs = books.nowMs + expiryMs
  books.touchHolder(holder)
  return true
}

const moveHeld = (books: Books, { id }: HolderRow, sign: 1 | -1): void => {
  for (const lease of books.leasesOf(id)) {
    const row = books.window(lease)
    const held = heldOf(lease)
    if (row === undefined || held === 0) continue
    row.held -= sign * held
    row.doubt += sign * held
    books.touch(row)
  }
}
