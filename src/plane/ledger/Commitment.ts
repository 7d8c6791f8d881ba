/**
 * Reservations of one request of a key with limits, from its admission to its settlement. Synchronous: each step is whole before another
 * request takes its own.
 */
import type { LimitsUnknown } from "../../contract/domain/Errors.ts"
import type { Later } from "../../kernel/Later.ts"
import type { Filed } from "../../store/usage/Reservations.ts"
import {
  type CallEstimate,
  type Holder,
  type KeyAccount,
  type Obstacle,
  type Reached,
  Reservation
} from "./KeyAccount.ts"
import type { Amounts } from "./Meter.ts"

/** Cost of a call, by the model that made it. */
export interface Charge extends Amounts {
  readonly provider: string
  readonly model: string
}

export interface CommitmentTarget {
  readonly provider: string
  readonly connectionId: string
  readonly model: string
}

export interface CommitmentOptions {
  readonly account: KeyAccount
  readonly apiKeyId: string
  readonly requestId: string
  /** Epoch milliseconds at arrival: its windows are those of this time, whenever its calls are made. */
  readonly receivedMs: number
  /** Null: the key has no limit of sessions. */
  readonly session: string | null
  /** True when its calls are let through whatever is left of the limits. */
  readonly isPromised?: boolean
}

/** Refusal of a reservation: by a limit, or because the limits cannot be asked now. */
export type NotReserved = Obstacle | LimitsUnknown

/** Reservations of one request from its key's limits. */
export interface Commitment extends Holder {
  readonly reservations: ReadonlyArray<Reservation>
  /** The latest estimate, kept for the next target, and the body whose prompt it counts. */
  estimate: { readonly of: Uint8Array; readonly amounts: CallEstimate } | null
  /** Line in the file of reservations; null: none. */
  filed: Filed | null
  /** Reservations of calls that run, or whose cost is not booked yet. */
  readonly open: ReadonlyArray<Reservation>
  /** Hot: finds the obstacle of a call; null: none is known. */
  obstacle(target: Pick<CommitmentTarget, "provider" | "model">, estimate: CallEstimate): Obstacle | null
  /** Hot. */
  reserve(
    target: CommitmentTarget,
    estimate: CallEstimate,
    nowMs: number
  ): Reservation | NotReserved | Later<Reservation | NotReserved>
  /** Hot: the call has cost nothing. */
  release(reservation: Reservation): void
  /** Hot: books what the request has cost in all, and releases its reservations. Returns the thresholds that are now reached. */
  settle(charges: ReadonlyArray<Charge>): ReadonlyArray<Reached>
  /** The request has ended, settled or not; further calls do nothing. */
  leave(): void
}

/** On the account of the key in this process. */
export class AccountCommitment implements Commitment {
  readonly apiKeyId: string
  readonly requestId: string
  readonly receivedMs: number
  readonly reservations: Array<Reservation> = []
  estimate: Commitment["estimate"] = null
  filed: Filed | null = null
  readonly #account: KeyAccount
  readonly #session: string | null
  readonly #isPromised: boolean
  #isOver = false

  constructor({ account, apiKeyId, isPromised = false, receivedMs, requestId, session }: CommitmentOptions) {
    this.#account = account
    this.apiKeyId = apiKeyId
    this.requestId = requestId
    this.receivedMs = receivedMs
    this.#session = session
    this.#isPromised = isPromised
    if (session !== null) account.sessions.enter(session)
  }

  obstacle({ model, provider }: Pick<CommitmentTarget, "provider" | "model">, estimate: CallEstimate): Obstacle | null {
    return this.#isPromised ? null : this.#account.obstacle(this.receivedMs, provider, model, estimate)
  }

  reserve(target: CommitmentTarget, estimate: CallEstimate, nowMs: number): Reservation | Obstacle {
    const obstacle = this.obstacle(target, estimate)
    if (obstacle !== null) return obstacle
    const reservation = new Reservation(target.provider, target.connectionId, target.model, estimate, nowMs)
    this.reservations.push(reservation)
    this.#account.hold(this, reservation)
    return reservation
  }

  release(reservation: Reservation): void {
    this.#account.release(this, reservation)
  }

  get open(): ReadonlyArray<Reservation> {
    return this.reservations.filter(({ isOpen }) => isOpen)
  }

  settle(charges: ReadonlyArray<Charge>): ReadonlyArray<Reached> {
    for (const reservation of this.reservations) this.#account.release(this, reservation)
    for (const charge of charges) this.#account.book(this.receivedMs, charge.provider, charge.model, charge)
    this.#account.holders.delete(this)
    return this.#account.tellReached(this.receivedMs)
  }

  leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const reservation of this.reservations) this.#account.release(this, reservation)
    this.#account.holders.delete(this)
    if (this.#session !== null) this.#account.sessions.leave(this.#session)
  }
}
