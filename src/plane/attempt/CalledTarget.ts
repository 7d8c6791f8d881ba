/** Makes the call of an attempt: in plain callbacks, as a job of the provider, or as one more part of an answer that has begun. */
import * as Effect from "effect/Effect"
import { directEgress } from "../../subjects/proxies/entity.ts"
import { backgroundWatch } from "../state/kept/BackgroundWatch.ts"
import type { WireCodec } from "../../wire/WireCodec.ts"
import { ticketFor } from "../../wire/responses/Background.ts"
import * as HookEvents from "../hooks/Events.ts"
import { probeTimeoutMs } from "../routing/auto/SelfHealing.ts"
import { targetKeyOf } from "../routing/resolve/TargetKey.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import type { ModelPrice } from "../../subjects/pricing/entity.ts"
import type { PolledJob } from "../../wire/PolledJob.ts"
import { answerReader } from "./AnswerReader.ts"
import { type AttemptResult, failed, ownFailure } from "./AttemptResult.ts"
import { type Attempting, attemptEffect, known } from "./Attempting.ts"
import {
  type Attempt,
  type AttemptServices,
  cancelledResult,
  maxMediaBytes,
  priceOf,
  stopped
} from "./AttemptServices.ts"
import { type JobObserver, runJob, unobserved } from "./JobCall.ts"
import { encodeContext, startCall } from "./RunCall.ts"
import type { ContinuationService, ContinuingPart } from "./Continuation.ts"
import { noReport } from "../request/AnswerReport.ts"
import { unlessDisconnected } from "../request/ClientDisconnect.ts"
import type { Resumption, Work } from "../request/Exchange.ts"
import type { TappedCall } from "../request/ExchangeTap.ts"
import type { JobHandle } from "../request/JobHandle.ts"
import { mediaHeaders, streamHeaders } from "../request/Headers.ts"
import { attemptTimeouts, limitedTimeouts } from "../routing/walk/RoutePolicy.ts"
import * as StopSignal from "../request/StopSignal.ts"
import type { AnswerWatch } from "../state/kept/AnswerWatch.ts"
import { originOf, type UpstreamCall, type Way } from "./UpstreamCall.ts"

const neverSpoke = ownFailure(502, "empty_answer", "The upstream did not go on with the answer.")

const observerOf = (
  handle: JobHandle,
  target: Target,
  price: ModelPrice | null,
  isStopping: () => boolean
): JobObserver => ({
  submitting: handle.submitting(target),
  waiting: (step) => handle.waiting(target, step, price),
  finished: (answer) => handle.finished(target, answer),
  staysOnInterrupt: () => handle.isDetached && isStopping(),
  resumed: handle.accepted?.ticket ?? null
})

/** Takes the usage from the request where the provider does not report what a job has used. */
const withUsage = (work: Work, result: AttemptResult): AttemptResult => {
  const usage = work.exchange.codec.mediaUsage?.(work.asked) ?? null
  if (result._tag !== "Completed" || result.report.usage !== null || usage === null) return result
  return { ...result, report: { ...result.report, usage, isEstimated: true } }
}

/** A part of a longer answer, with the parts before it. What said nothing for the client has not brought it to its end. */
const asPart = (result: AttemptResult, { before, sent }: Resumption, { hasContent }: ContinuingPart): AttemptResult => {
  switch (result._tag) {
    case "Failed":
      return result
    case "Completed":
      return hasContent() ? { ...result, before } : failed(neverSpoke)
    case "Broken":
      return { ...result, before, sent }
    case "Aborted":
      return { ...result, before }
  }
}

/** Describes a call for taps, which have to know whether the body is the client's own. */
const tappedCall = (work: Work, { relays, target }: Way, { request, wire }: UpstreamCall): TappedCall => ({
  wire,
  provider: target.account.spec.id,
  connectionId: target.account.connection.id,
  model: target.model,
  body: request.body,
  isClients:
    relays &&
    work.parsed === work.asked &&
    work.cacheMarks === undefined &&
    work.handoff === undefined &&
    work.exchange.clientBody === undefined &&
    !target.suppressReasoning
})

