/**
 * `GET /v1/ws?handshake=1`: would a WebSocket upgrade with these headers be taken, and what is said on the socket then? The caller's
 * key was judged before, as an upgrade's would be. Pure.
 */
import { edgeRoutes } from "../../contract/EdgeRoutes.ts"
import { headerOf, type RequestHeaders } from "../../subjects/auth/Credentials.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import { UpgradeRequired } from "../../contract/domain/Errors.ts"
import type { JsonObject } from "../../wire/json/Json.ts"

export interface HandshakeFacts {
  readonly query: URLSearchParams
  readonly headers: RequestHeaders
  readonly principal: Principal
  /** The flag `GATEWAY_UPSTREAM_WS_ENABLED`. */
  readonly enabled: boolean
  /** The flag `REQUIRE_API_KEY`. */
  readonly keysRequired: boolean
}

const paths = edgeRoutes
  .filter(({ key, path }) => key === "inference.responses" && !path.includes(":"))
  .map(({ path }) => path)

const authTypes: Readonly<Record<Principal["_tag"], string>> = {
  Key: "api_key",
  AdminKey: "admin_key",
  Owner: "owner_token",
  Session: "session",
  Anonymous: "none"
}

/**
 * Returns the reason for which an upgrade with the same headers would fail; null when it would not. Absent headers are
 * not judged.
 */
const problemOf = ({ enabled, headers }: HandshakeFacts): string | null => {
  if (!enabled) return "Responses over WebSocket are off (GATEWAY_UPSTREAM_WS_ENABLED). Use HTTP."
  const version = headerOf(headers, "sec-websocket-version")
  if (version !== null && version !== "13") return "Sec-WebSocket-Version must be 13."
  const nonce = headerOf(headers, "sec-websocket-key")
  if (nonce !== null && !/^[+/0-9A-Za-z]{22}==$/.test(nonce)) return "Sec-WebSocket-Key must be 16 bytes in base64."
  return null
}

const protocol: JsonObject = {
  request: {
    type: "response.create",
    model: "auto",
    input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "Hello" }] }]
  },
  cancel: { type: "response.cancel" }
}

/** Answers whether a socket would be opened for the caller, without opening one. */
export const handshakeAnswer = (facts: HandshakeFacts): JsonObject | UpgradeRequired => {
  const asked = facts.query.get("handshake")
  if (asked === null || asked === "0" || asked === "false") {
    return new UpgradeRequired({
      message: "Sockets are opened at /v1/responses. Ask here with ?handshake=1 whether one would be."
    })
  }
  const problem = problemOf(facts)
  return {
    ok: problem === null,
    enabled: facts.enabled,
    problem,
    path: "/v1/responses",
    paths,
    wsAuth: facts.keysRequired,
    authenticated: facts.principal._tag !== "Anonymous",
    authType: authTypes[facts.principal._tag],
    protocol
  }
}
