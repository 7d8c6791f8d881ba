/** Limits naming a program that is started to people at the machine. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import { Forbidden } from "../../contract/Errors.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import { isLoopback } from "../../subjects/auth/Loopback.ts"
import { peerAddressOf } from "../../subjects/auth/PeerAddress.ts"
import { CurrentTrail } from "./AuditTrail.ts"
import { InnerCaller } from "../listening/InnerCaller.ts"

/**
 * Checks whether the request came directly from a program of this machine. A request from within the gateway may have
 * come from anywhere.
 */
export const isFromThisMachine = Effect.gen(function* () {
  if ((yield* InnerCaller) !== null) return false
  const { headers, socket } = NodeHttpServerRequest.toIncomingMessage(yield* HttpServerRequest.HttpServerRequest)
  return isLoopback(peerAddressOf(socket), headers)
})

/**
 * Refuses a request without the session of a login, or from elsewhere. `principals`: who may besides; the owner of the data folder can give himself
 * every session. `what`: how the sentence of the refusal begins.
 */
export const atTheMachine = (what: string, principals: ReadonlyArray<Principal["_tag"]> = []) =>
  Effect.gen(function* () {
    const message = `${what} needs the session of a login, and a direct connection from the gateway's own machine.`
    const principal = (yield* CurrentTrail)?.principal
    const tag = principal?._tag
    const isPerson =
      (principal?._tag === "Session" &&
        principal.isCommandLine === undefined &&
        (principal.person === undefined || principal.person.role === "owner")) ||
      (tag !== undefined && principals.includes(tag))
    if ((yield* InnerCaller) !== null || !isPerson) {
      return yield* new Forbidden({ message, code: "session_required" })
    }
    if (!(yield* isFromThisMachine)) return yield* new Forbidden({ message, code: "loopback_only" })
  })
