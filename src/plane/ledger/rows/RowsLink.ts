/**
 * The way from the ledger of a node to the rows that all nodes share, with the face of the way to an owner: what the ledger tells and asks in a turn of the
 * event loop goes in one transaction, one at a time, what it tells before what it asks. A transaction whose end is not known is repeated under its
 * number. Plain and synchronous.
 */
import type { Timer } from "../../../platform/Timers.ts"
import { type Holder } from "../KeyAccount.ts"
import { holderOf } from "../leased/OwnerLedger.ts"
import { limitsOf } from "../leased/Pools.ts"
import type { Booked, WorkersBooks } from "../LedgerTruth.ts"
import type { Meter, MeterSpec, MeterWindow } from "../Meter.ts"
import { renewEveryMs } from "../../state/ledger/Fence.ts"
import {
  type Changed,
  type Give,
  type Hello,
  type Left,
  type OpenRequest,
  type RefusedBy,
  type Report,
  type Show,
  type Take,
  type TakeAnswer,
  topics,
  type Welcome
} from "../../state/ledger/Messages.ts"
import { Pace } from "../../state/ledger/Slice.ts"
import type { OwnerLink, Unlisten } from "../../state/link/OwnerLink.ts"
import { windowId } from "./Books.ts"
import type { Known, RowsLinkOptions } from "./Known.ts"
import { beforeRows, bookedOf, idOf, isCurrent, metersOf, reportedOf, sessionId, Since } from "./Known.ts"
import { Listeners } from "./Listeners.ts"
import { refOfMeter, refOfRate, refOfSessions, WindowList } from "./Refs.ts"
import type { RowTake, TakeOutcome, Turn, TurnOutcome, WindowRef } from "./Rows.ts"
import { type Asked, noTake, type Sent, TurnQueue } from "./TurnQueue.ts"

type Answer = TakeAnswer<MeterSpec>

/** A request that is short asks again after so many milliseconds while others may give something back. */
const retriesMs = [100, 200, 300] as const
/** Time in ms after which a node that holds something ahead of need looks whether others want it. */
const wantedEveryMs = 200
/** Time in ms for which news wait while nothing is asked. */
const newsMs = 200
/** Time in ms between two attempts to reach the rows. */
const reachEveryMs = 250

export class RowsLink implements WorkersBooks {
  readonly #options: RowsLinkOptions
  readonly #leases = new Map<number, Known>()
  readonly #versions = new Map<string, number>()
  readonly #heard = new Listeners()
  /** Meters of the windows that this node has asked for, by the row's name and begin. */
  readonly #seen = new Map<string, { readonly meter: Meter; readonly window: MeterWindow }>()
  readonly #gathering = new Map<number, { readonly open: Array<OpenRequest>; readonly then: () => void }>()
  #shown: ReadonlyArray<Holder> = []
  /** Windows of limits that were put in force since the start and are not in the rows as such. */
  readonly #added = new Set<string>()
  readonly #since: Since
  /** Sessions that the ledger knows to be let in. */
  readonly #sessions = new Set<string>()
  #queue = new TurnQueue()
  #sent: Sent | null = null
  #holder: string
  #hasJoined = false
  #number = 0
  #isUp = true
  #isBusy = false
  #isDue = false
  #isNoted = false
  #isClosed = false
  #gathers = 0
  #failures = 0
  readonly #timers = new Set<Timer>()
  readonly #unlisten: Unlisten
  readonly service: typeof OwnerLink.Service

  constructor(options: RowsLinkOptions) {
    this.#options = options
    this.#holder = options.newHolder()
    this.#since = new Since(options.nowMs)
    options.truth.attach(this)
    this.#unlisten = options.truth.onChanged((apiKeyId) => this.#changed(apiKeyId, new Set()))
    this.service = {
      send: (topic, body) => this.#send(topic, body),
      ask: (topic, body, then) => this.#ask(topic, body, then),
      listen: (topic, listener) => this.#heard.listen(topic, listener),
      isUp: () => this.#isUp,
      watch: (listener) => this.#heard.watch(listener)
    }
    this.#every(renewEveryMs, () => options.rows.sweep(() => {}))
    this.#every(wantedEveryMs, () => this.#lookForWanted())
  }

