/**
 * The MCP server over streamable HTTP, at `/mcp` and `/api/mcp/stream`.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { randomBytes } from "node:crypto"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import * as Layer from "effect/Layer"
import * as LoadedServer from "./LoadedServer.ts"
import type { McpRoute } from "../../contract/EdgeRoutes.ts"
import { type JsonObject, objectOr, stringOr } from "../../wire/json/Json.ts"
import {
  type RpcMessage,
  type BadMessage,
  type RpcRequest,
  readClientMessages,
  rpcCodes,
  notificationMessage
} from "../../agents/mcp/protocol/JsonRpc.ts"
import { type AnswerMessage, makeAnswerMessage, type Turn } from "./Calls.ts"
import { Timers } from "../../platform/Timers.ts"
import {
  type RpcCall,
  messagesOf,
  judgeCaller,
  isJsonBody,
  receiveBody,
  refuseCaller,
  refusing
} from "../rpc/RpcCall.ts"
import { type Session, type Sessions, makeSessions } from "../../agents/mcp/Sessions.ts"
import { identityOf, type Caller, scopesOf } from "../../agents/mcp/Caller.ts"
import { wishOf } from "./Toolsets.ts"
import { Upstreams } from "../../agents/mcp/upstream/Upstreams.ts"
import { makeNotices } from "../../agents/mcp/Notices.ts"
import { LongLived } from "../listening/LongLived.ts"
import { BodyBudget } from "../../plane/resilience/BodyBudget.ts"
import { Slices } from "../../plane/resilience/Slices.ts"
import { Directory } from "../../agents/mcp/Directory.ts"
import { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import { Flags } from "../../subjects/flags/service.ts"
import { Gate } from "../../subjects/auth/Gate.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { StopSignal } from "../../plane/request/StopSignal.ts"
import type { Denied } from "../../subjects/auth/Access.ts"
import { makeReply } from "../rpc/RpcReply.ts"
import { beginningOf } from "../listening/BodyBeginning.ts"
import { isProtocolVersion, protocolVersions } from "../../agents/mcp/protocol/Versions.ts"
import type { InnerRequests } from "../../plane/InnerRequests.ts"
import type { ManagementEndpoint } from "../management/ManagementEndpoint.ts"
import type { McpAuditRepo } from "../../subjects/mcp/repo.ts"
import type { Searches } from "../../plane/search/Searches.ts"
import type { SkillBlocks } from "../../subjects/skills/service.ts"
export class McpEndpoint extends Context.Tag("gateway/entry/mcp/McpEndpoint")<
  McpEndpoint,
  {
    readonly handle: (route: McpRoute, request: IncomingMessage, response: ServerResponse) => void
  }
>() {}

const headerOf = (request: IncomingMessage, name: string): string | null => {
  const value = request.headers[name]
  return typeof value === "string" ? value : null
}

const accepts = (request: IncomingMessage, type: string): boolean => {
  const accept = headerOf(request, "accept")
  return accept === null || accept.includes("*/*") || accept.toLowerCase().includes(type)
}

const isEventReader = (request: IncomingMessage): boolean =>
  (headerOf(request, "accept") ?? "").toLowerCase().includes("text/event-stream")

const clientOf = (params: JsonObject): string => {
  const { name, version } = objectOr(params["clientInfo"])
  return `${stringOr(name) ?? "unknown"} ${stringOr(version) ?? ""}`.trim().slice(0, 200)
}

const off = "The MCP server is off. Turn it on with the setting 'mcpEnabled' (PATCH /api/settings)."
const noSession =
  "There is no such session; it ended, or the gateway was restarted. Begin another one with 'initialize'."
const tooManySessions = "Calls are under way in too many sessions. Try again when one of them is over."
const noName = "Name the session in 'Mcp-Session-Id'."
const stopping = "The gateway is shutting down."

