/** Bounds of the caller of a management request by the role of its key's person. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import { match } from "../../contract/Routes.ts"
import type { Operation } from "../../contract/tiers/Rights.ts"
import { ApiKeys } from "../../subjects/auth/ApiKeys.ts"
import { bearerOf } from "../../subjects/auth/Credentials.ts"
import { type Bounds, boundsOf } from "../../subjects/people/Bounds.ts"
import { People } from "../../subjects/people/People.ts"
import { InnerCaller } from "../listening/InnerCaller.ts"

/** Right of people that opens the route of a request. */
export const operationOf = (method: string, url: string): Operation => {
  const found = match(method, url)
  return found._tag === "Found" && found.route.plane === "management" ? found.route.operation : "administer"
}

/** Makes what finds the bounds of a request that was let in; null: none. */
export const makeCallerBounds = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const people = yield* People
  return Effect.gen(function* () {
    const { headers, method, url } = yield* HttpServerRequest.HttpServerRequest
    const inner = yield* InnerCaller
    const caller = inner === null ? keys.identify(bearerOf(headers)) : inner.principal
    if (typeof caller !== "object" || caller._tag !== "Key" || caller.key.userId === null) return null
    const found: Bounds | null = boundsOf(people.directory(), caller.key, operationOf(method, url))
    // Who asks within the gateway was let in by the scopes of a tool, or as an admin.
    return inner === null || found?.reach === "all" ? found : null
  })
})
