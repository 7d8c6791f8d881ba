/**
 * The gateway's agent for other agents, at `POST /a2a`: JSON-RPC 2.0 in the forms of A2A 0.3 and 1.0 and in the plain form of docs/a2a.md.
 * https://a2a-protocol.org/v0.3.0/specification/#7-protocol-rpc-methods and https://a2a-protocol.org/v1.0.0/specification/
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type { IncomingMessage, ServerResponse } from "node:http"
import { mayKeepContent } from "../../domain/ContentPermission.ts"
import { makeAgent, type Outcome } from "../../agents/a2a/Agent.ts"
import { type Asked, readAgentMessages, readAsked } from "../../agents/a2a/Asked.ts"
import { firstEvent, type Form, isOver, nextEvents, sendResult, type Task, taskResult } from "../../agents/a2a/Task.ts"
import { AgentTasks, taskLimits } from "../../agents/a2a/Tasks.ts"
import type { A2aRoute } from "../../contract/EdgeRoutes.ts"
import type { Denied } from "../../subjects/auth/Access.ts"
import { addressAsked } from "../../subjects/auth/Credentials.ts"
import { Gate } from "../../subjects/auth/Gate.ts"
import { peerAddressOf, shownAddressOf } from "../../subjects/auth/PeerAddress.ts"
import { skillIds } from "../../subjects/skills/entity.ts"
import { BodyNotDecoded, describe } from "../../domain/Errors.ts"
import { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import { InnerRequests } from "../../plane/InnerRequests.ts"
import { apiKeyIdOf, type Caller, identityOf } from "../../agents/mcp/Caller.ts"
import {
  BadMessage,
  errorMessage,
  invalidParams,
  resultMessage,
  rpcCodes,
  RpcError,
  type RpcRequest
} from "../../agents/mcp/protocol/JsonRpc.ts"
import { makeFairPlaces } from "../../kernel/collections/FairPlaces.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { Timers } from "../../platform/Timers.ts"
import { BodyBudget } from "../../plane/resilience/BodyBudget.ts"
import { skillWords } from "../../agents/skills/SkillTexts.ts"
import { Slices } from "../../plane/resilience/Slices.ts"
import { Unreadable } from "../../wire/json/Bounds.ts"
import { readForeignBody } from "../../wire/json/LargeBodies.ts"
import { isObject, type JsonObject, stringOr } from "../../wire/json/Json.ts"
import { ManagementEndpoint } from "../management/ManagementEndpoint.ts"
import { beginningOf } from "../listening/BodyBeginning.ts"
import { readBody } from "../listening/RequestBody.ts"
import { type A2aReply, makeReply } from "./A2aReply.ts"
import { LongLived } from "../listening/LongLived.ts"

export class A2aEndpoint extends Context.Tag("gateway/entry/a2a/A2aEndpoint")<
  A2aEndpoint,
  {
    readonly handle: (route: A2aRoute, request: IncomingMessage, response: ServerResponse) => void
  }
>() {}

/** Bytes of a message; beyond it 413. */
const maxBodyBytes = 4 * 1_048_576
const off = "The A2A agent is off. Turn it on with the setting 'a2aEnabled' (PATCH /api/settings)."

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

const skills = skillIds.map((id) => ({ id, description: skillWords[id].description }))

