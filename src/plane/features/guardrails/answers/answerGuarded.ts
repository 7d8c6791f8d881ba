/** Runs a request whose answer is watched over. */
import * as Effect from "effect/Effect"
import type { Work } from "../../../request/Exchange.ts"
import type { Served } from "../../../settle/Bill.ts"
import type { Answer, Answered } from "../../Feature.ts"
import { type Expected, expectedOf, judge, repairOf } from "../StructuredAnswer.ts"
import type { AnswerGuard } from "./AnswerGuard.ts"
import { type GuardedAnswer, guardAnswer } from "./guardAnswer.ts"

/** Lists the upstream calls of a request. */
const callsOf = ({ end, others }: Answered): ReadonlyArray<Served> =>
  end._tag === "Answered"
    ? [...others, { target: end.target, report: end.result.report, firstContentMs: end.result.firstContentMs }]
    : others

/** One answer, with the calls of the other on its bill. */
const withCalls = (answered: Answered, other: Answered): Answered => ({
  ...answered,
  others: [...answered.others, ...callsOf(other)]
})

/**
 * The same request for an upstream: what a kept answer would cost is not what the first call has cost. After a kept answer another one may be
 * asked for.
 */
const notKept = (work: Work): Work => {
  const { exchange } = work
  return { ...work, exchange: { ...exchange, headers: { ...exchange.headers, "x-gateway-no-cache": "true" } } }
}

/** Checks the answer against its schema, and asks once more where it does not match. All calls are on the bill of the one that is given. */
const checked = (
  next: Answer,
  { watch, wholeOf, work: asked }: GuardedAnswer,
  expected: Expected,
  repairs: boolean
) => {
  const again = (first: Answered, work: Work): Effect.Effect<Answered> =>
    Effect.map(next(first.end._tag === "Kept" ? work : notKept(work)), (second) => {
      // The client has left meanwhile.
      if (second.end._tag === "Answered" && second.end.result._tag === "Aborted") return withCalls(second, first)
      const whole = wholeOf(second.end)
      const isMatch = whole !== null && judge(work, expected, whole)._tag === "Ok"
      watch.noteSchema(isMatch ? "repaired" : "failed")
      return isMatch ? withCalls(second, first) : withCalls(first, second)
    })

  return (first: Answered): Effect.Effect<Answered> => {
    const whole = wholeOf(first.end)
    if (whole === null) return Effect.succeed(first)
    const verdict = judge(asked, expected, whole)
    if (verdict._tag === "Unchecked") return Effect.succeed(first)
    const repair = verdict._tag === "Failed" && repairs ? repairOf(asked, expected, verdict) : null
    if (repair !== null) return again(first, repair)
    watch.noteSchema(verdict._tag === "Ok" ? "ok" : "failed")
    return Effect.succeed(first)
  }
}

export const answerGuarded = (next: Answer, asked: Work, guard: AnswerGuard): Effect.Effect<Answered> => {
  const guarded = guardAnswer(asked, guard)
  const expected = guard.structured.check ? expectedOf(guarded.work) : null
  const ended = next(guarded.work)
  const whole =
    expected === null ? ended : Effect.flatMap(ended, checked(next, guarded, expected, guard.structured.repair))
  return Effect.flatMap(whole, guarded.conclude)
}
