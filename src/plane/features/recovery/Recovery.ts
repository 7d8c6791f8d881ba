/**
 * Mid-stream recovery (flag `STREAM_RECOVERY_MIDSTREAM_ENABLED`): a streamed answer that is cut after its begin has reached the client is
 * continued by the next target, in the same stream. Failover continues it by the `Continuation` of this folder; the feature puts the parts
 * together for settlement. What cannot be continued safely ends with an error, as without the flag.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Flags from "../../../subjects/flags/service.ts"
import * as Timers from "../../../platform/Timers.ts"
import { estimateTokens } from "../../../observe/usage/Cost.ts"
import type { AnswerReport, EarlierPart } from "../../request/AnswerReport.ts"
import type { RequestEnd } from "../../failover/FailoverEnd.ts"
import type { ClientReply, Work } from "../../request/Exchange.ts"
import { classifyFailure } from "../../attempt/ClassifyFailure.ts"
import { Continuation, type ContinuationService } from "../../attempt/Continuation.ts"
import { wrapped } from "../../reply/Wrapped.ts"
import type { Feature } from "../Feature.ts"
import { continuationFor, continuing, storyOf } from "./ContinuingPart.ts"
import { makeDeliveredPrefix } from "./DeliveredPrefix.ts"
import { isCut, mayContinue } from "./Eligible.ts"

/** An answer is put together of at most this many parts and one. */
const maxContinuations = 3

export class Recovery extends Context.Tag("gateway/plane/features/recovery/Recovery")<Recovery, Feature>() {}

/** A request that ended, with what else was done for it. */
export interface Whole {
  readonly end: RequestEnd
  readonly others: ReadonlyArray<EarlierPart>
}

const nothing = (): void => {}

/** The client has its head. */
const headless = (reply: ClientReply): ClientReply =>
  wrapped(reply, { head: nothing, write: (chunk) => chunk.length === 0 || reply.write(chunk) })

/**
 * Corrects the report of a cut stream, which is from before the cut: its output is at least the part that was received.
 */
const atTheCut = (report: AnswerReport): AnswerReport => {
  if (report.usage === null) return report
  const seen =
    estimateTokens(report.textChars) +
    estimateTokens(report.toolArgChars, "json") +
    estimateTokens(report.reasoningChars)
  return seen > report.usage.out ? { ...report, usage: { ...report.usage, out: seen }, isEstimated: true } : report
}

const makeContinuation = Effect.gen(function* () {
  const flags = yield* Flags.Flags
  const timers = yield* Timers.Timers

  const resume: ContinuationService["resume"] = (work, target, broken) => {
    const { failure, firstContentMs, report, sent } = broken
    const before = work.resumption?.before ?? []
    if (sent === undefined || !sent.isSafe() || report.stop !== null || before.length >= maxContinuations) return null
    const facts = { canRefresh: false, contentBegan: true, bannedTexts: [], sent: null, nowMs: timers.nowMs() }
    if (!isCut(classifyFailure(failure, target, facts).kind)) return null
    const { exchange } = work
    return {
      ...work,
      exchange: work.resumption === undefined ? { ...exchange, reply: headless(exchange.reply) } : exchange,
      resumption: {
        first: work.resumption?.first ?? work,
        sent,
        before: [...before, { target, report: atTheCut(report), firstContentMs }]
      }
    }
  }

  const service: ContinuationService = {
    mayContinue: (work) => flags.isOn("STREAM_RECOVERY_MIDSTREAM_ENABLED") && mayContinue(work),
    makeDeliveredPrefix,
    resume,
    conversation: continuationFor,
    part: continuing,
    story: storyOf
  }
  return service
})

/** The request with all parts of its answer. */
const whole = (work: Work, end: RequestEnd): Whole => {
  if (end._tag !== "Answered") return { end, others: [] }
  const { result } = end
  const others = result.before ?? []
  if (result._tag === "Broken" && result.sent !== undefined && work.exchange.reply.isClosed()) {
    // It left while another target was asked to go on.
    const { firstContentMs, report } = result
    return { end: { ...end, result: { _tag: "Aborted", report, firstContentMs } }, others }
  }
  const [first] = others
  if (first === undefined) return { end, others }
  const whole = { ...result, firstContentMs: first.firstContentMs }
  // Its head is with the client already, however the last part came.
  return { end: { ...end, result: whole._tag === "Completed" ? { ...whole, form: "relayed" } : whole }, others }
}

export const feature: Feature = {
  around: (next) => (asked) =>
    Effect.map(next(asked), ({ end, others, work }) => {
      const all = whole(work, end)
      return { work, end: all.end, others: others.length === 0 ? all.others : [...others, ...all.others] }
    })
}

export const layer: Layer.Layer<Recovery> = Layer.succeed(Recovery, feature)

export const continuationLayer: Layer.Layer<Continuation, never, Flags.Flags | Timers.Timers> = Layer.effect(
  Continuation,
  makeContinuation
)
