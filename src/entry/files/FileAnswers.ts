/** Answers of routes beside the inference pipeline: JSON of their own, and errors in OpenAI's form. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Runtime from "effect/Runtime"
import type { IncomingMessage, ServerResponse } from "node:http"
import { type ErrorView, errorView, type InferenceError } from "../../contract/domain/Errors.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import { errorHeaders, identityHeaders } from "../../plane/request/Headers.ts"
import { lockedView } from "../../plane/request/LockedView.ts"
import { Timers } from "../../platform/Timers.ts"
import type { StoreError } from "../../store/Errors.ts"
import { requestWaitMs, waitingAtMost } from "../../store/engine/WriteQueue.ts"
import { codecs } from "../../wire/Codec.ts"
import { coded, varyingBy } from "../listening/AnswerCodings.ts"
import { answerAndDrain } from "../forms/RefuseUpload.ts"

export interface EndpointCall {
  readonly requestId: string
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** The caller of a request, or why it is none. */
export interface Caller {
  readonly requestId: string
  readonly identity: Principal | InferenceError
}

export interface FileAnswers<E> {
  readonly refuse: (call: EndpointCall, view: ErrorView) => void
  readonly json: (call: EndpointCall, value: unknown) => void
  /** Runs `work`, and answers with `then` or with what went wrong. */
  readonly answer: <A>(call: EndpointCall, work: Effect.Effect<A, E | StoreError>, then: (value: A) => void) => void
}

/** Makes the answers; `failed` is the message for a client when the store or the disk fails. */
export const makeFileAnswers = <E extends { readonly _tag: string }>(
  refusalOf: (error: E) => ErrorView,
  failed: string
): Effect.Effect<FileAnswers<E>, never, Timers> =>
  Effect.gen(function* () {
    const timers = yield* Timers
    const runFork = Runtime.runFork(yield* Effect.runtime<never>())

    const refuse = ({ request, requestId, response }: EndpointCall, view: ErrorView): void => {
      if (response.headersSent || response.destroyed) return
      const body = JSON.stringify(codecs.chat.renderError(view, requestId))
      const headers = errorHeaders(requestId, view, Buffer.byteLength(body))
      answerAndDrain(timers, request, response, { status: view.status, headers, body })
    }

    const json = ({ request, requestId, response }: EndpointCall, value: unknown): void =>
      coded(request.headers["accept-encoding"]?.toString(), Buffer.from(JSON.stringify(value)), (content, coding) => {
        if (response.headersSent || response.destroyed) return
        const headers = identityHeaders(requestId)
        headers.push("Content-Type", "application/json", "Content-Length", String(content.length))
        headers.push("Vary", varyingBy("Accept-Encoding", response.getHeader("vary")?.toString()))
        if (coding !== null) headers.push("Content-Encoding", coding)
        response.writeHead(200, headers)
        response.end(content)
      })

    const isRefusal = (error: E | StoreError): error is E => error._tag !== "StoreError"

    const answer: FileAnswers<E>["answer"] = (call, work, then) => {
      runFork(
        Effect.flatMap(Effect.exit(waitingAtMost(requestWaitMs)(work)), (exit) => {
          if (Exit.isSuccess(exit)) return Effect.sync(() => then(exit.value))
          const failure = Cause.failureOption(exit.cause)
          if (failure._tag === "Some" && isRefusal(failure.value)) {
            const view = refusalOf(failure.value)
            return Effect.sync(() => refuse(call, view))
          }
          return Effect.zipRight(
            Effect.logError(`A request failed (${call.requestId})`, exit.cause),
            Effect.sync(() => refuse(call, lockedView(Cause.squash(exit.cause)) ?? errorView(500, failed)))
          )
        })
      )
    }

    return { refuse, json, answer }
  })
