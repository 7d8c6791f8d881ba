/** Failures that no waiting mends. */
import type { Failure, FailureKind } from "./FailureKind.ts"

/** Kinds that waiting does not mend: a time to come back would be made up, and so would a retry by the client's SDK. */
const lasting: ReadonlySet<FailureKind> = new Set([
  "credits_exhausted",
  "auth_expired",
  "banned",
  "forbidden",
  "model_not_found",
  "model_no_access",
  "context_overflow",
  "too_large",
  "bad_request",
  "content_refused",
  "route"
])

/** Checks whether another try later may succeed. */
export const mayRecover = ({ hintMs, kind, clientError }: Failure): boolean =>
  !lasting.has(kind) && (clientError?.kind !== "insufficient_quota" || hintMs !== null)
