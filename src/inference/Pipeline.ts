/**
 * The story of a request: open (read, resolve, decide) → attempt, one target after the other → relay → settle.
 * One fiber per request with one asynchronous step per upstream call; the doors are synchronous functions on ready state
 * (the request path must not pay for a suspension that waits for nothing).
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { allowsModel } from "../auth/ApiKeys.ts"
import {
  describe,
  type InferenceError,
  InternalError,
  InvalidRequest,
  KeyRejected,
  TargetsFailed
} from "../domain/Errors.ts"
import * as Upstream from "../egress/Upstream.ts"
import { scrub } from "../kernel/Scrub.ts"
import * as IdGen from "../platform/IdGen.ts"
import * as Timers from "../platform/Timers.ts"
import * as Catalog from "../providers/Catalog.ts"
import { secretsOf } from "../providers/Catalog.ts"
import * as Settings from "../resilience/Settings.ts"
import * as DecisionLog from "../routing/DecisionLog.ts"
import type { Target } from "../routing/ModelResolver.ts"
import * as Resolutions from "../routing/Resolutions.ts"
import { decide } from "../routing/Router.ts"
import * as RouterMemory from "../routing/RouterMemory.ts"
import * as UsageJournal from "../store/UsageJournal.ts"
import * as PriceBook from "../usage/PriceBook.ts"
import * as Telemetry from "../usage/Telemetry.ts"
import { isObject, type JsonObject, parseJson } from "../wire/json/Json.ts"
import { makeAcknowledge } from "./Acknowledgement.ts"
import { type AttemptFailure, type AttemptResult, failed } from "./Attempt.ts"
import { startAttempt } from "./AttemptRun.ts"
import type { Exchange, Work } from "./Exchange.ts"
import { answerHeaders, errorHeaders, identityHeaders, streamHeaders } from "./Headers.ts"
import { type Books, makeBill, settle, settleRefused } from "./Settle.ts"
import { upstreamCall } from "./UpstreamCall.ts"

export class Pipeline extends Context.Tag("gateway/inference/Pipeline")<
  Pipeline,
  {
    /** Serves one request to its end. Never fails: every failure has been told to the client and written down. */
    readonly serve: (exchange: Exchange) => Effect.Effect<void>
    /** Answers a request that goes no further than the door. */
    readonly refuse: (exchange: Exchange, error: InferenceError) => void
  }
>() {}

/** An answer that needs no model. */
interface Ready {
  readonly _tag: "Ready"
  readonly body: JsonObject
}

const nothing = (): void => {}

const notJson = (): InvalidRequest =>
  new InvalidRequest({ message: "The request body is not valid JSON.", param: null, details: [] })

const notAnObject = (): InvalidRequest =>
  new InvalidRequest({ message: "The request body must be a JSON object.", param: null, details: [] })

