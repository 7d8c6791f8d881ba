/** `/api/compression` and `/api/settings/compression`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { GatewayApi } from "../../api/Api.ts"
import { packs } from "../../compression/caveman/packs.ts"
import { CompressionPreviews } from "../../management/CompressionPreviews.ts"
import { answered } from "./Answers.ts"

const allRules = packs.flatMap(({ language, rules }) => rules.map((rule) => Object.assign({ language }, rule)))

const allPacks = packs.map(({ language, rules }) => ({
  language,
  categories: [...new Set(rules.map(({ category }) => category))],
  rules: rules.length
}))

/** One digit behind the point. */
const percent = (part: number, of: number): number => (of === 0 ? 0 : Math.round((part / of) * 1_000) / 10)

export const layer = HttpApiBuilder.group(GatewayApi, "compression", (handlers) =>
  Effect.map(CompressionPreviews, (compression) =>
    handlers
      .handle("settings", () => Effect.sync(compression.settings))
      .handle("setSettings", ({ payload }) => answered(compression.replaceSettings(payload)))
      .handle("preview", ({ payload }) =>
        Effect.map(compression.preview(payload), (preview) => ({
          ...preview,
          savedPercent: percent(preview.tokensBefore - preview.tokensAfter, preview.tokensBefore)
        }))
      )
      .handle("rules", () => Effect.succeed({ rules: allRules }))
      .handle("languagePacks", () => Effect.succeed({ packs: allPacks }))
  )
)
