/** Settings of the memory (`memory` in `/api/settings`, and `/api/settings/memory`). */
import * as Schema from "effect/Schema"
import { field } from "../../../kernel/Documented.ts"

const words = {
  enabled: ["Whether memories are put into requests, and learned from answers.", false],
  maxTokens: ["Most tokens of the block of memories that is put into a request, estimated.", 2000],
  retentionDays: ["Days after which a memory is forgotten that was neither written nor used.", 30],
  strategy: [
    "How memories are searched: `exact` finds them by their words, `semantic` by vectors of `model`, `hybrid` by both.",
    "exact"
  ],
  model: ["The embedding model of `semantic` and `hybrid`; null: none, and they find by words.", null],
  minSimilarity: ["Cosine, from 0 to 1, below which vectors have nothing to do with each other.", 0.4]
} as const

const Strategy = Schema.Literal("exact", "semantic", "hybrid")

export const MemorySettings = Schema.Struct({
  enabled: field(Schema.Boolean, ...words.enabled),
  maxTokens: field(Schema.Number, ...words.maxTokens),
  retentionDays: field(Schema.Number, ...words.retentionDays),
  strategy: field(Strategy, ...words.strategy),
  model: field(Schema.NullOr(Schema.String), ...words.model),
  minSimilarity: field(Schema.Number, ...words.minSimilarity)
}).annotations({ identifier: "MemorySettings" })
export type MemorySettings = typeof MemorySettings.Type

const leave = { exact: true, nullable: true } as const
const Model = Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(512))

/** Any part; null leaves a member as it is, except `model`, which it clears. */
export const MemorySettingsPatch = Schema.Struct({
  enabled: field(Schema.optionalWith(Schema.Boolean, leave), ...words.enabled),
  maxTokens: field(Schema.optionalWith(Schema.Int.pipe(Schema.between(50, 16_000)), leave), ...words.maxTokens),
  retentionDays: field(Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 3650)), leave), ...words.retentionDays),
  strategy: field(Schema.optionalWith(Strategy, leave), ...words.strategy),
  model: field(Schema.optionalWith(Schema.NullOr(Model), { exact: true }), ...words.model),
  minSimilarity: field(Schema.optionalWith(Schema.Number.pipe(Schema.between(0, 1)), leave), ...words.minSimilarity)
})
export type MemorySettingsPatch = typeof MemorySettingsPatch.Type

export const defaultMemorySettings: MemorySettings = {
  enabled: false,
  maxTokens: 2000,
  retentionDays: 30,
  strategy: words.strategy[1],
  model: words.model[1],
  minSimilarity: words.minSimilarity[1]
}
