/**
 * Everything that can go wrong with an inference request, as a closed union of tagged values without HTTP in them. `describe` gives
 * each its status and stable type and code (docs/reference/http-api.md); `src/wire/<format>/Errors.ts` then renders the description
 * in the caller's own format.
 */
import * as Data from "effect/Data"
import type { AttemptRecord } from "../../subjects/routing/entity.ts"
import { proxyCodes } from "../../subjects/proxies/entity.ts"
import type { ErrorKind, NativeError } from "./ErrorKind.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

export interface FieldProblem {
  readonly field: string
  readonly message: string
}

/** The request itself is wrong; nothing was sent upstream. */
export class InvalidRequest extends Data.TaggedError("InvalidRequest")<{
  readonly message: string
  readonly param: string | null
  readonly details: ReadonlyArray<FieldProblem>
}> {}

/** The request continues an answer that neither this gateway nor the chosen upstream knows. */
export class PreviousResponseNotFound extends Data.TaggedError("PreviousResponseNotFound")<{
  readonly responseId: string
}> {}

/** The key of an idempotent request was used for another body a moment ago. */
export class IdempotencyKeyReused extends Data.TaggedError("IdempotencyKeyReused")<{ readonly windowMs: number }> {}

export class BodyTooLarge extends Data.TaggedError("BodyTooLarge")<{
  readonly limitBytes: number
  /** The variable of the limit; absent: that of JSON bodies. */
  readonly setting?: "GATEWAY_MAX_UPLOAD_MB"
}> {}

/** The client sent nothing of its upload for too long. */
export class UploadStalled extends Data.TaggedError("UploadStalled")<{ readonly silentMs: number }> {}

/** The files of a request could not be kept on disk while it is served. */
export class UploadNotKept extends Data.TaggedError("UploadNotKept")<{ readonly isDiskFull: boolean }> {}

/** The body has a media type or encoding that is not supported. */
export class UnsupportedBody extends Data.TaggedError("UnsupportedBody")<{ readonly message: string }> {}

/** The body could not be freed of its `Content-Encoding`. */
export class BodyNotDecoded extends Data.TaggedError("BodyNotDecoded")<{
  /** Reason: it is not in that coding, or is cut; or it becomes too large. */
  readonly reason: "damaged" | "expands"
  /** Codings as the client named them. */
  readonly codings: string
  readonly maxExpansion: number
}> {}

export class Unauthenticated extends Data.TaggedError("Unauthenticated")<{ readonly reason: "missing" | "wrong" }> {}

/** An admin session does not count as it came, or may not act with the key that is named. */
export class SessionRefused extends Data.TaggedError("SessionRefused")<{
  readonly status: 401 | 403
  readonly code: string
  readonly message: string
}> {}

export class KeyRejected extends Data.TaggedError("KeyRejected")<{
  readonly reason:
    | "expired"
    | "inactive"
    | "owner"
    | "schedule"
    | "ip"
    | "endpoint"
    | "combo"
    | "model"
    | "connection"
    | "scope"
  readonly model: string | null
  /** The requested id that `model` stands in for, by the setting `modelFallbacks` or a flag. */
  readonly requested?: string
  /** A wire on which a model that may not be used is a wrong request. */
  readonly isBadRequest?: boolean
}> {}

/** The quota group is for API keys with an allocation, and the caller has none. */
export class QuotaNotAllocated extends Data.TaggedError("QuotaNotAllocated")<{
  readonly model: string
  readonly group: string
  /** False: the caller came without an API key of this gateway. */
  readonly hasKey: boolean
}> {}

/** The key has used its share of a quota group; what is left belongs to other keys. `retryAfterMs`: until the share is renewed. */
export class QuotaShareUsed extends Data.TaggedError("QuotaShareUsed")<{
  readonly model: string
  readonly group: string
  /** The window, for people. */
  readonly window: string
  readonly unit: "requests" | "tokens" | "usd" | "percent"
  readonly retryAfterMs: number
}> {}

