/**
 * Resilience: the settings (PATCH accepts any part and returns all of them), and the states of providers, connections and models with
 * the ways to reset them.
 */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Schema from "effect/Schema"
import { ResiliencePatch, ResilienceSettings } from "../../domain/Resilience.ts"
import { endpointsOf } from "../Endpoints.ts"
import { NotFoundAnswer } from "../Errors.ts"
import { body, optional, Text } from "../Inputs.ts"

const PatchResilience = ResiliencePatch.annotations(body("PatchResilience"))

/** The breaker of one provider. `retryAfterMs` is set while it is OPEN. */
export const BreakerView = Schema.Struct({
  provider: Schema.String,
  class: Schema.Literal("oauth", "apikey", "local"),
  state: Schema.Literal("CLOSED", "DEGRADED", "OPEN", "HALF_OPEN"),
  failures: Schema.Number,
  openedAt: Schema.NullOr(Schema.String),
  retryAfterMs: Schema.NullOr(Schema.Number)
}).annotations({ identifier: "Breaker" })
export type BreakerView = typeof BreakerView.Type

export const Breakers = Schema.Struct({ breakers: Schema.Array(BreakerView) })

/** A locked model of one connection; `connection` is its name, null when it is gone. `until` is epoch milliseconds. */
export const LockoutView = Schema.Struct({
  provider: Schema.String,
  connection: Schema.NullOr(Schema.String),
  connectionId: Schema.String,
  model: Schema.String,
  reason: Schema.String,
  remainingMs: Schema.Number,
  failureCount: Schema.Number,
  lockedAt: Schema.String,
  expiresAt: Schema.String,
  until: Schema.Number
}).annotations({ identifier: "ModelCooldown" })
export type LockoutView = typeof LockoutView.Type

/** Null: all breakers. A mistyped key must not be taken for that. */
const ResetBreakers = Schema.NullOr(
  Schema.Struct({ provider: optional(Text) }).annotations({ parseOptions: { onExcessProperty: "error" } })
)
const WasReset = Schema.Struct({ ok: Schema.Literal(true), reset: Schema.Number })

/** Either `all`, or the provider and the model; `connection` is an id or a name and narrows it to one account. */
export const ClearLockouts = Schema.Struct({
  all: optional(Schema.Boolean),
  provider: optional(Text),
  model: optional(Text),
  connection: optional(Text)
}).annotations(body("ClearModelCooldowns"))
export type ClearLockouts = typeof ClearLockouts.Type

/** Either `all` or the connection. */
export const ClearCooldowns = Schema.Struct({
  all: optional(Schema.Boolean),
  connectionId: optional(Text)
}).annotations(body("ClearCooldowns"))
export type ClearCooldowns = typeof ClearCooldowns.Type

/** How many were cleared: `removed` of what was named, or all of them. */
export const Cleared = Schema.Union(
  Schema.Struct({ ok: Schema.Literal(true), removed: Schema.Number }),
  Schema.Struct({ ok: Schema.Literal(true), clearedAll: Schema.Number })
)
export type Cleared = typeof Cleared.Type

const at = endpointsOf("resilience")

export class Resilience extends HttpApiGroup.make("resilience")
  .add(at("get").addSuccess(ResilienceSettings))
  .add(at("update").setPayload(PatchResilience).addSuccess(ResilienceSettings))
  .add(at("breakers").addSuccess(Breakers))
  .add(at("reset").setPayload(ResetBreakers).addSuccess(WasReset))
  .add(at("modelCooldowns").addSuccess(Schema.Struct({ items: Schema.Array(LockoutView) })))
  .add(at("clearModelCooldowns").setPayload(ClearLockouts).addSuccess(Cleared).addError(NotFoundAnswer))
  .add(at("clearCooldowns").setPayload(ClearCooldowns).addSuccess(Cleared).addError(NotFoundAnswer)) {}
