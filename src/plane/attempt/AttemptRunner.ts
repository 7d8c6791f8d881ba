/** One upstream call as an Effect: from a target to a result. Interruption aborts the call. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { mayKeepContent } from "../../domain/ContentPermission.ts"
import { directEgress } from "../../subjects/proxies/entity.ts"
import { type ClientGone, shutdown, type ShuttingDown } from "../../domain/Errors.ts"
import * as Flags from "../../subjects/flags/service.ts"
import { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import { BackgroundPipeline } from "../request/BackgroundPipeline.ts"
import { backgroundWatch } from "../state/BackgroundWatch.ts"
import type { WireCodec } from "../../wire/WireCodec.ts"
import { ticketFor } from "../../wire/responses/Background.ts"
import * as PublicFetch from "../../net/egress/PublicFetch.ts"
import * as Upstream from "../../net/egress/Upstream.ts"
import { Hooks } from "../../agents/plugins/hooks/Hooks.ts"
import * as HookEvents from "../hooks/Events.ts"
import * as Timers from "../../platform/Timers.ts"
import * as Catalog from "../providers/Catalog.ts"
import { sourceOf } from "../../net/egress/BodySource.ts"
import { Slices } from "../resilience/Slices.ts"
import * as Settings from "../resilience/Settings.ts"
import { probeTimeoutMs } from "../routing/auto/SelfHealing.ts"
import { targetKeyOf } from "../routing/resolve/TargetKey.ts"
import * as QuotaWindows from "../routing/quota/QuotaWindows.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import { maxDecodedTokens, type NotDecodable, Tokeniser } from "../tokens/Tokeniser.ts"
import type { ModelPrice } from "../../subjects/pricing/entity.ts"
import { PriceBook } from "../../observe/usage/PriceBook.ts"
import type { Conversation } from "../../wire/canonical/Conversation.ts"
import type { WireName } from "../../domain/Wire.ts"
import type { Response } from "../../wire/canonical/Response.ts"
import type { PolledJob } from "../../wire/PolledJob.ts"
import { answerReader, renderAnswer } from "./AnswerReader.ts"
import { type AttemptResult, failed, ownFailure } from "./AttemptResult.ts"
import { type JobObserver, makeJobCall, unobserved } from "./JobCall.ts"
import { makeLinkedMedia } from "./LinkedMedia.ts"
import { encodeContext, startCall } from "./RunCall.ts"
import { type PartedCall, runParts } from "./PartedCall.ts"
import { Continuation, type ContinuationService, type ContinuingPart } from "./Continuation.ts"
import { noReport } from "../request/AnswerReport.ts"
import { unlessDisconnected } from "../request/ClientDisconnect.ts"
import type { Resumption, Work } from "../request/Exchange.ts"
import type { TappedCall } from "../request/ExchangeTap.ts"
import type { JobHandle } from "../request/JobHandle.ts"
import { mediaHeaders, streamHeaders } from "../request/Headers.ts"
import * as MediaFetch from "../media/MediaFetch.ts"
import { attemptTimeouts, limitedTimeouts } from "../routing/walk/RoutePolicy.ts"
import { needsFetch } from "../media/MediaNeeds.ts"
import * as StopSignal from "../request/StopSignal.ts"
import * as AnswerWatcher from "../state/AnswerWatch.ts"
import * as OpaqueState from "../state/OpaqueState.ts"
import {
  conversationFor,
  originOf,
  isLarge,
  relayedCall,
  searchedBy,
  translatedCall,
  type UpstreamCall,
  type Way,
  wayTo
} from "./UpstreamCall.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

export class AttemptRunner extends Context.Tag("gateway/plane/attempt/AttemptRunner")<
  AttemptRunner,
  {
    /** Hot: asks the target. `lastChance`: no other is left, so an empty but well-formed answer is the answer. */
    readonly begin: (work: Work, target: Target, lastChance: boolean) => Attempting
    /** Hot: the same as an effect. */
    readonly run: (work: Work, target: Target, lastChance: boolean) => Effect.Effect<AttemptResult>
  }
>() {}

/** Effect that asks a target, or its result where none is needed. */
export type Attempting =
  /** Nothing: it is known already what comes of it. */
  | { readonly _tag: "Known"; readonly result: AttemptResult }
  /** One call. `done` is called exactly once, maybe before `start` returns; the returned function cancels the call instead. */
  | { readonly _tag: "Call"; readonly start: (done: (result: AttemptResult) => void) => () => void }
  /** A call with something to be waited for before or after it. */
  | { readonly _tag: "Effect"; readonly attempt: Effect.Effect<AttemptResult> }