/** Limit of a key that was reached. */
export interface LimitFacts {
  readonly unit: "requests" | "sessions" | "tokens" | "usd"
  /** `60s`, `daily`, …; null: it has none. */
  readonly window: string | null
  /** Epoch milliseconds; null: it is not known. */
  readonly resetsAtMs: number | null
}

/** A window of the key is used up. `retryAfterMs` is the time until it opens again. */
export class LimitReached extends Data.TaggedError("LimitReached")<{
  readonly message: string
  readonly retryAfterMs: number
  readonly limit?: LimitFacts
}> {}

/** The limits of a key are kept by another process, which cannot be asked now. */
export class LimitsUnknown extends Data.TaggedError("LimitsUnknown")<{ readonly retryAfterMs: number }> {}

export class ModelNotFound extends Data.TaggedError("ModelNotFound")<{
  readonly model: string
  readonly reason: string
  readonly suggestions: ReadonlyArray<string>
}> {}

/** The id resolves, but no connection can serve it now. */
export class NoTarget extends Data.TaggedError("NoTarget")<{
  readonly model: string
  readonly reason: string
  readonly retryAfterMs: number | null
}> {}

/** The gateway has as many requests in progress as it may. */
export class Overloaded extends Data.TaggedError("Overloaded")<{ readonly retryAfterMs: number }> {}

/** The gateway is stopping, and the time for running requests is over. */
export class ShuttingDown extends Data.TaggedError("ShuttingDown") {}

/** The bodies of the running requests use all the memory set aside for them. */
export class BufferFull extends Data.TaggedError("BufferFull")<{ readonly retryAfterMs: number }> {}

/** No target can be called now: each is cooling down, locked, behind an open breaker, unusable, or without a free slot. */
export class TargetsUnavailable extends Data.TaggedError("TargetsUnavailable")<{
  readonly status: number
  readonly code: string
  readonly message: string
  /** Kind of failure for which the target that is ready soonest cannot be called; null when clients need not know. */
  readonly kind: ErrorKind | null
  readonly retryAfterMs: number | null
  /** Epoch milliseconds at which a used-up window opens again; null when it is not known. */
  readonly resetsAtMs: number | null
  /** A limit of the API key holds the target back, and not the target's own state. */
  readonly isKeyLimit: boolean
  /** Limit that was reached. */
  readonly limit?: LimitFacts
}> {}

/** Every target was tried; carries the status and message of the last upstream. */
export class TargetsFailed extends Data.TaggedError("TargetsFailed")<{
  readonly status: number
  readonly message: string
  readonly kind: ErrorKind | null
  /** Error as the upstream wrote it; null when it wrote none. */
  readonly native: NativeError | null
  readonly retryAfterMs: number | null
  /** Time of the reset, as in `TargetsUnavailable`. */
  readonly resetsAtMs: number | null
  readonly attempts: ReadonlyArray<AttemptRecord>
}> {}

/** The path names an unknown provider. */
export class ProviderNotFound extends Data.TaggedError("ProviderNotFound")<{ readonly provider: string }> {}

/** The route is for WebSockets, and the request is not an upgrade. */
export class UpgradeRequired extends Data.TaggedError("UpgradeRequired")<{ readonly message: string }> {}

/** The path is right, the method is not. */
export class WrongMethod extends Data.TaggedError("WrongMethod")<{ readonly allow: string }> {}

/**
 * A guardrail does not let the request (`SECURITY_001`) or its answer (`SECURITY_002`) pass. `message`: a sentence without what was found.
 */
export class GuardrailBlocked extends Data.TaggedError("GuardrailBlocked")<{
  readonly code: "SECURITY_001" | "SECURITY_002"
  readonly message: string
}> {}

/** Error of a request that a plugin blocks, with the message for its caller. */
export class PluginBlocked extends Data.TaggedError("PluginBlocked")<{
  readonly plugin: string
  readonly model: string
  readonly status: number
  readonly code: string | null
  readonly message: string
}> {}

