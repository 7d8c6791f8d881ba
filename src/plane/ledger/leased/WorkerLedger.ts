/**
 * A worker's half of the limits of keys: lets requests in and calls through on what it holds by leases, and asks the owner where that is not
 * enough. Plain and synchronous; what has to be asked for comes later.
 */
import { type LimitReached, LimitsUnknown } from "../../../contract/domain/Errors.ts"
import { Later } from "../../../kernel/Later.ts"
import type { Timer } from "../../../platform/Timers.ts"
import type { ApiKey } from "../../../subjects/keys/entity.ts"
import { Fence, renewEveryMs } from "../../state/ledger/Fence.ts"
import {
  type Changed,
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
import type { WorkerLease } from "../../state/ledger/WorkerLease.ts"
import type { MovedRows } from "../../state/ledger/MovedRows.ts"
import type { OwnerLink } from "../../state/link/OwnerLink.ts"
import type { Charge, NotReserved } from "../Commitment.ts"
import { hasRates, type Holder, type Obstacle, type Reservation } from "../KeyAccount.ts"
import type { AdmissionRequest, Admitted } from "../KeyLimits.ts"
import type { Booked } from "../LedgerTruth.ts"
import { meterReached, rateReached, sessionsReached } from "../LimitErrors.ts"
import type { MeterSpec, MeterWindow } from "../Meter.ts"
import { type Hold, LeasedAccount, type LeasedMeter } from "./LeasedAccount.ts"
import { type LeasedBooks, LeasedCommitment, type LeasedReservation } from "./LeasedCommitment.ts"
import { addSpent, agesOf, allOf, costOf, heldOf, heldOfMeters, isCurrent, openOf, refusedByRate } from "./Leases.ts"
import { Outbox } from "./Outbox.ts"
import { Reported } from "./Reported.ts"

export interface WorkerLedgerOptions {
  readonly link: typeof OwnerLink.Service
  /** Tells which reports have their rows in the table. Null: the other side books each report once, so none is kept to be sent again. */
  readonly moved: typeof MovedRows.Service | null
  readonly nowMs: () => number
  readonly monotonicMs: () => number
  readonly after: (delayMs: number, run: () => void) => Timer
}

type Answer = TakeAnswer<MeterSpec>
type Reserved = Reservation | NotReserved

/** Time in ms after which the owner learns of admissions by rates. */
const arrivalsMs = 20
/** Limits that change while they are asked for, so often, are not known. */
const mostChanges = 5
const unknownRetryMs = 1_000
const unknown = (): LimitsUnknown => new LimitsUnknown({ retryAfterMs: unknownRetryMs })

export class WorkerLedger implements LeasedBooks {
  readonly #options: WorkerLedgerOptions
  readonly #accounts = new Map<string, LeasedAccount>()
  /** Limits that keys of a person or a team share, by their id. As many as have been met. */
  readonly #shared = new Map<string, LeasedMeter>()
  /** Accounts that hold something, or did a moment ago. */
  readonly #active = new Set<LeasedAccount>()
  readonly #outbox = new Outbox()
  readonly #fence = new Fence()
  /** Reports whose rows are not in the table: the next owner may begin without them. Null: there is no next one. */
  readonly #reported: Reported | null
  /** Keys with limits; null: the owner has not told. */
  #limited: Set<string> | null = null
  #number = 0
  #reports = 0
  #hasExpired = false
  #arrivals: Timer | null = null
  #renewal: Timer | null = null
  readonly #unlisten: ReadonlyArray<() => void>

  constructor(options: WorkerLedgerOptions) {
    this.#options = options
    const { link, moved } = options
    const reported = moved === null ? null : new Reported()
    this.#reported = reported
    this.#unlisten = [
      moved?.listen((requestIds) => reported?.moved(requestIds)) ?? (() => {}),
      link.listen(topics.changed, (body) => this.#changed(body as Changed)),
      link.listen(topics.recall, (body) => this.#recalled(body as Recall)),
      link.listen(topics.show, (body) => this.#shown(body as Show)),
      link.watch((isUp) => {
        if (isUp) this.#hello()
      })
    ]
    if (link.isUp()) this.#hello()
    this.#renewal = options.after(renewEveryMs, () => this.#renew())
  }

  close(): void {
    for (const unlisten of this.#unlisten) unlisten()
    this.#arrivals?.cancel()
    this.#renewal?.cancel()
    for (const account of this.#active) this.#giveAll(account)
    this.#giveShared()
    this.#flush()
  }

  readonly #next = (): number => {
    this.#number += 1
    return this.#number
  }

  /** Hot: null for a key without limits. */
  admit(key: ApiKey, request: AdmissionRequest): Admitted | Later<Admitted> {
    const account = this.#accountOf(key)
    if (account === null) return null
    const { isCountedBefore, isPromised = false, receivedMs, requestId, sessionId } = request
    const nowMs = this.#options.monotonicMs()
    if (account.isKnown && !account.hasLimits) return null
    if (account.isKnown && this.#isOpen(nowMs)) {
      const usedUp = isPromised ? null : account.usedUp(receivedMs, nowMs)
      if (usedUp !== null) return this.refuse(usedUp)
      const session = isCountedBefore || account.maxSessions === 0 ? null : (sessionId ?? requestId)
      if (isPromised || account.mayEnter(receivedMs, !isCountedBefore, session)) {
        return this.#entered(account, request, session)
      }
      const waiting = isCountedBefore ? null : refusedByRate(account, nowMs)
      if (waiting !== null) return waiting
    }
    const later = new Later<Admitted>()
    this.#askEntry(account, request, 0, later)
    return later
  }

  /** Milliseconds until the rates of a key let one more request in, as far as it is known; 0: now. */
  pauseMs(key: ApiKey): number {
    const account = this.#accounts.get(key.id)
    return account === undefined ? 0 : (refusedByRate(account, this.#options.monotonicMs())?.retryAfterMs ?? 0)
  }

  refuse({ isReserved, meter, window }: Obstacle): LimitReached {
    return meterReached(meter.spec, window, isReserved, this.#options.nowMs())
  }

  commitments(apiKeyId?: string): ReadonlyArray<Holder> {
    const found: Array<Holder> = []
    for (const [id, { holders }] of this.#accounts)
      if (apiKeyId === undefined || id === apiKeyId) found.push(...holders)
    return found
  }

  /** Hot: checks whether the key has limits now, or may have. */
  mayCount(apiKeyId: string): boolean {
    return this.#limited === null || this.#limited.has(apiKeyId) || this.#accounts.has(apiKeyId)
  }

  /** Reports the cost of a request that was let in while its key had no limits. */
  book(booked: Booked): void {
    if (this.mayCount(booked.apiKeyId)) this.#tell(booked, [], null)
  }

  /** Null: it has no limits. */
  #accountOf(key: ApiKey): LeasedAccount | null {
    const known = this.#accounts.get(key.id)
    if (known !== undefined) return known
    if (this.#limited !== null && !this.#limited.has(key.id) && !hasRates(key)) return null
    const account = new LeasedAccount(key.id, this.#next, this.#shared)
    this.#accounts.set(key.id, account)
    return account
  }

  /** Hot: leases may be served on; the first time that they may not, what is free is given back. */
  #isOpen(nowMs: number): boolean {
    if (this.#fence.isOpen(nowMs, this.#options.link.isUp())) return true
    if (!this.#hasExpired) {
      this.#hasExpired = true
      for (const account of this.#active) this.#giveAll(account)
      this.#giveShared()
    }
    return false
  }

  /** Hot: by what is held. */
  #entered(account: LeasedAccount, request: AdmissionRequest, session: string | null): LeasedCommitment {
    const { isCountedBefore, isPromised = false, receivedMs, requestId } = request
    if (session !== null) account.sessionEntered(session)
    const day = isCountedBefore ? null : account.reserveDay(receivedMs)
    const enteredMs = isCountedBefore ? null : this.#arrived(account.rates)
    this.#active.add(account)
    return new LeasedCommitment(this, { account, requestId, receivedMs, session, isPromised, day, enteredMs })
  }

  /** Hot: rates have let a request in; returns the time. */
  #arrived(rates: LeasedAccount["rates"]): number | null {
    if (rates.length === 0) return null
    const { after, monotonicMs } = this.#options
    const nowMs = monotonicMs()
    for (const rate of rates) {
      rate.lease.book(1)
      rate.times.push(nowMs)
      this.#outbox.addRate(rate)
    }
    this.#arrivals ??= after(arrivalsMs, () => {
      this.#arrivals = null
      this.#flush()
    })
    return nowMs
  }

  #flush(recall = 0, open: ReadonlyArray<OpenRequest> = []): void {
    if (this.#outbox.isEmpty && recall === 0) return
    const { link, monotonicMs } = this.#options
    // It is told with `hello`.
    if (!link.isUp()) return
    link.send(topics.give, this.#outbox.take(monotonicMs(), recall, open))
  }

  /** Asks for more, after what was given back is told. */
  #ask(take: Take, then: (answer: Answer | null) => void): void {
    const { link, monotonicMs } = this.#options
    const askedAtMs = monotonicMs()
    this.#flush()
    link.ask(topics.take, take, (answer) => {
      if (answer !== null) this.#renewed(askedAtMs)
      then(answer as Answer | null)
    })
  }

  #renewed(askedAtMs: number): void {
    this.#fence.renewed(askedAtMs)
    this.#hasExpired = false
  }

  #askEntry(account: LeasedAccount, request: AdmissionRequest, changes: number, later: Later<Admitted>): void {
    const { isCountedBefore, isPromised = false, receivedMs, requestId, sessionId } = request
    const isWhole = !isCountedBefore
    const session = isCountedBefore || account.maxSessions === 0 ? null : (sessionId ?? requestId)
    const { day, needs } = account.enter(receivedMs, isWhole)
    const { rates } = account
    if (session !== null) account.sessionEntered(session)
    const withdraw = (): void => {
      account.withdraw(isWhole ? rates : [], day)
      if (session !== null) this.#leaveSession(account, session)
    }
    const take: Take = {
      key: account.apiKeyId,
      id: requestId,
      atMs: receivedMs,
      version: account.version,
      needs: isPromised ? [] : needs,
      admits: true,
      session,
      promised: isPromised
    }
    this.#active.add(account)
    this.#ask(take, (answer) => {
      if (answer?.is === "granted") {
        this.#grant(account, answer.grants)
        if (session !== null) account.sessionOwned(session)
        // What was reserved of rates is now used.
        account.withdraw(isWhole ? rates : [], null)
        const enteredMs = isWhole ? this.#arrived(rates) : null
        const of = { account, requestId, receivedMs, session, isPromised, day, enteredMs }
        later.give(new LeasedCommitment(this, of))
        return this.#giveNear(account)
      }
      withdraw()
      if (answer === null) return later.give(unknown())
      if (answer.is === "refused") return later.give(this.#refusedEntry(account, answer.refused))
      account.follow(answer.limits)
      if (!account.hasLimits) return later.give(null)
      if (changes >= mostChanges) return later.give(unknown())
      this.#askEntry(account, request, changes + 1, later)
    })
  }

  #refusedEntry(account: LeasedAccount, refused: RefusedBy): LimitReached | LimitsUnknown {
    const nowMs = this.#options.monotonicMs()
    switch (refused.by) {
      case "sessions":
        return sessionsReached(refused.most)
      case "rate": {
        const rate = account.rates[-refused.limit - 1]
        if (rate === undefined) return unknown()
        if (refused.isSure) rate.notUntilMs = nowMs + refused.waitMs
        return rateReached(rate.limit, rate.windowMs, refused.waitMs)
      }
      case "meter": {
        const meter = account.meters[refused.limit]
        if (meter === undefined) return unknown()
        return this.refuse(this.#obstacle(account, meter, refused))
      }
    }
  }

  #obstacle(
    account: LeasedAccount,
    meter: LeasedMeter,
    { endMs, isReserved, startMs, used }: Extract<RefusedBy, { by: "meter" }>
  ): Obstacle {
    const window: MeterWindow = { startMs, endMs, used, reserved: 0, notified: null }
    if (used >= meter.meter.spec.limit) account.noteUsedUp(meter, window, this.#options.monotonicMs())
    return { meter: meter.meter, window, isReserved }
  }

  #grant(account: LeasedAccount, grants: Extract<Answer, { is: "granted" }>["grants"]): void {
    if (grants.length === 0) return
    const byNumber = new Map(grants.map(([number, total, isNear]) => [number, { total, isNear }]))
    for (const lease of account.leases()) {
      const grant = byNumber.get(lease.number)
      if (grant !== undefined) lease.grantedInAll(grant.total, grant.isNear)
    }
  }

  /** Near its limit, what is free goes back at once. */
  #giveNear(account: LeasedAccount): void {
    for (const { lease } of allOf(account)) if (lease.isNear && lease.giveFree()) this.#outbox.add(lease)
    for (const rate of account.rates) if (rate.lease.isNear && rate.lease.giveFree()) this.#outbox.addRate(rate)
    this.#flush()
  }

  #giveAll(account: LeasedAccount): void {
    for (const { lease } of allOf(account)) if (lease.giveFree()) this.#outbox.add(lease)
    for (const rate of account.rates) if (rate.lease.giveFree()) this.#outbox.addRate(rate)
  }

  /** Gives back what is free of limits that keys share. */
  #giveShared(): void {
    for (const meter of this.#shared.values()) {
      for (const { lease } of meter.entries()) if (lease.giveFree()) this.#outbox.add(lease)
    }
  }

  #leaveSession(account: LeasedAccount, session: string): void {
    if (!account.sessionLeft(session)) return
    this.#options.link.send(topics.left, { key: account.apiKeyId, session } satisfies Left)
  }

  readonly reserve = (commitment: LeasedCommitment, reservation: LeasedReservation): Reserved | Later<Reserved> => {
    const { account, receivedMs } = commitment
    const needs: Array<Need> = []
    reservation.holds = account.reserve(receivedMs, reservation, needs)
    this.#active.add(account)
    if (needs.length === 0 && account.isKnown && this.#isOpen(this.#options.monotonicMs())) {
      commitment.reservations.push(reservation)
      return reservation
    }
    const later = new Later<Reserved>()
    this.#askCall(commitment, reservation, needs, 0, later)
    return later
  }

  #askCall(
    commitment: LeasedCommitment,
    reservation: LeasedReservation,
    needs: ReadonlyArray<Need>,
    changes: number,
    later: Later<Reserved>
  ): void {
    const { account, isPromised, receivedMs, requestId } = commitment
    const take: Take = {
      key: account.apiKeyId,
      id: requestId,
      atMs: receivedMs,
      version: account.version,
      needs,
      admits: false,
      session: null,
      promised: isPromised
    }
    const withdraw = (): ReadonlyArray<Hold> => {
      for (const { amount, lease } of reservation.holds) lease.release(amount)
      return []
    }
    this.#ask(take, (answer) => {
      if (answer?.is === "granted" || (answer === null && isPromised)) {
        // A promise is kept without an owner, too; nothing is held for it.
        if (answer === null) reservation.holds = withdraw()
        else this.#grant(account, answer.grants)
        commitment.reservations.push(reservation)
        if (commitment.isOver) commitment.release(reservation)
        later.give(reservation)
        return this.#giveNear(account)
      }
      withdraw()
      if (answer === null) return later.give(unknown())
      if (answer.is === "refused") return later.give(this.#refusedCall(commitment, reservation, answer.refused))
      account.follow(answer.limits)
      if (changes >= mostChanges) return later.give(unknown())
      const again: Array<Need> = []
      reservation.holds = account.reserve(receivedMs, reservation, again)
      this.#askCall(commitment, reservation, again, changes + 1, later)
    })
  }

  #refusedCall(commitment: LeasedCommitment, reservation: LeasedReservation, refused: RefusedBy): NotReserved {
    const { account } = commitment
    const meter = refused.by === "meter" ? account.meters[refused.limit] : undefined
    if (refused.by !== "meter" || meter === undefined) return unknown()
    const obstacle = this.#obstacle(account, meter, refused)
    commitment.refused.push({ meter, obstacle, amount: meter.meter.amountOf(reservation) })
    this.#giveNear(account)
    return obstacle
  }

  readonly released = (holds: ReadonlyArray<Hold>): void => {
    for (const { lease } of holds) if (lease.isNear && lease.giveFree()) this.#outbox.add(lease)
    this.#flush()
  }

  /** Hot: releases what the request has reserved, books its cost and reports it. */
  readonly settled = (commitment: LeasedCommitment, charges: ReadonlyArray<Charge>): void => {
    const drawn: Array<Hold> = []
    for (const reservation of commitment.reservations) {
      if (!reservation.isOpen) continue
      reservation.isOpen = false
      for (const hold of reservation.holds) {
        hold.lease.release(hold.amount)
        const at = drawn.findIndex(({ lease }) => lease === hold.lease)
        const known = drawn[at]
        if (known === undefined) drawn.push(hold)
        else drawn[at] = { ...hold, amount: known.amount + hold.amount }
      }
    }
    // What was beyond the reservation is booked by the owner and is not of the lease, which others have reserved.
    for (const { amount: reserved, lease, meter } of drawn) lease.book(Math.min(reserved, costOf(meter, charges)))
    this.#report(commitment, charges, drawn)
  }

  readonly left = (commitment: LeasedCommitment, wasSettled: boolean): void => {
    const { account, day, session } = commitment
    if (!wasSettled) {
      const isNews = day !== null || commitment.enteredMs !== null
      for (const reservation of commitment.reservations) commitment.release(reservation)
      if (isNews) this.#report(commitment, [], [])
    }
    if (session !== null) this.#leaveSession(account, session)
  }

  #report(commitment: LeasedCommitment, charges: ReadonlyArray<Charge>, drawn: ReadonlyArray<Hold>): void {
    const { apiKeyId, day, enteredMs, receivedMs, requestId } = commitment
    const spent: Array<number> = []
    if (day !== null) {
      commitment.day = null
      day.release(1)
      day.book(1)
      addSpent(spent, day)
    }
    for (const { lease } of drawn) addSpent(spent, lease)
    this.#tell({ requestId, apiKeyId, receivedMs, isCounted: day !== null, charges }, spent, enteredMs)
  }

  #tell(
    { apiKeyId, charges, isCounted, receivedMs, requestId }: Booked,
    spent: ReadonlyArray<number>,
    enteredMs: number | null
  ): void {
    this.#reports += 1
    const costs = charges.map(({ model, nanoUsd, provider, tokens }) => [provider, model, nanoUsd, tokens] as const)
    const report: Report = [this.#reports, requestId, apiKeyId, receivedMs, isCounted ? 1 : 0, costs, spent]
    this.#reported?.add(report, enteredMs)
    this.#options.link.send(topics.report, report)
  }

  /** Limits were added while the request runs: what it has reserved counts for them as well, whatever is left. */
  readonly rehold = (commitment: LeasedCommitment): void => {
    const { account, receivedMs, requestId } = commitment
    const needs: Array<Need> = []
    for (const reservation of commitment.reservations) {
      if (!reservation.isOpen) continue
      const kept = reservation.holds.filter(({ lease, meter }) => isCurrent(account, meter, lease, receivedMs))
      for (const { amount, lease } of reservation.holds) lease.release(amount)
      const before = new Set(kept.map(({ lease }) => lease))
      const all: Array<Need> = []
      reservation.holds = account.reserve(receivedMs, reservation, all)
      for (const need of all) if (![...before].some(({ number }) => number === need[0])) needs.push(need)
    }
    if (needs.length === 0) return
    const { apiKeyId: key, version } = account
    const take = { key, id: requestId, atMs: receivedMs, version, needs, admits: false, session: null, promised: true }
    this.#ask(take, (answer) => {
      if (answer?.is === "granted") this.#grant(account, answer.grants)
    })
  }

  #changed({ gone, isLimited, key }: Changed): void {
    if (isLimited) this.#limited?.add(key)
    else this.#limited?.delete(key)
    const lost = new Set(gone)
    for (const meter of this.#shared.values()) {
      for (const { lease, window } of meter.entries()) if (lost.has(lease.number)) meter.delete(window.startMs)
    }
    const account = this.#accounts.get(key)
    if (account === undefined) return
    account.isStale = true
    account.forget(lost)
    this.#giveAll(account)
    this.#flush()
    if (!isLimited && account.isIdle) {
      this.#accounts.delete(key)
      this.#active.delete(account)
    }
  }

  #recalled({ leases, number }: Recall): void {
    const asked = new Set(leases)
    const near = ({ lease }: { readonly lease: WorkerLease }): void => {
      if (!asked.has(lease.number)) return
      lease.isNear = true
      if (lease.giveFree()) this.#outbox.add(lease)
    }
    for (const meter of this.#shared.values()) for (const entry of meter.entries()) near(entry)
    for (const account of this.#active) {
      for (const entry of allOf(account)) near(entry)
      for (const rate of account.rates) {
        if (!asked.has(rate.lease.number)) continue
        rate.lease.isNear = true
        if (rate.lease.giveFree()) this.#outbox.addRate(rate)
      }
    }
    this.#flush(number)
  }

  #shown({ key, number }: Show): void {
    const open: Array<OpenRequest> = []
    for (const account of this.#active) {
      if (key !== null && account.apiKeyId !== key) continue
      this.#giveAll(account)
      for (const holder of account.holders) if (holder.reservations.length > 0) open.push(openOf(holder))
    }
    if (key === null) this.#giveShared()
    this.#flush(number, open)
  }

  #renew(): void {
    const { after, link, monotonicMs } = this.#options
    this.#renewal = after(renewEveryMs, () => this.#renew())
    this.#isOpen(monotonicMs())
    this.#giveIdle()
    if (!link.isUp()) return
    this.#flush()
    const askedAtMs = monotonicMs()
    link.ask(topics.renew, null, (answer) => {
      if (answer === null) return
      this.#renewed(askedAtMs)
    })
  }

  /** Gives back what was not needed for a while. */
  #giveIdle(): void {
    const nowMs = this.#options.nowMs()
    const giveBack = (meters: Iterable<LeasedMeter>): void => {
      for (const meter of meters) {
        for (const { lease, window } of meter.entries()) {
          if (lease.giveIdle()) this.#outbox.add(lease)
          if (window.endMs > nowMs || !lease.isEmpty) continue
          meter.delete(window.startMs)
          this.#outbox.end(lease)
        }
      }
    }
    giveBack(this.#shared.values())
    for (const account of this.#active) {
      giveBack(account.own)
      for (const rate of account.rates) if (rate.lease.giveIdle()) this.#outbox.addRate(rate)
      if (account.isIdle) this.#active.delete(account)
    }
  }

  /** Tells an owner what this worker holds and has booked. */
  #hello(): void {
    const { link, monotonicMs } = this.#options
    const askedAtMs = monotonicMs()
    this.#outbox.clear()
    const held: Array<HeldLease> = []
    const sessions: Array<readonly [string, string]> = []
    const running: Array<readonly [string, ReadonlyArray<number>]> = []
    const ended = this.#reported?.entered()
    held.push(...heldOfMeters(null, this.#shared.values()))
    for (const account of this.#accounts.values()) {
      account.isStale = true
      held.push(...heldOf(account))
      const agesMs = agesOf(account, ended?.get(account.apiKeyId) ?? [], askedAtMs)
      if (agesMs.length > 0) running.push([account.apiKeyId, agesMs])
      for (const rate of account.rates) if (rate.times.length > 0) this.#outbox.addRate(rate)
      for (const [session, { isOwned }] of account.sessions) if (isOwned) sessions.push([account.apiKeyId, session])
    }
    const hello: Hello = { held, sessions, running, reports: this.#reported?.all() ?? [] }
    link.ask(topics.hello, hello, (answer) => {
      if (answer === null) return
      const { limited } = answer as Welcome
      this.#renewed(askedAtMs)
      this.#limited = new Set(limited)
    })
    this.#flush()
  }
}
