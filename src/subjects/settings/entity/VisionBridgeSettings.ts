/** Settings of the vision bridge (`visionBridge` in `/api/settings`, `docs/guardrails.md`). */
import * as Schema from "effect/Schema"
import { field } from "../../../kernel/Documented.ts"

const words = {
  enabled: ["Whether pictures for models that take none are described in words by another model.", false],
  model: ["The model or combo that describes them; null: none, and pictures are sent as they are.", null],
  prompt: [
    "What it is asked about each picture.",
    "Describe this image concisely in 2-3 sentences. Focus on the most relevant visual details."
  ],
  timeoutMs: ["Milliseconds after which the description of a picture is given up.", 30_000],
  maxImages: ["Pictures of one request that are described anew; of more, the last ones.", 10]
} as const

export const VisionBridgeSettings = Schema.Struct({
  enabled: field(Schema.Boolean, ...words.enabled),
  model: field(Schema.NullOr(Schema.String), ...words.model),
  prompt: field(Schema.String, ...words.prompt),
  timeoutMs: field(Schema.Number, ...words.timeoutMs),
  maxImages: field(Schema.Number, ...words.maxImages)
}).annotations({ identifier: "VisionBridgeSettings" })
export type VisionBridgeSettings = typeof VisionBridgeSettings.Type

const leave = { exact: true, nullable: true } as const
const Model = Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(512))
const Prompt = Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(4_000))

/** Any part; null leaves a member as it is, except `model`, which it clears. */
export const VisionBridgeSettingsPatch = Schema.Struct({
  enabled: field(Schema.optionalWith(Schema.Boolean, leave), ...words.enabled),
  model: field(Schema.optionalWith(Schema.NullOr(Model), { exact: true }), ...words.model),
  prompt: field(Schema.optionalWith(Prompt, leave), ...words.prompt),
  timeoutMs: field(Schema.optionalWith(Schema.Int.pipe(Schema.between(1_000, 300_000)), leave), ...words.timeoutMs),
  maxImages: field(Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 20)), leave), ...words.maxImages)
})
export type VisionBridgeSettingsPatch = typeof VisionBridgeSettingsPatch.Type

export const defaultVisionBridgeSettings: VisionBridgeSettings = {
  enabled: words.enabled[1],
  model: words.model[1],
  prompt: words.prompt[1],
  timeoutMs: words.timeoutMs[1],
  maxImages: words.maxImages[1]
}
