/** The methods of the agent for other agents, in the names of A2A 0.3 and 1.0. */
import * as Effect from "effect/Effect"
import { type JsonObject, stringOr } from "../../wire/json/Json.ts"
import { type Task, type Form, firstEvent, isOver, nextEvents, sendResult, taskResult } from "../../agents/a2a/Task.ts"
import {
  RpcError,
  rpcCodes,
  invalidParams,
  type RpcRequest,
  resultMessage,
  BadMessage,
  errorMessage
} from "../../agents/mcp/protocol/JsonRpc.ts"
import { type Caller, identityOf } from "../../agents/mcp/Caller.ts"
import type { RpcReply } from "../rpc/RpcReply.ts"
import type { RunningTasks } from "../../agents/a2a/RunningTasks.ts"
import type { AgentTasks } from "../../agents/a2a/Tasks.ts"
import type { Timers } from "../../platform/Timers.ts"
import { readAgentRequest } from "../../agents/a2a/AgentRequest.ts"

/** https://a2a-protocol.org/v0.3.0/specification/#82-a2a-specific-errors */
const a2aCodes = { taskNotFound: -32_001, notCancelable: -32_002, noPushes: -32_003, unsupported: -32_004 } as const

type Method = "send" | "stream" | "get" | "cancel" | "resubscribe"

const methods: Readonly<Record<string, { readonly method: Method; readonly isCurrent: boolean }>> = {
  "message/send": { method: "send", isCurrent: false },
  "message/stream": { method: "stream", isCurrent: false },
  "tasks/get": { method: "get", isCurrent: false },
  "tasks/cancel": { method: "cancel", isCurrent: false },
  "tasks/resubscribe": { method: "resubscribe", isCurrent: false },
  SendMessage: { method: "send", isCurrent: true },
  SendStreamingMessage: { method: "stream", isCurrent: true },
  GetTask: { method: "get", isCurrent: true },
  CancelTask: { method: "cancel", isCurrent: true },
  SubscribeToTask: { method: "resubscribe", isCurrent: true }
}

const isAboutPushes = (method: string): boolean => /pushNotificationConfig/i.test(method)

/** The form of a task that is asked for by its id: as its message was, unless the method has its name in A2A 1.0. */
const formOf = (task: Task, isCurrent: boolean): Form => (isCurrent ? "current" : task.form)

const busy = new RpcError({ code: rpcCodes.unavailable, message: "Too many tasks are under way. Try again." })

/** Shared facts of all messages of one request. */
export interface Turn {
  readonly caller: Caller
  readonly origin: string
  readonly reply: RpcReply
  readonly inBatch: boolean
}

export interface MethodParts {
  readonly running: RunningTasks
  readonly tasks: typeof AgentTasks.Service
  readonly timers: Pick<typeof Timers.Service, "nowMs">
}

const failed = (code: number, message: string): RpcError => new RpcError({ code, message })

/** Finds the method of a request. */
const methodOf = (name: string, inBatch: boolean): (typeof methods)[string] | RpcError => {
  const known = methods[name]
  if (known === undefined) {
    return isAboutPushes(name)
      ? failed(a2aCodes.noPushes, "This agent sends no push notifications.")
      : failed(rpcCodes.methodNotFound, `There is no method '${name}'. There are ${Object.keys(methods).join(", ")}.`)
  }
  return inBatch && (known.method === "stream" || known.method === "resubscribe")
    ? failed(a2aCodes.unsupported, "A stream cannot be part of a batch.")
    : known
}

/** Answers one message. The answer null goes on as a stream. */
export const makeAnswer = ({ running, tasks, timers }: MethodParts) => {
  const found = (params: JsonObject, caller: Caller): Task | RpcError => {
    const id = stringOr(params["id"])
    if (id === null) return invalidParams("'id' must be the id of a task.")
    const task = tasks.find(id, identityOf(caller), timers.nowMs())
    return task ?? new RpcError({ code: a2aCodes.taskNotFound, message: "There is no such task; it may be forgotten." })
  }

  /** Sends each change of a task until it is over. */
  const streamed = (request: RpcRequest, form: Form, task: Task, reply: RpcReply, onLeft: () => void): void => {
    const send = (result: JsonObject): void => reply.event(resultMessage(request.id, result))
    send(firstEvent(form, task))
    if (isOver(task.state)) return reply.end()
    const forget = tasks.listen(task, (changed) => {
      for (const each of nextEvents(form, changed)) send(each)
      if (!isOver(changed.state)) return
      forget()
      reply.end()
    })
    reply.onLeft(() => {
      forget()
      onLeft()
    })
  }

  const send = (
    request: RpcRequest,
    { caller, origin, reply }: Turn,
    { isCurrent, method }: (typeof methods)[string]
  ): Effect.Effect<JsonObject | RpcError | null> => {
    const asked = readAgentRequest(request.params, isCurrent)
    if (asked instanceof RpcError) return Effect.succeed(asked)
    const begun = running.begin(asked, caller, origin)
    if (begun === null) return Effect.succeed(busy)
    const { stop, task } = begun
    if (method === "stream") {
      streamed(request, asked.form, task, reply, stop)
      return Effect.succeed(null)
    }
    const waiting = asked.waits ? Effect.onInterrupt(running.over(task), () => Effect.sync(stop)) : Effect.void
    return Effect.map(waiting, () => sendResult(asked.form, task))
  }

  const answer = (request: RpcRequest, turn: Turn): Effect.Effect<JsonObject | RpcError | null> =>
    Effect.suspend((): Effect.Effect<JsonObject | RpcError | null> => {
      const known = methodOf(request.method, turn.inBatch)
      if (known instanceof RpcError) return Effect.succeed(known)
      const { isCurrent, method } = known
      if (method === "send" || method === "stream") return send(request, turn, known)
      const task = found(request.params, turn.caller)
      if (task instanceof RpcError) return Effect.succeed(task)
      const form = formOf(task, isCurrent)
      if (method === "resubscribe") {
        streamed(request, form, task, turn.reply, () => {})
        return Effect.succeed(null)
      }
      if (method === "cancel" && !tasks.cancel(task, timers.nowMs())) {
        return Effect.succeed(failed(a2aCodes.notCancelable, `The task is ${task.state}.`))
      }
      return Effect.succeed(taskResult(form, task))
    })

  return (message: RpcRequest | BadMessage, turn: Turn): Effect.Effect<JsonObject | null> => {
    if (message instanceof BadMessage) {
      return Effect.succeed(errorMessage(message.id, { code: rpcCodes.invalidRequest, message: message.message }))
    }
    return Effect.map(answer(message, turn), (result) =>
      result === null
        ? null
        : result instanceof RpcError
          ? errorMessage(message.id, result)
          : resultMessage(message.id, result)
    )
  }
}
