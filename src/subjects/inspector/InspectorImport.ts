/** The body of an import: an archive, which may be larger than the bodies of other routes. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import { type BadRequest, TooLarge, Unavailable } from "../../contract/Errors.ts"
import { BodyNotDecoded, describe } from "../../contract/domain/Errors.ts"
import type { BodyBudget } from "../../plane/resilience/BodyBudget.ts"
import { readBody } from "../../entry/listening/RequestBody.ts"
import { notDecoded } from "../../entry/handling/Answers.ts"

export const receiveArchive = (
  request: HttpServerRequest.HttpServerRequest,
  limitBytes: number,
  bodies: typeof BodyBudget.Service
): Effect.Effect<Uint8Array, BadRequest | TooLarge | Unavailable> =>
  Effect.async((resume) => {
    const share = bodies.share(null)
    NodeHttpServerRequest.toServerResponse(request).once("close", share.release)
    readBody(NodeHttpServerRequest.toIncomingMessage(request), limitBytes, share, (result) => {
      if (result === "too_large") {
        resume(new TooLarge({ message: `The file is larger than ${limitBytes} bytes, the limit of this route.` }))
      } else if (result === "no_room") {
        const refusal = bodies.refusal()
        const { code, message } = describe(refusal)
        resume(new Unavailable({ code, message, retryAfterMs: refusal.retryAfterMs }))
      } else if (result instanceof BodyNotDecoded) resume(notDecoded(result))
      else resume(result === "gone" ? Effect.interrupt : Effect.succeed(result))
    })
  })
