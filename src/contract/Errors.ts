/**
 * Errors of the management routes. Each is a tagged class in the code and, on the wire, exactly
 * `{"error":{"message","type","code","param"?,"details"?}}`: the schemas below carry the status and translate both ways,
 * so the derived client gets the same classes back.
 */
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Data from "effect/Data"
import * as Schema from "effect/Schema"
import { typeAndCode } from "./domain/Errors.ts"
import type { FieldProblem } from "./domain/Errors.ts"
import { field } from "../kernel/Documented.ts"

/** Error body of every management route. */
export const ErrorBody = Schema.Struct({
  errorCode: field(
    Schema.optionalWith(Schema.String, { exact: true }),
    "The same as `error.code`, where a key was to be registered.",
    "PROVIDER_QUOTA_EXCEEDED"
  ),
  keyId: field(
    Schema.optionalWith(Schema.String, { exact: true }),
    "Id of the key that was registered before with the same `idempotencyKey`.",
    "019aa6ee-6a10-7000-9b21-0a4d5c6e7f81"
  ),
  error: field(
    Schema.Struct({
      message: field(
        Schema.String,
        "What is wrong, and what can be done about it.",
        "Invalid request: name: is missing"
      ),
      type: field(Schema.String, "The family of the error; it follows from the status.", "invalid_request_error"),
      code: field(Schema.String, "What happened, for programs.", "bad_request"),
      param: field(
        Schema.optionalWith(Schema.NullOr(Schema.String), { exact: true }),
        "The first field or parameter that is wrong.",
        "name"
      ),
      details: field(
        Schema.optionalWith(
          Schema.Array(
            Schema.Struct({
              field: field(Schema.String, "Where it is, with dots between the levels.", "name"),
              message: field(Schema.String, "What is wrong with it.", "is missing")
            })
          ),
          { exact: true }
        ),
        "Every field that is wrong."
      ),
      port: field(Schema.optionalWith(Schema.Number, { exact: true }), "The port that cannot be used.", 8080),
      hint: field(
        Schema.optionalWith(Schema.String, { exact: true }),
        "What can be done in place of it, for people.",
        "Set INSPECTOR_HTTP_PROXY_PORT to another port."
      ),
      reason: field(
        Schema.optionalWith(Schema.String, { exact: true }),
        "Why this machine cannot do it.",
        "Transparent capture needs Linux."
      ),
      request_id: field(
        Schema.optionalWith(Schema.String, { exact: true }),
        "The id of the request, as in `X-Gateway-Request-Id`; the gateway's log has it too.",
        "019aa6ee-5c00-7000-8f3e-1f0c9d2b7a64"
      )
    }),
    "Why the request was refused."
  ),
  current: field(
    Schema.optionalWith(Schema.Unknown, { exact: true }),
    "The object as it is now, where `If-Match` named another version of it (412).",
    { combo: { id: "fast", name: "fast-and-cheap", strategy: "random" } }
  )
}).annotations({
  identifier: "ErrorBody",
  description: "The error of the management routes and of the chat and responses wires."
})

/**
 * Fields of an error. `code` replaces the default of the status; `retryAfterMs` becomes the `Retry-After` header;
 * `isRegistration`: the code is at the top, too.
 */
export interface ErrorFields {
  readonly message: string
  readonly code?: string
  readonly param?: string
  readonly details?: ReadonlyArray<FieldProblem>
  readonly retryAfterMs?: number
  readonly isRegistration?: boolean
  readonly keyId?: string
  readonly port?: number
  readonly hint?: string
  readonly reason?: string
}

export class BadRequest extends Data.TaggedError("BadRequest")<ErrorFields> {}
export class Unauthorized extends Data.TaggedError("Unauthorized")<ErrorFields> {}
export class Forbidden extends Data.TaggedError("Forbidden")<ErrorFields> {}
export class NotFound extends Data.TaggedError("NotFound")<ErrorFields> {}
export class MethodNotAllowed extends Data.TaggedError("MethodNotAllowed")<
  ErrorFields & { readonly allow?: ReadonlyArray<string> }
> {}
export class Conflict extends Data.TaggedError("Conflict")<ErrorFields> {}
/** The object is another than the one that the request is about. `current`: as it is now; `etag`: its tag. */
export class PreconditionFailed extends Data.TaggedError("PreconditionFailed")<
  ErrorFields & { readonly current?: unknown; readonly etag?: string }
> {}
export class TooLarge extends Data.TaggedError("TooLarge")<ErrorFields> {}
export class UnsupportedMediaType extends Data.TaggedError("UnsupportedMediaType")<ErrorFields> {}
export class Unprocessable extends Data.TaggedError("Unprocessable")<ErrorFields> {}
export class TooManyRequests extends Data.TaggedError("TooManyRequests")<ErrorFields> {}
export class Internal extends Data.TaggedError("Internal")<ErrorFields> {}
export class NotImplemented extends Data.TaggedError("NotImplemented")<ErrorFields> {}
export class UpstreamFailed extends Data.TaggedError("UpstreamFailed")<ErrorFields> {}
export class Unavailable extends Data.TaggedError("Unavailable")<ErrorFields> {}

