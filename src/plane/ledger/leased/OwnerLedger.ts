/**
 * The owner's half of the limits of keys: grants leases of the accounts to workers, books what their requests have cost, each once, and takes
 * back what a worker held when it has ended. Plain and synchronous; the messages of a worker come in their order.
 */
import type { Later } from "../../../kernel/Later.ts"
import type { Timer } from "../../../platform/Timers.ts"
import type { UsageRow } from "../../../contract/domain/Usage.ts"
import type { ModelPrice } from "../../../subjects/pricing/entity.ts"
import { Bookings } from "../../state/ledger/Bookings.ts"
import {
  type Changed,
  type Give,
  type HeldLease,
  type Hello,
  type Left,
  type Need,
  type OpenRequest,
  type Recall,
  type RefusedBy,
  type Report,
  type Show,
  type Take,
  type TakeAnswer,
  topics,
  type Welcome
} from "../../state/ledger/Messages.ts"
import { OwnerLeases } from "../../state/ledger/OwnerLeases.ts"
import { Expected } from "../../state/ledger/Expected.ts"
import { nameOf, type WorkerId, type WorkerLinks } from "../../state/link/WorkerLinks.ts"
import { type Holder, type KeyAccount, type Obstacle, Reservation } from "../KeyAccount.ts"
import type { Booked, LedgerTruth, WorkersBooks } from "../LedgerTruth.ts"
import type { MeterSpec } from "../Meter.ts"
import { KeyPools, type LimitPool, limitsOf, RatePool, SharedPools } from "./Pools.ts"

export interface OwnerLedgerOptions {
  readonly links: typeof WorkerLinks.Service
  readonly truth: typeof LedgerTruth.Service
  readonly nowMs: () => number
  readonly monotonicMs: () => number
  readonly after: (delayMs: number, run: () => void) => Timer
  /** Finds which requests had a usage row when the sums of the start were made, or have one now. */
  readonly withRows: (ids: ReadonlyArray<string>, then: (found: ReadonlySet<string>) => void) => void
}

type Answer = TakeAnswer<MeterSpec>

/** A limit is short, and other workers may have what is needed of it. */
interface Short {
  readonly is: "short"
  readonly pool: LimitPool
  readonly refused: RefusedBy
}

/** Leases that were asked to come back, and what is decided when they have. */
interface Recalling {
  readonly open: Array<OpenRequest>
  readonly from: Set<string>
  readonly then: Array<() => void>
  readonly timer: Timer
}

/** Time in ms that a worker has for giving back what it does not need. One that is stopped keeps it. */
const recallMs = 250

/** Windows that have ended are forgotten so often. */
const pruneEveryMs = 600_000

const bookedOf = ([, id, key, atMs, isCounted, charges]: Report): Booked => ({
  requestId: id,
  apiKeyId: key,
  receivedMs: atMs,
  isCounted: isCounted === 1,
  charges: charges.map(([provider, model, nanoUsd, tokens]) => ({ provider, model, nanoUsd, tokens }))
})

/** Cost of a request by its row; null: it counts for no limit. Rows of several models count for the last. */
export const bookedByRow = (row: UsageRow): Booked | null => {
  const { apiKeyId, attempts, costNanoUsd, model, provider, requestId, status, timestampMs, tokens } = row
  if (apiKeyId === null) return null
  return {
    requestId,
    apiKeyId,
    receivedMs: timestampMs,
    // As those of earlier runs are counted.
    isCounted: !(attempts === 0 && status === 429),
    charges:
      provider === null || model === null
        ? []
        : [{ provider, model, nanoUsd: costNanoUsd ?? 0, tokens: tokens.in + tokens.out }]
  }
}

export class OwnerLedger implements WorkersBooks {
  readonly #options: OwnerLedgerOptions
  readonly #leases = new OwnerLeases<LimitPool>()
  readonly #keys = new Map<string, KeyPools>()
  readonly #shared = new SharedPools()
  readonly #bookings = new Bookings<Booked>()
  /** Reports of workers to a new owner, whose rows may have been in the sums of its start. */
  readonly #unsure = new Map<string, Booked>()
  /** Sessions that workers hold, by worker and key. */
  readonly #sessions = new Map<string, Map<string, Set<string>>>()
  readonly #recalls = new Map<number, Recalling>()
  #recall = 0
  #shown: ReadonlyArray<Holder> = []
  #prunedAtMs = 0
  readonly #expected: Expected
  /** Workers that have told what they hold. */
  readonly #heardOf = new Set<string>()
  /** Lives of workers that have ended. */
  readonly #ended = new Set<string>()
  readonly #unlisten: ReadonlyArray<() => void>