  close(): void {
    this.#isClosed = true
    this.#unlisten()
    for (const timer of this.#timers) timer.cancel()
  }

  /** Hot: runs `then` when the rows know the report of a request; false, where there is none that they do not know. */
  whenTold(requestId: string, then: () => void): boolean {
    const queue = [this.#queue, this.#sent?.queue].find((each) => each?.reported.has(requestId))
    queue?.told.push(then)
    return queue !== undefined
  }

  /** Books what earlier lives of the node left, each once, and takes back what they held. */
  settleLeft(left: ReadonlyArray<Booked>): void {
    const inherited = (this.#queue.inherited ??= [])
    const all = left.map((booked) => ({ requestId: booked.requestId, bookings: this.#bookingsOf(booked) }))
    inherited.push(...beforeRows(all))
    this.#soon()
  }

  /** Runs `then` when all that was told is in the rows, or they cannot be reached. */
  end(then: () => void): void {
    this.#queue.renewals.push(then)
    this.#soon()
  }

  readonly waiting: WorkersBooks["waiting"] = () => []
  readonly opening: WorkersBooks["opening"] = () => null

  shown(): ReadonlyArray<Holder> {
    return this.#shown
  }

  /** Gives back what this node holds ahead of need, and reads what all nodes have used and reserved. */
  gather(apiKeyId: string | null, then: () => void): void {
    this.#gathers += 1
    const open: Array<OpenRequest> = []
    const read = (): void => {
      this.#shown = open.map(holderOf)
      this.#read(apiKeyId, then)
    }
    this.#gathering.set(this.#gathers, { open, then: read })
    this.#heard.tell(topics.show, { number: this.#gathers, key: apiKeyId } satisfies Show)
    // The ledger has answered, unless the rows cannot be reached.
    if (this.#gathering.delete(this.#gathers)) read()
  }

  #after(delayMs: number, run: () => void): void {
    const timer = this.#options.after(delayMs, () => {
      this.#timers.delete(timer)
      if (!this.#isClosed) run()
    })
    this.#timers.add(timer)
  }

  #every(ms: number, run: () => void): void {
    this.#after(ms, () => {
      run()
      this.#every(ms, run)
    })
  }

  #versionOf(apiKeyId: string): number {
    return this.#versions.get(apiKeyId) ?? 1
  }

  #send(topic: string, body: unknown): void {
    switch (topic) {
      case topics.report:
        this.#report(body as Report)
        break
      case topics.give:
        this.#give(body as Give)
        break
      case topics.left: {
        const { key, session } = body as Left
        this.#sessions.delete(sessionId(key, session))
        this.#queue.left.push([key, session])
        break
      }
      default:
        return
    }
    this.#later()
  }

  #ask(topic: string, body: unknown, then: (answer: unknown) => void): void {
    if (topic === topics.hello) this.#hello(body as Hello, then)
    else if (!this.#isUp) return then(null)
    else if (topic === topics.renew) this.#queue.renewals.push(then)
    else if (topic === topics.take) this.#queue.asked.push({ take: body as Take, tries: 0, then })
    else return then(null)
    this.#soon()
  }

  /** Hot: notes the cost of a request, and how much of its leases is gone. */
  #report([, id, key, atMs, isCounted, costs, spent]: Report): void {
    const queue = this.#queue
    for (let at = 0; at < spent.length; at += 2) queue.spent.set(spent[at] ?? 0, spent[at + 1] ?? 0)
    for (const meter of this.#options.truth.account(key)?.metersAt(atMs) ?? []) {
      const amount = reportedOf(meter, isCounted === 1, costs)
      if (amount === 0) continue
      const window = meter.at(atMs)
      queue.bookMeter(meter, window, { amount, requestId: id, apiKeyId: key }, () => this.#refOf(meter, atMs))
    }
    queue.reported.add(id)
  }