/** A plugin without which no request may pass has failed. */
export class PluginFailed extends Data.TaggedError("PluginFailed")<{
  readonly plugin: string
  readonly model: string
}> {}

/** The client closed the connection before the answer was complete. */
export class ClientGone extends Data.TaggedError("ClientGone") {}

/** A bug of ours. The cause goes to the log, never to the caller. */
export class InternalError extends Data.TaggedError("InternalError")<{ readonly cause: unknown }> {}

export type InferenceError =
  | InvalidRequest
  | PreviousResponseNotFound
  | IdempotencyKeyReused
  | BodyTooLarge
  | UploadStalled
  | UploadNotKept
  | UnsupportedBody
  | BodyNotDecoded
  | Unauthenticated
  | SessionRefused
  | KeyRejected
  | QuotaNotAllocated
  | QuotaShareUsed
  | LimitReached
  | LimitsUnknown
  | ModelNotFound
  | NoTarget
  | Overloaded
  | ShuttingDown
  | BufferFull
  | TargetsUnavailable
  | TargetsFailed
  | ProviderNotFound
  | UpgradeRequired
  | WrongMethod
  | GuardrailBlocked
  | PluginBlocked
  | PluginFailed
  | ClientGone
  | InternalError

/** Report of `LimitsUnknown`. */
export const limitsUnknown = {
  code: "limits_unavailable",
  message:
    "The limits of this API key cannot be checked: the process that keeps them is being started again. Try again soon."
} as const

/** An error as every wire can render it. */
export interface ErrorView {
  readonly status: number
  readonly type: string
  readonly code: string
  readonly message: string
  readonly param: string | null
  readonly details: ReadonlyArray<FieldProblem>
  readonly attempts: ReadonlyArray<AttemptRecord>
  readonly retryAfterMs: number | null
  /** Kind of the upstream's failure, where clients react to it. */
  readonly kind: ErrorKind | null
  readonly native: NativeError | null
  /** Epoch milliseconds at which a used-up window opens again. */
  readonly resetsAtMs: number | null
}

const byStatus: Readonly<Record<number, readonly [type: string, code: string]>> = {
  400: ["invalid_request_error", "bad_request"],
  401: ["authentication_error", "invalid_api_key"],
  402: ["billing_error", "payment_required"],
  403: ["permission_error", "insufficient_quota"],
  404: ["invalid_request_error", "model_not_found"],
  405: ["invalid_request_error", "method_not_allowed"],
  406: ["invalid_request_error", "model_not_supported"],
  408: ["invalid_request_error", "request_timeout"],
  409: ["invalid_request_error", "conflict"],
  412: ["invalid_request_error", "precondition_failed"],
  413: ["invalid_request_error", "request_too_large"],
  415: ["invalid_request_error", "unsupported_media_type"],
  422: ["invalid_request_error", "unprocessable_entity"],
  426: ["invalid_request_error", "upgrade_required"],
  429: ["rate_limit_error", "rate_limit_exceeded"],
  499: ["invalid_request_error", "client_closed_request"],
  500: ["server_error", "internal_server_error"],
  501: ["server_error", "not_implemented"],
  502: ["server_error", "bad_gateway"],
  503: ["server_error", "service_unavailable"],
  504: ["server_error", "gateway_timeout"],
  507: ["server_error", "insufficient_storage"],
  529: ["server_error", "overloaded"]
}

/** Stable type and code of a status; unknown ones fall to their class. */
export const typeAndCode = (status: number): readonly [type: string, code: string] =>
  byStatus[status] ?? (status >= 500 ? ["server_error", "upstream_error"] : ["invalid_request_error", "bad_request"])

/** An error by its status and message; `more` overrides the defaults of the status. */
export const errorView = (status: number, message: string, more: Partial<ErrorView> = {}): ErrorView => {
  const [type, code] = typeAndCode(status)
  return {
    status,
    type,
    code,
    message,
    param: null,
    details: [],
    attempts: [],
    retryAfterMs: null,
    kind: null,
    native: null,
    resetsAtMs: null,
    ...more
  }
}