export const make = Effect.gen(function* () {
  const upstream = yield* Upstream.Upstream
  const timers = yield* Timers.Timers
  const catalog = yield* Catalog.Catalog
  const resolutions = yield* Resolutions.Resolutions
  const settings = yield* Settings.Settings
  const ids = yield* IdGen.IdGen
  const memory = yield* RouterMemory.RouterMemory
  const books: Books = {
    acknowledge: makeAcknowledge((yield* UsageJournal.UsageJournal).append, timers.soon),
    prices: yield* PriceBook.PriceBook,
    decisions: yield* DecisionLog.DecisionLog,
    telemetry: yield* Telemetry.Telemetry,
    monotonicMs: timers.monotonicMs
  }

  /** Read, resolve and decide. */
  const open = (exchange: Exchange): Work | InferenceError | Ready => {
    const read = parseJson(exchange.body.toString("utf8"))
    if (read === undefined) return notJson()
    if (!isObject(read)) return notAnObject()
    const parsed = exchange.fromPath === null ? read : { ...read, ...exchange.fromPath }
    const ready = exchange.atOnce === null ? null : exchange.atOnce(parsed)
    if (ready instanceof Error) return ready
    if (ready !== null) return { _tag: "Ready", body: ready }
    const checked = exchange.codec.checkEnvelope(parsed)
    if (Either.isLeft(checked)) return checked.left
    const envelope = checked.right
    const { principal } = exchange
    if (principal._tag === "Key" && !allowsModel(principal.key, envelope.model)) {
      return new KeyRejected({ reason: "model", model: envelope.model })
    }
    const resolution = resolutions.resolve(envelope.model)
    if ("_tag" in resolution) return resolution
    const decision = decide(resolution, memory.state(envelope.model), ids.seed())
    return { exchange, parsed, envelope, resolution, decision, attempts: [], targetWire: null }
  }

  /** One upstream call. */
  const call = (work: Work, target: Target, lastChance: boolean): Effect.Effect<AttemptResult> => {
    const prepared = upstreamCall(work, target, () => catalog.factsOf(target.account, target.model))
    if (Either.isLeft(prepared)) return Effect.succeed(failed(prepared.left))
    work.targetWire = prepared.right.wire
    const { timeouts } = settings.current()
    return Effect.async<AttemptResult>((resume) => {
      const cancel = startAttempt(
        upstream,
        timers,
        {
          work,
          call: prepared.right,
          target,
          timeouts,
          deadlineMs: work.exchange.startedMs + timeouts.totalMs,
          lastChance,
          streamHeaders: (dropped) => streamHeaders(work, target, dropped, work.attempts.length)
        },
        (result) => resume(Effect.succeed(result))
      )
      return Effect.sync(cancel)
    })
  }

  const note = (work: Work, target: Target, result: AttemptResult, startedMs: number): void => {
    const failure = result._tag === "Failed" ? result.failure : null
    work.attempts.push({
      provider: target.account.spec.id,
      connectionId: target.account.connection.id,
      model: target.model,
      status: failure === null ? (result._tag === "Aborted" ? null : 200) : failure.answered ? failure.status : null,
      outcome: result._tag === "Completed" ? "completed" : result._tag === "Aborted" ? "aborted" : "failed",
      reason:
        failure?.reason ??
        (result._tag === "Broken" ? result.reason : result._tag === "Aborted" ? "client_left" : "ok"),
      startedAt: new Date(startedMs).toISOString(),
      latencyMs: timers.nowMs() - startedMs
    })
  }

  /** Tries the targets from `index` on until one answers, the client leaves, or none is left. */
  const attemptFrom = (work: Work, index: number): Effect.Effect<void> => {
    const target = work.decision.order[index]
    if (target === undefined) return Effect.void
    const lastChance = index === work.decision.order.length - 1
    const startedMs = timers.nowMs()
    return Effect.flatMap(call(work, target, lastChance), (result) => {
      note(work, target, result, startedMs)
      if (result._tag === "Failed" && !lastChance && mayGoOn(work, result.failure)) return attemptFrom(work, index + 1)
      finish(work, target, result)
      return Effect.void
    })
  }

  const mayGoOn = (work: Work, failure: AttemptFailure): boolean =>
    failure.reason !== "total_timeout" && !work.exchange.reply.isClosed()

  /** Writes the books, then gives the client its last byte. */
  const finish = (work: Work, target: Target, result: AttemptResult): void => {
    const { reply } = work.exchange
    if (result._tag === "Failed") {
      const message = scrub(result.failure.message, secretsOf(target.account.connection))
      const failure = { ...result.failure, message }
      const served = { target, report: null, firstContentMs: null }
      const ending = { outcome: "failed", status: failure.status, error: failure.reason } as const
      return settle(books, work, served, makeBill(books, work, served), ending, () =>
        answerError(work.exchange, new TargetsFailed({ ...failure, attempts: work.attempts }))
      )
    }
    const served = { target, report: result.report, firstContentMs: result.firstContentMs }
    const bill = makeBill(books, work, served)
    switch (result._tag) {
      case "Completed":
        memory.served(work.envelope.model, target)
        return settle(books, work, served, bill, { outcome: "completed", status: 200, error: null }, () => {
          if (result.form === "whole") {
            reply.head(200, answerHeaders(work, target, result.dropped, bill, Buffer.byteLength(result.body)))
          } else if (result.form === "replayed") {
            reply.head(200, streamHeaders(work, target, result.dropped, work.attempts.length - 1))
          }
          reply.end(result.body)
        })
      case "Broken":
        return settle(books, work, served, bill, { outcome: "failed", status: 200, error: result.reason }, () =>
          reply.end(result.ending)
        )
      case "Aborted":
        return settle(books, work, served, bill, { outcome: "aborted", status: 499, error: "client_left" }, nothing)
    }
  }

  const answerError = (exchange: Exchange, error: InferenceError): void => {
    if (exchange.reply.isClosed()) return
    const view = describe(error)
    const body = JSON.stringify(exchange.codec.renderError(view, exchange.requestId))
    exchange.reply.head(view.status, errorHeaders(exchange.requestId, view, Buffer.byteLength(body)))
    exchange.reply.end(body)
  }

  const answerAtOnce = (exchange: Exchange, body: JsonObject): void => {
    const text = JSON.stringify(body)
    const headers = identityHeaders(exchange.requestId)
    headers.push("Content-Type", "application/json", "Content-Length", String(Buffer.byteLength(text)))
    exchange.reply.head(200, headers)
    exchange.reply.end(text)
  }

  const refuse = (exchange: Exchange, error: InferenceError): void => {
    const { status, code } = describe(error)
    const model = "model" in error ? (error.model ?? "") : ""
    const stranger = error._tag === "Unauthenticated"
    settleRefused(books, exchange, model, { outcome: "failed", status, error: code }, stranger, () =>
      answerError(exchange, error)
    )
  }

  const serve = (exchange: Exchange): Effect.Effect<void> =>
    Effect.suspend(() => {
      const work = open(exchange)
      if ("_tag" in work) {
        if (work._tag === "Ready") answerAtOnce(exchange, work.body)
        else refuse(exchange, work)
        return Effect.void
      }
      return attemptFrom(work, 0)
    }).pipe(
      Effect.catchAllCause((cause) =>
        Cause.isInterruptedOnly(cause)
          ? Effect.void
          : Effect.zipRight(
              Effect.logError("A request died", cause),
              Effect.sync(() => refuse(exchange, new InternalError({ cause })))
            )
      )
    )

  return Pipeline.of({ serve, refuse })
})

export const layer: Layer.Layer<
  Pipeline,
  never,
  | Upstream.Upstream
  | Timers.Timers
  | Catalog.Catalog
  | Resolutions.Resolutions
  | Settings.Settings
  | IdGen.IdGen
  | RouterMemory.RouterMemory
  | UsageJournal.UsageJournal
  | PriceBook.PriceBook
  | DecisionLog.DecisionLog
  | Telemetry.Telemetry
> = Layer.effect(Pipeline, make)
