/** Errors that every management route can answer. */
import type * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import {
  BadRequestAnswer,
  ForbiddenAnswer,
  InternalAnswer,
  TooLargeAnswer,
  UnauthorizedAnswer,
  UnavailableAnswer
} from "./Errors.ts"

export const withCommonErrors = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>
) =>
  api
    .addError(BadRequestAnswer)
    .addError(UnauthorizedAnswer)
    .addError(ForbiddenAnswer)
    .addError(TooLargeAnswer)
    .addError(InternalAnswer)
    .addError(UnavailableAnswer)
