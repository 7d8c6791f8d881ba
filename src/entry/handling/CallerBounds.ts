/** Bounds of the caller of a management request by the role of the person of its key or session. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { match } from "../../contract/Routes.ts"
import type { Operation } from "../../contract/tiers/Rights.ts"
import { ApiKeys } from "../../subjects/auth/ApiKeys.ts"
import type { Identified } from "../../subjects/auth/Access.ts"
import { bearerOf, type RequestHeaders } from "../../subjects/auth/Credentials.ts"
import { cookieOf } from "../../subjects/auth/sessions/SessionCookie.ts"
import { loginTokenOf } from "../../subjects/auth/sessions/SessionCredential.ts"
import { Sessions } from "../../subjects/auth/sessions/Sessions.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import { type Bounds, boundsOf } from "../../subjects/people/Bounds.ts"
import { People } from "../../subjects/people/People.ts"
import { InnerCaller } from "../listening/InnerCaller.ts"

/** Right of people that opens the route of a request. */
export const operationOf = (method: string, url: string): Operation => {
  const found = match(method, url)
  return found._tag === "Found" && found.route.plane === "management" ? found.route.operation : "administer"
}

const personIn = (principal: Principal): string | null =>
  principal._tag === "Session" ? (principal.person?.userId ?? null) : null

/** A key, which is sent on purpose, wins over the cookie: beside one that is not known, only a login at the command line counts. */
const sessionCredential = (caller: "missing" | "wrong", headers: RequestHeaders): string | null =>
  caller === "missing" ? cookieOf(headers) : loginTokenOf(headers)

/** Makes what finds the bounds of a request that was let in; null: none. */
export const makeCallerBounds = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const people = yield* People
  const sessions = yield* Sessions
  /** Id of the person of the session that counts where no key was sent. */
  const sessionUser = (caller: Identified, headers: RequestHeaders, nowMs: number): string | null => {
    const credential = caller === "missing" || caller === "wrong" ? sessionCredential(caller, headers) : null
    const id = credential === null ? null : sessions.look(credential, nowMs)
    return id === null ? null : (sessions.get(id)?.userId ?? null)
  }
  return Effect.gen(function* () {
    const { headers, method, url } = yield* HttpServerRequest.HttpServerRequest
    const inner = yield* InnerCaller
    const caller = inner === null ? keys.identify(bearerOf(headers)) : inner.principal
    // The route is looked for again only where a person asks.
    const bounds = (person: Parameters<typeof boundsOf>[1]): Bounds | null =>
      boundsOf(people.directory(), person, operationOf(method, url))
    const ofSession =
      inner === null ? sessionUser(caller, headers, yield* Clock.currentTimeMillis) : personIn(inner.principal)
    if (ofSession !== null) return bounds({ userId: ofSession, scopes: [] })
    if (typeof caller !== "object" || caller._tag !== "Key" || caller.key.userId === null) return null
    const found = bounds(caller.key)
    // Who asks within the gateway was let in by the scopes of a tool, or as an admin.
    return inner === null || found?.reach === "all" ? found : null
  })
})