const begun = (messages: ReadonlyArray<RpcMessage | BadMessage>): RpcRequest | null => {
  const [first] = messages
  return first !== undefined && first._tag === "Request" && first.method === "initialize" ? first : null
}

/** Requests with the session that they name, or begin. */
const makeSessionRequests = (
  sessions: Sessions,
  {
    answer,
    runFork,
    timers
  }: {
    readonly answer: AnswerMessage
    readonly timers: typeof Timers.Service
    readonly runFork: <A>(effect: Effect.Effect<A>) => Fiber.RuntimeFiber<A>
  }
) => {
  let isDraining = false

  const sessionOf = (
    { caller, reply, request }: RpcCall,
    messages: ReadonlyArray<RpcMessage | BadMessage>
  ): Session | "none" | "gone" | "full" => {
    const nowMs = timers.nowMs()
    const first = begun(messages)
    if (first !== null) {
      const id = randomBytes(24).toString("base64url")
      const session = sessions.begin(id, identityOf(caller), clientOf(first.params), nowMs)
      if (session === null) return "full"
      reply.also("Mcp-Session-Id", id)
      return session
    }
    const id = headerOf(request, "mcp-session-id")
    // Clients without one are served too: no method needs what a session holds.
    return id === null ? "none" : (sessions.find(id, identityOf(caller), nowMs) ?? "gone")
  }

  const serve = (asked: RpcCall, body: Buffer): void => {
    const { caller, reply, request } = asked
    const read = messagesOf(body, reply, readClientMessages)
    if (read === null) return
    const refuse = (status: number, code: number, message: string): void =>
      reply.refuse(status, code, message, { text: body.toString(), isWhole: true })
    const { isBatch, messages } = read
    const found = sessionOf(asked, messages)
    if (found === "gone") return refuse(404, rpcCodes.unauthorized, noSession)
    if (found === "full") return refuse(503, rpcCodes.unavailable, tooManySessions)
    const session = found === "none" ? null : found
    const listed = wishOf({ url: request.url ?? "", header: (name) => headerOf(request, name) })
    if (typeof listed === "string") return refuse(400, rpcCodes.invalidParams, listed)
    const turn: Turn = { caller, listed, reply, session }
    const answers = Effect.forEach(messages, (message) => answer(message, turn), { concurrency: 4 })
    const fiber = runFork(
      Effect.map(answers, (all) => {
        const told = all.filter((one) => one !== null)
        if (told.length === 0) return reply.empty(202)
        const [first = {}] = told
        reply.json(200, isBatch ? told : first)
      })
    )
    // There is no way back to an answer whose connection is gone.
    reply.onLeft(() => void runFork(Fiber.interrupt(fiber)))
  }

  const listen = ({ caller, refuse, reply, request, response }: RpcCall): void => {
    if (!accepts(request, "text/event-stream")) {
      return refuse(406, rpcCodes.invalidRequest, "Send 'Accept: text/event-stream'.")
    }
    const id = headerOf(request, "mcp-session-id")
    if (id === null) return refuse(400, rpcCodes.invalidRequest, noName)
    const session = sessions.find(id, identityOf(caller), timers.nowMs())
    if (session === null) return refuse(404, rpcCodes.unauthorized, noSession)
    if (isDraining) return refuse(503, rpcCodes.unavailable, stopping)
    // A client that listens again has lost the stream before.
    session.listener?.end()
    reply.open()
    const listener = { caller, send: reply.event, end: reply.end }
    session.listener = listener
    response.once("close", () => {
      if (session.listener === listener) session.listener = null
    })
  }

  const remove = ({ caller, refuse, reply, request }: RpcCall): void => {
    const id = headerOf(request, "mcp-session-id")
    if (id === null) return refuse(400, rpcCodes.invalidRequest, noName)
    if (sessions.end(id, identityOf(caller), timers.nowMs())) reply.empty(204)
    else refuse(404, rpcCodes.unauthorized, noSession)
  }

  const drain = (): void => {
    isDraining = true
    for (const { listener } of sessions.all()) listener?.end()
  }

  return { drain, listen, remove, serve }
}

