/** Settings of the compression of requests (`/api/settings/compression`, `docs/compression.md`). */
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { PipelineEngine } from "./entity/CompressionProfiles.ts"

const words = {
  enabled: ["Whether texts of requests are made smaller at all; a request's header cannot switch it on.", false],
  engine: [
    "What requests pass that do not say: `off`, `lite`, `caveman` (the mode `standard`), `rtk`, `aggressive`, `ultra`, `headroom`, `session-dedup`, `ccr`, or `stacked` (`rtk`, then `caveman`).",
    "stacked"
  ],
  combo: [
    "A compression combo, by name or id, that they pass instead of the engine; null, or one that is not there any more: the engine.",
    null
  ],
  autoTriggerTokens: ["Only requests of at least so many tokens, estimated; 0: all.", 0]
} as const

export const CompressionEngine = Schema.Literal("off", ...PipelineEngine.literals, "stacked")

export const CompressionSettings = Schema.Struct({
  enabled: field(Schema.Boolean, ...words.enabled),
  engine: field(CompressionEngine, ...words.engine),
  combo: field(Schema.NullOr(Schema.String), ...words.combo),
  autoTriggerTokens: field(Schema.Number, ...words.autoTriggerTokens)
}).annotations({ identifier: "CompressionSettings" })
export type CompressionSettings = typeof CompressionSettings.Type

/** A name or an id. */
export const ComboName = Schema.String.pipe(Schema.minLength(1), Schema.maxLength(200))

const leave = { exact: true, nullable: true } as const

/** Any part; null leaves a member as it is. */
export const CompressionSettingsPatch = Schema.Struct({
  enabled: field(Schema.optionalWith(Schema.Boolean, leave), ...words.enabled),
  engine: field(Schema.optionalWith(CompressionEngine, leave), ...words.engine),
  combo: field(Schema.optionalWith(Schema.NullOr(ComboName), { exact: true }), ...words.combo),
  autoTriggerTokens: field(
    Schema.optionalWith(Schema.Int.pipe(Schema.between(0, 10_000_000)), leave),
    ...words.autoTriggerTokens
  )
})
export type CompressionSettingsPatch = typeof CompressionSettingsPatch.Type

export const defaultCompressionSettings: CompressionSettings = {
  enabled: false,
  engine: "stacked",
  combo: null,
  autoTriggerTokens: 0
}