  #bookingsOf({ apiKeyId, charges, isCounted, receivedMs, requestId }: Booked) {
    const account = this.#options.truth.account(apiKeyId)
    return (account?.metersAt(receivedMs) ?? []).flatMap((meter) => {
      const amount = bookedOf(meter, isCounted, charges)
      return amount === 0 ? [] : [{ ref: this.#refOf(meter, receivedMs), amount, requestId, apiKeyId }]
    })
  }

  #refOf(meter: Meter, atMs: number): WindowRef {
    const window = meter.at(atMs)
    const ref = refOfMeter(meter, window, this.#since.of(meter.spec))
    const id = windowId(ref)
    this.#seen.set(id, { meter, window })
    return this.#added.has(id) ? { ...ref, isAdded: true } : ref
  }

  #give({ arrivals, ended, open, recall, spent }: Give): void {
    const nowMs = this.#options.monotonicMs()
    for (const [lease, total] of spent) this.#queue.spent.set(lease, total)
    for (const [lease, total, agesMs] of arrivals) {
      this.#queue.arrived(
        lease,
        total,
        agesMs.map((ageMs) => nowMs - ageMs)
      )
    }
    for (const lease of ended) {
      const known = this.#leases.get(lease)
      if (known !== undefined) this.#queue.ended.push([lease, known.ref])
    }
    const gathering = this.#gathering.get(recall)
    if (gathering === undefined) return
    this.#gathering.delete(recall)
    gathering.open.push(...open)
    this.#soon()
    // What was given back is in the rows when the turn is done, or they cannot be reached.
    this.#queue.renewals.push(gathering.then)
  }

  /** The sums of the leases begin anew, at the start and for a holder that the rows do not know. Reports that were not told are in the queue. */
  #hello({ held, sessions }: Hello, then: (answer: unknown) => void): void {
    const { truth } = this.#options
    this.#queue.forgetLeases()
    this.#leases.clear()
    for (const { held: amount, key, lease, meter: id, rate, windowStartMs } of held) {
      if (rate !== null || id === null) continue
      const account = key === null ? undefined : truth.account(key)
      const meter = key === null ? truth.shared(id) : account?.meters.find(({ spec }) => spec.id === id)
      if (meter === undefined || meter.at(windowStartMs).startMs !== windowStartMs) continue
      const ref = this.#refOf(meter, windowStartMs)
      this.#know(lease, { ref, key, meter, window: meter.at(windowStartMs) }).total = amount
      this.#queue.adopted.push([lease, ref, amount])
    }
    this.#sessions.clear()
    for (const [key, session] of sessions) {
      this.#sessions.add(sessionId(key, session))
      this.#queue.entered.push([key, session])
    }
    then({ limited: truth.limited() } satisfies Welcome)
  }

  #know(lease: number, of: Pick<Known, "ref" | "key" | "meter" | "window">): Known {
    const known = this.#leases.get(lease) ?? {
      ...of,
      pace: new Pace(this.#options.monotonicMs()),
      total: 0,
      wantedMs: 0
    }
    this.#leases.set(lease, known)
    return known
  }

  /** Limits of a key are others now: tells the ledger, and ends leases of limits that are no more. `lost`: leases that are gone already. */
  #changed(apiKeyId: string, lost: ReadonlySet<number>): void {
    const { truth } = this.#options
    const account = truth.account(apiKeyId)
    this.#versions.set(apiKeyId, this.#versionOf(apiKeyId) + 1)
    for (const meter of account?.meters ?? []) {
      const id = windowId(refOfMeter(meter, meter.at(this.#options.nowMs()), 0))
      if (!this.#seen.has(id)) this.#added.add(id)
      else if (this.#seen.get(id)?.meter.isResized(meter) === false) this.#added.add(id)
    }
    const gone: Array<number> = [...lost]
    for (const [number, { key, meter, ref, window }] of this.#leases) {
      if (lost.has(number) || (key !== apiKeyId && key !== null)) continue
      const isThere =
        meter === null
          ? account?.rates.some((rate) => refOfRate(apiKeyId, rate).name === ref.name) === true
          : isCurrent(key === null ? truth.shared(meter.spec.id) : metersOf(account, meter), meter, window)
      if (isThere) continue
      gone.push(number)
      this.#queue.ended.push([number, ref])
    }
    this.#heard.tell(topics.changed, { key: apiKeyId, isLimited: account !== undefined, gone } satisfies Changed)
    this.#soon()
  }

  /** News alone wait for others, because a turn costs more than what is in it; what is asked takes them along. */
  #later(): void {
    if (this.#isNoted) return
    this.#isNoted = true
    this.#after(newsMs, () => {
      this.#isNoted = false
      this.#soon()
    })
  }

  #soon(): void {
    if (this.#isDue || this.#isBusy || this.#isClosed) return
    this.#isDue = true
    this.#options.soon(() => {
      this.#isDue = false
      this.#go()
    })
  }

  /** Sends the next turn, where none is on its way. */
  #go(): void {
    if (this.#isBusy || this.#isClosed) return
    if (this.#sent === null) {
      if (this.#queue.isEmpty) return
      this.#build()
    }
    const sent = this.#sent
    if (sent === null) return
    this.#isBusy = true
    const { node, rows } = this.#options
    if (this.#hasJoined) return rows.turn(sent.turn, (outcome) => this.#came(outcome))
    rows.join(this.#holder, node, (joined) => {
      this.#hasJoined = joined === true
      if (this.#hasJoined) rows.turn(sent.turn, (outcome) => this.#came(outcome))
      else this.#came(null)
    })
  }

  #build(): void {
    const queue = this.#queue
    this.#queue = new TurnQueue()
    const windows = new WindowList()
    const takes: Array<RowTake> = []
    const asked: Array<Asked | null> = []
    for (const each of queue.asked) {
      const take = this.#resolve(each.take, windows)
      // The answer may lead to another question, which is for the next turn.
      if (take === null) each.then(this.#limits(each.take.key))
      takes.push(take ?? noTake)
      asked.push(take === null ? null : each)
    }
    const news = queue.news(windows, (lease) => this.#leases.get(lease)?.ref, this.#options.monotonicMs())
    for (const [lease] of queue.ended) this.#leases.delete(lease)
    this.#number += 1
    const turn: Turn = {
      holder: this.#holder,
      node: this.#options.node,
      number: this.#number,
      attempt: 0,
      windows: windows.refs,
      news,
      takes
    }
    this.#sent = { turn, queue, asked }
  }

  #limits(key: string): Answer {
    return { is: "changed", limits: limitsOf(this.#options.truth.account(key), this.#versionOf(key)) }
  }

  /** The rows that a request needs; null: the ledger knew other limits. */
  #resolve({ admits, atMs, key, needs, promised, session, version }: Take, windows: WindowList): RowTake | null {
    const account = this.#options.truth.account(key)
    if (account === undefined || version !== this.#versionOf(key)) return null
    const checks: Array<readonly [number, number]> = []
    if (admits && !promised) {
      for (const [limit, meter] of account.meters.entries()) {
        if (meter.spec.scope !== null || meter.spec.unit === "requests") continue
        checks.push([limit, windows.place(this.#refOf(meter, atMs))])
      }
    }
    const wanted: Array<RowTake["needs"][number]> = []
    for (const [lease, limit, windowStartMs, need, amount] of needs) {
      const meter = account.meters[limit] ?? null
      const rate = account.rates[-limit - 1]
      const ref = meter !== null ? this.#refOf(meter, windowStartMs) : rate === undefined ? null : refOfRate(key, rate)
      if (ref === null) return null
      const shared = meter?.spec.owner !== undefined
      const known = this.#know(lease, {
        ref,
        key: shared ? null : key,
        meter,
        window: meter?.at(windowStartMs) ?? null
      })
      const isRequests = meter?.spec.unit === "requests"
      wanted.push({ lease, limit, window: windows.place(ref), need, amount, perMs: known.pace.perMs, isRequests })
    }
    if (session !== null) windows.place(refOfSessions(key))
    return {
      checks,
      needs: wanted,
      session: session === null ? null : { key, session, most: account.maxSessions },
      isPromised: promised
    }
  }

  #came(outcome: TurnOutcome | null): void {
    this.#isBusy = false
    const sent = this.#sent
    if (sent === null || this.#isClosed) return
    if (outcome === null || outcome.is === "stale") return this.#unreachable(sent)
    this.#failures = 0
    this.#isUp = true
    switch (outcome.is) {
      case "done":
        this.#sent = null
        this.#done(sent, outcome)
        break
      case "expired":
        return this.#revive()
      case "unknown":
        return this.#unknown(sent, outcome.isTold)
    }
    if (this.#queue.isUrgent) this.#go()
    else if (this.#queue.hasNews) this.#later()
  }

  /** The turn is repeated, at once the first time: a connection that was lost is made again. */
  #unreachable(sent: Sent): void {
    this.#failures += 1
    sent.turn = { ...sent.turn, attempt: sent.turn.attempt + 1 }
    if (this.#failures === 1) return this.#go()
    this.#isUp = false
    // Those that wait for the rows hear that they are not there; the turn asks for them again, and gives back what they get.
    for (const each of sent.asked) each?.then(null)
    sent.asked = sent.asked.map(() => null)
    for (const renewal of [...sent.queue.renewals.splice(0), ...this.#queue.renewals.splice(0)]) renewal(null)
    for (const each of this.#queue.asked.splice(0)) each.then(null)
    this.#after(reachEveryMs, () => this.#go())
  }

  #revive(): void {
    this.#isBusy = true
    this.#options.rows.revive(this.#holder, (revived) => {
      this.#isBusy = false
      const sent = this.#sent
      if (sent === null || this.#isClosed) return
      if (revived === null) return this.#unreachable(sent)
      if (revived.leases === null) return this.#unknown(sent)
      const left = new Set(revived.leases)
      const lost = new Map<string, Set<number>>()
      for (const [number, { key, meter, total }] of this.#leases) {
        if (meter !== null || key === null || total === 0 || left.has(number)) continue
        lost.set(key, (lost.get(key) ?? new Set()).add(number))
        this.#leases.delete(number)
      }
      for (const [key, numbers] of lost) this.#changed(key, numbers)
      this.#go()
    })
  }

  /** The rows do not know this holder, or no more: another one begins with what the ledger says that it holds. */
  #unknown({ asked, queue }: Sent, isTold = false): void {
    this.#sent = null
    this.#holder = this.#options.newHolder()
    this.#hasJoined = false
    this.#number = 0
    for (const each of asked) each?.then(null)
    const next = this.#queue
    if (isTold) this.#acknowledge(queue)
    else next.bookAgain(queue)
    next.renewals.push(...queue.renewals)
    this.#isUp = false
    this.#heard.tellUp(false)
    this.#isUp = true
    this.#heard.tellUp(true)
    this.#soon()
  }

  /** The rows know what a turn has told. */
  #acknowledge({ inherited, reported, told }: TurnQueue): void {
    const ids = [...reported, ...(inherited ?? []).map(({ requestId }) => requestId)]
    reported.clear()
    for (const run of told.splice(0)) run()
    if (ids.length > 0) this.#options.acknowledged(ids)
  }

  #done({ asked, queue, turn }: Sent, { reached, seen, takes, totals }: Extract<TurnOutcome, { is: "done" }>): void {
    this.#acknowledge(queue)
    for (const [at, used, reserved] of seen) this.#saw(turn.windows[at], used, reserved)
    for (const ref of turn.windows) if (ref.isAdded) this.#added.delete(windowId(ref))
    for (const [at, notified] of reached) this.#reached(turn, queue, at, notified)
    const told = new Set(reached.map(([at]) => idOf(turn.windows[at])))
    for (const [at, each] of asked.entries()) {
      const outcome = takes[at]
      if (each !== null && outcome !== undefined) this.#answer(each, outcome, told)
    }
    // Granted by a turn whose answer did not come, or to a request that did not wait.
    for (const { session } of turn.takes) {
      if (session === null || this.#sessions.has(sessionId(session.key, session.session))) continue
      this.#queue.left.push([session.key, session.session])
    }
    for (const [number, total, at] of totals) {
      const known = this.#leases.get(number)
      const ref = turn.windows[at]
      if (known === undefined && ref !== undefined) this.#queue.ended.push([number, ref])
      if (known !== undefined && total > known.total) this.#queue.returned.push([number, total - known.total])
    }
    for (const renewal of queue.renewals) renewal(true)
  }

  #saw(ref: WindowRef | undefined, used: number, reserved: number): void {
    const known = this.#seen.get(idOf(ref))
    if (known === undefined) return
    known.window.used = Math.max(known.window.used, used)
    known.window.reserved = reserved
  }

  #reached({ windows }: Turn, { bookings }: TurnQueue, at: number, notified: number): void {
    const name = idOf(windows[at])
    const known = this.#seen.get(name)
    const booking = bookings.get(name)
    if (known === undefined || booking === undefined) return
    const threshold = notified === 2 ? "limit" : "warning"
    this.#options.truth.tellReached(booking.apiKeyId, booking.requestId, { ...known, threshold })
  }

  /** `told`: windows whose end this turn has noted. */
  #answer(asked: Asked, outcome: TakeOutcome, told: ReadonlySet<string>): void {
    switch (outcome.is) {
      case "granted": {
        const { key, session } = asked.take
        if (session !== null) this.#sessions.add(sessionId(key, session))
        const nowMs = this.#options.monotonicMs()
        for (const [number, total] of outcome.grants) {
          const known = this.#leases.get(number)
          if (known === undefined) continue
          known.pace.drew(Math.max(0, total - known.total), nowMs)
          known.total = Math.max(known.total, total)
        }
        return asked.then({ is: "granted", grants: outcome.grants } satisfies Answer)
      }
      case "refused":
        return asked.then(this.#refused(asked.take, outcome.refused, told))
      case "short": {
        const delayMs = retriesMs[asked.tries]
        if (!outcome.others || delayMs === undefined)
          return asked.then(this.#refused(asked.take, outcome.refused, told))
        return this.#after(delayMs, () => {
          if (!this.#isUp) return asked.then(null)
          this.#queue.asked.push({ ...asked, tries: asked.tries + 1 })
          this.#soon()
        })
      }
    }
  }

  #refused({ id, key }: Take, refused: RefusedBy, told: ReadonlySet<string>): Answer {
    const { truth } = this.#options
    const meter = refused.by === "meter" ? truth.account(key)?.meters[refused.limit] : undefined
    if (refused.by === "meter" && meter !== undefined && told.has(idOf(this.#refOf(meter, refused.startMs)))) {
      truth.tellOnce(key, id, { meter, window: meter.at(refused.startMs), isReserved: refused.isReserved })
    }
    return { is: "refused", refused }
  }

  /** Looks whether others want what is held here, where anything is. */
  #lookForWanted(): void {
    if (!this.#isUp || !this.#hasJoined || this.#leases.size === 0) return
    this.#options.rows.wanted(this.#holder, (found) => {
      const leases: Array<number> = []
      for (const [number, wantedMs] of found ?? []) {
        const known = this.#leases.get(number)
        if (known === undefined || wantedMs <= known.wantedMs) continue
        known.wantedMs = wantedMs
        leases.push(number)
      }
      if (leases.length === 0 || this.#isClosed) return
      this.#heard.tell(topics.recall, { number: 0, leases })
      this.#soon()
    })
  }

  #read(apiKeyId: string | null, then: () => void): void {
    const { nowMs, rows, truth } = this.#options
    const windows = new WindowList()
    for (const key of apiKeyId === null ? truth.limited() : [apiKeyId]) {
      for (const meter of truth.account(key)?.meters ?? []) windows.place(this.#refOf(meter, nowMs()))
    }
    const { refs } = windows
    rows.standing(refs, (found) => {
      for (const [at, used, reserved] of found ?? []) this.#saw(refs[at], used, reserved)
      then()
    })
  }
}
