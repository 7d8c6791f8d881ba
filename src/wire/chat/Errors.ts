/** Errors of the chat wire. All four members of `error` are always present. */
import type { ErrorView } from "../../contract/domain/Errors.ts"
import { type ErrorTable, renderOpenAiError } from "../canonical/OpenAiError.ts"
import { maximumContextLength } from "../canonical/Overflow.ts"
import type { JsonObject } from "../json/Json.ts"
import { encodeSse } from "../sse/SseScanner.ts"

/** https://developers.openai.com/api/docs/guides/error-codes */
const words: ErrorTable = {
  insufficient_quota: { type: "insufficient_quota", code: "insufficient_quota" },
  usage_limit: { type: "insufficient_quota", code: "insufficient_quota" },
  rate_limit: { type: "rate_limit_error", code: "rate_limit_exceeded" },
  overloaded: { type: "server_error", code: "overloaded" },
  content_refused: { type: "invalid_request_error", code: "content_policy_violation" },
  context_overflow: { type: "invalid_request_error", code: "context_length_exceeded", rewrite: maximumContextLength },
  model_not_found: { type: "invalid_request_error", code: "model_not_found" }
}

export const renderError = (view: ErrorView, requestId: string): JsonObject =>
  renderOpenAiError(view, requestId, "chat", words)

/** One data line, and no `[DONE]` after it, because the answer is incomplete. */
export const errorBodyInStream = (body: JsonObject): string => encodeSse(null, JSON.stringify(body))

export const renderStreamError = (view: ErrorView, requestId: string): string =>
  errorBodyInStream(renderError(view, requestId))
