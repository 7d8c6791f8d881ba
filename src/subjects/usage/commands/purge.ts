/** `gateway usage purge`: deletes rows of the usage log. */
import * as Options from "@effect/cli/Options"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { taking } from "../../../cli/flags/Forms.ts"
import { IsoTimeOrDay } from "../../../contract/Inputs.ts"
import * as Output from "../../../cli/output/Output.ts"
import { asking } from "../../../cli/verbs/asking.ts"

const Purged = Schema.Struct({ deleted: Schema.Number })

const before = Options.text("before").pipe(
  taking(IsoTimeOrDay, () => "--before must be an ISO 8601 time such as 2035-01-01 or 2035-01-01T12:00:00Z."),
  Options.withDescription("Only requests that arrived before this time, ISO 8601; else all so far."),
  Options.optional
)

export const usagePurge = asking("purge", "usageHistory", { before }, function* (client, given) {
  const payload = Option.match(given.before, { onNone: () => ({}), onSome: (time) => ({ before: time }) })
  const answer = yield* client.purge({ payload })
  yield* Output.result({
    schema: Purged,
    value: answer,
    text: Output.note(`${answer.deleted} rows were deleted; sums by hour and day stay.`),
    name: String(answer.deleted)
  })
})
