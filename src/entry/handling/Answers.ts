/** Every way a management request can fail, as the contract's answer: never an empty body, never a stack. */
import { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import * as HttpServerError from "@effect/platform/HttpServerError"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import {
  BadRequest,
  Conflict,
  Forbidden,
  Internal,
  isContractError,
  NotFound,
  NotImplemented,
  statusOf,
  toBody,
  TooLarge,
  TooManyRequests,
  Unavailable,
  UpstreamFailed
} from "../../contract/Errors.ts"
import type { ContractError } from "../../contract/Errors.ts"
import { type BodyNotDecoded, describe, type FieldProblem } from "../../contract/domain/Errors.ts"
import { closest } from "../../kernel/text/Closest.ts"
import { expectedOf } from "../../kernel/Expectation.ts"
import type { ManagementError } from "../../subjects/Errors.ts"
import { isBusy, requestWaitMs, waitingAtMost } from "../../store/engine/WriteQueue.ts"

/** The library lists the known names in quotes. What was given is repeated nowhere but as the field of the problem. */
const unknownField = (field: string, message: string): string => {
  const known = Array.from(message.matchAll(/"([^"]*)"/g), ([, name = ""]) => name)
  const [near] = closest(field, known, 1)
  return near === undefined ? "is not a known field" : `is not a known field; did you mean '${near}'?`
}

/** Refuses names of a query that are not among those of its route. */
export const unknownNames = (names: ReadonlyArray<string>, known: ReadonlyArray<string>): BadRequest | null => {
  const [first, ...others] = names
    .filter((name) => !known.includes(name))
    .slice(0, maxIssues)
    .map((name): FieldProblem => {
      const [near] = closest(name, known, 1)
      const message = near === undefined ? "is not a known field" : `is not a known field; did you mean '${near}'?`
      return {
        field: name.slice(0, 100),
        message: known.length === 0 ? "is unknown: this route takes no query" : message
      }
    })
  return first === undefined ? null : badFields([first, ...others])
}

/** Answers a body whose `Content-Encoding` could not be undone. */
export const notDecoded = (error: BodyNotDecoded): BadRequest | TooLarge => {
  const { message, status } = describe(error)
  return status === 413 ? new TooLarge({ message }) : new BadRequest({ message })
}

/** Issues that are reported. Each is compared with the others, so their number must be bounded. */
const maxIssues = 64

const problemsOf = (error: HttpApiDecodeError): ReadonlyArray<FieldProblem> => {
  const byField = new Map<string, Array<string>>()
  for (const issue of error.issues.slice(0, maxIssues)) {
    const field = issue.path.map(String).join(".")
    const message =
      issue._tag === "Missing"
        ? "is missing"
        : issue._tag === "Unexpected"
          ? unknownField(String(issue.path.at(-1)), issue.message)
          : issue.message
    const known = byField.get(field)
    if (known === undefined) byField.set(field, [message])
    else known.push(message)
  }
  // For a nullable value the null branch fails too; the error inside the value is more useful.
  const isSaidWithin = (field: string): boolean =>
    [...byField.keys()].some((other) => other.startsWith(`${field}.`)) &&
    (byField.get(field) ?? []).every((message) => message.startsWith("Expected null, "))
  return [...byField]
    .filter(([field]) => !isSaidWithin(field))
    .map(([field, messages]) => ({ field, message: expectedOf(messages) }))
}

/** Several are. */
export const badFields = (problems: readonly [FieldProblem, ...ReadonlyArray<FieldProblem>]): BadRequest =>
  new BadRequest({
    message: `Invalid request: ${problems.map(({ field, message }) => `${field}: ${message}`).join("; ")}`,
    param: problems[0].field,
    details: problems
  })

/** A 400 that names one field. */
export const badField = (field: string, message: string): BadRequest => badFields([{ field, message }])

/** Every field of a request that does not fit its schema, in one answer. */
export const badInput = (error: HttpApiDecodeError): BadRequest => {
  const [first, ...others] = problemsOf(error).filter(({ field }) => field !== "")
  return first === undefined
    ? new BadRequest({ message: "The request body must be a JSON object." })
    : badFields([first, ...others])
}

/** HTTP answers to the refusals of the management. */
export interface AnswerOf {
  readonly EntityNotFound: NotFound
  readonly InvalidInput: BadRequest
  readonly StateConflict: Conflict
  readonly ReadOnly: Forbidden
  readonly RoleExceeded: Forbidden
  readonly QuotaReached: TooManyRequests
  readonly RemoteFailed: UpstreamFailed
  readonly NotConfigured: NotImplemented
  readonly OperationFailed: Unavailable
  readonly SettingsContradict: BadRequest
  readonly RestartRefused: Conflict
  readonly RestoreRefused: BadRequest | Conflict
  readonly ReadRefused: Unavailable
  readonly StoreError: Unavailable
}

const answers: { readonly [Tag in keyof AnswerOf]: (error: Extract<ManagementError, { _tag: Tag }>) => AnswerOf[Tag] } =
  {
    EntityNotFound: ({ field = "id", message }) => new NotFound({ message, param: field }),
    InvalidInput: ({ problems }) => badFields(problems),
    StateConflict: ({ code, field, keyId, message }) =>
      new Conflict({
        message,
        code,
        ...(field === undefined ? {} : { param: field }),
        ...(keyId === undefined ? {} : { isRegistration: true, keyId })
      }),
    ReadOnly: ({ code, message }) => new Forbidden({ message, code }),
    RoleExceeded: ({ code, message }) => new Forbidden({ message, code }),
    QuotaReached: ({ code, message, retryAfterMs }) =>
      new TooManyRequests({ message, code, isRegistration: true, ...(retryAfterMs === null ? {} : { retryAfterMs }) }),
    RemoteFailed: ({ code, message }) => new UpstreamFailed({ message, code }),
    NotConfigured: ({ code, message }) => new NotImplemented({ message, code }),
    OperationFailed: ({ code, message }) => new Unavailable({ message, code }),
    SettingsContradict: ({ problems }) => badFields(problems),
    RestartRefused: ({ message }) => new Conflict({ message, code: "restart_refused" }),
    RestoreRefused: ({ kind, message }) =>
      kind === "encryption_key_mismatch"
        ? new Conflict({ message, code: kind })
        : new BadRequest({ message, code: kind }),
    ReadRefused: ({ message, reason }) =>
      new Unavailable({
        message: reason === "failed" ? "The gateway could not read its database; its log has the details." : message,
        retryAfterMs: 1_000
      }),
    StoreError: ({ cause }) =>
      isBusy(cause)
        ? new Unavailable({
            message: "Another process holds the gateway's database. Nothing was changed; try again in a moment.",
            retryAfterMs: 5_000
          })
        : new Unavailable({ message: "The gateway could not use its database; its log has the details." })
  }

type Answered<E> = E extends ManagementError ? AnswerOf[E["_tag"]] : E

const isManagementError = (error: unknown): error is ManagementError =>
  Predicate.hasProperty(error, "_tag") && Object.hasOwn(answers, String(error._tag))

/** The tag chooses the entry of its own error, which the type of the table alone does not say. */
const answerTo = (error: ManagementError): AnswerOf[keyof AnswerOf] =>
  (answers[error._tag] as (error: ManagementError) => AnswerOf[keyof AnswerOf])(error)

/** Refusals of the management as answers of the contract. The details of a failing database go to the log. */
export const answered = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, Answered<E>, R> =>
  Effect.catchAll(waitingAtMost(requestWaitMs)(effect), (error) => {
    if (!isManagementError(error)) return Effect.fail(error as Answered<E>)
    const answer = Effect.fail(answerTo(error) as Answered<E>)
    const isFault = error._tag === "StoreError" || (error._tag === "ReadRefused" && error.reason === "failed")
    return isFault ? Effect.zipRight(Effect.logError(error.message, error), answer) : answer
  })

/** The contract error of a failed handler; null when it is a bug, which belongs into the log. */
export const fromCause = (cause: Cause.Cause<unknown>): ContractError | null => {
  const error = Cause.squash(cause)
  if (error instanceof HttpApiDecodeError) return badInput(error)
  if (isContractError(error)) return error
  if (HttpServerError.isServerError(error)) {
    if (error._tag === "RequestError") return new BadRequest({ message: "The request body is not valid JSON." })
    if (error._tag === "RouteNotFound") return new NotFound({ message: "There is no such route." })
  }
  return null
}

export const internal = new Internal({
  message: "The gateway failed to handle this request. Its log has the details under the request id."
})

/** Renders a contract error with the headers that belong to it. */
export const render = (error: ContractError, requestId: string): HttpServerResponse.HttpServerResponse => {
  const headers: Record<string, string> = {}
  if (error.retryAfterMs !== undefined)
    headers["Retry-After"] = String(Math.max(1, Math.ceil(error.retryAfterMs / 1000)))
  if (error._tag === "MethodNotAllowed") headers.Allow = (error.allow ?? []).join(", ")
  if (error._tag === "Unauthorized") headers["WWW-Authenticate"] = "Bearer"
  if (error._tag === "PreconditionFailed" && error.etag !== undefined) headers.ETag = error.etag
  if (error._tag === "TooLarge") headers.Connection = "close"
  return HttpServerResponse.unsafeJson(toBody(error, requestId), { status: statusOf[error._tag], headers })
}
