/**
 * The story of a request: open (read, resolve, decide) → attempt, one target after the other → relay → settle.
 * One fiber per request with one asynchronous step per upstream call; the doors are synchronous functions on ready state
 * (the request path must not pay for a suspension that waits for nothing).
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { describe, type InferenceError, InternalError, TargetsFailed } from "../domain/Errors.ts"
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
import * as RouterMemory from "../routing/RouterMemory.ts"
import * as UsageJournal from "../store/UsageJournal.ts"
import * as PriceBook from "../usage/PriceBook.ts"
import * as Telemetry from "../usage/Telemetry.ts"
import type { JsonObject } from "../wire/json/Json.ts"
import { makeAcknowledge } from "./Acknowledgement.ts"
import type { AttemptFailure, AttemptResult } from "./Attempt.ts"
import { makeAttempt } from "./Attempts.ts"
import type { Exchange, Work } from "./Exchange.ts"
import { answerHeaders, errorHeaders, identityHeaders, streamHeaders } from "./Headers.ts"
import { openRequest, type OpeningRooms } from "./Opening.ts"
import { type Books, makeBill, settle, settleRefused } from "./Settle.ts"
import * as MediaFetch from "./MediaFetch.ts"
import * as OpaqueState from "./state/OpaqueState.ts"
import * as ResponseStore from "./state/ResponseStore.ts"
import * as TokenCounter from "./TokenCounter.ts"

export class Pipeline extends Context.Tag("gateway/inference/Pipeline")<
  Pipeline,
  {
    /** Serves one request to its end. Never fails: every failure has been told to the client and written down. */
    readonly serve: (exchange: Exchange) => Effect.Effect<void>
    /** Answers a request that goes no further than the door. */
    readonly refuse: (exchange: Exchange, error: InferenceError) => void
  }
>() {}

const nothing = (): void => {}

export const make = Effect.gen(function* () {
  const timers = yield* Timers.Timers
  const ids = yield* IdGen.IdGen
  const memory = yield* RouterMemory.RouterMemory
  const responses = yield* ResponseStore.ResponseStore
  const opening: OpeningRooms = { resolutions: yield* Resolutions.Resolutions, responses, memory, seed: ids.seed }
  const attempt = makeAttempt({
    upstream: yield* Upstream.Upstream,
    media: yield* MediaFetch.MediaFetch,
    timers,
    catalog: yield* Catalog.Catalog,
    settings: yield* Settings.Settings,
    state: yield* OpaqueState.OpaqueState,
    responses
  })
  const counter = yield* TokenCounter.TokenCounter
  const books: Books = {
    acknowledge: makeAcknowledge((yield* UsageJournal.UsageJournal).append, timers.soon),
    prices: yield* PriceBook.PriceBook,
    decisions: yield* DecisionLog.DecisionLog,
    telemetry: yield* Telemetry.Telemetry,
    monotonicMs: timers.monotonicMs
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
    return Effect.flatMap(attempt(work, target, lastChance), (result) => {
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

  const answerAtOnce = (exchange: Exchange, body: JsonObject, more: ReadonlyArray<string> = []): void => {
    const text = JSON.stringify(body)
    const headers = identityHeaders(exchange.requestId)
    headers.push("Content-Type", "application/json", "Content-Length", String(Buffer.byteLength(text)), ...more)
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

  /** A question about a request, not one: it stands in no book. */
  const count = (exchange: Exchange, parsed: JsonObject): Effect.Effect<void> =>
    Effect.match(counter.count(exchange, parsed), {
      onFailure: (error) => answerError(exchange, error),
      onSuccess: ({ body, source }) => answerAtOnce(exchange, body, ["X-Gateway-Token-Count-Source", source])
    })

  const serve = (exchange: Exchange): Effect.Effect<void> =>
    Effect.suspend(() => {
      const work = openRequest(opening, exchange)
      if ("_tag" in work) {
        if (work._tag === "Count") return count(exchange, work.parsed)
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
  | OpaqueState.OpaqueState
  | MediaFetch.MediaFetch
  | TokenCounter.TokenCounter
  | ResponseStore.ResponseStore
  | UsageJournal.UsageJournal
  | PriceBook.PriceBook
  | DecisionLog.DecisionLog
  | Telemetry.Telemetry
> = Layer.effect(Pipeline, make)
