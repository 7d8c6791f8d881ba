/**
 * The gateway's agent for other agents, at `POST /a2a`: JSON-RPC 2.0 in the forms of A2A 0.3 and 1.0 and in the plain form of docs/a2a.md.
 * https://a2a-protocol.org/v0.3.0/specification/#7-protocol-rpc-methods and https://a2a-protocol.org/v1.0.0/specification/
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { makeRunningTasks } from "../../agents/a2a/RunningTasks.ts"
import type { A2aRoute } from "../../contract/EdgeRoutes.ts"
import { skillIds } from "../../subjects/skills/entity.ts"
import { skillWords } from "../../agents/skills/SkillTexts.ts"
import { LongLived } from "../listening/LongLived.ts"
import { BodyBudget } from "../../plane/resilience/BodyBudget.ts"
import { Slices } from "../../plane/resilience/Slices.ts"
import { Gate } from "../../subjects/auth/Gate.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { InnerRequests } from "../../plane/InnerRequests.ts"
import { ManagementEndpoint } from "../management/ManagementEndpoint.ts"
import { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import { Timers } from "../../platform/Timers.ts"
import { AgentTasks } from "../../agents/a2a/Tasks.ts"
import { makeAgent } from "../../agents/a2a/Agent.ts"
import { isObject } from "../../wire/json/Json.ts"
import { makeAnswer, type Turn } from "./Methods.ts"
import {
  type RpcCall,
  messagesOf,
  judgeCaller,
  refuseCaller,
  isJsonBody,
  receiveBody,
  refusing
} from "../rpc/RpcCall.ts"
import { readAgentMessages } from "../../agents/a2a/AgentRequest.ts"
import { requestedAddress } from "../../subjects/auth/Credentials.ts"
import { makeReply } from "../rpc/RpcReply.ts"
import { beginningOf } from "../listening/BodyBeginning.ts"
import { rpcCodes } from "../../agents/mcp/protocol/JsonRpc.ts"
export class A2aEndpoint extends Context.Tag("gateway/entry/a2a/A2aEndpoint")<
  A2aEndpoint,
  {
    readonly handle: (route: A2aRoute, request: IncomingMessage, response: ServerResponse) => void
  }
>() {}

const off = "The A2A agent is off. Turn it on with the setting 'a2aEnabled' (PATCH /api/settings)."

const skills = skillIds.map((id) => ({ id, description: skillWords[id].description }))

export const make = Effect.gen(function* () {
  const longLived = yield* LongLived
  const readers = { bodies: yield* BodyBudget, slices: yield* Slices }
  const gate = yield* Gate
  const ids = yield* IdGen
  const inner = yield* InnerRequests
  const management = yield* ManagementEndpoint
  const settings = yield* GatewaySettings
  const timers = yield* Timers
  const tasks = yield* AgentTasks
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())

  const agent = makeAgent({
    inner,
    skills,
    manage: (caller, key, { path = {}, query = {} } = {}) =>
      Effect.map(
        management.ask({ key, path, query, caller: { principal: caller.principal, ip: caller.ip, body: null } }),
        ({ body, status }) => (status < 300 && isObject(body) ? body : null)
      )
  })
  const answer = makeAnswer({ running: yield* makeRunningTasks(agent), tasks, timers })

  const serve = ({ caller, reply, request }: RpcCall, body: Buffer): void => {
    const read = messagesOf(body, reply, readAgentMessages)
    if (read === null) return
    const { isBatch, messages } = read
    // A notification has no answer, and so there is nothing to do for it.
    const asked = messages.flatMap((message) =>
      message._tag === "Request" || message._tag === "BadMessage" ? message : []
    )
    if (asked.length === 0) return reply.empty(202)
    const turn: Turn = { caller, origin: requestedAddress(request.headers) ?? "", reply, inBatch: isBatch }
    const fiber = runFork(
      Effect.map(
        Effect.forEach(asked, (message) => answer(message, turn)),
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
    const reply = makeReply(timers, response, ids.next(timers.nowMs()), { eventName: null, readsStreams: true })
    const refuse = refusing(reply, beginningOf(request))
    const foreign = gate.foreignOrigin(request.headers)
    if (foreign !== null) return refuse(403, rpcCodes.unauthorized, foreign.message)
    const caller = judgeCaller(gate, request, timers.nowMs(), () => null)
    if ("status" in caller) return refuseCaller(caller, reply, refuse)
    // Only a caller with access learns which settings are on.
    if (!settings.current().a2aEnabled) return refuse(503, rpcCodes.unavailable, off)
    if (!isJsonBody(request, refuse)) return
    const asked = { caller, request, response, refuse, reply }
    receiveBody(readers, asked, (body) => serve(asked, body))
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
