/** Settings of the engine `rtk` (`/api/context/rtk/config`). */
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"

export const rtkLevels = ["minimal", "standard", "aggressive"] as const
/** Choices of the whole outputs that are kept: none, those in which something failed, or all. */
export const retentions = ["never", "failures", "always"] as const

const words = {
  enabled: ["Whether the engine does anything where it is part of a compression.", true],
  level: [
    "`minimal` removes what says nothing, `standard` also shortens long outputs, `aggressive` shortens them to half as much.",
    "standard"
  ],
  maxLines: ["Most lines of an output, besides those that say that something failed.", 120],
  maxChars: ["Most characters of an output, besides those lines.", 12_000],
  deduplicateThreshold: ["From so many equal lines on they become one with their number.", 3],
  disabledFilters: ["Ids of filters that are not used.", []],
  trustedProjectFilters: [
    "SHA-256, in hex, of files `.rtk/filters.json` in the folder that the gateway runs in; one with another is not used.",
    []
  ],
  rawOutputRetention: [
    "Which whole outputs are kept, so that what was left out can be had: all, those in which something failed, or none.",
    "always"
  ],
  rawOutputMaxBytesPerKey: ["Most bytes of whole outputs of an API key; the oldest make room.", 33_554_432],
  rawOutputTtlHours: ["Hours after which a whole output is deleted that was not used again.", 168],
  redactRawOutput: ["Whether secrets and personal data are replaced in what `raw-output` answers.", false]
} as const

const Level = Schema.Literal(...rtkLevels)
const Retention = Schema.Literal(...retentions)

export const RtkSettings = Schema.Struct({
  enabled: field(Schema.Boolean, ...words.enabled),
  level: field(Level, ...words.level),
  maxLines: field(Schema.Number, ...words.maxLines),
  maxChars: field(Schema.Number, ...words.maxChars),
  deduplicateThreshold: field(Schema.Number, ...words.deduplicateThreshold),
  disabledFilters: field(Schema.Array(Schema.String), ...words.disabledFilters),
  trustedProjectFilters: field(Schema.Array(Schema.String), ...words.trustedProjectFilters),
  rawOutputRetention: field(Retention, ...words.rawOutputRetention),
  rawOutputMaxBytesPerKey: field(Schema.Number, ...words.rawOutputMaxBytesPerKey),
  rawOutputTtlHours: field(Schema.Number, ...words.rawOutputTtlHours),
  redactRawOutput: field(Schema.Boolean, ...words.redactRawOutput)
}).annotations({ identifier: "RtkSettings" })
export type RtkSettings = typeof RtkSettings.Type

const leave = { exact: true, nullable: true } as const
const whole = (least: number, most: number) => Schema.optionalWith(Schema.Int.pipe(Schema.between(least, most)), leave)
const names = (pattern: RegExp) =>
  Schema.optionalWith(Schema.Array(Schema.String.pipe(Schema.pattern(pattern))).pipe(Schema.maxItems(200)), leave)

/** Settings as given: an absent one or null has its default. */
export const RtkSettingsInput = Schema.Struct({
  enabled: field(Schema.optionalWith(Schema.Boolean, leave), ...words.enabled),
  level: field(Schema.optionalWith(Level, leave), ...words.level),
  maxLines: field(whole(10, 100_000), ...words.maxLines),
  maxChars: field(whole(500, 10_000_000), ...words.maxChars),
  deduplicateThreshold: field(whole(2, 1_000), ...words.deduplicateThreshold),
  disabledFilters: field(names(/^[a-z0-9][a-z0-9._-]{0,63}$/), ...words.disabledFilters),
  trustedProjectFilters: field(names(/^[0-9a-f]{64}$/), ...words.trustedProjectFilters),
  rawOutputRetention: field(Schema.optionalWith(Retention, leave), ...words.rawOutputRetention),
  rawOutputMaxBytesPerKey: field(whole(0, 1_073_741_824), ...words.rawOutputMaxBytesPerKey),
  rawOutputTtlHours: field(whole(1, 8_760), ...words.rawOutputTtlHours),
  redactRawOutput: field(Schema.optionalWith(Schema.Boolean, leave), ...words.redactRawOutput)
})
export type RtkSettingsInput = typeof RtkSettingsInput.Type

export const defaultRtkSettings: RtkSettings = {
  enabled: true,
  level: "standard",
  maxLines: 120,
  maxChars: 12_000,
  deduplicateThreshold: 3,
  disabledFilters: [],
  trustedProjectFilters: [],
  rawOutputRetention: "always",
  rawOutputMaxBytesPerKey: 33_554_432,
  rawOutputTtlHours: 168,
  redactRawOutput: false
}