const known = (result: AttemptResult): Attempting => ({ _tag: "Known", result })

const asEffect = (attempting: Attempting): Effect.Effect<AttemptResult> => {
  switch (attempting._tag) {
    case "Known":
      return Effect.succeed(attempting.result)
    case "Call":
      return Effect.async((resume) => {
        const cancel = attempting.start((result) => resume(Effect.succeed(result)))
        return Effect.sync(cancel)
      })
    case "Effect":
      return attempting.attempt
  }
}

/** Most bytes of everything that is fetched for one answer. */
const maxLinkedBytes = 256 * 1_048_576

const stopped = failed(ownFailure(503, shutdown.code, `${asSentence(shutdown.message)}`))
const neverSpoke = ownFailure(502, "empty_answer", "The upstream did not go on with the answer.")

const notFetched = (failure: MediaFetch.MediaNotFetched | ClientGone | ShuttingDown): AttemptResult => {
  switch (failure._tag) {
    case "MediaNotFetched":
      return failed(ownFailure(400, failure.code, failure.message))
    case "ShuttingDown":
      return stopped
    case "ClientGone":
      return { _tag: "Aborted", report: null, firstContentMs: null }
  }
}

/**
 * Bytes of files that the makers document to take in one request: https://developers.openai.com/api/docs/guides/pdf-files (50 MB),
 * https://platform.claude.com/docs/en/api/errors#request-size-limits (32 MB with all else, in base64),
 * https://ai.google.dev/gemini-api/docs/file-input-methods (100 MB, in base64).
 */
const mostFileBytes: Readonly<Record<WireName, number>> = {
  chat: 50 * 1_048_576,
  responses: 50 * 1_048_576,
  messages: 24 * 1_048_576,
  gemini: 75 * 1_048_576,
  ollama: Number.POSITIVE_INFINITY
}

const filesTooLarge = (most: number) =>
  ownFailure(
    400,
    "request_not_translatable",
    `The files of the request have more than ${Math.floor(most / 1_048_576)} MiB together, which is what the chosen model's provider takes in one request.`
  )

const notDecoded = {
  unknown: ownFailure(
    400,
    "request_not_translatable",
    "input: the chosen model takes texts, and these token ids are none of cl100k_base. Send the texts themselves."
  ),
  too_many: ownFailure(
    400,
    "request_not_translatable",
    `input: the chosen model takes texts, and at most ${maxDecodedTokens} token ids are read as such. Send fewer, or the texts themselves.`
  ),
  busy: ownFailure(503, "tokens_not_decoded", "The token ids could not be read in time. Send the texts themselves.")
} as const satisfies Record<NotDecodable["reason"], unknown>

