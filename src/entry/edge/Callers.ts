/** Identifies the caller of a request to the edge, and says in a form that every wire can render why there is none. */
import type { IncomingMessage } from "node:http"
import type { EdgeRoute } from "../../contract/EdgeRoutes.ts"
import type { Denied, Access } from "../../subjects/auth/Access.ts"
import { type InferenceError, Unauthenticated, KeyRejected } from "../../domain/Errors.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import type * as Gate from "../../subjects/auth/Gate.ts"
import { peerAddressOf } from "../../subjects/auth/PeerAddress.ts"

/** Refuses requests with an Origin, while no key is required, whose type needs no question to the server before. */
export const jsonOnly =
  "Requests with an Origin must say 'Content-Type: application/json' while no API key is required: a page may send other types without asking."

/** Checks for a browser's request with a type of body that needs no question to the server before. */
export const isDisguised = ({ "content-type": type, origin }: IncomingMessage["headers"]): boolean =>
  origin !== undefined && !/^application\/json\s*(?:;|$)/i.test(type ?? "")

const refusalOf = ({ code }: Denied): InferenceError => {
  switch (code) {
    case "missing_api_key":
      return new Unauthenticated({ reason: "missing" })
    case "key_expired":
      return new KeyRejected({ reason: "expired", model: null })
    case "key_inactive":
      return new KeyRejected({ reason: "inactive", model: null })
    case "key_schedule":
      return new KeyRejected({ reason: "schedule", model: null })
    case "key_ip":
      return new KeyRejected({ reason: "ip", model: null })
    case "key_endpoint":
      return new KeyRejected({ reason: "endpoint", model: null })
    default:
      return new Unauthenticated({ reason: "wrong" })
  }
}

export interface Callers {
  readonly judge: (request: IncomingMessage, nowMs: number, route: Pick<EdgeRoute, "category" | "tier">) => Access
  readonly identify: (
    request: IncomingMessage,
    nowMs: number,
    route: Pick<EdgeRoute, "category" | "tier">
  ) => Principal | InferenceError
}

export const makeCallers = (gate: typeof Gate.Gate.Service): Callers => {
  const judge: Callers["judge"] = (request, nowMs, { category, tier }) =>
    gate.judge(
      tier,
      {
        method: request.method ?? "POST",
        url: request.url ?? "/",
        headers: request.headers,
        socketAddress: peerAddressOf(request.socket),
        category
      },
      nowMs
    )
  return {
    judge,
    identify: (request, nowMs, route) => {
      const access = judge(request, nowMs, route)
      return access._tag === "Allowed" ? access.principal : refusalOf(access)
    }
  }
}
