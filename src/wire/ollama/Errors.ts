/** Errors of the ollama wire (contract B2): one text. Clients read nothing else; the rest stands beside it for people. */
import type { ErrorView } from "../../domain/Errors.ts"
import type { JsonObject } from "../json/Json.ts"

export const renderError = (view: ErrorView, requestId: string): JsonObject => ({
  error: view.message,
  code: view.code,
  ...(view.details.length === 0 ? {} : { details: view.details.map(({ field, message }) => ({ field, message })) }),
  ...(view.attempts.length === 0
    ? {}
    : { attempts: view.attempts.map(({ model, provider, reason, status }) => ({ provider, model, status, reason })) }),
  request_id: requestId
})

/** One line, and no `done` after it. */
export const renderStreamError = (view: ErrorView, requestId: string): string =>
  `${JSON.stringify(renderError(view, requestId))}\n`
