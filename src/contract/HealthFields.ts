/** Members for a connection's health, as several answers show it. */
import * as Schema from "effect/Schema"
import { TestStatus } from "../subjects/connections/entity.ts"
import { observed } from "../kernel/Observed.ts"

export const healthFields = {
  testStatus: observed(
    TestStatus,
    "What is known of it: `unavailable` passes by itself; `banned`, `expired` and `credits_exhausted` stay until an operator acts."
  ),
  rateLimitedUntil: observed(
    Schema.NullOr(Schema.String),
    "Until when it is not used, ISO 8601; null: it is used.",
    null
  ),
  lastError: observed(Schema.NullOr(Schema.String), "Text of its last failure; null: none.", null),
  lastErrorType: observed(Schema.NullOr(Schema.String), "Kind of its last failure; null: none.", null),
  errorCode: observed(Schema.NullOr(Schema.String), "The provider's code of its last failure; null: none.", null),
  backoffLevel: observed(Schema.Number, "Failures in a row; each lengthens the next pause.", 0)
}
