/**
 * The shared rows of limits in Postgres. Each call is one transaction: the holder's row is locked, then those of windows in one order, then leases and
 * sessions are written in one statement. Times are the server's.
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import { withBriefTransaction } from "../../../store/engine/postgres/Client.ts"
import { mayBeRetried } from "../../../store/engine/postgres/Failures.ts"
import { reasonOf } from "../../../store/Errors.ts"
import { Books, windowId } from "./Books.ts"
import { expire, expiryMs, givenUp, giveUp, isGivenUp, revive, runTurn } from "./Policy.ts"
import type { HolderRow, LeaseRow, LedgerRows, Turn, TurnOutcome, WindowRef, WindowRow } from "./Rows.ts"
import * as Statements from "./Statements.ts"

type Done<A> = Effect.Effect<A, SqlError>

/** Transactions that were in each other's way are done again so often. */
const mostConflicts = 5
/** Time after which a call has failed: its connection may be gone without a word. */
const callTimeout = "10 seconds"
/** Windows that are over are forgotten with one sweep in so many. */
const sweepsPerPrune = 600

/** The leases of this process as the last transaction has left them; only it writes them while they have not expired. */
interface OwnLeases {
  readonly holder: string
  readonly rows: Map<number, LeaseRow>
}

interface Ran {
  readonly outcome: TurnOutcome
  /** Leases of the holder afterwards; null: they have to be read. */
  readonly left: ReadonlyArray<LeaseRow> | null
}

const copyOf = (lease: LeaseRow): LeaseRow => ({ ...lease })

class PostgresRows {
  readonly #sql: SqlClient.SqlClient
  #own: OwnLeases | null = null
  #sweeps = 0

  constructor(sql: SqlClient.SqlClient) {
    this.#sql = sql
  }

  #all<A extends object>(text: string, parameters: Statements.Statement["parameters"]): Done<ReadonlyArray<A>> {
    return this.#sql.unsafe<A>(text, parameters as ReadonlyArray<never>)
  }

  #transaction<A>(effect: Done<A>): Done<A> {
    return Effect.retry(withBriefTransaction(this.#sql, effect), { times: mostConflicts, while: mayBeRetried })
  }

  join(holder: string, node: string): Done<true> {
    return Effect.as(this.#all(Statements.join, [holder, node, expiryMs]), true)
  }

  turn(turn: Turn): Done<TurnOutcome> {
    const run = Effect.gen(this, function* () {
      const { holder, news, node, takes } = turn
      const found =
        news.inherited === null
          ? yield* this.#all<Statements.FoundHolder>(Statements.lockHolder, [holder])
          : yield* this.#all<Statements.FoundHolder>(Statements.lockLives, [holder, node])
      const own = found.find(({ id }) => id === holder)
      if (own === undefined) return { outcome: { is: "unknown" }, left: null } satisfies Ran
      const known = Statements.holderOf(own)
      if (isGivenUp(known)) return { outcome: givenUp(known, turn), left: null } satisfies Ran
      if (known.isExpired) return { outcome: { is: "expired" }, left: null } satisfies Ran
      const leases = yield* this.#leases(holder, found)
      const windows = yield* this.#windows(turn.windows, news.inherited === null ? [] : leases)
      const keys = takes.flatMap(({ session }) => (session === null ? [] : [session.key]))
      const sessions = keys.length === 0 ? [] : yield* this.#all<Statements.FoundSession>(Statements.sessionsOf, [keys])
      const holders = found.map(Statements.holderOf)
      const books = new Books({ nowMs: own.nowMs, holders, windows, leases, sessions })
      const outcome = runTurn(books, turn)
      yield* this.#write(books)
      return { outcome, left: books.leasesOf(holder) } satisfies Ran
    })
    return Effect.map(
      Effect.onError(this.#transaction<Ran>(run), () => Effect.sync(() => this.#forget())),
      ({ left, outcome }) => {
        this.#own =
          left === null ? null : { holder: turn.holder, rows: new Map(left.map((lease) => [lease.number, lease])) }
        return outcome
      }
    )
  }

  #forget(): void {
    this.#own = null
  }

  /** Copies, because a transaction may be done again. Those of other holders are read. */
  #leases(holder: string, holders: ReadonlyArray<Pick<HolderRow, "id">>): Done<ReadonlyArray<LeaseRow>> {
    const own = this.#own?.holder === holder ? [...this.#own.rows.values()].map(copyOf) : null
    const asked = holders.map(({ id }) => id).filter((id) => own === null || id !== holder)
    if (asked.length === 0) return Effect.succeed(own ?? [])
    return Effect.map(this.#all<LeaseRow>(Statements.leasesOf, [asked]), (read) => [...(own ?? []), ...read])
  }

  /** Locks the windows of a turn, which are made where they are not there, and those of leases. */
  #windows(refs: ReadonlyArray<WindowRef>, leases: ReadonlyArray<LeaseRow>): Done<ReadonlyArray<WindowRow>> {
    return Effect.gen(this, function* () {
      const named = new Map([...leases, ...refs].map((row) => [windowId(row), row]))
      if (named.size === 0) return []
      const lists = Statements.listOf([...named.values()])
      const lock = this.#all<Statements.FoundWindow>(Statements.lockWindows, lists)
      const found = yield* lock
      const there = new Set(found.map(windowId))
      const missing = refs.filter((ref) => !there.has(windowId(ref)))
      if (missing.length === 0) return found.map(Statements.windowOf)
      yield* this.#all(Statements.makeWindows, Statements.newWindows(missing))
      return (yield* lock).map(Statements.windowOf)
    })
  }

  #write(books: Books): Done<void> {
    const statement = Statements.write(books.changed())
    return statement === null ? Effect.void : Effect.asVoid(this.#all(statement.text, statement.parameters))
  }

  /** Runs `change` with a holder that is locked, its leases and their windows. */
  #withHolder<A>(lock: string, id: string, change: (books: Books) => A): Done<A | null> {
    return this.#transaction(
      Effect.gen(this, function* () {
        const found = yield* this.#all<Statements.FoundHolder>(lock, [id])
        const [holder] = found
        if (holder === undefined) return null
        const leases = yield* this.#all<LeaseRow>(Statements.leasesOf, [[id]])
        const windows = yield* this.#windows([], leases)
        const holders = found.map(Statements.holderOf)
        const books = new Books({ nowMs: holder.nowMs, holders, windows, leases, sessions: [] })
        const changed = change(books)
        yield* this.#write(books)
        return changed
      })
    )
  }

  revive(id: string): Done<{ readonly leases: ReadonlyArray<number> | null }> {
    this.#forget()
    return Effect.map(
      this.#withHolder(Statements.lockHolder, id, (books) => {
        revive(books, id)
        return books.leasesOf(id).map(({ number }) => number)
      }),
      (leases) => ({ leases })
    )
  }

  /** Gives up all lives over a data folder; null: one was heard of lately. */
  giveUp(folder: string): Done<GivenUp | null> {
    return Effect.gen(this, function* () {
      const holders = yield* this.#all<{ readonly id: string; readonly expiresMs: number; readonly nowMs: number }>(
        Statements.holdersOf,
        [folder]
      )
      if (holders.some(({ expiresMs, nowMs }) => expiresMs > nowMs)) return null
      let leases = 0
      for (const { id } of holders) {
        const ended = yield* this.#withHolder(Statements.lockHolder, id, (books) => giveUp(books, id))
        if (ended === null) return null
        leases += ended
      }
      return { lives: holders.length, leases }
    })
  }

  sweep(): Done<true> {
    this.#sweeps += 1
    return Effect.gen(this, function* () {
      const ids = yield* this.#all<{ readonly id: string }>(Statements.expired, [])
      for (const { id } of ids) yield* this.#withHolder(Statements.lockExpired, id, (books) => expire(books, id))
      if (this.#sweeps % sweepsPerPrune === 0) yield* this.#all(Statements.prune, [])
      return true as const
    })
  }

  wanted(id: string): Done<ReadonlyArray<readonly [number, number]>> {
    return Effect.map(
      this.#all<{ readonly number: number; readonly wantedMs: number }>(Statements.wanted, [id]),
      (rows) => rows.map(({ number, wantedMs }) => [number, wantedMs] as const)
    )
  }

  standing(refs: ReadonlyArray<WindowRef>): Done<ReadonlyArray<readonly [number, number, number]>> {
    const places = new Map(refs.map((ref, at) => [windowId(ref), at]))
    type Found = { readonly name: string; readonly startMs: number; readonly used: number; readonly reserved: number }
    return Effect.map(this.#all<Found>(Statements.standing, Statements.listOf(refs)), (rows) =>
      rows.flatMap((row) => {
        const at = places.get(windowId(row))
        return at === undefined ? [] : [[at, row.used, row.reserved] as const]
      })
    )
  }
}

