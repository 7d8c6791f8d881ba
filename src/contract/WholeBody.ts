/** Every management request's body is read whole before it is decoded, within the limit of its route, and only of those who may send it. */
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Schema from "effect/Schema"
import { BadRequestAnswer, TooLargeAnswer, UnavailableAnswer } from "./Errors.ts"

/** Provides the request with its body at hand. */
export class WholeBody extends HttpApiMiddleware.Tag<WholeBody>()("gateway/contract/WholeBody", {
  failure: Schema.Union(BadRequestAnswer, TooLargeAnswer, UnavailableAnswer),
  provides: HttpServerRequest.HttpServerRequest
}) {}
