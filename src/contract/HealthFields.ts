/** Members for a connection's health, as several answers show it. */
import * as Schema from "effect/Schema"
import { TestStatus } from "../subjects/connections/entity.ts"
import { field } from "../kernel/Documented.ts"

export const healthFields = {
  testStatus: field(
    TestStatus,
    "What is known of it: `unavailable` passes by itself; `banned`, `expired` and `credits_exhausted` stay until an operator acts."
  ),
  rateLimitedUntil: field(Schema.NullOr(Schema.String), "Until when it is not used, ISO 8601; null: it is used.", null),
  lastError: field(Schema.NullOr(Schema.String), "Text of its last failure; null: none.", null),
  lastErrorType: field(Schema.NullOr(Schema.String), "Kind of its last failure; null: none.", null),
  errorCode: field(Schema.NullOr(Schema.String), "The provider's code of its last failure; null: none.", null),
  backoffLevel: field(Schema.Number, "Failures in a row; each lengthens the next pause.", 0)
}
