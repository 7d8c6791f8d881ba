/** The rows that nodes share, in memory: each call is a transaction. The policy is the program's own. */
import { Books, type Changed, newWindow, windowId } from "../../../src/plane/ledger/rows/Books.ts"
import { expire, expiryMs, revive, runTurn } from "../../../src/plane/ledger/rows/Policy.ts"
import type {
  HolderRow,
  LeaseRow,
  SessionRow,
  Turn,
  TurnOutcome,
  WindowRef,
  WindowRow
} from "../../../src/plane/ledger/rows/Rows.ts"

const leaseId = ({ holder, number }: LeaseRow): string => `${holder} ${number}`
const sessionId = ({ holder, key, session }: SessionRow): string => `${holder} ${key} ${session}`

const copyOf = (lease: LeaseRow): LeaseRow => ({ ...lease })

export class MemoryRows {
  readonly windows = new Map<string, WindowRow>()
  readonly holders = new Map<string, HolderRow>()
  readonly leases = new Map<string, LeaseRow>()
  readonly sessions = new Map<string, SessionRow>()
  readonly nowMs: () => number

  constructor(nowMs: () => number) {
    this.nowMs = nowMs
  }

  join(id: string, node: string): true {
    const expiresMs = this.nowMs() + expiryMs
    if (!this.holders.has(id))
      this.holders.set(id, { id, node, turn: 0, attempt: 0, reported: [], expiresMs, isExpired: false })
    return true
  }

  turn(turn: Turn): TurnOutcome {
    const own = this.holders.get(turn.holder)
    const earlier =
      turn.news.inherited === null ? [] : [...this.holders.values()].filter(({ node }) => node === turn.node)
    const books = this.#books([...(own === undefined ? [] : [own]), ...earlier], turn.windows)
    const outcome = runTurn(books, turn)
    this.#keep(books.changed())
    return outcome
  }

  revive(id: string): { readonly leases: ReadonlyArray<number> | null } {
    const holder = this.holders.get(id)
    if (holder === undefined) return { leases: null }
    const books = this.#books([holder], [])
    revive(books, id)
    this.#keep(books.changed())
    return { leases: books.leasesOf(id).map(({ number }) => number) }
  }

  wanted(id: string): ReadonlyArray<readonly [number, number]> {
    return [...this.leases.values()].flatMap(({ holder, name, number, startMs }) => {
      const wantedMs = this.windows.get(windowId({ name, startMs }))?.wantedMs ?? 0
      return holder === id && wantedMs > 0 ? [[number, wantedMs] as const] : []
    })
  }

  sweep(): true {
    for (const holder of this.holders.values()) {
      if (holder.isExpired || holder.expiresMs > this.nowMs()) continue
      const books = this.#books([holder], [])
      expire(books, holder.id)
      this.#keep(books.changed())
    }
    return true
  }

  standing(refs: ReadonlyArray<WindowRef>): ReadonlyArray<readonly [number, number, number]> {
    return refs.flatMap((ref, at) => {
      const row = this.windows.get(windowId(ref))
      return row === undefined ? [] : [[at, row.used, row.held + row.doubt] as const]
    })
  }

  #books(holders: ReadonlyArray<HolderRow>, refs: ReadonlyArray<WindowRef>): Books {
    const ids = new Set(holders.map(({ id }) => id))
    const leases = [...this.leases.values()].filter(({ holder }) => ids.has(holder)).map(copyOf)
    const named = new Set([...refs, ...leases].map(windowId))
    for (const ref of refs) if (!this.windows.has(windowId(ref))) this.windows.set(windowId(ref), newWindow(ref))
    return new Books({
      nowMs: this.nowMs(),
      holders: [...ids].flatMap((id) => structuredClone(this.holders.get(id)) ?? []),
      windows: [...named].flatMap((id) => structuredClone(this.windows.get(id)) ?? []),
      leases,
      sessions: [...this.sessions.values()]
    })
  }

  #keep({ endedHolders, endedLeases, entered, holders, leases, left, windows }: Changed): void {
    for (const row of windows) {
      if (row.held < 0 || row.doubt < 0) throw new Error(`less than nothing is held of ${row.name}`)
      this.windows.set(windowId(row), row)
    }
    for (const row of leases) this.leases.set(leaseId(row), row)
    for (const row of endedLeases) this.leases.delete(leaseId(row))
    for (const row of holders) this.holders.set(row.id, row)
    for (const id of endedHolders) this.holders.delete(id)
    for (const row of left) {
      if (row.key !== "") this.sessions.delete(sessionId(row))
      else for (const [id, { holder }] of this.sessions) if (holder === row.holder) this.sessions.delete(id)
    }
    for (const row of entered) this.sessions.set(sessionId(row), row)
  }
}
