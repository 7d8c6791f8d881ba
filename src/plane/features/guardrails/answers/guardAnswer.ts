/** A request whose answer is watched over, and what becomes of its end. */
import { restOf } from "../../../failover/FailoverEnd.ts"
import * as Effect from "effect/Effect"
import { describe, type GuardrailBlocked } from "../../../../contract/domain/Errors.ts"
import type { RequestEnd } from "../../../failover/FailoverEnd.ts"
import type { Work } from "../../../request/Exchange.ts"
import type { Answered } from "../../Feature.ts"
import { type AnswerGuard, type Watch, watchAnswer } from "./AnswerGuard.ts"
import { GuardedReply } from "./GuardedReply.ts"

export interface GuardedAnswer {
  /** The same request with a reply that is watched over. */
  readonly work: Work
  readonly watch: Watch
  /** The whole answer with which a request ends, before anything of it was given; null where it is none. */
  readonly wholeOf: (end: RequestEnd) => Buffer | string | null
  /** Ends the request with the findings. Called once, before it is settled. */
  readonly conclude: (ended: Answered) => Effect.Effect<Answered>
}

export const guardAnswer = (asked: Work, guard: AnswerGuard): GuardedAnswer => {
  const { envelope, exchange } = asked
  const watch = watchAnswer(guard)
  const guarded = new GuardedReply(asked, guard, watch)

  const conclude = (ended: Answered): Effect.Effect<Answered> =>
    Effect.suspend(() => {
      const rest = watch.blocked() === null ? restOf(ended.end) : null
      return rest === null
        ? Effect.succeed(concludedBy(ended, watch.blocked()))
        : Effect.map(guarded.concludeWith(rest), (error) => concludedBy(ended, error))
    })

  const concludedBy = (ended: Answered, error: GuardrailBlocked | null): Answered => {
    if (error === null) {
      const replacement = guarded.concluded()
      return replacement === null ? ended : { ...ended, replacement }
    }
    guarded.withhold()
    const status = guarded.hasHead() ? 200 : describe(error).status
    const ending = { outcome: "failed", status, error: error.code } as const
    return { ...ended, instead: { ending, answer: () => guarded.refuse(error) } }
  }

  const wholeOf = (end: RequestEnd): Buffer | string | null => {
    if (end._tag === "Kept") return envelope.stream || !guarded.isUntouched() ? null : end.rest
    const isWhole = end._tag === "Answered" && end.result._tag === "Completed" && end.result.form === "whole"
    return isWhole ? end.result.body : null
  }

  return { work: { ...asked, exchange: { ...exchange, reply: guarded.reply } }, watch, wholeOf, conclude }
}