export type ContractError =
  | BadRequest
  | Unauthorized
  | Forbidden
  | NotFound
  | MethodNotAllowed
  | Conflict
  | PreconditionFailed
  | TooLarge
  | UnsupportedMediaType
  | Unprocessable
  | TooManyRequests
  | Internal
  | NotImplemented
  | UpstreamFailed
  | Unavailable

/** HTTP status of each contract error. */
export const statusOf: Readonly<Record<ContractError["_tag"], number>> = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  Conflict: 409,
  PreconditionFailed: 412,
  TooLarge: 413,
  UnsupportedMediaType: 415,
  Unprocessable: 422,
  TooManyRequests: 429,
  Internal: 500,
  NotImplemented: 501,
  UpstreamFailed: 502,
  Unavailable: 503
}

const classes = [
  BadRequest,
  Unauthorized,
  Forbidden,
  NotFound,
  MethodNotAllowed,
  Conflict,
  PreconditionFailed,
  TooLarge,
  UnsupportedMediaType,
  Unprocessable,
  TooManyRequests,
  Internal,
  NotImplemented,
  UpstreamFailed,
  Unavailable
] as const

/** Checks the class of an error, because other modules have errors of the same name. */
export const isContractError = (error: unknown): error is ContractError =>
  classes.some((Class) => error instanceof Class)

/** The usual code where the inference table names something else: management resources are not models. */
const usualCode: Partial<Record<ContractError["_tag"], string>> = { Forbidden: "forbidden", NotFound: "not_found" }

/** Renders an error as the contract's body; `requestId` is null where it is not known yet. */
export const toBody = (error: ContractError, requestId: string | null = null): typeof ErrorBody.Type => {
  const [type, usual] = typeAndCode(statusOf[error._tag])
  const code = error.code ?? usualCode[error._tag] ?? usual
  return {
    ...(error.isRegistration === true ? { errorCode: code } : {}),
    ...(error.keyId === undefined ? {} : { keyId: error.keyId }),
    error: {
      message: error.message,
      type,
      code,
      ...(error.param === undefined ? {} : { param: error.param }),
      ...(error.details === undefined || error.details.length === 0 ? {} : { details: error.details }),
      ...(error.port === undefined ? {} : { port: error.port }),
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      ...(error.reason === undefined ? {} : { reason: error.reason }),
      ...(requestId === null ? {} : { request_id: requestId })
    },
    ...(error._tag === "PreconditionFailed" && error.current !== undefined ? { current: error.current } : {})
  }
}

const answer = <E extends ContractError>(
  tag: E["_tag"],
  Class: new (fields: ErrorFields & { readonly current?: unknown }) => E,
  description: string
) =>
  Schema.transform(ErrorBody, Schema.instanceOf(Class), {
    strict: true,
    decode: ({ current, error, errorCode, keyId }) =>
      new Class({
        ...(current === undefined ? {} : { current }),
        message: error.message,
        code: error.code,
        ...(errorCode === undefined ? {} : { isRegistration: true }),
        ...(keyId === undefined ? {} : { keyId }),
        ...(typeof error.param === "string" ? { param: error.param } : {}),
        ...(error.details === undefined ? {} : { details: error.details }),
        ...(error.port === undefined ? {} : { port: error.port }),
        ...(error.hint === undefined ? {} : { hint: error.hint }),
        ...(error.reason === undefined ? {} : { reason: error.reason })
      }),
    encode: (error) => toBody(error)
  }).annotations(HttpApiSchema.annotations({ status: statusOf[tag], description }))

export const BadRequestAnswer = answer("BadRequest", BadRequest, "The request is wrong; `details` names each field.")
export const UnauthorizedAnswer = answer(
  "Unauthorized",
  Unauthorized,
  "No credential was given, or it is not valid here."
)
export const ForbiddenAnswer = answer("Forbidden", Forbidden, "The credential is known, but may not do this.")
export const NotFoundAnswer = answer("NotFound", NotFound, "There is no such thing.")
export const MethodNotAllowedAnswer = answer(
  "MethodNotAllowed",
  MethodNotAllowed,
  "The path has other methods; see `Allow`."
)
export const ConflictAnswer = answer("Conflict", Conflict, "The change does not fit what is there.")
export const PreconditionFailedAnswer = answer(
  "PreconditionFailed",
  PreconditionFailed,
  "The object was changed since the version that `If-Match` names; `current` has it."
)
export const TooLargeAnswer = answer("TooLarge", TooLarge, "The body is larger than this route takes.")
export const UnsupportedMediaTypeAnswer = answer(
  "UnsupportedMediaType",
  UnsupportedMediaType,
  "The body is not called what this route takes."
)
export const UnprocessableAnswer = answer(
  "Unprocessable",
  Unprocessable,
  "The request is well-formed, but cannot be carried out on this."
)
export const TooManyRequestsAnswer = answer("TooManyRequests", TooManyRequests, "Too many tries; see `Retry-After`.")
export const InternalAnswer = answer("Internal", Internal, "A fault of the gateway; its log has the details.")
export const NotImplementedAnswer = answer(
  "NotImplemented",
  NotImplemented,
  "This needs settings that are not set; the message names them."
)
export const UpstreamFailedAnswer = answer(
  "UpstreamFailed",
  UpstreamFailed,
  "The provider did not answer as it should."
)
export const UnavailableAnswer = answer("Unavailable", Unavailable, "The gateway cannot serve this now.")
