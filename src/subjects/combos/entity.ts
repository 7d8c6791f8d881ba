/** A persisted routing combo: a name that clients use as a model id. See docs/routing.md. */
import * as Schema from "effect/Schema"

/** The 17 strategies. docs/routing.md describes each. */
export const ComboStrategy = Schema.Literal(
  "priority",
  "weighted",
  "round-robin",
  "context-relay",
  "fill-first",
  "p2c",
  "random",
  "least-used",
  "cost-optimized",
  "reset-aware",
  "reset-window",
  "headroom",
  "strict-random",
  "auto",
  "lkgp",
  "context-optimized",
  "fusion"
)
export type ComboStrategy = typeof ComboStrategy.Type

/** One step: `<provider>/<model>` or `combo:<name>`, optionally tied to one account. */
export const ComboTarget = Schema.Struct({
  model: Schema.NonEmptyTrimmedString,
  weight: Schema.optionalWith(Schema.NonNegative, { exact: true }),
  connectionId: Schema.optionalWith(Schema.NullOr(Schema.String), { exact: true }),
  label: Schema.optionalWith(Schema.String, { exact: true })
})
export type ComboTarget = typeof ComboTarget.Type

export interface ComboSettings {
  readonly name: string
  readonly strategy: ComboStrategy
  readonly targets: ReadonlyArray<ComboTarget>
  /** Config as it was saved (`combo/ConfigSchema`). */
  readonly config: Readonly<Record<string, unknown>>
  readonly isActive: boolean
}

export interface Combo extends ComboSettings {
  readonly id: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
}
