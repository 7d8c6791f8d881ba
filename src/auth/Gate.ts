/**
 * The door of both planes: gathers the facts of a request and lets `Access.decide` decide. HOT and synchronous, because
 * inference requests pass here too.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Tier } from "../api/Routes.ts"
import { Flags } from "../flags/Flags.ts"
import { decide } from "./Access.ts"
import type { Access } from "./Access.ts"
import { AdminPassword } from "./AdminPassword.ts"
import { ApiKeys, problemOf } from "./ApiKeys.ts"
import { headerOf, keyOf } from "./Credentials.ts"
import type { RequestHeaders } from "./Credentials.ts"
import { isCrossSite, isCsrfToken, isSafeMethod } from "./Csrf.ts"
import { isWellFormed } from "./KeyFormat.ts"
import { isLoopback } from "./Loopback.ts"
import { cookieOf, Sessions } from "./Sessions.ts"

export interface GateRequest {
  readonly method: string
  /** The request target with its query. */
  readonly url: string
  readonly headers: RequestHeaders
  /** Peer address of the socket, never of a header. */
  readonly socketAddress: string | null
}

export class Gate extends Context.Tag("gateway/auth/Gate")<
  Gate,
  { readonly judge: (tier: Tier, request: GateRequest, nowMs: number) => Access }
>() {}

export const make = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const sessions = yield* Sessions
  const password = yield* AdminPassword
  const flags = yield* Flags

  const judge = (tier: Tier, request: GateRequest, nowMs: number): Access => {
    const { headers } = request
    const rawKey = keyOf(headers, request.url)
    const key = keys.identify(rawKey)
    // The request path: a browser's cookie and where the request came from play no part there.
    const inferenceOnly = tier === "inference"
    const cookie = inferenceOnly ? null : cookieOf(headers)
    const access = decide(tier, {
      key,
      keyIsOurs: key === "wrong" && rawKey !== null && isWellFormed(rawKey),
      keyProblem: typeof key === "object" && key._tag === "Key" ? problemOf(key.key, nowMs) : null,
      sessionId: cookie === null ? null : sessions.find(cookie, nowMs),
      csrfTokenValid: cookie !== null && isCsrfToken(cookie, headerOf(headers, "x-csrf-token")),
      safeMethod: isSafeMethod(request.method),
      crossSite: !inferenceOnly && isCrossSite(headers),
      loopback: !inferenceOnly && isLoopback(request.socketAddress, headers),
      keysRequired: flags.isOn("REQUIRE_API_KEY"),
      adminConfigured: inferenceOnly || password.isSet() || keys.canManage(nowMs)
    })
    if (access._tag === "Allowed" && access.principal._tag === "Key") keys.used(access.principal.key, nowMs)
    return access
  }
  return Gate.of({ judge })
})

export const layer: Layer.Layer<Gate, never, ApiKeys | Sessions | AdminPassword | Flags> = Layer.effect(Gate, make)