  constructor(options: OwnerLedgerOptions) {
    this.#options = options
    const { after, links, truth } = options
    this.#expected = new Expected(after)
    truth.attach(this)
    this.#unlisten = [
      links.serve(topics.take, (worker, body, answer) =>
        this.#expected.whenOpen(() => this.#take(worker, body as Take, answer))
      ),
      links.serve(topics.report, (worker, body) => this.#report(nameOf(worker), body as Report)),
      links.serve(topics.give, (worker, body) => this.#give(nameOf(worker), body as Give)),
      links.serve(topics.left, (worker, body) => this.#left(nameOf(worker), body as Left)),
      links.serve(topics.renew, (_worker, _body, answer) => answer(this.#renewed())),
      links.serve(topics.hello, (worker, body, answer) => answer(this.#hello(nameOf(worker), body as Hello))),
      links.onLeft((worker) => this.#gone(nameOf(worker))),
      truth.onChanged((apiKeyId) => this.#changed(apiKeyId))
    ]
  }

  close(): void {
    for (const unlisten of this.#unlisten) unlisten()
    this.#expected.close()
    for (const { timer } of this.#recalls.values()) timer.cancel()
  }

  opening(): Later<null> | null {
    return this.#expected.opening()
  }

  /** Waits for workers of an earlier owner, that hold what this one does not know of. */
  expect(workers: ReadonlyArray<WorkerId>): void {
    this.#expected.expect(workers.map(nameOf))
  }

  *waiting(apiKeyId: string): Iterable<Booked> {
    for (const booked of this.#bookings.waiting()) if (booked.apiKeyId === apiKeyId) yield booked
    for (const booked of this.#unsure.values()) if (booked.apiKeyId === apiKeyId) yield booked
  }

  /** A usage row of a worker has come, after the sums of the start were made. */
  hasRow(worker: WorkerId, row: UsageRow): void {
    const booked = bookedByRow(row)
    if (booked === null || this.#unsure.delete(booked.requestId)) return
    if (this.#options.truth.account(booked.apiKeyId) === undefined) return
    this.#bookings.row(nameOf(worker), booked.requestId, booked)
  }

  /**
   * The process of a worker has ended and its rows have come: books what it left open as estimated, and takes back what it held. `lost`: requests
   * without a row, which get one.
   */
  settleLeft(worker: WorkerId, lost: ReadonlyArray<Booked>): void {
    const { monotonicMs, truth } = this.#options
    const name = nameOf(worker)
    // An earlier owner has let its requests in, of which this one was never told.
    const isUnheard = !this.#heardOf.delete(name)
    const countEntry = ({ apiKeyId }: Booked): void => {
      if (isUnheard) for (const log of truth.account(apiKeyId)?.rates ?? []) log.add(monotonicMs())
    }
    for (const booked of lost) {
      // Its row says what was estimated.
      const reported = this.#bookings.take(booked.requestId) ?? this.#unsure.get(booked.requestId)
      this.#unsure.delete(booked.requestId)
      if (reported !== undefined) truth.unbook(reported)
      truth.book(booked)
      countEntry(booked)
    }
    for (const booked of this.#bookings.end(name)) {
      truth.book(booked)
      countEntry(booked)
    }
    // It may have let in all that it held, a moment ago.
    this.#leases.end(name, (pool, held) => {
      if (pool instanceof RatePool) for (let each = 0; each < held; each += 1) pool.log.add(monotonicMs())
    })
    this.#leaveSessions(name)
  }

  #pools(apiKeyId: string): KeyPools {
    const pools = this.#keys.get(apiKeyId) ?? new KeyPools(apiKeyId, this.#shared)
    this.#keys.set(apiKeyId, pools)
    return pools
  }

  #take(worker: WorkerId, take: Take, answer: (answer: Answer) => void): void {
    const name = nameOf(worker)
    // What waited for others must not be granted to one that has ended meanwhile.
    if (this.#ended.has(name)) return
    const decided = this.#decide(name, take)
    if (decided.is !== "short") return answer(decided)
    const recalled = this.#leases.recall(decided.pool, name)
    const again = (): void => {
      if (this.#ended.has(name)) return
      const second = this.#decide(name, take)
      answer(second.is === "short" ? this.#refused(take, second.refused) : second)
    }
    if (recalled.length > 0) return this.#callBack(recalled, again)
    const open = [...this.#recalls.values()].at(-1)
    // Another request has called back the same a moment ago.
    if (open !== undefined && this.#leases.heldOf(decided.pool) > 0) open.then.push(again)
    else answer(this.#refused(take, decided.refused))
  }

  #callBack(leases: ReadonlyArray<{ readonly worker: string; readonly number: number }>, then: () => void): void {
    const { after, links } = this.#options
    this.#recall += 1
    const number = this.#recall
    const byWorker = new Map<string, Array<number>>()
    for (const lease of leases) byWorker.set(lease.worker, [...(byWorker.get(lease.worker) ?? []), lease.number])
    const timer = after(recallMs, () => this.#recalled(number))
    this.#recalls.set(number, { from: new Set(byWorker.keys()), then: [then], timer, open: [] })
    for (const worker of links.workers()) {
      const of = byWorker.get(nameOf(worker))
      if (of !== undefined) links.tell(worker, topics.recall, { number, leases: of } satisfies Recall)
    }
  }

  gather(key: string | null, then: () => void): void {
    const { after, links } = this.#options
    this.#recall += 1
    const number = this.#recall
    const from = new Set(links.workers().map(nameOf))
    if (from.size === 0) {
      this.#shown = []
      return then()
    }
    const open: Array<OpenRequest> = []
    const done = (): void => {
      this.#shown = open.map(holderOf)
      then()
    }
    const timer = after(recallMs, () => this.#recalled(number))
    this.#recalls.set(number, { from, then: [done], timer, open })
    links.tellAll(topics.show, { number, key } satisfies Show)
  }

  shown(): ReadonlyArray<Holder> {
    return this.#shown
  }

  #recalled(number: number): void {
    const recall = this.#recalls.get(number)
    if (recall === undefined) return
    this.#recalls.delete(number)
    recall.timer.cancel()
    for (const then of recall.then) then()
  }

  #hasCome(worker: string, number: number): void {
    const recall = this.#recalls.get(number)
    if (recall?.from.delete(worker) === true && recall.from.size === 0) this.#recalled(number)
  }

  #refused({ id, key }: Take, refused: RefusedBy): Answer {
    const account = this.#options.truth.account(key)
    const meter = refused.by === "meter" ? account?.meters[refused.limit] : undefined
    if (refused.by === "meter" && meter !== undefined) {
      const { isReserved, startMs } = refused
      this.#options.truth.tellOnce(key, id, { meter, window: meter.at(startMs), isReserved })
    }
    return { is: "refused", refused }
  }

  #decide(worker: string, take: Take): Answer | Short {
    const { truth } = this.#options
    const { admits, atMs, key, promised, session, version } = take
    const account = truth.account(key)
    const pools = this.#pools(key)
    const changed: Answer = { is: "changed", limits: limitsOf(account, pools.version) }
    if (account === undefined || version !== pools.version) return changed
    // Requests of the day are a need of the worker, where it holds none.
    const usedUp = admits && !promised ? account.usedUp(atMs, false) : null
    if (usedUp !== null) return this.#refused(take, refusalBy(account, usedUp))
    const wanted: Array<readonly [need: Need, pool: LimitPool]> = []
    for (const need of take.needs) {
      const pool = pools.of(account, need[1], need[2])
      if (pool === undefined) return changed
      wanted.push([need, pool])
    }
    const short = promised ? null : this.#shortOf(account, wanted)
    if (short !== null) return short
    if (session !== null && !this.#enter(worker, account, take, session)) {
      return { is: "refused", refused: { by: "sessions", most: account.maxSessions } }
    }
    return { is: "granted", grants: this.#grant(worker, wanted, promised) }
  }

  #shortOf(account: KeyAccount, wanted: ReadonlyArray<readonly [Need, LimitPool]>): Short | null {
    const nowMs = this.#options.monotonicMs()
    for (const [[, limit, , need, amount], pool] of wanted) {
      if (need === 0 || pool.left(nowMs) >= need) continue
      if (pool instanceof RatePool) {
        const { log } = pool
        const isSure = log.reserved === 0
        return { is: "short", pool, refused: { by: "rate", limit, waitMs: log.waitMs(nowMs), isSure } }
      }
      const { meter, window } = pool
      const isReserved = meter.spec.unit !== "requests" && pool.fitsAlone(amount)
      return { is: "short", pool, refused: refusalBy(account, { meter, window, isReserved }) }
    }
    return null
  }

  #grant(
    worker: string,
    wanted: ReadonlyArray<readonly [Need, LimitPool]>,
    promised: boolean
  ): ReadonlyArray<readonly [number, number, boolean]> {
    const nowMs = this.#options.monotonicMs()
    const grants: Array<readonly [number, number, boolean]> = []
    for (const [[number, , , need], pool] of wanted) {
      const granted = this.#leases.take({ worker, number, pool, need }, nowMs, promised)
      if (granted !== null) grants.push([number, granted.total, granted.isNear])
    }
    return grants
  }

  #heldSessions(worker: string, key: string): Set<string> {
    const ofWorker = this.#sessions.get(worker) ?? new Map<string, Set<string>>()
    this.#sessions.set(worker, ofWorker)
    const held = ofWorker.get(key) ?? new Set<string>()
    ofWorker.set(key, held)
    return held
  }

  #enter(worker: string, { maxSessions, sessions }: KeyAccount, { key }: Take, session: string): boolean {
    const held = this.#heldSessions(worker, key)
    if (held.has(session)) return true
    if (maxSessions > 0 && !sessions.has(session) && sessions.size >= maxSessions) return false
    sessions.enter(session)
    held.add(session)
    return true
  }

  #left(worker: string, { key, session }: Left): void {
    const ofWorker = this.#sessions.get(worker)
    const held = ofWorker?.get(key)
    if (held?.delete(session) !== true) return
    this.#options.truth.account(key)?.sessions.leave(session)
    if (held.size === 0) ofWorker?.delete(key)
  }

  #leaveSessions(worker: string): void {
    for (const [key, held] of this.#sessions.get(worker) ?? []) {
      const account = this.#options.truth.account(key)
      for (const session of held) account?.sessions.leave(session)
    }
    this.#sessions.delete(worker)
  }

  #spent(worker: string, spent: ReadonlyArray<readonly [number, number]>): void {
    const nowMs = this.#options.monotonicMs()
    for (const [number, total] of spent) this.#leases.spent(worker, number, total, nowMs)
  }

  #report(worker: string, report: Report): void {
    // What was reserved for it is booked in the same step.
    const [number, id, , , , , spent] = report
    const nowMs = this.#options.monotonicMs()
    for (let at = 0; at < spent.length; at += 2) this.#leases.spent(worker, spent[at] ?? 0, spent[at + 1] ?? 0, nowMs)
    const booked = bookedOf(report)
    if (this.#bookings.report(worker, number, id, booked)) this.#options.truth.book(booked)
  }

  #give(worker: string, { arrivals, ended, open, recall, spent }: Give): void {
    const nowMs = this.#options.monotonicMs()
    this.#spent(worker, spent)
    for (const [number, total, agesMs] of arrivals) {
      const pool = this.#leases.poolOf(worker, number)
      this.#leases.spent(worker, number, total, nowMs)
      if (!(pool instanceof RatePool)) continue
      for (const ageMs of agesMs) pool.log.add(nowMs - Math.max(0, ageMs))
    }
    for (const number of ended) this.#leases.forget(worker, number)
    if (recall === 0) return
    this.#recalls.get(recall)?.open.push(...open)
    this.#hasCome(worker, recall)
  }

  #renewed(): true {
    const { monotonicMs, nowMs } = this.#options
    if (monotonicMs() - this.#prunedAtMs >= pruneEveryMs) {
      this.#prunedAtMs = monotonicMs()
      for (const pools of this.#keys.values()) {
        for (const pool of pools.ended(nowMs())) if (!this.#leases.isDrawnOn(pool)) pools.forget(pool)
      }
      for (const pool of this.#shared.ended(nowMs())) if (!this.#leases.isDrawnOn(pool)) this.#shared.forget(pool)
    }
    return true
  }

  /** Replaces all that was known of a worker by its own word. */
  #hello(worker: string, { held, reports, running, sessions }: Hello): Welcome {
    const { monotonicMs, truth } = this.#options
    const isNew = !this.#heardOf.has(worker)
    this.#heardOf.add(worker)
    this.#leases.end(worker)
    this.#leaveSessions(worker)
    for (const each of held) {
      const pool = this.#poolOfHeld(each)
      if (pool !== undefined) {
        this.#leases.adopt({ worker, number: each.lease, pool, need: each.held }, monotonicMs())
      }
    }
    for (const [key, session] of sessions) {
      truth.account(key)?.sessions.enter(session)
      this.#heldSessions(worker, key).add(session)
    }
    if (isNew) this.#remember(running)
    this.#bookAgain(worker, reports)
    this.#expected.known(worker)
    return { limited: truth.limited() }
  }

  /** Pool of what a worker holds; undefined: the limit is no more. */
  #poolOfHeld(held: HeldLease): LimitPool | undefined {
    const { truth } = this.#options
    const { key, meter, windowStartMs } = held
    if (key === null) return this.#shared.ofHeld(meter === null ? undefined : truth.shared(meter), windowStartMs)
    const account = truth.account(key)
    return account === undefined ? undefined : this.#pools(key).ofHeld(account, held)
  }

  /** Counts for rates what has no row in the table. */
  #remember(running: Hello["running"]): void {
    const { monotonicMs, truth } = this.#options
    for (const [key, agesMs] of running) {
      for (const log of truth.account(key)?.rates ?? []) {
        for (const ageMs of agesMs) log.add(monotonicMs() - Math.max(0, ageMs))
      }
    }
  }

  /** Books reports at once, and takes those back that were in the sums of the start. */
  #bookAgain(worker: string, reports: ReadonlyArray<Report>): void {
    const { truth, withRows } = this.#options
    const asked: Array<string> = []
    for (const report of reports) {
      const [number, id] = report
      const booked = bookedOf(report)
      // Its row has come since the sums of the start were made: it is not in them.
      const isSince = this.#bookings.hasRow(id)
      if (!this.#bookings.report(worker, number, id, booked)) continue
      truth.book(booked)
      if (isSince) continue
      this.#bookings.take(id)
      this.#unsure.set(id, booked)
      asked.push(id)
    }
    if (asked.length === 0) return
    withRows(asked, (found) => {
      for (const id of asked) {
        const booked = this.#unsure.get(id)
        if (booked === undefined) continue
        this.#unsure.delete(id)
        if (found.has(id)) truth.unbook(booked)
        else this.#bookings.keep(worker, id, booked)
      }
    })
  }

  #gone(worker: string): void {
    this.#ended.add(worker)
    this.#expected.known(worker)
    for (const number of this.#recalls.keys()) this.#hasCome(worker, number)
  }

  #changed(apiKeyId: string): void {
    const { links, truth } = this.#options
    const account = truth.account(apiKeyId)
    const pools = [...this.#pools(apiKeyId).changed(account), ...this.#shared.changed(truth.shared)]
    const gone = pools.flatMap((pool) => this.#leases.drop(pool))
    for (const id of links.workers()) {
      const worker = nameOf(id)
      const own = gone.filter((lease) => lease.worker === worker).map(({ number }) => number)
      links.tell(id, topics.changed, { key: apiKeyId, isLimited: account !== undefined, gone: own } satisfies Changed)
    }
  }
}

/** A request of another process, as a person is shown it. */
export const holderOf = ({ apiKeyId, calls, receivedMs, requestId }: OpenRequest): Holder => ({
  requestId,
  apiKeyId,
  receivedMs,
  reservations: calls.map((call) => {
    const { connectionId, createdAtMs, isOpen, model, price, provider } = call
    const reservation = new Reservation(
      provider,
      connectionId,
      model,
      { ...call, price: price as ModelPrice | null },
      createdAtMs
    )
    reservation.isOpen = isOpen
    return reservation
  })
})

const refusalBy = (account: KeyAccount, { isReserved, meter, window }: Obstacle): RefusedBy => {
  const { endMs, startMs, used } = window
  return { by: "meter", limit: account.meters.indexOf(meter), startMs, endMs, used, isReserved }
}
