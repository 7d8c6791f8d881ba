/**
 * Errors of the ollama wire: one text. Clients read nothing else; the other members are for people.
 *
 * https://docs.ollama.com/api/errors
 */
import type { ErrorView } from "../../contract/domain/Errors.ts"
import { attemptsMember } from "../canonical/NativeError.ts"
import { maximumContextLength } from "../canonical/Overflow.ts"
import type { JsonObject } from "../json/Json.ts"

export const renderError = (view: ErrorView, requestId: string): JsonObject => ({
  error: view.kind === "context_overflow" ? maximumContextLength(view.message) : view.message,
  code: view.code,
  ...(view.details.length === 0 ? {} : { details: view.details.map(({ field, message }) => ({ field, message })) }),
  ...attemptsMember(view),
  request_id: requestId
})

/** One line, without a `done` after it. */
export const renderStreamError = (view: ErrorView, requestId: string): string =>
  `${JSON.stringify(renderError(view, requestId))}\n`
