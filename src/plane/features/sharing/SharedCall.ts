/**
 * One call that several requests share: the first makes it, the others follow. Each has a usage row of its own, which is on file before its
 * client has the end of the answer; the call is on the bill of the first.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { InternalError } from "../../../contract/domain/Errors.ts"
import type { Timer, Timers } from "../../../platform/Timers.ts"
import { Broadcast } from "../../reply/Broadcast.ts"
import type { Room } from "../../reply/HeldChunks.ts"
import type { Recorded } from "../../reply/Recorder.ts"
import { replayTo } from "../../reply/Replay.ts"
import type { Work } from "../../request/Exchange.ts"
import type { UsageOutcome } from "../../request/KeptAnswer.ts"
import type { Answer, Answered } from "../Feature.ts"
import { clientLeft, type EndFacts, endFacts } from "./EndFacts.ts"
import { namingItself, nothingSpent, ownHead } from "./OwnHead.ts"

/** A whole answer, for requests that come later. */
export interface SharedAnswer {
  readonly recorded: Recorded
  readonly facts: EndFacts
}

export interface SharedCallOptions {
  /** An answer of more bytes is joined and kept by none. */
  readonly maxBytes: number
  readonly room: Room
  readonly timers: Pick<typeof Timers.Service, "after" | "monotonicMs">
  /** Called once, when it can no longer be joined: with the answer where it was a success. */
  readonly over: (answer: SharedAnswer | "too_large" | null) => void
}

const nothing = (): void => {}
const noOthers: Answered["others"] = []

/** Time in ms from the end of a call to its last byte: longer means that something has failed. */
const lastByteMs = 60_000

const died: UsageOutcome = { outcome: "failed", status: 500, error: "internal_error" }
const stalled: UsageOutcome = { outcome: "aborted", status: 499, error: "client_stalled" }

/** `answer`: gives the client its end, once the row is on file. */
const keptEnd = (
  work: Work,
  { ending, model, provider }: EndFacts,
  answer: () => void,
  rest: Buffer | null = null
): Answered => ({
  work,
  end: {
    _tag: "Kept",
    kept: { requestedModel: work.envelope.model, provider, model, ending, answeredFrom: "coalesced" },
    rest,
    answer
  },
  others: noOthers
})

/** Gives an answer again. `marks`: headers that report that, as a flat name–value list. */
export const answeredAgain = (
  work: Work,
  { facts, recorded }: SharedAnswer,
  marks: ReadonlyArray<string>,
  monotonicMs: () => number
): Answered => {
  const latencyMs = (): number => Math.round(monotonicMs() - work.exchange.startedMs)
  return keptEnd(work, facts, () =>
    replayTo(
      work.exchange.reply,
      recorded,
      (headers) => ownHead(work, headers, marks, latencyMs()),
      () => nothingSpent(latencyMs())
    )
  )
}

export class SharedCall {
  readonly #leader: Work
  readonly #options: SharedCallOptions
  readonly #broadcast: Broadcast
  /** Requests that have all but the end, before it is known how the call ended. */
  readonly #waiting: Array<() => void> = []
  #facts: EndFacts | null = null
  #hasDied = false
  #isWritten = false
  #isOver = false
  #guard: Timer | null = null

  constructor(leader: Work, options: SharedCallOptions) {
    this.#leader = leader
    this.#options = options
    const { maxBytes, room, timers } = options
    this.#broadcast = new Broadcast({ maxBytes, room, timers, over: (how) => this.#written(how === "abandoned") })
  }

  get isJoinable(): boolean {
    return !this.#isOver && !this.#hasDied && this.#broadcast.isJoinable
  }

  /** The request of the leader, with all of its followers for a client. */
  lead(next: Answer): Effect.Effect<Answered> {
    return Effect.suspend(() => {
      const { exchange } = this.#leader
      this.#broadcast.lead(exchange.reply)
      return Effect.onExit(next({ ...this.#leader, exchange: { ...exchange, reply: this.#broadcast.reply } }), (exit) =>
        Effect.sync(() => (Exit.isSuccess(exit) ? this.#ended(endFacts(exit.value)) : this.#died()))
      )
    })
  }

  /** Another request that gets the same answer; only while `isJoinable`. */
  follow(work: Work, marks: ReadonlyArray<string>): Effect.Effect<Answered> {
    return Effect.async<Answered>((resume) => {
      const { exchange } = work
      const latencyMs = (): number => Math.round(this.#options.timers.monotonicMs() - exchange.startedMs)
      const end = (answered: Answered): void => resume(Effect.succeed(answered))
      const lost = (ending: UsageOutcome): void =>
        end(keptEnd(work, { ...(this.#facts ?? { provider: null, model: "" }), ending }, nothing))
      const leaderId = this.#leader.exchange.requestId
      this.#broadcast.follow(namingItself(exchange.reply, leaderId, exchange.requestId), {
        headers: (_, headers) => ownHead(work, headers, marks, latencyMs()),
        trailers: () => nothingSpent(latencyMs()),
        lost: (why) => lost(why === "left" ? clientLeft : stalled),
        ready: (finish, hasHead, rest) =>
          this.#whenKnown((facts) => {
            if (facts !== null) end(keptEnd(work, facts, finish, rest))
            else if (hasHead) end(keptEnd(work, { provider: null, model: "", ending: died }, finish))
            else {
              const error = new InternalError({ cause: `the request ${leaderId} that was to be shared has died` })
              end({ work, end: { _tag: "Refused", error }, others: noOthers })
            }
          })
      })
    })
  }

  /** Null: the call has died. */
  #whenKnown(then: (facts: EndFacts | null) => void): void {
    const known = (): void => then(this.#facts)
    if (this.#facts !== null || this.#hasDied) known()
    else this.#waiting.push(known)
  }

  #ended(facts: EndFacts): void {
    this.#facts = facts
    for (const known of this.#waiting.splice(0)) known()
    if (this.#isWritten) return this.#finish()
    if (!this.#isOver) this.#guard = this.#options.timers.after(lastByteMs, () => this.#died())
  }

  #died(): void {
    this.#hasDied = true
    for (const known of this.#waiting.splice(0)) known()
    this.#broadcast.break()
    this.#finish()
  }

  #written(isAbandoned: boolean): void {
    this.#isWritten = true
    if (isAbandoned || this.#facts !== null) this.#finish()
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#guard?.cancel()
    const answer = this.#answer()
    this.#broadcast.close()
    this.#options.over(answer)
  }

  #answer(): SharedAnswer | "too_large" | null {
    const facts = this.#facts
    if (facts?.ending.outcome !== "completed") return null
    const recorded = this.#broadcast.recorded()
    if (recorded === null) return "too_large"
    return recorded.isEnded && recorded.status === 200 ? { recorded, facts } : null
  }
}
