/**
 * The MCP server over streamable HTTP, at `/mcp` and `/api/mcp/stream`.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { createHash, randomBytes } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { McpRoute } from "../../contract/EdgeRoutes.ts"
import type { Denied } from "../../subjects/auth/Access.ts"
import { Gate } from "../../subjects/auth/Gate.ts"
import { peerAddressOf, shownAddressOf } from "../../subjects/auth/PeerAddress.ts"
import { BodyNotDecoded, describe } from "../../domain/Errors.ts"
import { Flags } from "../../subjects/flags/service.ts"
import { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import { InnerRequests } from "../../plane/InnerRequests.ts"
import { StopSignal, unlessStopped } from "../../plane/request/StopSignal.ts"
import { SkillBlocks } from "../../subjects/skills/service.ts"
import { apiKeyIdOf, type Caller, identityOf, scopesOf } from "../../agents/mcp/Caller.ts"
import {
  BadMessage,
  errorMessage,
  notificationMessage,
  readClientMessages,
  type RequestId,
  resultMessage,
  type RpcMessage,
  RpcError,
  rpcCodes,
  type RpcRequest
} from "../../agents/mcp/protocol/JsonRpc.ts"
import { isProtocolVersion, protocolVersions } from "../../agents/mcp/protocol/Versions.ts"
import { Directory } from "../../agents/mcp/Directory.ts"
import { Upstreams } from "../../agents/mcp/upstream/Upstreams.ts"
import { McpAuditRepo } from "../../subjects/mcp/repo.ts"
import { withoutWaiting } from "../../store/engine/WriteQueue.ts"
import { makeFairPlaces } from "../../kernel/collections/FairPlaces.ts"
import { makeServer, type McpServer } from "../../agents/mcp/Server.ts"
import { makeNotices } from "../../agents/mcp/Notices.ts"
import { makeSessions, type Session, sessionLimits } from "../../agents/mcp/Sessions.ts"
import type { ListWish, Tool, ToolCall, ToolOutput } from "../../agents/mcp/Tool.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { Timers } from "../../platform/Timers.ts"
import { BodyBudget } from "../../plane/resilience/BodyBudget.ts"
import { Slices } from "../../plane/resilience/Slices.ts"
import { Unreadable } from "../../wire/json/Bounds.ts"
import { readForeignBody } from "../../wire/json/LargeBodies.ts"
import { Searches } from "../../plane/search/Searches.ts"
import { type JsonObject, objectOr, stringOr } from "../../wire/json/Json.ts"
import { ManagementEndpoint } from "../management/ManagementEndpoint.ts"
import { beginningOf, type BodyBeginning } from "../listening/BodyBeginning.ts"
import { readBody } from "../listening/RequestBody.ts"
import { makeAskSearch } from "./AskSearch.ts"
import { makeReply, type McpReply } from "./McpReply.ts"
import { wishOf } from "./Toolsets.ts"
import { LongLived } from "../listening/LongLived.ts"

export class McpEndpoint extends Context.Tag("gateway/entry/mcp/McpEndpoint")<
  McpEndpoint,
  {
    readonly handle: (route: McpRoute, request: IncomingMessage, response: ServerResponse) => void
  }
>() {}

/** Bytes of a message; beyond it 413. */
const maxBodyBytes = 4 * 1_048_576
/** Caller for the management's list of all tools. */
const manager: Caller = { principal: { _tag: "AdminKey" }, scopes: null, ip: "" }
/** Calls in progress, of all clients together; a caller takes at most as many as it leaves free. */
const mostCalls = 256

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

/** Shared facts of all messages of one request. */
interface Turn {
  readonly caller: Caller
  readonly listed: ListWish
  readonly session: Session | null
  readonly reply: McpReply
}

/** Refuses a request before its body is understood: each request in it, as far as its beginning shows them. */
type Refuse = (status: number, code: number, message: string) => void

