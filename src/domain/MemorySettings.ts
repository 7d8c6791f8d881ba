/** Settings of the memory (`memory` in `/api/settings`, and `/api/settings/memory`). */
import * as Schema from "effect/Schema"
import { field } from "../kernel/Documented.ts"

const words = {
  enabled: ["Whether memories are put into requests, and learned from answers.", false],
  maxTokens: ["Most tokens of the block of memories that is put into a request, estimated.", 2000],
  retentionDays: ["Days after which a memory is forgotten that was neither written nor used.", 30],
  strategy: ["How memories are searched: `exact` finds them by their words.", "exact"]
} as const

const Strategy = Schema.Literal("exact")

export const MemorySettings = Schema.Struct({
  enabled: field(Schema.Boolean, ...words.enabled),
  maxTokens: field(Schema.Number, ...words.maxTokens),
  retentionDays: field(Schema.Number, ...words.retentionDays),
  strategy: field(Strategy, ...words.strategy)
}).annotations({ identifier: "MemorySettings" })
export type MemorySettings = typeof MemorySettings.Type

const leave = { exact: true, nullable: true } as const

/** Any part; null leaves a member as it is. */
export const MemorySettingsPatch = Schema.Struct({
  enabled: field(Schema.optionalWith(Schema.Boolean, leave), ...words.enabled),
  maxTokens: field(Schema.optionalWith(Schema.Int.pipe(Schema.between(50, 16_000)), leave), ...words.maxTokens),
  retentionDays: field(Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 3650)), leave), ...words.retentionDays),
  strategy: field(Schema.optionalWith(Strategy, leave), ...words.strategy)
})
export type MemorySettingsPatch = typeof MemorySettingsPatch.Type

export const defaultMemorySettings: MemorySettings = {
  enabled: false,
  maxTokens: 2000,
  retentionDays: 30,
  strategy: "exact"
}
