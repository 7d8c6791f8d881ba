/** Errors of the responses wire: the body has the shape of the chat wire, the stream has its own event. */
import type { ErrorView } from "../../contract/domain/Errors.ts"
import { type ErrorTable, renderOpenAiError } from "../canonical/OpenAiError.ts"
import { exceedsContextWindow } from "../canonical/Overflow.ts"
import { isObject, type JsonObject } from "../json/Json.ts"
import { encodeSse } from "../sse/SseScanner.ts"
import type { EncodeContext, WireCodec } from "../WireCodec.ts"
import { responseHead, unfinished } from "./ResponseObject.ts"

/**
 * https://developers.openai.com/api/reference/resources/responses/streaming-events. Codex stops on `usage_limit_reached`, with the time in
 * `resets_at`, and retries on `server_is_overloaded`.
 */
const words: ErrorTable = {
  insufficient_quota: { type: "insufficient_quota", code: "insufficient_quota" },
  usage_limit: { type: "usage_limit_reached", code: "usage_limit_reached" },
  rate_limit: { type: "rate_limit_error", code: "rate_limit_exceeded" },
  overloaded: { type: "server_error", code: "server_is_overloaded" },
  content_refused: { type: "invalid_request_error", code: "invalid_prompt" },
  context_overflow: { type: "invalid_request_error", code: "context_length_exceeded", rewrite: exceedsContextWindow },
  model_not_found: { type: "invalid_request_error", code: "model_not_found" }
}

export const renderError = (view: ErrorView, requestId: string): JsonObject =>
  renderOpenAiError(view, requestId, "responses", words)

const codexClient = /^codex[_-]/

/**
 * Gives Codex the type on which it stops, and the words in the header whose text it shows then: any other 429 it retries five times, to end with the bare
 * status. Other clients of this wire get the error as it is. https://github.com/openai/codex/blob/main/codex-rs/codex-api/src/api_bridge.rs
 */
export const usedUpLimit: NonNullable<WireCodec["usedUpLimit"]> = (view, headers) => {
  const isOfCodex = [headers["originator"], headers["user-agent"]].some((name) => codexClient.test(String(name ?? "")))
  return isOfCodex
    ? { view: { ...view, kind: "usage_limit" }, headers: ["x-codex-promo-message", view.message.replace(/\.$/, "")] }
    : { view, headers: [] }
}

/**
 * OpenAI begins a stream before it counts the prompt and reports one that does not fit as `response.failed`. Codex then shortens the
 * history it is compacting, but gives up on an error status.
 */
export const renderFailedStream = (view: ErrorView, requestId: string, context: EncodeContext): string | null => {
  if (view.kind !== "context_overflow") return null
  const head = unfinished(responseHead({ id: null, model: null, createdMs: null }, context))
  const { code, message } = renderError(view, requestId)["error"] as JsonObject
  const failed = { ...head, status: "failed", error: { code: code ?? view.code, message: message ?? view.message } }
  return [
    { type: "response.created", sequence_number: 0, response: head },
    { type: "response.failed", sequence_number: 1, response: failed }
  ]
    .map((event) => encodeSse(event.type, JSON.stringify(event)))
    .join("")
}

/** The number of earlier events is not known here; the highest number keeps the order. */
const lastSequenceNumber = 2_147_483_647

/** The `error` event. Its members are in both places where clients read them: at the top level, and in `error` as in a body. */
const eventOf = (body: JsonObject): JsonObject => {
  const { code, message, param } = isObject(body["error"]) ? body["error"] : body
  return {
    type: "error",
    sequence_number: lastSequenceNumber,
    code: code ?? null,
    message: message ?? "",
    param: param ?? null,
    ...body
  }
}

export const errorEvent = (view: ErrorView, requestId: string): JsonObject => eventOf(renderError(view, requestId))

export const errorBodyInStream = (body: JsonObject): string => encodeSse("error", JSON.stringify(eventOf(body)))

export const renderStreamError = (view: ErrorView, requestId: string): string =>
  errorBodyInStream(renderError(view, requestId))