const wayOf = ({ upstream }: AttemptServices, { request, wire }: UpstreamCall) => ({
  targetWire: wire,
  egress: request.owner === null ? directEgress : upstream.egressOf(request.owner, request.origin)
})

export const called = (services: AttemptServices, attempt: Attempt, call: UpstreamCall): Attempting => {
  const { continuation, watcher } = services
  const { way, work } = attempt
  work.trail.asked(wayOf(services, call))
  // Fixed before it is made, for callers without limits as well.
  priceOf(services, work, way.target)
  work.exchange.tap?.sent(tappedCall(work, way, call))
  if (!way.relays) work.decoding?.forget()
  const watch = watcher.watch(work, originOf(way.target, call.wire), {
    relayed: way.relays,
    replays: way.replays,
    keepsResponses: way.target.account.spec.keepsResponses
  })
  const { codec } = work.exchange
  if (work.asked["background"] === true && call.sameWire && codec.underWay !== undefined && codec.job === undefined) {
    return inBackground(services, attempt, call, codec.underWay, watch)
  }
  // Several calls of one answer are put together by who makes them.
  const recorder =
    work.webSearch?.isRun !== true && continuation?.mayContinue(work) === true ? continuation.makeDeliveredPrefix : null
  if (call.codec.job !== undefined) return asJob(services, attempt, call, call.codec.job, watch)
  return started(services, attempt, call, watch, recorder)
}

/** Records a job that its provider goes on with while the client does not wait for it: it is billed when it comes back. */
const inBackground = (
  services: AttemptServices,
  attempt: Attempt,
  call: UpstreamCall,
  underWay: NonNullable<WireCodec["underWay"]>,
  watch: AnswerWatch
): Attempting => {
  const { way, work } = attempt
  const { account, model } = way.target
  const { origin, path } = call.request
  const background = backgroundWatch(watch, underWay, ({ id, isOpen }) =>
    services.begun.note({
      ticket: { ...ticketFor(origin + path, id), price: priceOf(services, work, way.target) },
      isOpen,
      principal: work.exchange.principal,
      requestedModel: work.envelope.model,
      provider: account.spec.id,
      connectionId: account.connection.id,
      model
    })
  )
  const attempting = started(services, attempt, call, background.watch, null)
  if (attempting._tag !== "Call") return attempting
  return {
    _tag: "Call",
    start: (done) =>
      attempting.start((result) => {
        const isCut = result._tag === "Aborted" || result._tag === "Broken"
        if (!isCut || !background.left()) return done(result)
        done({ ...result, report: { ...(result.report ?? noReport), isUnderWay: true } })
      })
  }
}

/** A job of the provider, waited for until it is over. */
const asJob = (
  services: AttemptServices,
  { lastChance, way: { target }, work }: Attempt,
  call: UpstreamCall,
  job: PolledJob,
  watch: AnswerWatch
): Attempting => {
  const { quotas, settings, stop, timers } = services
  const { job: handle, reply, startedMs } = work.exchange
  const running = Effect.suspend(() => {
    const timeouts = attemptTimeouts(settings.current().timeouts, work.resolution.policy)
    const context = encodeContext(work, target.model, timers, call)
    return runJob(services, {
      job,
      call,
      timeouts,
      leftMs: Math.max(1, (handle?.deadlineMs ?? startedMs + timeouts.totalMs) - timers.monotonicMs()),
      reader: () =>
        answerReader({ work, call, context, lastChance, monotonicMs: timers.monotonicMs, watch, passed: [] }),
      onHeaders: (header) => quotas.learn(target.account.connection.id, target.model, header, timers.nowMs()),
      observer:
        handle === undefined ? unobserved : observerOf(handle, target, priceOf(services, work, target), stop.isStopping)
    })
  })
  const connected = StopSignal.unlessStopped(stop, unlessDisconnected(reply, running))
  // What no client waits for is neither ended nor settled: the next start goes on with it.
  const waiting =
    handle?.isDetached === true ? Effect.catchTag(connected, "ShuttingDown", () => Effect.never) : connected
  const attempt = Effect.match(waiting, {
    onFailure: cancelledResult,
    onSuccess: (result) => {
      if (result._tag === "Completed") watch.keep()
      return withUsage(work, result)
    }
  })
  return { _tag: "Effect", attempt }
}