/** A job that was not waited for to its end. */
const givenUp = (reason: ClientGone | ShuttingDown): AttemptResult =>
  reason._tag === "ShuttingDown" ? stopped : { _tag: "Aborted", report: noReport, firstContentMs: null }

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
const asPart = (result: AttemptResult, { before, sent }: Resumption, { hasSpoken }: ContinuingPart): AttemptResult => {
  switch (result._tag) {
    case "Failed":
      return result
    case "Completed":
      return hasSpoken() ? { ...result, before } : failed(neverSpoke)
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

export const make = Effect.gen(function* () {
  const begun = yield* BackgroundPipeline
  const catalog = yield* Catalog.Catalog
  const flags = yield* Flags.Flags
  const media = yield* MediaFetch.MediaFetch
  const prices = yield* PriceBook
  const quotas = yield* QuotaWindows.QuotaWindows
  const gateway = yield* GatewaySettings
  const hooks = yield* Hooks
  const settings = yield* Settings.Settings
  const slices = yield* Slices
  const state = yield* OpaqueState.OpaqueState
  const stop = yield* StopSignal.StopSignal
  const timers = yield* Timers.Timers
  const tokeniser = yield* Tokeniser
  const upstream = yield* Upstream.Upstream
  const publicFetch = yield* PublicFetch.PublicFetch
  const linkedMedia = makeLinkedMedia(upstream, publicFetch)
  const { runJob } = makeJobCall(upstream, publicFetch)
  const watcher = yield* AnswerWatcher.AnswerWatcher
  const continuation = yield* Continuation

  const maxMediaBytes = (): number => gateway.current().media.maxAnswerMb * 1_048_576

  const wayOf = ({ request, wire }: UpstreamCall) => ({
    targetWire: wire,
    egress: request.owner === null ? directEgress : upstream.egressOf(request.owner, request.origin)
  })

  const priceOf = (work: Work, { account, model }: Target): ModelPrice | null =>
    work.prices.of(prices, account.spec.id, model)

  const called = (work: Work, way: Way, call: UpstreamCall, lastChance: boolean): Attempting => {
    work.trail.asked(wayOf(call))
    // Fixed before it is made, for callers without limits as well.
    priceOf(work, way.target)
    work.exchange.tap?.sent(tappedCall(work, way, call))
    const watch = watcher.watch(work, originOf(way.target, call.wire), {
      relayed: way.relays,
      replays: way.replays,
      keepsResponses: way.target.account.spec.keepsResponses
    })
    const { codec } = work.exchange
    if (work.asked["background"] === true && call.sameWire && codec.underWay !== undefined && codec.job === undefined) {
      return inBackground(work, way, call, codec.underWay, lastChance, watch)
    }
    // Several calls of one answer are put together by who makes them.
    const recorder =
      work.webSearch?.isRun !== true && continuation?.mayContinue(work) === true
        ? continuation.makeDeliveredPrefix
        : null
    if (call.codec.job !== undefined) return asJob(work, way, call, call.codec.job, lastChance, watch)
    return started(work, way, call, lastChance, watch, recorder)
  }

  /** Records a job that its provider goes on with while the client does not wait for it: it is billed when it comes back. */
  const inBackground = (
    work: Work,
    way: Way,
    call: UpstreamCall,
    underWay: NonNullable<WireCodec["underWay"]>,
    lastChance: boolean,
    watch: AnswerWatcher.AnswerWatch
  ): Attempting => {
    const { account, model } = way.target
    const { origin, path } = call.request
    const background = backgroundWatch(watch, underWay, ({ id, isOpen }) =>
      begun.note({
        ticket: { ...ticketFor(origin + path, id), price: priceOf(work, way.target) },
        isOpen,
        principal: work.exchange.principal,
        requestedModel: work.envelope.model,
        provider: account.spec.id,
        connectionId: account.connection.id,
        model
      })
    )
    const attempting = started(work, way, call, lastChance, background.watch, null)
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
    work: Work,
    { target }: Way,
    call: UpstreamCall,
    job: PolledJob,
    lastChance: boolean,
    watch: AnswerWatcher.AnswerWatch
  ): Attempting => {
    const { job: handle, reply, startedMs } = work.exchange
    const running = Effect.suspend(() => {
      const timeouts = attemptTimeouts(settings.current().timeouts, work.resolution.policy)
      const context = encodeContext(work, target.model, timers, call)
      return runJob({
        job,
        call,
        timeouts,
        leftMs: Math.max(1, (handle?.deadlineMs ?? startedMs + timeouts.totalMs) - timers.monotonicMs()),
        reader: () => answerReader(work, call, context, lastChance, timers.monotonicMs, watch, []),
        onHeaders: (header) => quotas.learn(target.account.connection.id, target.model, header, timers.nowMs()),
        observer: handle === undefined ? unobserved : observerOf(handle, target, priceOf(work, target), stop.isStopping)
      })
    })
    const connected = StopSignal.unlessStopped(stop, unlessDisconnected(reply, running))
    // What no client waits for is neither ended nor settled: the next start goes on with it.
    const waiting =
      handle?.isDetached === true ? Effect.catchTag(connected, "ShuttingDown", () => Effect.never) : connected
    const attempt = Effect.match(waiting, {
      onFailure: givenUp,
      onSuccess: (result) => {
        if (result._tag === "Completed") watch.keep()
        return withUsage(work, result)
      }
    })
    return { _tag: "Effect", attempt }
  }

  /** The same in the middle of an answer: its codec writes into the stream that the client has begun to read. */
  const runOn = (
    { part: makePart, story }: ContinuationService,
    work: Work,
    resumption: Resumption,
    way: Way,
    call: UpstreamCall,
    lastChance: boolean
  ): Attempting => {
    const part = makePart(work, resumption, way.target, call.wire, call.dropped)
    const own = { ...work, exchange: { ...work.exchange, codec: part.codec } }
    // Half an answer is not remembered; only the client's whole one may be asked for by its id.
    const watch = watcher.watch(work, originOf(way.target, call.wire), {
      relayed: true,
      replays: false,
      keepsResponses: false
    })
    work.exchange.tap?.sent(tappedCall(work, way, call))
    const calling = asEffect(started(own, way, { ...call, sameWire: false }, lastChance, watch, null))
    const attempt = Effect.flatMap(calling, (result) => {
      const told = asPart(result, resumption, part)
      if (told._tag !== "Failed") resumption.first.trail.asked(wayOf(call))
      return Effect.as(Effect.logInfo(story(work, resumption, way.target, told)), told)
    })
    return { _tag: "Effect", attempt }
  }

  const started = (
    work: Work,
    way: Way,
    call: UpstreamCall,
    lastChance: boolean,
    watch: AnswerWatcher.AnswerWatch,
    recorder: ContinuationService["makeDeliveredPrefix"] | null
  ): Attempting => {
    const { target } = way
    const { streamRecovery, timeouts: forAll } = settings.current()
    const timeouts = limitedTimeouts(attemptTimeouts(forAll, work.resolution.policy), call.codec.limits)
    const holdsBack = !lastChance && work.resumption === undefined && flags.isOn("STREAM_RECOVERY_ENABLED")
    if (stop.isStopping()) return known(stopped)
    const start = (done: (result: AttemptResult) => void): (() => void) =>
      startCall(
        upstream,
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
          maxMediaBytes: maxMediaBytes(),
          onHeaders: (header) => quotas.learn(target.account.connection.id, target.model, header, timers.nowMs()),
          // Without a target to take over there is nothing to wait for.
          holdBack: holdsBack ? streamRecovery : null,
          streamHeaders: (traces) => {
            if (hooks.listens.any) HookEvents.streamStarted(hooks, work, target, timers.monotonicMs())
            return streamHeaders(work, target, traces)
          },
          mediaHeaders: (traces, facts) => {
            const price = priceOf(work, target)
            const latencyMs = Math.round(timers.monotonicMs() - work.exchange.startedMs)
            return mediaHeaders(work, target, traces, facts, price, latencyMs)
          }
        },
        (result) => {
          if (result._tag === "Completed") watch.keep()
          done(result)
        }
      )
    return { _tag: "Call", start }
  }

  /** The answer with what it only names and the client asked for. */
  const complete = (work: Work, response: Response, call: UpstreamCall): Effect.Effect<Response, AttemptResult> => {
    const { linked } = work.exchange.codec
    const links = linked?.linksIn(response, work.asked) ?? []
    if (linked === undefined || links.length === 0) return Effect.succeed(response)
    const { firstByteMs } = attemptTimeouts(settings.current().timeouts, work.resolution.policy)
    const limits = {
      timeoutMs: Math.min(firstByteMs, leftMs(work)),
      maxBytes: Math.min(maxLinkedBytes, maxMediaBytes())
    }
    const fetching = unlessDisconnected(work.exchange.reply, linkedMedia.fetchAll(call, links, limits))
    return StopSignal.unlessStopped(stop, fetching).pipe(
      Effect.map((found) => linked.filledWith(response, found)),
      Effect.mapError((reason) => ("_tag" in reason ? notFetched(reason) : failed(reason)))
    )
  }

  const leftMs = ({ exchange }: Work): number =>
    Math.max(1, exchange.startedMs + settings.current().timeouts.totalMs - timers.monotonicMs())

  /** Several calls, and one answer; or one call whose answer may have to be completed. */
  const inParts = (work: Work, way: Way, parts: PartedCall["parts"], lastChance: boolean): Attempting => {
    const { target } = way
    const { codec } = work.exchange
    const context = () => encodeContext(work, target.model, timers, null)
    const attempt = runParts({
      work,
      target,
      parts,
      calling: (call) => Effect.flatMap(written(call), (whole) => asEffect(called(work, way, whole, lastChance))),
      join: codec.join ?? ((first) => first),
      complete: (response, call) => complete(work, response, call),
      render: (response) => renderAnswer(codec, response, context(), work.envelope.stream)
    })
    return { _tag: "Effect", attempt }
  }

  const translated = (work: Work, way: Way, conversation: Conversation, lastChance: boolean): Attempting => {
    const { account, model } = way.target
    const { join, linked } = work.exchange.codec
    const facts = catalog.factsOf(account, model)
    const parts = join === undefined ? null : (way.codec.partsOf?.(conversation) ?? null)
    if (parts !== null || linked !== undefined) {
      const asked = (parts ?? [conversation]).map((part) => () => translatedCall(work, way, part, facts))
      return inParts(work, way, asked, lastChance)
    }
    const call = translatedCall(work, way, conversation, facts)
    if (Either.isLeft(call)) return known(failed(call.left))
    const { resumption } = work
    const begun = (whole: UpstreamCall): Attempting =>
      resumption === undefined || continuation === null
        ? called(work, way, whole, lastChance)
        : runOn(continuation, work, resumption, way, whole, lastChance)
    if (call.right.unwritten === undefined) return begun(call.right)
    return { _tag: "Effect", attempt: Effect.flatMap(written(call.right), (whole) => asEffect(begun(whole))) }
  }

  /** The call with its body. */
  const written = (call: UpstreamCall): Effect.Effect<UpstreamCall> => {
    const { unwritten, ...ready } = call
    if (unwritten === undefined) return Effect.succeed(call)
    return Effect.map(slices.written(unwritten), (text) => ({
      ...ready,
      request: { ...call.request, body: sourceOf(text) }
    }))
  }

  /** The conversation with its pictures and files, where the target cannot fetch them. */
  const fetched = (work: Work, way: Way, conversation: Conversation, lastChance: boolean): Attempting => {
    const fetching = StopSignal.unlessStopped(
      stop,
      unlessDisconnected(
        work.exchange.reply,
        media.inlineMedia(conversation, way.codec.name, work.owner, mayKeepContent(work.exchange.principal))
      )
    )
    const attempt = Effect.matchEffect(fetching, {
      onFailure: (failure): Effect.Effect<AttemptResult> => Effect.succeed(notFetched(failure)),
      onSuccess: (whole) => asEffect(translated(work, way, whole, lastChance))
    })
    return { _tag: "Effect", attempt }
  }

  /** Token ids as the texts that they stand for, for a target that takes no ids. */
  const inTexts = (
    work: Work,
    way: Way,
    conversation: Conversation,
    tokens: ReadonlyArray<ReadonlyArray<number>>,
    lastChance: boolean
  ): Attempting => {
    const decoding = StopSignal.unlessStopped(stop, unlessDisconnected(work.exchange.reply, tokeniser.decode(tokens)))
    const attempt = Effect.matchEffect(decoding, {
      onFailure: (failure): Effect.Effect<AttemptResult> =>
        Effect.succeed(failure._tag === "NotDecodable" ? failed(notDecoded[failure.reason]) : givenUp(failure)),
      onSuccess: (texts) =>
        asEffect(translated(work, way, way.codec.inTexts?.withTexts(conversation, texts) ?? conversation, lastChance))
    })
    return { _tag: "Effect", attempt }
  }

  const begin = (asked: Work, target: Target, lastChance: boolean): Attempting => {
    const work = asked.webSearch === undefined ? asked : searchedBy(asked, target)
    const found = wayTo(work, target, state)
    if (Either.isLeft(found)) return known(failed(found.left))
    const way = found.right
    const { putInBytes = 0, resumption } = work
    const most = mostFileBytes[way.codec.name]
    if (putInBytes > most) return known(failed(filesTooLarge(most)))
    if (way.relays && resumption === undefined) {
      const call = relayedCall(work, way)
      if (work.exchange.codec.linked === undefined) return called(work, way, call, lastChance)
      return inParts(work, way, [() => Either.right(call)], lastChance)
    }
    if (!isLarge(work)) return inOtherWords(work, way, lastChance)
    return inTurn(() => inOtherWords(work, way, lastChance))
  }

  /** A step of a large request: what else is ready is done before it. */
  const inTurn = (step: () => Attempting): Attempting => ({
    _tag: "Effect",
    attempt: Effect.flatMap(slices.turn, () => asEffect(step()))
  })

  /** Runs an attempt whose request has to be translated. */
  const inOtherWords = (work: Work, way: Way, lastChance: boolean): Attempting => {
    const { resumption } = work
    const { target } = way
    const asked = conversationFor(work, way, state)
    if (Either.isLeft(asked)) return known(failed(asked.left))
    const conversation =
      resumption === undefined || continuation === null
        ? asked.right
        : continuation.conversation(asked.right, resumption, way.codec.name, target.model)
    const go = (): Attempting => {
      const tokens = way.codec.inTexts?.tokensOf(conversation) ?? null
      if (tokens !== null) return inTexts(work, way, conversation, tokens, lastChance)
      return needsFetch(conversation, way.codec.name)
        ? fetched(work, way, conversation, lastChance)
        : translated(work, way, conversation, lastChance)
    }
    return isLarge(work) ? inTurn(go) : go()
  }

  return AttemptRunner.of({
    begin,
    run: (work, target, lastChance) => asEffect(begin(work, target, lastChance))
  })
})

export const layer: Layer.Layer<
  AttemptRunner,
  never,
  | Catalog.Catalog
  | Flags.Flags
  | BackgroundPipeline
  | GatewaySettings
  | Hooks
  | MediaFetch.MediaFetch
  | PriceBook
  | PublicFetch.PublicFetch
  | QuotaWindows.QuotaWindows
  | Settings.Settings
  | Slices
  | OpaqueState.OpaqueState
  | StopSignal.StopSignal
  | Timers.Timers
  | Tokeniser
  | Upstream.Upstream
  | AnswerWatcher.AnswerWatcher
> = Layer.effect(AttemptRunner, make)
