/** The address that a management request is recorded with. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import { shownAddressOf } from "../../subjects/auth/PeerAddress.ts"
import { InnerCaller } from "./InnerCaller.ts"

/**
 * Address of the socket, or of the caller for whom the gateway asks itself; empty when it is not known, `tunnel` behind
 * a tunnel.
 */
export const clientAddress = Effect.gen(function* () {
  const inner = yield* InnerCaller
  if (inner !== null) return inner.ip
  return shownAddressOf(NodeHttpServerRequest.toIncomingMessage(yield* HttpServerRequest.HttpServerRequest).socket)
})
