/** Routing decisions that were taken (contract B3, B5 "Decision record"). */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Schema from "effect/Schema"
import { NotFoundAnswer } from "../Errors.ts"

const Numbers = Schema.Record({ key: Schema.String, value: Schema.Number })

export const DecisionView = Schema.Struct({
  requestId: Schema.String,
  requestedModel: Schema.String,
  combo: Schema.NullOr(Schema.String),
  strategy: Schema.String,
  seed: Schema.Number,
  weights: Schema.NullOr(Numbers),
  candidates: Schema.Array(
    Schema.Struct({
      provider: Schema.String,
      connectionId: Schema.String,
      model: Schema.String,
      score: Schema.NullOr(Schema.Number),
      factors: Schema.NullOr(Numbers),
      excluded: Schema.NullOr(
        Schema.Struct({ rule: Schema.String, until: Schema.NullOr(Schema.String), detail: Schema.String })
      )
    })
  ),
  order: Schema.Array(Schema.String),
  attempts: Schema.Array(
    Schema.Struct({
      provider: Schema.String,
      connectionId: Schema.String,
      model: Schema.String,
      status: Schema.NullOr(Schema.Number),
      outcome: Schema.Literal("completed", "failed", "aborted"),
      reason: Schema.String,
      startedAt: Schema.String,
      latencyMs: Schema.Number
    })
  ),
  chosen: Schema.NullOr(Schema.String),
  relaxedFilters: Schema.Array(Schema.String)
}).annotations({ identifier: "Decision" })

const requestId = HttpApiSchema.param("requestId", Schema.String)

export class Routing extends HttpApiGroup.make("routing").add(
  HttpApiEndpoint.get("decision")`/api/routing/decisions/${requestId}`
    .addSuccess(Schema.Struct({ decision: DecisionView }))
    .addError(NotFoundAnswer)
) {}