/** Leases that were given up, and the lives of a process that held them. */
export interface GivenUp {
  readonly lives: number
  readonly leases: number
}

/** Gives up what the gateway over a data folder holds of limits; null: it was heard of lately, and nothing is changed. */
export const giveUpFolder = (sql: SqlClient.SqlClient, folder: string): Effect.Effect<GivenUp | null, SqlError> =>
  new PostgresRows(sql).giveUp(folder)

/** The rows over a client of its own with two connections: one for turns, one for what looks after leases. */
export const make = (sql: SqlClient.SqlClient): Effect.Effect<LedgerRows, never, Scope.Scope> =>
  Effect.gen(function* () {
    const rows = new PostgresRows(sql)
    const runFork = Runtime.runFork(yield* Effect.runtime<never>())
    // Calls are waited for by what is added to the outer scope later, which ends before them.
    const scope = yield* Effect.acquireRelease(Scope.make(), (own) => Scope.close(own, Exit.void))
    let isTold = false
    const call = <A>(effect: Done<A>, then: (outcome: A | null) => void): void => {
      const bounded = Effect.timeoutFail(Effect.disconnect(effect), {
        duration: callTimeout,
        onTimeout: () => new Error("no answer")
      })
      const told = Effect.matchEffect(bounded, {
        onFailure: (error) =>
          Effect.zipRight(
            isTold
              ? Effect.void
              : Effect.logWarning(`The limits of keys cannot be reached in the database: ${reasonOf(error)}`),
            Effect.sync(() => {
              isTold = true
              then(null)
            })
          ),
        onSuccess: (outcome) =>
          Effect.sync(() => {
            isTold = false
            then(outcome)
          })
      })
      runFork(told, { scope })
    }
    return {
      join: (holder, node, then) => call(rows.join(holder, node), then),
      turn: (turn, then) => call(rows.turn(turn), then),
      revive: (holder, then) => call(rows.revive(holder), then),
      wanted: (holder, then) => call(rows.wanted(holder), then),
      sweep: (then) => call(rows.sweep(), then),
      standing: (windows, then) => call(rows.standing(windows), then)
    }
  })
