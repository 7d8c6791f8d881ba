/** Resilience settings (contract B3, B5 "Timeouts"). PATCH takes any part and answers the whole. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Schema from "effect/Schema"
import { body, optional } from "../Inputs.ts"

const TimeoutMs = Schema.Int.pipe(Schema.between(50, 86_400_000))

const TimeoutsView = Schema.Struct({
  connectMs: Schema.Number,
  firstByteMs: Schema.Number,
  idleMs: Schema.Number,
  totalMs: Schema.Number
}).annotations({ identifier: "TimeoutsView" })

export const ResilienceView = Schema.Struct({ timeouts: TimeoutsView }).annotations({ identifier: "Resilience" })

export const PatchResilience = Schema.Struct({
  timeouts: optional(
    Schema.Struct({
      connectMs: optional(TimeoutMs),
      firstByteMs: optional(TimeoutMs),
      idleMs: optional(TimeoutMs),
      totalMs: optional(TimeoutMs)
    })
  )
}).annotations(body("PatchResilience"))

export class Resilience extends HttpApiGroup.make("resilience")
  .add(HttpApiEndpoint.get("get", "/api/resilience").addSuccess(ResilienceView))
  .add(HttpApiEndpoint.patch("update", "/api/resilience").setPayload(PatchResilience).addSuccess(ResilienceView)) {}
