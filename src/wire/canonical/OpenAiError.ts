/**
 * The error object that the chat and the responses wire share: `{message, type, code, param}`.
 * https://developers.openai.com/api/docs/guides/error-codes
 */
import type { ErrorKind } from "../../contract/domain/ErrorKind.ts"
import type { ErrorView } from "../../contract/domain/Errors.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import type { JsonObject } from "../json/Json.ts"
import { attemptsMember, nativeOf } from "./NativeError.ts"

/** Names by which a wire reports a kind of failure that came from another wire. */
export interface ErrorText {
  readonly type: string
  readonly code: string
  readonly rewrite?: (message: string) => string
}

export type ErrorTable = Readonly<Partial<Record<ErrorKind, ErrorText>>>

/** The two wires use the same names for most errors. */
const family = ["chat", "responses"] as const

const ownError = (view: ErrorView, wire: WireName, table: ErrorTable): JsonObject => {
  const { code, kind, message, param, type } = view
  const words = kind === null ? undefined : table[kind]
  if (words === undefined) return { message, type, code, param, ...nativeOf(view, family) }
  const error = { message: words.rewrite?.(message) ?? message, type: words.type, code: words.code, param }
  return { ...error, ...nativeOf(view, [wire]) }
}

/** All four members are always present; those of an upstream of the client's wire are kept. */
export const renderOpenAiError = (
  view: ErrorView,
  requestId: string,
  wire: WireName,
  table: ErrorTable
): JsonObject => ({
  error: {
    ...ownError(view, wire, table),
    ...(view.details.length === 0 ? {} : { details: view.details.map(({ field, message }) => ({ field, message })) }),
    ...(view.kind === "usage_limit" && view.resetsAtMs !== null
      ? { resets_at: Math.ceil(view.resetsAtMs / 1000) }
      : {}),
    ...attemptsMember(view),
    request_id: requestId
  }
})
