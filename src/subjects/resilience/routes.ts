/**
 * Resilience: the settings (PATCH accepts any part and returns all of them), and the states of providers, connections and models with
 * the ways to reset them.
 */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { ResiliencePatch, ResilienceSettings } from "./entity.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { NotFoundAnswer } from "../../contract/Errors.ts"
import { body, nextCursor, total, optional, Text } from "../../contract/Inputs.ts"
import { exampleId, exampleTime } from "../../contract/Examples.ts"
import { field } from "../../kernel/Documented.ts"
import { observed } from "../../kernel/Observed.ts"

const PatchResilience = ResiliencePatch.annotations(body("PatchResilience"))

/** The breaker of one provider. `retryAfterMs` is set while it is OPEN. */
export const BreakerView = Schema.Struct({
  provider: field(Schema.String, "Id of the provider.", "openai"),
  class: field(
    Schema.Literal("oauth", "apikey", "local"),
    "Which settings of `providerBreaker` apply to it.",
    "apikey"
  ),
  state: field(
    Schema.Literal("CLOSED", "DEGRADED", "OPEN", "HALF_OPEN"),
    "CLOSED and DEGRADED let requests through, OPEN does not, HALF_OPEN lets one through to try."
  ),
  failures: field(Schema.Number, "Failures that count at present.", 0),
  openedAt: field(Schema.NullOr(Schema.String), "When it opened, ISO 8601; null: it is not open.", null),
  retryAfterMs: field(Schema.NullOr(Schema.Number), "Milliseconds until it tries again; null: it is not open.", null)
}).annotations({ identifier: "Breaker" })
export type BreakerView = typeof BreakerView.Type

export const Breakers = Schema.Struct({
  breakers: field(Schema.Array(BreakerView), "The breakers of the page."),
  nextCursor,
  total
}).annotations({ identifier: "BreakerList" })

/** A locked model of one connection; `connection` is its name, null when it is gone. `until` is epoch milliseconds. */
export const LockoutView = Schema.Struct({
  provider: field(Schema.String, "Id of the provider.", "openai"),
  connection: field(Schema.NullOr(Schema.String), "Name of the connection; null: it is gone.", "work account"),
  connectionId: field(Schema.String, "Id of the connection.", exampleId),
  model: field(Schema.String, "Id of the model at the provider.", "gpt-4o-mini"),
  reason: field(Schema.String, "Why it is locked.", "http_429"),
  remainingMs: observed(Schema.Number, "Milliseconds until it can be used.", 90_000),
  failureCount: field(Schema.Number, "Failures in a row; each lengthens the next lock.", 1),
  lockedAt: field(Schema.String, "When it was locked, ISO 8601.", exampleTime),
  expiresAt: field(Schema.String, "When it can be used again, ISO 8601.", exampleTime),
  untilMs: field(Schema.Number, "The same, in milliseconds since 1970.", 1_772_366_400_000),
  until: field(Schema.Number, "The same as `untilMs`.", 1_772_366_400_000)
}).annotations({ identifier: "ModelCooldown" })
export type LockoutView = typeof LockoutView.Type

/** Null: all breakers. A mistyped key must not be taken for that. */
const ResetBreakers = Schema.NullOr(
  Schema.Struct({
    provider: field(optional(Text), "Id of the provider; absent: all providers.", "openai")
  }).annotations({ identifier: "ResetBreakers", parseOptions: { onExcessProperty: "error" } })
)
const ok = field(Schema.Literal(true), "Always true.")
const WasReset = Schema.Struct({ ok, reset: field(Schema.Number, "How many breakers were reset.", 1) }).annotations({
  identifier: "BreakersReset"
})

/** Either `all`, or the provider and the model; `connection` is an id or a name and narrows it to one account. */
export const ClearLockouts = Schema.Struct({
  all: field(optional(Schema.Boolean), "All of them; then nothing else is named.", false),
  provider: field(optional(Text), "Id of the provider.", "openai"),
  model: field(optional(Text), "Id of the model at the provider.", "gpt-4o-mini"),
  connection: field(optional(Text), "Id or name of a connection; absent: every connection.", "work account")
}).annotations(body("ClearModelCooldowns"))
export type ClearLockouts = typeof ClearLockouts.Type

/** Either `all` or the connection. */
export const ClearCooldowns = Schema.Struct({
  all: field(optional(Schema.Boolean), "All of them; then nothing else is named.", false),
  connectionId: field(optional(Text), "Id of the connection.", exampleId)
}).annotations(body("ClearCooldowns"))
export type ClearCooldowns = typeof ClearCooldowns.Type

/** Number of cleared entries: `removed` of the named ones, or all of them. */
export const Cleared = Schema.Union(
  Schema.Struct({ ok, removed: field(Schema.Number, "How many were cleared of what was named.", 1) }),
  Schema.Struct({ ok, clearedAll: field(Schema.Number, "How many were cleared, with `all`.", 3) })
).annotations({ identifier: "Cleared" })
export type Cleared = typeof Cleared.Type

const at = endpointsOf("resilience")

export class Resilience extends HttpApiGroup.make("resilience")
  .annotate(OpenApi.Title, "Resilience")
  .annotate(
    OpenApi.Description,
    "Timeouts, retries, breakers, cooldowns and lockouts: their settings and their states."
  )
  .add(
    at("get", {
      summary: "Show the resilience settings",
      description: "All settings; times in milliseconds."
    }).addSuccess(ResilienceSettings)
  )
  .add(
    at("update", {
      summary: "Change resilience settings",
      description: "Takes any part and answers the whole. In force at once.",
      example: { timeouts: { totalMs: 300_000 }, retry: { maxRetries: 1 } }
    })
      .setPayload(PatchResilience)
      .addSuccess(ResilienceSettings)
  )
  .add(
    at("breakers", {
      summary: "List circuit breakers",
      description: "The breaker of every provider in use; docs/resilience.md says when they open.",
      paged: true
    }).addSuccess(Breakers)
  )
  .add(
    at("reset", {
      summary: "Reset circuit breakers",
      description: "Closes the breaker of a provider, or all of them. The body may be left out.",
      example: { provider: "openai" }
    })
      .setPayload(ResetBreakers)
      .addSuccess(WasReset)
  )
  .add(
    at("modelCooldowns", {
      summary: "List locked models",
      description: "Models that are not used at a connection for a while.",
      paged: true
    }).addSuccess(
      Schema.Struct({
        items: field(Schema.Array(LockoutView), "The locked models of the page."),
        nextCursor,
        total
      }).annotations({ identifier: "ModelCooldownList" })
    )
  )
  .add(
    at("clearModelCooldowns", {
      summary: "Unlock models",
      description: "Either `all`, or `provider` and `model`; `connection` narrows it to one account.",
      example: { all: true }
    })
      .setPayload(ClearLockouts)
      .addSuccess(Cleared)
      .addError(NotFoundAnswer)
  )
  .add(
    at("clearCooldowns", {
      summary: "End cooldowns of connections",
      description: "Either `all` or `connectionId`.",
      example: { all: true }
    })
      .setPayload(ClearCooldowns)
      .addSuccess(Cleared)
      .addError(NotFoundAnswer)
  ) {}
