/** Runs a request whose answer is watched over. */
import * as Effect from "effect/Effect"
import type { AnsweredResult, RequestEnd } from "../../../failover/FailoverEnd.ts"
import type { Work } from "../../../request/Exchange.ts"
import type { Served } from "../../../settle/Bill.ts"
import type { Answer, Answered } from "../../Feature.ts"
import { type Expected, expectedOf, judge, repairOf } from "../structured/StructuredAnswer.ts"
import type { AnswerGuard, Watch } from "./AnswerGuard.ts"
import { guardAnswer } from "./guardAnswer.ts"

type WholeEnd = Extract<RequestEnd, { _tag: "Answered" }> & {
  readonly result: Extract<AnsweredResult, { _tag: "Completed" }>
}

const isWhole = (end: RequestEnd): end is WholeEnd =>
  end._tag === "Answered" && end.result._tag === "Completed" && end.result.form === "whole"

/** What a request has asked of upstreams. */
const callsOf = ({ end, others }: Answered): ReadonlyArray<Served> =>
  end._tag === "Answered"
    ? [...others, { target: end.target, report: end.result.report, firstContentMs: end.result.firstContentMs }]
    : others

/** One answer, with the calls of the other on its bill. */
const withCalls = (answered: Answered, other: Answered): Answered => ({
  ...answered,
  others: [...answered.others, ...callsOf(other)]
})

/** Checks the answer against its schema, and asks once more where it does not match. All calls are on the bill of the one that is given. */
const checked = (next: Answer, asked: Work, expected: Expected, repairs: boolean, watch: Watch) => {
  const again = (first: Answered, work: Work): Effect.Effect<Answered> =>
    Effect.map(next(work), (second) => {
      // The client has left meanwhile.
      if (second.end._tag === "Answered" && second.end.result._tag === "Aborted") return withCalls(second, first)
      const isMatch = isWhole(second.end) && judge(work, expected, second.end.result.body)._tag === "Ok"
      watch.noteSchema(isMatch ? "repaired" : "failed")
      return isMatch ? withCalls(second, first) : withCalls(first, second)
    })

  return (first: Answered): Effect.Effect<Answered> => {
    if (!isWhole(first.end)) return Effect.succeed(first)
    const verdict = judge(asked, expected, first.end.result.body)
    if (verdict._tag === "Unchecked") return Effect.succeed(first)
    const repair = verdict._tag === "Failed" && repairs ? repairOf(asked, expected, verdict) : null
    if (repair !== null) return again(first, repair)
    watch.noteSchema(verdict._tag === "Ok" ? "ok" : "failed")
    return Effect.succeed(first)
  }
}

export const answerGuarded = (next: Answer, asked: Work, guard: AnswerGuard): Effect.Effect<Answered> => {
  const { conclude, watch, work } = guardAnswer(asked, guard)
  const expected = guard.structured.check ? expectedOf(work) : null
  const ended = next(work)
  const whole =
    expected === null ? ended : Effect.flatMap(ended, checked(next, work, expected, guard.structured.repair, watch))
  return Effect.map(whole, conclude)
}
