/** Settings of the cache of answers (`cache` in `/api/settings`, `docs/cache.md`). */
import * as Schema from "effect/Schema"
import { field } from "../../../kernel/Documented.ts"

const words = {
  enabled: ["Whether answers are kept, and given again to the same request of the same API key.", false],
  ttlSeconds: ["Seconds for which an answer is kept.", 3_600],
  maxEntries: ["Answers that are kept; beyond it the oldest go.", 1_000],
  maxBytes: ["Bytes of all kept answers together.", 67_108_864],
  anyTemperature: ["Whether requests count that do not set the temperature to 0.", false],
  semantic: "Answers that are given to a request that says the same in other words."
} as const

const semanticWords = {
  enabled: ["Whether a request that says the same in other words gets a kept answer. Needs `model`.", false],
  model: ["The embedding model that texts are compared by; null: none, and they are not compared.", null],
  threshold: ["Cosine of two texts, from 0.5 to 1, from which on they say the same.", 0.9]
} as const

export const CacheSettings = Schema.Struct({
  enabled: field(Schema.Boolean, ...words.enabled),
  ttlSeconds: field(Schema.Number, ...words.ttlSeconds),
  maxEntries: field(Schema.Number, ...words.maxEntries),
  maxBytes: field(Schema.Number, ...words.maxBytes),
  anyTemperature: field(Schema.Boolean, ...words.anyTemperature),
  semantic: field(
    Schema.Struct({
      enabled: field(Schema.Boolean, ...semanticWords.enabled),
      model: field(Schema.NullOr(Schema.String), ...semanticWords.model),
      threshold: field(Schema.Number, ...semanticWords.threshold)
    }),
    words.semantic
  )
}).annotations({ identifier: "CacheSettings" })
export type CacheSettings = typeof CacheSettings.Type

const leave = { exact: true, nullable: true } as const

const Model = Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(512))

const SemanticPatch = Schema.Struct({
  enabled: field(Schema.optionalWith(Schema.Boolean, leave), ...semanticWords.enabled),
  model: field(Schema.optionalWith(Schema.NullOr(Model), { exact: true }), ...semanticWords.model),
  threshold: field(Schema.optionalWith(Schema.Number.pipe(Schema.between(0.5, 1)), leave), ...semanticWords.threshold)
})

/** Any part; null leaves a member as it is, except `semantic.model`, which it clears. */
export const CacheSettingsPatch = Schema.Struct({
  enabled: field(Schema.optionalWith(Schema.Boolean, leave), ...words.enabled),
  ttlSeconds: field(Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 2_592_000)), leave), ...words.ttlSeconds),
  maxEntries: field(Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 1_000_000)), leave), ...words.maxEntries),
  maxBytes: field(
    Schema.optionalWith(Schema.Int.pipe(Schema.between(1_024, 68_719_476_736)), leave),
    ...words.maxBytes
  ),
  anyTemperature: field(Schema.optionalWith(Schema.Boolean, leave), ...words.anyTemperature),
  semantic: field(Schema.optionalWith(SemanticPatch, leave), words.semantic)
})
export type CacheSettingsPatch = typeof CacheSettingsPatch.Type

export const defaultCacheSettings: CacheSettings = {
  enabled: false,
  ttlSeconds: 3_600,
  maxEntries: 1_000,
  maxBytes: 67_108_864,
  anyTemperature: false,
  semantic: {
    enabled: semanticWords.enabled[1],
    model: semanticWords.model[1],
    threshold: semanticWords.threshold[1]
  }
}

export const mergeCacheSettings = (settings: CacheSettings, patch: CacheSettingsPatch | undefined): CacheSettings => ({
  ...settings,
  ...patch,
  semantic: { ...settings.semantic, ...patch?.semantic }
})