const refusing =
  (reply: McpReply, beginning: BodyBeginning | null): Refuse =>
  (status, code, message) => {
    if (beginning === null) reply.refuse(status, code, message, null)
    else beginning.known((body) => reply.refuse(status, code, message, body))
  }

const off = "The MCP server is off. Turn it on with the setting 'mcpEnabled' (PATCH /api/settings)."
const busy = new RpcError({ code: rpcCodes.unavailable, message: "Too many calls are under way. Try again." })
const cancelled = new RpcError({ code: rpcCodes.unavailable, message: "The call was cancelled." })

export const make = Effect.gen(function* () {
  const longLived = yield* LongLived
  const audit = yield* McpAuditRepo
  const bodies = yield* BodyBudget
  const directory = yield* Directory
  const settings = yield* GatewaySettings
  const flags = yield* Flags
  const gate = yield* Gate
  const ids = yield* IdGen
  const management = yield* ManagementEndpoint
  const requests = yield* InnerRequests
  const searches = yield* Searches
  const skillBlocks = yield* SkillBlocks
  const stop = yield* StopSignal
  const slices = yield* Slices
  const timers = yield* Timers
  const upstreams = yield* Upstreams
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())
  const sessions = makeSessions()
  const places = makeFairPlaces(() => mostCalls)
  let isDraining = false

  let offered: Effect.Effect<ReadonlyArray<Tool>> = Effect.succeed([])
  let own = 0

  /** A row of the call; a store that fails must not fail it. */
  const record = (tool: Tool, input: JsonObject, { caller, startedMs }: ToolCall, output: ToolOutput) =>
    Effect.suspend(() => {
      const { error, passed, structured } = output
      const atMs = timers.nowMs()
      const added = audit.add({
        id: ids.next(atMs),
        atMs,
        tool: tool.name,
        apiKeyId: apiKeyIdOf(caller),
        inputHash: createHash("sha256").update(JSON.stringify(input)).digest("hex"),
        outputSummary:
          error === null ? `ok, ${JSON.stringify(passed ?? structured ?? {}).length} characters` : "failed",
        durationMs: timers.monotonicMs() - startedMs,
        success: error === null
      })
      const later = Effect.catchAll(added, (problem) =>
        Effect.logWarning("A call of an MCP tool was not recorded", problem)
      )
      return Effect.catchAll(withoutWaiting(added), () => Effect.sync(() => void runFork(later)))
    })

  const load = async (): Promise<McpServer> => {
    const [{ makeToolbox }, { resourcesOf, templatesOf }, { promptsOf }, { allProviders }] = await Promise.all([
      import("./Toolbox.ts"),
      import("./reading/Resources.ts"),
      import("./reading/Prompts.ts"),
      import("../../plane/providers/registry/index.ts")
    ])
    const tools: ReadonlyArray<Tool> = makeToolbox({
      ask: management.ask,
      askModel: requests.ask,
      askSearch: makeAskSearch(searches, requests),
      runBlock: skillBlocks.run,
      all: (caller) => withForeign(caller)
    })
    const byName = new Map(tools.map((tool) => [tool.name, tool]))
    const withForeign = (caller: Caller): Effect.Effect<ReadonlyArray<Tool>> =>
      Effect.map(upstreams.tools(caller), (foreign) => (foreign.length === 0 ? tools : [...tools, ...foreign]))
    offered = withForeign(manager)
    own = tools.length
    const resources = resourcesOf(management.ask)
    return makeServer({
      resources: () => Effect.succeed(resources),
      templates: templatesOf(management.ask, withForeign),
      prompts: promptsOf(
        management.ask,
        allProviders.map(({ id }) => id)
      ),
      tools: withForeign,
      tool: (name, caller) => {
        const known = byName.get(name)
        return known === undefined ? upstreams.tool(name, caller) : Effect.succeed(known)
      },
      called: (tool, input, call, output) => record(tool, input, call, output),
      isShort: () => flags.isOn("GATEWAY_MCP_COMPRESS_DESCRIPTIONS")
    })
  }
  let loading: Promise<McpServer> | null = null
  const server = Effect.promise(() => (loading ??= load()))
  directory.announce({
    tools: Effect.flatMap(server, () => offered),
    count: Effect.map(server, () => own + upstreams.known()),
    sessions: sessions.count,
    endSessions: sessions.endAll
  })
  const listChanged = notificationMessage("notifications/tools/list_changed")
  const notices = makeNotices(
    timers,
    () => sessions.all().flatMap(({ listener }) => listener ?? []),
    (listener) => listener.send(listChanged)
  )
  yield* Effect.addFinalizer(() => Effect.sync(notices.close))
  upstreams.onChange(notices.changed)

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
    if (access._tag === "Denied") return access
    const { principal } = access
    return { principal, scopes: scopesOf(principal, flags.isOn("GATEWAY_MCP_ENFORCE_SCOPES")), ip }
  }

  /** Reports of a call whose client asked for them. */
  const progressOf = (params: JsonObject, reply: McpReply): Pick<ToolCall, "isProgressWanted" | "progress"> => {
    const token = objectOr(params["_meta"])["progressToken"]
    if (typeof token !== "string" && typeof token !== "number") return { isProgressWanted: false, progress: () => {} }
    return {
      isProgressWanted: true,
      progress: (progress, total, message) =>
        reply.send(
          notificationMessage("notifications/progress", {
            progressToken: token,
            progress,
            ...(total === null ? {} : { total }),
            message
          })
        )
    }
  }

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

  const notified = (method: string, params: JsonObject, session: Session | null): void => {
    if (method !== "notifications/cancelled") return
    const id = params["requestId"]
    if (typeof id === "string" || typeof id === "number") session?.running.get(id as RequestId)?.()
  }

  const answerMessage = (message: RpcMessage | BadMessage, turn: Turn): Effect.Effect<JsonObject | null> =>
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

  const begun = (messages: ReadonlyArray<RpcMessage | BadMessage>): RpcRequest | null => {
    const [first] = messages
    return first !== undefined && first._tag === "Request" && first.method === "initialize" ? first : null
  }

  /** The session of a request. */
  const sessionOf = (
    request: IncomingMessage,
    messages: ReadonlyArray<RpcMessage | BadMessage>,
    caller: Caller,
    reply: McpReply
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

  const noSession =
    "There is no such session; it ended, or the gateway was restarted. Begin another one with 'initialize'."

  const noRoom = "Calls are under way in too many sessions. Try again when one of them is over."

  const serve = (body: Buffer, caller: Caller, request: IncomingMessage, response: ServerResponse, reply: McpReply) => {
    const whole = { text: body.toString(), isWhole: true }
    const value = readForeignBody(body)
    if (value instanceof Unreadable) return reply.refuse(400, rpcCodes.parse, value.message, whole)
    const read = readClientMessages(value)
    if (read instanceof BadMessage) return reply.refuse(400, rpcCodes.invalidRequest, read.message, whole)
    const { isBatch, messages } = read
    const [only] = messages
    if (!isBatch && only instanceof BadMessage) {
      return reply.refuse(400, rpcCodes.invalidRequest, only.message, whole)
    }
    const found = sessionOf(request, messages, caller, reply)
    if (found === "gone") return reply.refuse(404, rpcCodes.unauthorized, noSession, whole)
    if (found === "full") return reply.refuse(503, rpcCodes.unavailable, noRoom, whole)
    const session = found === "none" ? null : found
    const listed = wishOf({ url: request.url ?? "", header: (name) => headerOf(request, name) })
    if (typeof listed === "string") return reply.refuse(400, rpcCodes.invalidParams, listed, whole)
    const turn: Turn = { caller, listed, reply, session }
    const answers = Effect.forEach(messages, (message) => answerMessage(message, turn), { concurrency: 4 })
    const fiber = runFork(
      Effect.map(answers, (all) => {
        const told = all.filter((one) => one !== null)
        if (told.length === 0) return reply.empty(202)
        const [first = {}] = told
        reply.json(200, isBatch ? told : first)
      })
    )
    // There is no way back to an answer whose connection is gone.
    response.once("close", () => {
      if (!response.writableFinished) runFork(Fiber.interrupt(fiber))
    })
  }

  const post = (
    caller: Caller,
    request: IncomingMessage,
    response: ServerResponse,
    { refuse, reply }: { readonly refuse: Refuse; readonly reply: McpReply }
  ): void => {
    if (!/^application\/json\s*(?:;|$)/i.test(headerOf(request, "content-type") ?? "")) {
      return refuse(415, rpcCodes.invalidRequest, "Send messages as 'Content-Type: application/json'.")
    }
    if (!accepts(request, "application/json") && !isEventReader(request)) {
      return refuse(406, rpcCodes.invalidRequest, "Send 'Accept: application/json, text/event-stream'.")
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
      } else slices.whenRead(body, () => serve(body, caller, request, response, reply))
    })
  }

  const noName = "Name the session in 'Mcp-Session-Id'."

  const listen = (
    caller: Caller,
    request: IncomingMessage,
    response: ServerResponse,
    { refuse, reply }: { readonly refuse: Refuse; readonly reply: McpReply }
  ): void => {
    if (!accepts(request, "text/event-stream")) {
      return refuse(406, rpcCodes.invalidRequest, "Send 'Accept: text/event-stream'.")
    }
    const id = headerOf(request, "mcp-session-id")
    if (id === null) return refuse(400, rpcCodes.invalidRequest, noName)
    const session = sessions.find(id, identityOf(caller), timers.nowMs())
    if (session === null) return refuse(404, rpcCodes.unauthorized, noSession)
    if (isDraining) return refuse(503, rpcCodes.unavailable, "The gateway is shutting down.")
    // A client that listens again has lost the stream before.
    session.listener?.end()
    const listener = { caller, send: reply.send, end: reply.stream().end }
    session.listener = listener
    response.once("close", () => {
      if (session.listener === listener) session.listener = null
    })
  }

  const remove = (
    caller: Caller,
    request: IncomingMessage,
    { refuse, reply }: { readonly refuse: Refuse; readonly reply: McpReply }
  ): void => {
    const id = headerOf(request, "mcp-session-id")
    if (id === null) return refuse(400, rpcCodes.invalidRequest, noName)
    if (sessions.end(id, identityOf(caller), timers.nowMs())) reply.empty(204)
    else refuse(404, rpcCodes.unauthorized, noSession)
  }

  const handle = (route: McpRoute, request: IncomingMessage, response: ServerResponse): void => {
    const reply = makeReply(timers, response, ids.next(timers.nowMs()), isEventReader(request))
    const refuse = refusing(reply, route.key === "mcp.sendMessage" ? beginningOf(request) : null)
    const foreign = gate.foreignOrigin(request.headers)
    if (foreign !== null) return refuse(403, rpcCodes.unauthorized, foreign.message)
    if (!settings.current().mcpEnabled) return refuse(503, rpcCodes.unavailable, off)
    const caller = judge(request)
    if ("status" in caller) {
      if (caller.status === 401) reply.also("WWW-Authenticate", "Bearer")
      return refuse(caller.status, rpcCodes.unauthorized, caller.message)
    }
    const version = headerOf(request, "mcp-protocol-version")
    if (version !== null && !isProtocolVersion(version)) {
      const known = protocolVersions.join(", ")
      return refuse(400, rpcCodes.invalidRequest, `'MCP-Protocol-Version' must be one of ${known}.`)
    }
    switch (route.key) {
      case "mcp.sendMessage":
        return post(caller, request, response, { refuse, reply })
      case "mcp.listen":
        return listen(caller, request, response, { refuse, reply })
      case "mcp.endSession":
        return remove(caller, request, { refuse, reply })
    }
  }

  longLived.register({
    drain: () => {
      isDraining = true
      for (const { listener } of sessions.all()) listener?.end()
    }
  })

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