const rejected: Record<KeyRejected["reason"], (error: KeyRejected) => string> = {
  expired: () => "This API key has expired.",
  inactive: () => "This API key is not active.",
  owner: () =>
    "The person or team this API key belongs to may not use it now: the person is suspended or no member of the team, or one of them was removed.",
  schedule: () => "This API key may not be used at this time (accessSchedule).",
  ip: () => "This API key may not be used from this address (ipAllowlist).",
  endpoint: () => "This API key may not use this kind of endpoint (allowedEndpoints).",
  combo: ({ model }) => `This API key may not use the combo '${model ?? ""}' (allowedCombos).`,
  connection: ({ model }) =>
    `No connection and model that this API key may use serves '${model ?? ""}' (allowedProviders, allowedConnections, blockedModels).`,
  model: ({ model, requested }) =>
    `This API key may not use the model '${model ?? ""}'${requested === undefined ? "" : `, which is asked in the place of '${requested}'`}.`,
  scope: () => "This API key lacks the scope for this route."
}

/** A key that is over is no key any more, also while none is required; one that is good for something else is forbidden this. */
const statusOfRejected = ({ isBadRequest, reason }: KeyRejected): number => {
  if (isBadRequest === true) return 400
  return reason === "expired" || reason === "inactive" ? 401 : 403
}

const notAllocated = ({ group, hasKey }: QuotaNotAllocated): string =>
  hasKey
    ? `This API key has no allocation in the quota group '${group}'. An administrator can give it one: allocations of /api/quota/groups.`
    : `The quota group '${group}' is only for API keys with an allocation, and no API key of this gateway was given. Send one that has an allocation ` +
      `(allocations of /api/quota/groups).`

/** The error for a request that meets a gateway shutting down. A restart takes a few seconds. */
export const shutdown = {
  code: "server_shutting_down",
  message: "The gateway is stopping. Send the request again",
  retryAfterMs: 5_000
}

