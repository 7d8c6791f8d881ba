/** Settings of the cache of answers (`cache` in `/api/settings`, `docs/cache.md`). */
import * as Schema from "effect/Schema"
import { field } from "../kernel/Documented.ts"

const words = {
  enabled: ["Whether answers are kept, and given again to the same request of the same API key.", false],
  ttlSeconds: ["Seconds for which an answer is kept.", 3_600],
  maxEntries: ["Answers that are kept; beyond it the oldest go.", 1_000],
  maxBytes: ["Bytes of all kept answers together.", 67_108_864],
  anyTemperature: ["Whether requests count that do not set the temperature to 0.", false]
} as const

export const CacheSettings = Schema.Struct({
  enabled: field(Schema.Boolean, ...words.enabled),
  ttlSeconds: field(Schema.Number, ...words.ttlSeconds),
  maxEntries: field(Schema.Number, ...words.maxEntries),
  maxBytes: field(Schema.Number, ...words.maxBytes),
  anyTemperature: field(Schema.Boolean, ...words.anyTemperature)
}).annotations({ identifier: "CacheSettings" })
export type CacheSettings = typeof CacheSettings.Type

const leave = { exact: true, nullable: true } as const

/** Any part; null leaves a member as it is. */
export const CacheSettingsPatch = Schema.Struct({
  enabled: field(Schema.optionalWith(Schema.Boolean, leave), ...words.enabled),
  ttlSeconds: field(Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 2_592_000)), leave), ...words.ttlSeconds),
  maxEntries: field(Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 1_000_000)), leave), ...words.maxEntries),
  maxBytes: field(
    Schema.optionalWith(Schema.Int.pipe(Schema.between(1_024, 68_719_476_736)), leave),
    ...words.maxBytes
  ),
  anyTemperature: field(Schema.optionalWith(Schema.Boolean, leave), ...words.anyTemperature)
})

export const defaultCacheSettings: CacheSettings = {
  enabled: false,
  ttlSeconds: 3_600,
  maxEntries: 1_000,
  maxBytes: 67_108_864,
  anyTemperature: false
}
