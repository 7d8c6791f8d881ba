/** The API key of a request to a route of the tier `self`, which the tier has let in. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import { NotFound } from "../../contract/Errors.ts"
import { InnerCaller } from "../listening/InnerCaller.ts"
import { ApiKeys } from "../../subjects/auth/ApiKeys.ts"
import { bearerOf } from "../../subjects/auth/Credentials.ts"

/** Makes what finds it; the administrator's credentials are no key. */
export const makeOwnKey = Effect.map(ApiKeys, (keys) =>
  Effect.gen(function* () {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const inner = yield* InnerCaller
    const caller = inner === null ? keys.identify(bearerOf(headers)) : inner.principal
    return yield* typeof caller === "object" && caller._tag === "Key"
      ? Effect.succeed(caller.key)
      : new NotFound({
          message: "This credential is no API key, so that it has no usage of its own.",
          param: "authorization"
        })
  })
)
