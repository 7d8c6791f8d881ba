/** Rows as a transaction has them in hand, and which of them it has changed. Plain and synchronous. */
import type { HolderRow, LeaseRow, SessionRow, WindowRef, WindowRow } from "./Rows.ts"

export const windowId = ({ name, startMs }: Pick<WindowRef, "name" | "startMs">): string => `${startMs} ${name}`

export const newWindow = ({
  endMs,
  floor,
  name,
  notified,
  rateMs,
  size,
  startMs,
  version,
  warnAt
}: WindowRef): WindowRow => ({
  name,
  startMs,
  endMs,
  rateMs,
  size,
  version,
  warnAt,
  used: floor,
  held: 0,
  doubt: 0,
  notified,
  wantedMs: 0,
  log: []
})

export const heldOf = ({ granted, spent }: Pick<LeaseRow, "granted" | "spent">): number => Math.max(0, granted - spent)

const leaseId = (holder: string, number: number): string => `${number} ${holder}`

export interface Found {
  /** Server's time. */
  readonly nowMs: number
  /** Those that are locked: the one of the turn, and earlier lives of its node where it inherits them. */
  readonly holders: ReadonlyArray<HolderRow>
  readonly windows: ReadonlyArray<WindowRow>
  /** Leases of those holders, at least the ones that are named. */
  readonly leases: ReadonlyArray<LeaseRow>
  readonly sessions: ReadonlyArray<SessionRow>
}

/** Changes of a transaction. */
export interface Changed {
  readonly windows: ReadonlyArray<WindowRow>
  readonly leases: ReadonlyArray<LeaseRow>
  readonly endedLeases: ReadonlyArray<LeaseRow>
  readonly holders: ReadonlyArray<HolderRow>
  readonly endedHolders: ReadonlyArray<string>
  readonly entered: ReadonlyArray<SessionRow>
  readonly left: ReadonlyArray<SessionRow>
}

export class Books {
  readonly nowMs: number
  readonly #holders: Map<string, HolderRow>
  readonly #windows: Map<string, WindowRow>
  readonly #leases: Map<string, LeaseRow>
  readonly #sessions: Map<string, Map<string, Set<string>>>
  readonly #changedWindows = new Set<WindowRow>()
  readonly #changedLeases = new Set<LeaseRow>()
  readonly #endedLeases = new Set<LeaseRow>()
  readonly #changedHolders = new Set<HolderRow>()
  readonly #endedHolders = new Set<string>()
  readonly #entered: Array<SessionRow> = []
  readonly #left: Array<SessionRow> = []

  constructor({ holders, leases, nowMs, sessions, windows }: Found) {
    this.nowMs = nowMs
    this.#holders = new Map(holders.map((row) => [row.id, row]))
    this.#windows = new Map(windows.map((row) => [windowId(row), row]))
    this.#leases = new Map(leases.map((row) => [leaseId(row.holder, row.number), row]))
    this.#sessions = new Map()
    for (const { holder, key, session } of sessions) this.#holdersOf(key, session).add(holder)
  }

  changed(): Changed {
    return {
      windows: [...this.#changedWindows],
      leases: [...this.#changedLeases].filter((lease) => !this.#endedLeases.has(lease)),
      endedLeases: [...this.#endedLeases],
      holders: [...this.#changedHolders].filter(({ id }) => !this.#endedHolders.has(id)),
      endedHolders: [...this.#endedHolders],
      entered: this.#entered,
      left: this.#left
    }
  }

  holder(id: string): HolderRow | undefined {
    return this.#holders.get(id)
  }

  /** Earlier lives of a node. */
  earlier(node: string, id: string): ReadonlyArray<HolderRow> {
    return [...this.#holders.values()].filter((each) => each.node === node && each.id !== id)
  }

  window(named: Pick<WindowRef, "name" | "startMs">): WindowRow | undefined {
    return this.#windows.get(windowId(named))
  }

  /** Brings a row up to what the node of this turn knows of its limit. */
  follow({ floor, isAdded, size, startMs, name, version, warnAt }: WindowRef): void {
    const row = this.window({ name, startMs })
    if (row === undefined) return
    if (version > row.version) {
      row.size = size
      row.version = version
      row.warnAt = warnAt
      this.touch(row)
    }
    if (isAdded && row.used < floor) {
      row.used = floor
      this.touch(row)
    }
  }

  touch(row: WindowRow): void {
    this.#changedWindows.add(row)
  }

  touchHolder(row: HolderRow): void {
    this.#changedHolders.add(row)
  }

  lease(holder: string, number: number): LeaseRow | undefined {
    return this.#leases.get(leaseId(holder, number))
  }

  leasesOf(holder: string): ReadonlyArray<LeaseRow> {
    return [...this.#leases.values()].filter((each) => each.holder === holder)
  }

  begin(holder: string, number: number, { name, startMs }: WindowRow): LeaseRow {
    const lease: LeaseRow = { holder, number, name, startMs, granted: 0, spent: 0 }
    this.#leases.set(leaseId(holder, number), lease)
    return lease
  }

  /** Changes the sums of a lease, and what is held of its window by them. `isExpired`: it counts as in doubt. */
  change(lease: LeaseRow, granted: number, spent: number, isExpired = false): void {
    const before = heldOf(lease)
    lease.granted = granted
    lease.spent = spent
    this.#changedLeases.add(lease)
    const by = heldOf(lease) - before
    const row = this.window(lease)
    if (by === 0 || row === undefined) return
    if (isExpired) row.doubt += by
    else row.held += by
    this.touch(row)
  }

  /** Ends a lease: what is held of it comes back. */
  end(lease: LeaseRow, isExpired = false): void {
    this.change(lease, 0, 0, isExpired)
    this.#leases.delete(leaseId(lease.holder, lease.number))
    this.#endedLeases.add(lease)
  }

  endHolder({ id, isExpired }: HolderRow): void {
    for (const lease of this.leasesOf(id)) this.end(lease, isExpired)
    this.leaveAll(id)
    this.#endedHolders.add(id)
    this.#holders.delete(id)
  }

  #holdersOf(key: string, session: string): Set<string> {
    const sessions = this.#sessions.get(key) ?? new Map<string, Set<string>>()
    this.#sessions.set(key, sessions)
    const holders = sessions.get(session) ?? new Set<string>()
    sessions.set(session, holders)
    return holders
  }

  /** Sessions of a key with a request in progress. */
  sessions(key: string): number {
    let count = 0
    for (const holders of this.#sessions.get(key)?.values() ?? []) if (holders.size > 0) count += 1
    return count
  }

  isRunning(key: string, session: string): boolean {
    return (this.#sessions.get(key)?.get(session)?.size ?? 0) > 0
  }

  enter(key: string, session: string, holder: string): void {
    const holders = this.#holdersOf(key, session)
    if (holders.has(holder)) return
    holders.add(holder)
    this.#entered.push({ key, session, holder })
  }

  leave(key: string, session: string, holder: string): void {
    this.#holdersOf(key, session).delete(holder)
    this.#left.push({ key, session, holder })
  }

  /** A holder has no sessions any more; those that are not in hand as well. */
  leaveAll(holder: string): void {
    for (const sessions of this.#sessions.values()) for (const holders of sessions.values()) holders.delete(holder)
    this.#left.push({ key: "", session: "", holder })
  }
}
