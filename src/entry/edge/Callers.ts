/** Identifies the caller of a request to the edge, and says in a form that every wire can render why there is none. */
import * as Effect from "effect/Effect"
import type { IncomingMessage } from "node:http"
import type { EdgeRoute } from "../../contract/EdgeRoutes.ts"
import { actingRow } from "../../subjects/auth/ActingAs.ts"
import * as AuditQueue from "../../subjects/auth/AuditQueue.ts"
import type { Denied, Access } from "../../subjects/auth/Access.ts"
import { type InferenceError, Unauthenticated, KeyRejected, SessionRefused } from "../../contract/domain/Errors.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import * as Gate from "../../subjects/auth/Gate.ts"
import { peerAddressOf, shownAddressOf } from "../../subjects/auth/PeerAddress.ts"

/** Refuses requests with an Origin, while no key is required, whose type needs no question to the server before. */
export const jsonOnly =
  "Requests with an Origin must say 'Content-Type: application/json' while no API key is required: a page may send other types without asking."

/** Checks for a browser's request with a type of body that needs no question to the server before. */
export const isDisguised = ({ "content-type": type, origin }: IncomingMessage["headers"]): boolean =>
  origin !== undefined && !/^application\/json\s*(?:;|$)/i.test(type ?? "")

const refusalOf = ({ code, message, status }: Denied): InferenceError => {
  switch (code) {
    case "missing_api_key":
      return new Unauthenticated({ reason: "missing" })
    case "key_expired":
      return new KeyRejected({ reason: "expired", model: null })
    case "key_inactive":
      return new KeyRejected({ reason: "inactive", model: null })
    case "key_owner":
      return new KeyRejected({ reason: "owner", model: null })
    case "key_schedule":
      return new KeyRejected({ reason: "schedule", model: null })
    case "key_ip":
      return new KeyRejected({ reason: "ip", model: null })
    case "key_endpoint":
      return new KeyRejected({ reason: "endpoint", model: null })
    case "session_unproved":
    case "login_asks_no_models":
    case "as_key_not_here":
    case "as_key_session_only":
    case "as_key_unknown":
      return new SessionRefused({ status, code, message })
    default:
      return new Unauthenticated({ reason: "wrong" })
  }
}

/** Facts of a route that its callers are judged by. */
export type JudgedRoute = Pick<EdgeRoute, "category" | "handler" | "key" | "tier">

/** Handlers whose routes an admin session may use as a caller may; what agents and servers talk to is not for pages. */
const takesSession: Readonly<Record<EdgeRoute["handler"], boolean>> = {
  conversation: true,
  listing: true,
  files: true,
  batches: true,
  jobs: true,
  responses: true,
  mcp: false,
  a2a: false,
  scim: false,
  root: false,
  dashboard: false,
  metrics: false
}

export interface Callers {
  readonly judge: (request: IncomingMessage, nowMs: number, route: JudgedRoute) => Access
  /** Identifies the caller. That a session acts with a key is written to the audit log, with the id of the request. */
  readonly identify: (
    request: IncomingMessage,
    nowMs: number,
    route: JudgedRoute,
    requestId: string
  ) => Principal | InferenceError
  /** Finds whose request it is that `identify` has refused: that of a key that is known and may not be used now, which its row names. */
  readonly refused: (request: IncomingMessage, nowMs: number, route: JudgedRoute) => Principal
}

const anonymous: Principal = { _tag: "Anonymous" }

export const makeCallers = Effect.gen(function* () {
  const gate = yield* Gate.Gate
  const audit = yield* AuditQueue.AuditQueue
  const judge: Callers["judge"] = (request, nowMs, { category, handler, key, tier }) =>
    gate.judge(
      tier,
      {
        method: request.method ?? "POST",
        url: request.url ?? "/",
        headers: request.headers,
        socketAddress: peerAddressOf(request.socket),
        category,
        // No page can send the token with an upgrade, which is asked about there.
        takesSession: takesSession[handler] && key !== "inference.handshake"
      },
      nowMs
    )
  const identify: Callers["identify"] = (request, nowMs, route, requestId) => {
    const access = judge(request, nowMs, route)
    const named = request.headers[Gate.asKeyHeader]
    if (named !== undefined) {
      const ip = shownAddressOf(request.socket)
      const row = actingRow(access, { requestId, atMs: nowMs, ip, named: String(named) })
      if (row !== null) AuditQueue.put(audit, row)
    }
    return access._tag === "Allowed" ? access.principal : refusalOf(access)
  }
  const refused: Callers["refused"] = (request, nowMs, route) => {
    const access = judge(request, nowMs, route)
    return access._tag === "Denied" && access.principal?._tag === "Key" ? access.principal : anonymous
  }
  return { judge, identify, refused } satisfies Callers
})
