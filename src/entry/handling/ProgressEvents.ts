/** Answers of long work: as JSON when it is over, or as a stream of server-sent events where the client takes one. A client that leaves ends the work. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import { type ContractError, toBody } from "../../contract/Errors.ts"
import { headerOf } from "../../subjects/auth/Credentials.ts"
import { fromCause, internal } from "./Answers.ts"

const encoder = new TextEncoder()

const event = (name: string, data: unknown): Uint8Array =>
  encoder.encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)

const takesEvents = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) =>
  (headerOf(headers, "accept") ?? "").toLowerCase().includes("text/event-stream")
)

/** The last event. A fault goes to the log, as it does where the answer has a status. */
const ending = <A, E>(exit: Exit.Exit<A, E>): Effect.Effect<Uint8Array> => {
  if (Exit.isSuccess(exit)) return Effect.succeed(event("result", exit.value))
  const error = fromCause(exit.cause)
  const last = event("error", toBody(error ?? internal))
  return error === null && !Cause.isInterruptedOnly(exit.cause)
    ? Effect.as(Effect.logError("A management request failed", exit.cause), last)
    : Effect.succeed(last)
}

/**
 * Answers with what `work` comes to. `tell` sends an event `progress` in the meantime; behind it comes `result` with the answer, or `error` with the
 * body of an error. What stands in the way of the work has to be found before, so that it is answered with its status.
 */
export const withProgressEvents = <A, E extends ContractError, R, P>(
  work: (tell: (progress: P) => Effect.Effect<void>) => Effect.Effect<A, E, R>
): Effect.Effect<A | HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest> =>
  Effect.gen(function* () {
    if (!(yield* takesEvents)) return yield* work(() => Effect.void)
    const context = yield* Effect.context<R>()
    const events = Stream.asyncPush<Uint8Array>((emit) =>
      work((progress) => Effect.sync(() => void emit.single(event("progress", progress)))).pipe(
        Effect.provide(context),
        Effect.exit,
        Effect.flatMap(ending),
        Effect.map((last) => {
          emit.single(last)
          emit.end()
        }),
        Effect.forkScoped
      )
    )
    return HttpServerResponse.stream(events, {
      contentType: "text/event-stream",
      headers: { "Cache-Control": "no-store", "X-Accel-Buffering": "no" }
    })
  })