/** Tells the clients that listen when the tools of other servers have changed. */
const announceTools = (sessions: Sessions) =>
  Effect.gen(function* () {
    const upstreams = yield* Upstreams
    const notices = makeNotices(
      yield* Timers,
      () => sessions.all().flatMap(({ listener }) => listener ?? []),
      (listener) => listener.send(listChanged)
    )
    yield* Effect.addFinalizer(() => Effect.sync(notices.close))
    upstreams.onChange(notices.changed)
  })

const listChanged = notificationMessage("notifications/tools/list_changed")

export const make = Effect.gen(function* () {
  const longLived = yield* LongLived
  const readers = { bodies: yield* BodyBudget, slices: yield* Slices }
  const directory = yield* Directory
  const settings = yield* GatewaySettings
  const flags = yield* Flags
  const gate = yield* Gate
  const ids = yield* IdGen
  const stop = yield* StopSignal
  const timers = yield* Timers
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())
  const { count, server, tools } = yield* LoadedServer.make
  const sessions = makeSessions()
  const answer = makeAnswerMessage({ server, stop, timers, runFork })
  const { drain, listen, remove, serve } = makeSessionRequests(sessions, { answer, timers, runFork })
  directory.announce({ tools, count, sessions: sessions.count, endSessions: sessions.endAll })
  yield* announceTools(sessions)
  longLived.register({ drain })

  const judge = (request: IncomingMessage): Caller | Denied =>
    judgeCaller(gate, request, timers.nowMs(), (principal) =>
      scopesOf(principal, flags.isOn("GATEWAY_MCP_ENFORCE_SCOPES"))
    )

  const post = (asked: RpcCall): void => {
    const { refuse, request } = asked
    if (!isJsonBody(request, refuse)) return
    if (!accepts(request, "application/json") && !isEventReader(request)) {
      return refuse(406, rpcCodes.invalidRequest, "Send 'Accept: application/json, text/event-stream'.")
    }
    receiveBody(readers, asked, (body) => serve(asked, body))
  }

  const handle = (route: McpRoute, request: IncomingMessage, response: ServerResponse): void => {
    const readsStreams = isEventReader(request)
    const reply = makeReply(timers, response, ids.next(timers.nowMs()), { eventName: "message", readsStreams })
    const refuse = refusing(reply, route.key === "mcp.sendMessage" ? beginningOf(request) : null)
    const foreign = gate.foreignOrigin(request.headers)
    if (foreign !== null) return refuse(403, rpcCodes.unauthorized, foreign.message)
    if (!settings.current().mcpEnabled) return refuse(503, rpcCodes.unavailable, off)
    const caller = judge(request)
    if ("status" in caller) return refuseCaller(caller, reply, refuse)
    const version = headerOf(request, "mcp-protocol-version")
    if (version !== null && !isProtocolVersion(version)) {
      const known = protocolVersions.join(", ")
      return refuse(400, rpcCodes.invalidRequest, `'MCP-Protocol-Version' must be one of ${known}.`)
    }
    const asked: RpcCall = { caller, request, response, refuse, reply }
    switch (route.key) {
      case "mcp.sendMessage":
        return post(asked)
      case "mcp.listen":
        return listen(asked)
      case "mcp.endSession":
        return remove(asked)
    }
  }

  return McpEndpoint.of({ handle })
})

export const layer: Layer.Layer<
  McpEndpoint,
  never,
  | BodyBudget
  | Directory
  | Flags
  | Gate
  | GatewaySettings
  | IdGen
  | InnerRequests
  | LongLived
  | ManagementEndpoint
  | McpAuditRepo
  | Searches
  | SkillBlocks
  | Slices
  | StopSignal
  | Timers
  | Upstreams
> = Layer.scoped(McpEndpoint, make)
