/** Answers to the messages of clients: calls run in fibers of their own, within places, until they are cancelled. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Exit from "effect/Exit"
import * as Cause from "effect/Cause"
import type { McpServer } from "../../agents/mcp/Server.ts"
import { type Caller, identityOf } from "../../agents/mcp/Caller.ts"
import type { ListWish, ToolCall } from "../../agents/mcp/Tool.ts"
import { type Session, sessionLimits } from "../../agents/mcp/Sessions.ts"
import type { RpcReply } from "../rpc/RpcReply.ts"
import {
  RpcError,
  rpcCodes,
  notificationMessage,
  type RequestId,
  type RpcMessage,
  BadMessage,
  type RpcRequest,
  resultMessage,
  errorMessage
} from "../../agents/mcp/protocol/JsonRpc.ts"
import { type JsonObject, objectOr } from "../../wire/json/Json.ts"
import { type StopSignal, unlessStopped } from "../../plane/request/StopSignal.ts"
import type { Timers } from "../../platform/Timers.ts"
import { makeFairPlaces } from "../../kernel/collections/FairPlaces.ts"

/** Calls in progress, of all clients together; a caller takes at most as many as it leaves free. */
const mostCalls = 256

/** Shared facts of all messages of one request. */
export interface Turn {
  readonly caller: Caller
  readonly listed: ListWish
  readonly session: Session | null
  readonly reply: RpcReply
}

const busy = new RpcError({ code: rpcCodes.unavailable, message: "Too many calls are under way. Try again." })
const cancelled = new RpcError({ code: rpcCodes.unavailable, message: "The call was cancelled." })

/** Reports of a call whose client asked for them. */
const progressOf = (params: JsonObject, reply: RpcReply): Pick<ToolCall, "isProgressWanted" | "progress"> => {
  const token = objectOr(params["_meta"])["progressToken"]
  if (typeof token !== "string" && typeof token !== "number") return { isProgressWanted: false, progress: () => {} }
  return {
    isProgressWanted: true,
    progress: (progress, total, message) =>
      reply.event(
        notificationMessage("notifications/progress", {
          progressToken: token,
          progress,
          ...(total === null ? {} : { total }),
          message
        })
      )
  }
}

const notified = (method: string, params: JsonObject, session: Session | null): void => {
  if (method !== "notifications/cancelled") return
  const id = params["requestId"]
  if (typeof id === "string" || typeof id === "number") session?.running.get(id as RequestId)?.()
}

export interface CallParts {
  readonly server: Effect.Effect<McpServer>
  readonly stop: typeof StopSignal.Service
  readonly timers: typeof Timers.Service
  readonly runFork: (effect: Effect.Effect<unknown>) => unknown
}

export type AnswerMessage = (message: RpcMessage | BadMessage, turn: Turn) => Effect.Effect<JsonObject | null>

export const makeAnswerMessage = ({ runFork, server, stop, timers }: CallParts): AnswerMessage => {
  const places = makeFairPlaces(() => mostCalls)

  const work = (request: RpcRequest, { caller, listed, reply }: Turn) =>
    unlessStopped(
      stop,
      Effect.flatMap(server, (ready) =>
        ready.answer(request, { caller, listed, ...progressOf(request.params, reply), startedMs: timers.monotonicMs() })
      )
    ).pipe(
      Effect.map((result) => resultMessage(request.id, result)),
      Effect.catchTags({
        RpcError: (error) => Effect.succeed(errorMessage(request.id, error)),
        ShuttingDown: () =>
          Effect.succeed(
            errorMessage(request.id, { code: rpcCodes.unavailable, message: "The gateway is shutting down." })
          )
      })
    )

  /** Runs in a fiber of its own, so that a notification or the end of its session can stop it. */
  const answerRequest = (request: RpcRequest, turn: Turn) =>
    Effect.suspend(() => {
      const { caller, reply, session } = turn
      const own = session?.running
      const isFull = own !== undefined && own.size >= sessionLimits.mostRunning
      const leave = isFull ? null : places.enter(identityOf(caller))
      if (leave === null) return Effect.succeed(errorMessage(request.id, busy))
      return Effect.gen(function* () {
        const fiber = yield* Effect.fork(work(request, turn))
        own?.set(request.id, () => void runFork(Fiber.interrupt(fiber)))
        const exit = yield* Fiber.await(fiber)
        if (Exit.isSuccess(exit)) return exit.value
        if (Cause.isInterruptedOnly(exit.cause)) return errorMessage(request.id, cancelled)
        yield* Effect.logError(`An MCP call failed (${reply.requestId})`, exit.cause)
        return errorMessage(request.id, {
          code: rpcCodes.internal,
          message: "The gateway failed to handle this call. Its log has the details under the request id."
        })
      }).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            leave()
            own?.delete(request.id)
          })
        )
      )
    })

  return (message, turn) =>
    Effect.suspend(() => {
      if (message instanceof BadMessage) {
        return Effect.succeed(errorMessage(message.id, { code: rpcCodes.invalidRequest, message: message.message }))
      }
      switch (message._tag) {
        case "Request":
          return answerRequest(message, turn)
        case "Notification":
          notified(message.method, message.params, turn.session)
          return Effect.succeed(null)
        case "Response":
          return Effect.succeed(null)
      }
    })
}