export const make = Effect.gen(function* () {
  const longLived = yield* LongLived
  const bodies = yield* BodyBudget
  const gate = yield* Gate
  const ids = yield* IdGen
  const inner = yield* InnerRequests
  const management = yield* ManagementEndpoint
  const settings = yield* GatewaySettings
  const slices = yield* Slices
  const timers = yield* Timers
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())
  const tasks = yield* AgentTasks
  const places = makeFairPlaces(() => taskLimits.mostRunning)

  const agent = makeAgent({
    inner,
    skills,
    manage: (caller, key, { path = {}, query = {} } = {}) =>
      Effect.map(
        management.ask({ key, path, query, caller: { principal: caller.principal, ip: caller.ip, body: null } }),
        ({ body, status }) => (status < 300 && isObject(body) ? body : null)
      )
  })

  const judge = (request: IncomingMessage): Caller | Denied => {
    const facts = {
      method: request.method ?? "POST",
      url: request.url ?? "/",
      headers: request.headers,
      socketAddress: peerAddressOf(request.socket)
    }
    const nowMs = timers.nowMs()
    const ip = shownAddressOf(request.socket)
    // Who manages has more rights here, and no other way in: a key that is not for agents is none here either.
    const managed = gate.judge("manage", { ...facts, category: "agents" }, nowMs)
    if (managed._tag === "Allowed") return { principal: managed.principal, scopes: null, ip }
    const access = gate.judge("inference", { ...facts, category: "agents" }, nowMs)
    return access._tag === "Denied" ? access : { principal: access.principal, scopes: null, ip }
  }

  const ended = (task: Task, outcome: Outcome): void => {
    const nowMs = timers.nowMs()
    switch (outcome._tag) {
      case "Answered":
        return tasks.change(task, { state: "completed", answer: outcome.answer, facts: outcome.facts }, nowMs)
      case "Failed":
        return tasks.change(task, { state: "failed", problem: outcome.problem, facts: outcome.facts }, nowMs)
      case "Refused":
        return tasks.change(task, { state: "rejected", problem: outcome.problem, facts: outcome.facts }, nowMs)
    }
  }

  /**
   * Takes a task and a place for a caller; null: the caller has its share of those in progress, or the limit is
   * reached.
   */
  const taken = ({ contextId, form, skill }: Asked, caller: Caller): { task: Task; leave: () => void } | null => {
    const nowMs = timers.nowMs()
    const identity = identityOf(caller)
    const leave = places.enter(identity)
    if (leave === null) return null
    const id = ids.next(nowMs)
    const permission = mayKeepContent(caller.principal)
    const task = tasks.begin({ id, contextId: contextId ?? ids.next(nowMs), identity, skill, form, permission }, nowMs)
    if (task !== null) return { task, leave }
    leave()
    return null
  }

  /** Begins the work of a message in a fiber of its own: it goes on when the client of a task that does not wait has left. */
  const begin = (asked: Asked, caller: Caller, origin: string): { task: Task; stop: () => void } | null => {
    const begun = taken(asked, caller)
    if (begun === null) return null
    const { leave, task } = begun
    const fiber = runFork(
      Effect.suspend(() => {
        tasks.change(task, { state: "working" }, timers.nowMs())
        return Effect.map(agent(asked, caller, origin), (outcome) => ended(task, outcome))
      }).pipe(
        Effect.catchAllCause((cause) => {
          if (Cause.isInterruptedOnly(cause)) {
            tasks.cancel(task, timers.nowMs())
            return Effect.void
          }
          tasks.change(task, { state: "failed", problem: "The gateway failed; its log says why." }, timers.nowMs())
          return Effect.logError(`A task of the A2A agent failed (${task.id})`, cause)
        }),
        Effect.ensuring(
          Effect.sync(() => {
            leave()
            tasks.runs(task, null)
          })
        )
      )
    )
    const stop = (): void => void runFork(Fiber.interrupt(fiber))
    if (!isOver(task.state)) tasks.runs(task, stop)
    return { task, stop }
  }

  const over = (task: Task): Effect.Effect<void> =>
    Effect.async<void>((resume) => {
      if (isOver(task.state)) return resume(Effect.void)
      const forget = tasks.listen(task, ({ state }) => {
        if (!isOver(state)) return
        forget()
        resume(Effect.void)
      })
      return Effect.sync(forget)
    })

  const found = (params: JsonObject, caller: Caller): Task | RpcError => {
    const id = stringOr(params["id"])
    if (id === null) return invalidParams("'id' must be the id of a task.")
    const task = tasks.find(id, identityOf(caller), timers.nowMs())
    return task ?? new RpcError({ code: a2aCodes.taskNotFound, message: "There is no such task; it may be forgotten." })
  }

  /** Sends each change of a task until it is over. */
  const streamed = (request: RpcRequest, form: Form, task: Task, reply: A2aReply, onLeft: () => void): void => {
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

  const busy = new RpcError({ code: rpcCodes.unavailable, message: "Too many tasks are under way. Try again." })

  interface Turn {
    readonly caller: Caller
    readonly origin: string
    readonly reply: A2aReply
    readonly inBatch: boolean
  }

  /** Null: the answer goes on as a stream. */
  const answer = (
    request: RpcRequest,
    { caller, inBatch, origin, reply }: Turn
  ): Effect.Effect<JsonObject | RpcError | null> =>
    Effect.suspend((): Effect.Effect<JsonObject | RpcError | null> => {
      const known = methods[request.method]
      if (known === undefined) {
        return Effect.succeed(
          isAboutPushes(request.method)
            ? new RpcError({ code: a2aCodes.noPushes, message: "This agent sends no push notifications." })
            : new RpcError({
                code: rpcCodes.methodNotFound,
                message: `There is no method '${request.method}'. There are ${Object.keys(methods).join(", ")}.`
              })
        )
      }
      const { isCurrent, method } = known
      if ((method === "stream" || method === "resubscribe") && inBatch) {
        return Effect.succeed(
          new RpcError({ code: a2aCodes.unsupported, message: "A stream cannot be part of a batch." })
        )
      }
      if (method === "send" || method === "stream") {
        const asked = readAsked(request.params, isCurrent)
        if (asked instanceof RpcError) return Effect.succeed(asked)
        const begun = begin(asked, caller, origin)
        if (begun === null) return Effect.succeed(busy)
        const { stop, task } = begun
        if (method === "stream") {
          streamed(request, asked.form, task, reply, stop)
          return Effect.succeed(null)
        }
        const waiting = asked.waits ? Effect.onInterrupt(over(task), () => Effect.sync(stop)) : Effect.void
        return Effect.map(waiting, () => sendResult(asked.form, task))
      }
      const task = found(request.params, caller)
      if (task instanceof RpcError) return Effect.succeed(task)
      const form = formOf(task, isCurrent)
      if (method === "resubscribe") {
        streamed(request, form, task, reply, () => {})
        return Effect.succeed(null)
      }
      if (method === "cancel" && !tasks.cancel(task, timers.nowMs())) {
        return Effect.succeed(new RpcError({ code: a2aCodes.notCancelable, message: `The task is ${task.state}.` }))
      }
      return Effect.succeed(taskResult(form, task))
    })

  const answerMessage = (message: RpcRequest | BadMessage, turn: Turn): Effect.Effect<JsonObject | null> => {
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

  const serve = (body: Buffer, caller: Caller, request: IncomingMessage, reply: A2aReply): void => {
    const whole = { text: body.toString(), isWhole: true }
    const value = readForeignBody(body)
    if (value instanceof Unreadable) return reply.refuse(400, rpcCodes.parse, value.message, whole)
    const read = readAgentMessages(value)
    if (read instanceof BadMessage) return reply.refuse(400, rpcCodes.invalidRequest, read.message, whole)
    const { isBatch, messages } = read
    const [only] = messages
    if (!isBatch && only instanceof BadMessage) {
      return reply.refuse(400, rpcCodes.invalidRequest, only.message, whole)
    }
    // A notification has no answer, and so there is nothing to do for it.
    const asked = messages.flatMap((message) =>
      message._tag === "Request" || message._tag === "BadMessage" ? message : []
    )
    if (asked.length === 0) return reply.empty(202)
    const turn: Turn = { caller, origin: addressAsked(request.headers) ?? "", reply, inBatch: isBatch }
    const fiber = runFork(
      Effect.map(
        Effect.forEach(asked, (message) => answerMessage(message, turn)),
        (all) => {
          const told = all.filter((one) => one !== null)
          const [first] = told
          if (first !== undefined) reply.json(200, isBatch ? told : first)
        }
      )
    )
    reply.onLeft(() => void runFork(Fiber.interrupt(fiber)))
  }

  const handle = (_route: A2aRoute, request: IncomingMessage, response: ServerResponse): void => {
    const reply = makeReply(timers, response, ids.next(timers.nowMs()))
    const beginning = beginningOf(request)
    const refuse = (status: number, code: number, message: string): void =>
      beginning.known((body) => reply.refuse(status, code, message, body))
    const foreign = gate.foreignOrigin(request.headers)
    if (foreign !== null) return refuse(403, rpcCodes.unauthorized, foreign.message)
    const caller = judge(request)
    if ("status" in caller) {
      if (caller.status === 401) reply.also("WWW-Authenticate", "Bearer")
      return refuse(caller.status, rpcCodes.unauthorized, caller.message)
    }
    // Only a caller with access learns which settings are on.
    if (!settings.current().a2aEnabled) return refuse(503, rpcCodes.unavailable, off)
    if (!/^application\/json\s*(?:;|$)/i.test(request.headers["content-type"] ?? "")) {
      return refuse(415, rpcCodes.invalidRequest, "Send messages as 'Content-Type: application/json'.")
    }
    const share = bodies.share(apiKeyIdOf(caller))
    response.once("close", share.release)
    readBody(request, maxBodyBytes, share, (body) => {
      if (body === "gone") return
      if (body === "too_large") {
        refuse(413, rpcCodes.invalidRequest, `A message may have at most ${maxBodyBytes} bytes.`)
      } else if (body instanceof BodyNotDecoded) {
        const { message, status } = describe(body)
        refuse(status, rpcCodes.invalidRequest, message)
      } else if (body === "no_room") {
        refuse(503, rpcCodes.unavailable, "The gateway holds too many request bodies now. Try again.")
      } else slices.whenRead(body, () => serve(body, caller, request, reply))
    })
  }

  longLived.register({ drain: () => tasks.stopAll() })

  return A2aEndpoint.of({ handle })
})

export const layer: Layer.Layer<
  A2aEndpoint,
  never,
  | AgentTasks
  | BodyBudget
  | Gate
  | GatewaySettings
  | IdGen
  | InnerRequests
  | LongLived
  | ManagementEndpoint
  | Slices
  | Timers
> = Layer.effect(A2aEndpoint, make)
