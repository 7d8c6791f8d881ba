/**
 * A registered server as its client: the handshake, requests and their cancellation, and what the server says of its own accord. It is offered
 * no roots, no sampling and no elicitation: what it asks for beyond `ping` is refused.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { forAtMost } from "../../../kernel/time/AtMost.ts"
import { version as ownVersion } from "../../../platform/Version.ts"
import { isObject, type JsonObject, numberOr, objectOr, stringOr } from "../../../wire/json/Json.ts"
import {
  errorMessage,
  notificationMessage,
  requestMessage,
  resultMessage,
  type RpcError,
  rpcCodes,
  type RpcNotification,
  type RpcRequest
} from "../protocol/JsonRpc.ts"
import { latestVersion, protocolVersions } from "../protocol/Versions.ts"
import type { ToolCall } from "../Tool.ts"
import { type LinkError, linkError, type OpenLink } from "./Link.ts"

export interface ServerInfo {
  readonly name: string
  readonly version: string
}

/** The server answered with an error, or there is no answer. */
export type PeerError = LinkError | RpcError

export interface PeerRequest {
  readonly params: JsonObject
  readonly timeoutMs: number
  /** Receives the progress; null: none is wanted. */
  readonly progress: ToolCall["progress"] | null
}

export interface Peer {
  readonly info: ServerInfo
  readonly version: string
  readonly request: (method: string, asked: PeerRequest) => Effect.Effect<JsonObject, PeerError>
  readonly close: Effect.Effect<void>
}

export interface PeerEvents {
  readonly onToolsChanged: () => void
  readonly onEnd: (error: LinkError) => void
}

/** Programs of the version before streamable HTTP are many, and their tools are the same. */
const supportedVersions: ReadonlySet<unknown> = new Set([...protocolVersions, "2024-11-05"])

/** Requests of the server that are answered at once; more are dropped. */
const mostAnswers = 16
const cancelMs = 2_000
const mostNameChars = 200
/** Reports of one call that are passed on, and of their text. */
const mostReports = 1_000
const mostReportChars = 1_000

const handshake: JsonObject = {
  protocolVersion: latestVersion,
  capabilities: {},
  clientInfo: { name: "gateway", title: "Gateway", version: ownVersion }
}

const infoOf = (value: JsonObject): ServerInfo => {
  const { name, version } = objectOr(value["serverInfo"])
  return {
    name: (stringOr(name) ?? "").slice(0, mostNameChars),
    version: (stringOr(version) ?? "").slice(0, mostNameChars)
  }
}

export const connect = (
  open: OpenLink,
  events: PeerEvents,
  timeoutMs: number,
  scope: Scope.Scope
): Effect.Effect<Peer, PeerError> =>
  Effect.gen(function* () {
    let lastId = 0
    let answering = 0
    const reports = new Map<unknown, { readonly progress: ToolCall["progress"]; count: number }>()

    const onNotification = ({ method, params }: RpcNotification): void => {
      if (method === "notifications/tools/list_changed") events.onToolsChanged()
      if (method !== "notifications/progress") return
      const done = numberOr(params["progress"])
      const told = reports.get(params["progressToken"])
      if (done === null || told === undefined || told.count >= mostReports) return
      told.count += 1
      told.progress(done, numberOr(params["total"]), (stringOr(params["message"]) ?? "").slice(0, mostReportChars))
    }

    const onRequest = ({ id, method }: RpcRequest): void => {
      if (answering >= mostAnswers) return
      answering += 1
      const answer =
        method === "ping"
          ? resultMessage(id, {})
          : errorMessage(id, { code: rpcCodes.methodNotFound, message: `This client has no '${method}'.` })
      Effect.runFork(
        link
          .tell(answer)
          .pipe(Effect.timeout(cancelMs), Effect.ignore, Effect.ensuring(Effect.sync(() => (answering -= 1))))
      )
    }

    const link = yield* open({
      onMessage: (message) => (message._tag === "Request" ? onRequest(message) : onNotification(message)),
      onEnd: events.onEnd
    })

    const cancel = (id: number): Effect.Effect<void> =>
      link
        .tell(notificationMessage("notifications/cancelled", { requestId: id }))
        .pipe(forAtMost(cancelMs), Effect.forkIn(scope), Effect.asVoid)

    const request: Peer["request"] = (method, { params, progress, timeoutMs: most }) =>
      Effect.suspend(() => {
        const id = ++lastId
        if (progress !== null) reports.set(id, { progress, count: 0 })
        const meta = progress === null ? {} : { _meta: { ...objectOr(params["_meta"]), progressToken: id } }
        return link.ask(requestMessage(id, method, { ...params, ...meta }), id).pipe(
          // The handshake cannot be cancelled.
          Effect.onInterrupt(() => (method === "initialize" ? Effect.void : cancel(id))),
          Effect.timeoutFail({
            duration: most,
            onTimeout: () => linkError("timeout", `did not answer within ${most / 1_000} seconds`)
          }),
          Effect.ensuring(Effect.sync(() => void reports.delete(id))),
          Effect.flatMap(({ error, result }): Effect.Effect<JsonObject, PeerError> => {
            if (error !== null) return error
            return result === null ? linkError("invalid", "answered without a result") : Effect.succeed(result)
          })
        )
      })

    return yield* Effect.gen(function* () {
      const begun = yield* request("initialize", { params: handshake, timeoutMs, progress: null })
      const version = begun["protocolVersion"]
      if (typeof version !== "string" || !supportedVersions.has(version)) {
        return yield* linkError("invalid", "speaks another version of the protocol")
      }
      const { tools } = objectOr(begun["capabilities"])
      yield* link.begun(version, objectOr(tools)["listChanged"] === true)
      yield* link.tell(notificationMessage("notifications/initialized"))
      if (!isObject(tools)) return yield* linkError("invalid", "offers no tools")
      return { info: infoOf(begun), version, request, close: link.close }
    }).pipe(Effect.onError(() => link.close))
  })