/** Gives an inference error its status, type, code and message. Total: a new error without a case does not compile. */
export const describe = (error: InferenceError): ErrorView => {
  switch (error._tag) {
    case "InvalidRequest":
      return errorView(400, error.message, { param: error.param, details: error.details })
    case "PreviousResponseNotFound":
      return errorView(400, `Previous response with id '${error.responseId}' not found. Send the whole conversation.`, {
        code: "previous_response_not_found",
        param: "previous_response_id"
      })
    case "IdempotencyKeyReused":
      return errorView(
        409,
        `The Idempotency-Key was used for another request that is under way or was answered less than ${error.windowMs} ms ago. Use a new key for another request.`,
        { code: "idempotency_conflict" }
      )
    case "BodyTooLarge":
      return errorView(
        413,
        `The request body is larger than ${Math.floor(error.limitBytes / 1_048_576)} MiB (${error.setting ?? "GATEWAY_MAX_BODY_MB"}).`
      )
    case "UploadStalled":
      return errorView(
        408,
        `Nothing of the upload came for ${Math.round(error.silentMs / 1000)} seconds. Send it again.`
      )
    case "UploadNotKept":
      return error.isDiskFull
        ? errorView(507, "The gateway's disk is full: the upload could not be kept. Nothing was sent to a provider.")
        : errorView(500, "The gateway could not keep the upload on its disk. Its log says why.")
    case "UnsupportedBody":
      return errorView(415, error.message)
    case "BodyNotDecoded":
      return error.reason === "expands"
        ? errorView(
            413,
            `The request body becomes more than ${error.maxExpansion} times as large when it is decoded. Send it as it is, without Content-Encoding.`
          )
        : errorView(
            400,
            `The request body is not what its Content-Encoding (${error.codings}) says, is cut, or needs a dictionary or a window of more than 8 MiB. Send it again, or without Content-Encoding.`
          )
    case "Unauthenticated":
      return errorView(
        401,
        error.reason === "missing"
          ? "No API key was given. Send it as 'Authorization: Bearer <key>' or 'x-api-key: <key>'."
          : "The API key is not known to this gateway.",
        { param: null }
      )
    case "SessionRefused":
      return errorView(error.status, error.message, { code: error.code })
    case "KeyRejected":
      return errorView(statusOfRejected(error), rejected[error.reason](error), {
        code: `key_${error.reason}`,
        param: error.model === null ? null : "model"
      })
    case "QuotaNotAllocated":
      return errorView(403, notAllocated(error), { code: "QUOTA_NOT_ALLOCATED", param: "model" })
    case "QuotaShareUsed":
      return errorView(
        429,
        `This API key has used its share of the ${error.window} quota (${error.unit}) of the quota group '${error.group}'.`,
        { retryAfterMs: error.retryAfterMs }
      )
    case "LimitReached": {
      const { limit, message, retryAfterMs } = error
      return errorView(429, message, { retryAfterMs, resetsAtMs: limit?.resetsAtMs ?? null })
    }
    case "LimitsUnknown":
      return errorView(503, limitsUnknown.message, { code: limitsUnknown.code, retryAfterMs: error.retryAfterMs })
    case "ModelNotFound": {
      const near = error.suggestions.length === 0 ? "" : ` Did you mean: ${error.suggestions.join(", ")}?`
      return errorView(404, `The model '${error.model}' does not exist: ${asSentence(error.reason)}${near}`, {
        param: "model"
      })
    }
    case "NoTarget":
      return errorView(503, `No connection can serve '${error.model}': ${asSentence(error.reason)}`, {
        code: "ALL_ACCOUNTS_INACTIVE",
        retryAfterMs: error.retryAfterMs
      })
    case "Overloaded":
      return errorView(503, "The gateway is handling as many requests as it can. Try again soon.", {
        code: "overloaded",
        retryAfterMs: error.retryAfterMs
      })
    case "ShuttingDown":
      return errorView(503, `${asSentence(shutdown.message)}`, {
        code: shutdown.code,
        retryAfterMs: shutdown.retryAfterMs
      })
    case "BufferFull":
      return errorView(
        503,
        "The bodies of the requests under way take as much memory as they may (GATEWAY_MAX_BUFFERED_MB). Try again soon.",
        { code: "overloaded", retryAfterMs: error.retryAfterMs }
      )
    case "TargetsUnavailable": {
      const { code, kind, resetsAtMs, retryAfterMs } = error
      return errorView(error.status, error.message, { code, kind, resetsAtMs, retryAfterMs })
    }
    case "TargetsFailed": {
      const { attempts, kind, native, resetsAtMs, retryAfterMs } = error
      const last = attempts.at(-1)?.reason
      const code = proxyCodes.find((each) => each === last)
      return errorView(error.status, error.message, {
        attempts,
        kind,
        native,
        resetsAtMs,
        retryAfterMs,
        ...(code === undefined ? {} : { code })
      })
    }
    case "ProviderNotFound":
      return errorView(404, `There is no provider '${error.provider}'.`, { code: "provider_not_found" })
    case "UpgradeRequired":
      return errorView(426, error.message)
    case "WrongMethod":
      return errorView(405, `This route answers ${error.allow} only.`)
    case "GuardrailBlocked":
      return errorView(400, error.message, { code: error.code })
    case "PluginBlocked":
      return errorView(error.status, error.message, { code: error.code ?? "plugin_blocked" })
    case "PluginFailed":
      return errorView(
        503,
        `The plugin '${error.plugin}' failed, and no request may pass without it (failClosed). Try again soon.`,
        { code: "plugin_failed" }
      )
    case "ClientGone":
      return errorView(499, "The client closed the connection.")
    case "InternalError":
      return errorView(500, "The gateway failed to handle this request. Its log has the details under the request id.")
  }
}
