/** Reservations of one request of a worker, on the leases that the worker has. */
import type { Later } from "../../../kernel/Later.ts"
import type { WorkerLease } from "../../state/ledger/WorkerLease.ts"
import type { Charge, Commitment, CommitmentTarget, NotReserved } from "../Commitment.ts"
import { type CallEstimate, type Obstacle, type Reached, Reservation } from "../KeyAccount.ts"
import type { Hold, LeasedAccount, LeasedMeter } from "./LeasedAccount.ts"

export class LeasedReservation extends Reservation {
  holds: ReadonlyArray<Hold> = []
}

/** A limit of which the owner had too little for a call of this request. */
export interface Refused {
  readonly meter: LeasedMeter
  readonly obstacle: Obstacle
  readonly amount: number
}

/** The worker's ledger, for its commitments. */
export interface LeasedBooks {
  readonly reserve: (
    commitment: LeasedCommitment,
    reservation: LeasedReservation
  ) => Reservation | NotReserved | Later<Reservation | NotReserved>
  readonly released: (holds: ReadonlyArray<Hold>) => void
  readonly settled: (commitment: LeasedCommitment, charges: ReadonlyArray<Charge>) => void
  readonly left: (commitment: LeasedCommitment, wasSettled: boolean) => void
  readonly rehold: (commitment: LeasedCommitment) => void
}

export interface LeasedOptions {
  readonly account: LeasedAccount
  readonly requestId: string
  readonly receivedMs: number
  readonly session: string | null
  readonly isPromised: boolean
  /** Lease of the requests of its day, of which it has one; null: it counts for none. */
  readonly day: WorkerLease | null
  /** Monotonic time at which it came in by rates; null: it counts for none. */
  readonly enteredMs: number | null
}

const none: ReadonlyArray<never> = []

export class LeasedCommitment implements Commitment {
  readonly account: LeasedAccount
  readonly apiKeyId: string
  readonly requestId: string
  readonly receivedMs: number
  readonly session: string | null
  readonly isPromised: boolean
  readonly reservations: Array<LeasedReservation> = []
  readonly refused: Array<Refused> = []
  estimate: Commitment["estimate"] = null
  filed: Commitment["filed"] = null
  day: WorkerLease | null
  readonly enteredMs: number | null
  isOver = false
  readonly #books: LeasedBooks
  #isSettled = false

  constructor(books: LeasedBooks, options: LeasedOptions) {
    const { account, day, enteredMs, isPromised, receivedMs, requestId, session } = options
    this.#books = books
    this.account = account
    this.apiKeyId = account.apiKeyId
    this.requestId = requestId
    this.receivedMs = receivedMs
    this.session = session
    this.isPromised = isPromised
    this.day = day
    this.enteredMs = enteredMs
    account.holders.add(this)
  }

  get hasReported(): boolean {
    return this.#isSettled
  }

  get open(): ReadonlyArray<Reservation> {
    return this.reservations.filter(({ isOpen }) => isOpen)
  }

  obstacle({ model, provider }: Pick<CommitmentTarget, "provider" | "model">, estimate: CallEstimate): Obstacle | null {
    if (this.isPromised || this.refused.length === 0) return null
    for (const { amount, meter, obstacle } of this.refused) {
      if (meter.meter.counts(provider, model) && meter.meter.amountOf(estimate) >= amount) return obstacle
    }
    return null
  }

  reserve(
    target: CommitmentTarget,
    estimate: CallEstimate,
    nowMs: number
  ): Reservation | NotReserved | Later<Reservation | NotReserved> {
    const obstacle = this.obstacle(target, estimate)
    if (obstacle !== null) return obstacle
    return this.#books.reserve(
      this,
      new LeasedReservation(target.provider, target.connectionId, target.model, estimate, nowMs)
    )
  }

  release(reservation: Reservation): void {
    if (!reservation.isOpen) return
    reservation.isOpen = false
    if (!(reservation instanceof LeasedReservation)) return
    for (const { amount, lease } of reservation.holds) lease.release(amount)
    this.#books.released(reservation.holds)
  }

  settle(charges: ReadonlyArray<Charge>): ReadonlyArray<Reached> {
    if (this.#isSettled) return none
    this.#isSettled = true
    this.#books.settled(this, charges)
    return none
  }

  leave(): void {
    if (this.isOver) return
    this.isOver = true
    this.#books.left(this, this.#isSettled)
    this.account.holders.delete(this)
  }

  rehold(): void {
    this.#books.rehold(this)
  }
}
