/** Pipelines of engines with names, and the settings of the engine for prose (`/api/context/combos`, `/api/context/caveman/config`). */
import * as Schema from "effect/Schema"
import { field } from "../../../kernel/Documented.ts"

export const PipelineEngine = Schema.Literal(
  "lite",
  "caveman",
  "rtk",
  "aggressive",
  "ultra",
  "headroom",
  "session-dedup",
  "ccr"
)
export type PipelineEngine = typeof PipelineEngine.Type

export const CavemanIntensity = Schema.Literal("lite", "full", "ultra")

export const PipelineStep = Schema.Struct({
  engine: field(PipelineEngine, "The engine.", "caveman"),
  intensity: field(
    Schema.optionalWith(CavemanIntensity, { exact: true }),
    "Of `caveman` only; absent: as its settings say.",
    "lite"
  )
}).annotations({ identifier: "CompressionStep" })
export type PipelineStep = typeof PipelineStep.Type

/** A pipeline with a name. */
export const CompressionCombo = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  pipeline: Schema.Array(PipelineStep),
  /** The active profile: what requests pass that no header and no routing combo decides. At most one is. */
  isActive: Schema.Boolean,
  /** Routing combos whose requests pass it. */
  routingComboIds: Schema.Array(Schema.String),
  createdAtMs: Schema.Number,
  updatedAtMs: Schema.Number
})
export type CompressionCombo = typeof CompressionCombo.Type

const words = {
  enabled: ["Whether the engine does anything where it is part of a compression.", true],
  intensity: ["`lite` leaves out filler, `full` also rewrites phrases, `ultra` also leaves out articles.", "full"],
  roles: ["Whose texts it works on. The last user turn is never among them.", ["user"]],
  minLength: ["Characters of a text below which it is left as it is.", 50],
  language: ["Language of all texts; null: told from each text.", null]
} as const

const Role = Schema.Literal("user", "assistant", "system")
const Language = Schema.Literal("en", "de", "es", "fr", "pt-BR", "id", "ja", "zh")

export const CavemanSettings = Schema.Struct({
  enabled: field(Schema.Boolean, ...words.enabled),
  intensity: field(CavemanIntensity, ...words.intensity),
  roles: field(Schema.Array(Role), ...words.roles),
  minLength: field(Schema.Number, ...words.minLength),
  language: field(Schema.NullOr(Language), ...words.language)
}).annotations({ identifier: "CavemanSettings" })
export type CavemanSettings = typeof CavemanSettings.Type

const absent = { exact: true } as const

/** Settings as given: an absent one has its default. */
export const CavemanSettingsInput = Schema.Struct({
  enabled: field(Schema.optionalWith(Schema.Boolean, absent), ...words.enabled),
  intensity: field(Schema.optionalWith(CavemanIntensity, absent), ...words.intensity),
  roles: field(Schema.optionalWith(Schema.Array(Role).pipe(Schema.maxItems(3)), absent), ...words.roles),
  minLength: field(Schema.optionalWith(Schema.Int.pipe(Schema.between(0, 100_000)), absent), ...words.minLength),
  language: field(Schema.optionalWith(Schema.NullOr(Language), absent), ...words.language)
})
export type CavemanSettingsInput = typeof CavemanSettingsInput.Type

export const defaultCavemanSettings: CavemanSettings = {
  enabled: true,
  intensity: "full",
  roles: ["user"],
  minLength: 50,
  language: null
}