/** Goes on in the middle of an answer: the codec writes into the stream that the client has begun to read. */
export const runOn = (
  services: AttemptServices,
  { part: makePart, story }: ContinuationService,
  attempt: Attempt,
  resumption: Resumption,
  call: UpstreamCall
): Attempting => {
  const { way, work } = attempt
  const part = makePart(work, resumption, way.target, call.wire, call.dropped)
  const own = { ...work, exchange: { ...work.exchange, codec: part.codec } }
  // Half an answer is not remembered; only the client's whole one may be asked for by its id.
  const watch = services.watcher.watch(work, originOf(way.target, call.wire), {
    relayed: true,
    replays: false,
    keepsResponses: false
  })
  work.exchange.tap?.sent(tappedCall(work, way, call))
  const calling = attemptEffect(started(services, { ...attempt, work: own }, { ...call, sameWire: false }, watch, null))
  const logged = Effect.flatMap(calling, (result) => {
    const asked = asPart(result, resumption, part)
    if (asked._tag !== "Failed") resumption.first.trail.asked(wayOf(services, call))
    return Effect.as(Effect.logInfo(story(work, resumption, way.target, asked)), asked)
  })
  return { _tag: "Effect", attempt: logged }
}

const started = (
  services: AttemptServices,
  { lastChance, way: { target }, work }: Attempt,
  call: UpstreamCall,
  watch: AnswerWatch,
  recorder: ContinuationService["makeDeliveredPrefix"] | null
): Attempting => {
  const { flags, hooks, quotas, running, settings, stop, timers } = services
  const { streamRecovery, timeouts: forAll } = settings.current()
  const timeouts = limitedTimeouts(attemptTimeouts(forAll, work.resolution.policy), call.codec.limits)
  const holdsBack = !lastChance && work.resumption === undefined && flags.isOn("STREAM_RECOVERY_ENABLED")
  if (stop.isStopping()) return known(stopped)
  const start = (done: (result: AttemptResult) => void): (() => void) =>
    startCall(
      services.upstream,
      timers,
      {
        work,
        call,
        target,
        recorder,
        timeouts: work.decision.probes.has(targetKeyOf(target))
          ? { ...timeouts, firstByteMs: probeTimeoutMs(timeouts.firstByteMs) }
          : timeouts,
        deadlineMs: work.exchange.startedMs + timeouts.totalMs,
        lastChance,
        watch,
        stop,
        maxMediaBytes: maxMediaBytes(services),
        onHeaders: (header) => quotas.learn(target.account.connection.id, target.model, header, timers.nowMs()),
        reads: (facts) => work.trail.reads(facts),
        // Without a target to take over there is nothing to wait for.
        holdBack: holdsBack ? streamRecovery : null,
        streamHeaders: (traces) => {
          if (hooks.listens.any) HookEvents.streamStarted(hooks, work, target, timers.monotonicMs())
          if (work.trail.streams() && running.watch.isOn) running.streams(work)
          return streamHeaders(work, target, traces)
        },
        mediaHeaders: (traces, media) =>
          mediaHeaders({
            work,
            target,
            traces,
            media,
            price: priceOf(services, work, target),
            latencyMs: Math.round(timers.monotonicMs() - work.exchange.startedMs)
          })
      },
      (result) => {
        if (result._tag === "Completed") watch.keep()
        done(result)
      }
    )
  return { _tag: "Call", start }
}
