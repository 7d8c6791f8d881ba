/**
 * Reservations of calls by keys with limits: checked before a target is chosen, held in the same turn in which the call begins, and
 * stored before it is made. Requests of other callers pass by with one comparison.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { limitsUnknown, LimitsUnknown } from "../../contract/domain/Errors.ts"
import { Later } from "../../kernel/Later.ts"
import type { Commitment, NotReserved } from "../ledger/Commitment.ts"
import { type CallEstimate, type Obstacle, Reservation } from "../ledger/KeyAccount.ts"
import { KeyLimits } from "../ledger/KeyLimits.ts"
import { Timers } from "../../platform/Timers.ts"
import type { Unready } from "../routing/health/TargetHealth.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import { reservationLine } from "../../store/usage/ReservationLines.ts"
import { Filed, type ReservationFile, Reservations } from "../../store/usage/Reservations.ts"
import { PriceBook } from "../../observe/usage/PriceBook.ts"
import { optional } from "../../wire/json/Json.ts"
import { estimatedPrompt, estimateOf } from "../request/CallEstimate.ts"
import type { Work } from "../request/Exchange.ts"

/** Reservation that a call holds. */
export interface CallReservation {
  /** Hot: runs `start` once the reservation is on file. */
  onFile(start: () => void): void
  /** Hot: the call has cost nothing. */
  release(): void
}

/** Reservation of a call, or what does not let the call through. */
export type Held = CallReservation | Unready

export class CallReservations extends Context.Tag("gateway/plane/failover/CallReservations")<
  CallReservations,
  {
    /** Hot: the limit of the caller's key that a call of the target would exceed; null: none is known. */
    readonly unready: (work: Work, target: Target) => Unready | null
    /** Hot: holds what the call may cost. */
    readonly hold: (work: Work, commitment: Commitment, target: Target) => Held | Later<Held>
  }
>() {}

const nothing = (): void => {}

const namesOf = ({ account, model }: Target) => ({
  provider: account.spec.id,
  connectionId: account.connection.id,
  model
})

const lineOf = ({ envelope, exchange }: Work, { apiKeyId, open, receivedMs, requestId }: Commitment): string =>
  reservationLine({
    requestId,
    apiKeyId,
    receivedMs,
    requestedModel: envelope.model,
    sourceWire: exchange.wire,
    streamed: envelope.stream,
    batchId: exchange.batchId ?? null,
    calls: open
  })

const unknownLimits = (untilMs: number): Unready => ({
  rule: "limit",
  untilMs,
  terminal: null,
  kind: null,
  detail: limitsUnknown.message.slice(0, -1),
  status: 503,
  code: limitsUnknown.code
})

/** A class, because one is made per call. */
class FiledReservation implements CallReservation {
  readonly #file: ReservationFile
  readonly #work: Work
  readonly #commitment: Commitment
  readonly #reservation: Reservation

  constructor(file: ReservationFile, work: Work, commitment: Commitment, reservation: Reservation) {
    this.#file = file
    this.#work = work
    this.#commitment = commitment
    this.#reservation = reservation
  }

  onFile(start: () => void): void {
    const filed = (this.#commitment.filed ??= new Filed(this.#commitment.requestId))
    this.#file.write(filed, lineOf(this.#work, this.#commitment), start)
  }

  release(): void {
    if (!this.#reservation.isOpen) return
    this.#commitment.release(this.#reservation)
    if (this.#commitment.filed !== null) this.onFile(nothing)
  }
}

export const make = Effect.gen(function* () {
  const limits = yield* KeyLimits
  const file = yield* Reservations
  const prices = yield* PriceBook
  const { nowMs } = yield* Timers

  const estimate = (work: Work, commitment: Commitment, { account, model }: Target): CallEstimate => {
    const price = work.prices.of(prices, account.spec.id, model)
    // What is asked of one target is asked of the next; a judge gets a longer prompt than the panel, by the same commitment.
    const latest = commitment.estimate?.of === work.body ? commitment.estimate.amounts : null
    // What the client allows does not change either, except in an emergency.
    if (latest !== null && latest.price === price && work.outputCap === null) return latest
    const amounts = estimateOf(work, latest?.tokensIn ?? estimatedPrompt(work), price)
    commitment.estimate = { of: work.body, amounts }
    return amounts
  }

  const unreadyBy = (commitment: Commitment, obstacle: Obstacle): Unready => {
    const { limit, message, retryAfterMs } = limits.refuse(commitment, obstacle)
    return {
      rule: "limit",
      untilMs: nowMs() + retryAfterMs,
      terminal: null,
      kind: null,
      detail: message.slice(0, -1),
      status: 429,
      code: "rate_limit_exceeded",
      ...optional("limit", limit)
    }
  }

  const unready = (work: Work, target: Target): Unready | null => {
    const { commitment } = work
    if (commitment === null) return null
    const obstacle = commitment.obstacle(namesOf(target), estimate(work, commitment, target))
    return obstacle === null ? null : unreadyBy(commitment, obstacle)
  }

  const held = (work: Work, commitment: Commitment, reserved: Reservation | NotReserved): Held => {
    if (reserved instanceof Reservation) return new FiledReservation(file, work, commitment, reserved)
    return reserved instanceof LimitsUnknown
      ? unknownLimits(nowMs() + reserved.retryAfterMs)
      : unreadyBy(commitment, reserved)
  }

  const hold = (work: Work, commitment: Commitment, target: Target): Held | Later<Held> => {
    const reserved = commitment.reserve(namesOf(target), estimate(work, commitment, target), nowMs())
    return reserved instanceof Later
      ? reserved.map((known) => held(work, commitment, known))
      : held(work, commitment, reserved)
  }

  return CallReservations.of({ unready, hold })
})

export const layer: Layer.Layer<CallReservations, never, KeyLimits | PriceBook | Reservations | Timers> = Layer.effect(
  CallReservations,
  make
)
