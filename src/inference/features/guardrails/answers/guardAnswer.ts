/** A request whose answer is watched over, and what becomes of its end. */
import { describe, type GuardrailBlocked } from "../../../../domain/Errors.ts"
import { ownFailure } from "../../../attempt/AttemptResult.ts"
import { type AnsweredResult, answered } from "../../../failover/FailoverEnd.ts"
import { noReport } from "../../../request/AnswerReport.ts"
import type { Work } from "../../../request/Exchange.ts"
import type { Target } from "../../../../routing/resolve/ModelResolver.ts"
import type { Answered } from "../../Feature.ts"
import { type AnswerGuard, type Watch, watchAnswer } from "./AnswerGuard.ts"
import { type Concluded, guardReply } from "./GuardedReply.ts"

export interface GuardedAnswer {
  /** The same request with a reply that is watched over. */
  readonly work: Work
  readonly watch: Watch
  /** How the request ends with what was found. Called once, before it is settled. */
  readonly conclude: (ended: Answered) => Answered
}

const isBytes = (concluded: Concluded): concluded is Buffer | string =>
  typeof concluded === "string" || Buffer.isBuffer(concluded)

const isJson = (type: string | undefined): boolean => type === undefined || type.includes("json")

export const guardAnswer = (asked: Work, guard: AnswerGuard): GuardedAnswer => {
  const { envelope, exchange } = asked
  const watch = watchAnswer(guard)
  const guarded = guardReply(exchange, envelope.stream, guard, watch)

  /** What was asked of the upstream stays on the bill. */
  const refused = (ended: Answered, target: Target, result: AnsweredResult, error: GuardrailBlocked): Answered => {
    const { firstContentMs, report } = result
    guarded.conclude()
    if (!guarded.hasHead()) {
      const others = [...ended.others, { target, report, firstContentMs }]
      return { ...ended, end: { _tag: "Refused", error }, others }
    }
    const broken: AnsweredResult = {
      _tag: "Broken",
      ending: exchange.codec.renderStreamError(describe(error), exchange.requestId),
      failure: ownFailure(400, error.code, error.message),
      report: report ?? noReport,
      firstContentMs
    }
    return { ...ended, end: answered(target, broken) }
  }

  /** What no call of this request has answered: to the one that gave it again, it looks as if the client had left. */
  const notGiven = (ended: Answered, error: GuardrailBlocked): Answered => {
    const { end } = ended
    if (end._tag !== "Kept") return guarded.hasHead() ? ended : { ...ended, end: { _tag: "Refused", error } }
    const status = guarded.hasHead() ? 200 : describe(error).status
    const kept = { ...end.kept, ending: { outcome: "failed", status, error: error.code } as const }
    return { ...ended, end: { ...end, kept, answer: () => guarded.refuse(error) } }
  }

  const concluded = (
    ended: Answered,
    target: Target,
    result: AnsweredResult,
    bytes: Concluded,
    told: (bytes: Buffer | string) => AnsweredResult
  ): Answered =>
    isBytes(bytes) ? { ...ended, end: answered(target, told(bytes)) } : refused(ended, target, result, bytes)

  const conclude = (ended: Answered): Answered => {
    const { end } = ended
    const error = watch.blocked()
    if (end._tag !== "Answered") return error === null ? ended : notGiven(ended, error)
    const { result, target } = end
    if (error !== null) return refused(ended, target, result, error)
    switch (result._tag) {
      case "Completed": {
        if (!isJson(result.type)) return ended
        const bytes = result.form === "whole" ? guarded.concludeWhole(result.body) : guarded.concludeStream(result.body)
        return concluded(ended, target, result, bytes, (body) => ({ ...result, body }))
      }
      case "Broken": {
        if (result.ending === null) return ended
        const bytes = guarded.concludeStream(result.ending)
        return concluded(ended, target, result, bytes, (ending) => ({ ...result, ending }))
      }
      case "Aborted":
        return ended
    }
  }

  return { work: { ...asked, exchange: { ...exchange, reply: guarded.reply } }, watch, conclude }
}
