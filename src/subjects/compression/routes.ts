/** The compression of requests: its settings, what it would make of a request, and its rules (docs/compression.md). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { ComboName, CompressionEngine, CompressionSettings, CompressionSettingsPatch } from "./entity.ts"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { body } from "../../contract/Inputs.ts"
import { WireName } from "../../contract/domain/Wire.ts"

export const CompressionPreviewInput = Schema.Struct({
  body: field(
    Schema.Record({ key: Schema.String, value: Schema.Unknown }),
    "A request as a client would send it. Nothing of it is kept, and no model is asked.",
    { messages: [{ role: "user", content: "Hello" }] }
  ),
  engine: field(
    Schema.optionalWith(CompressionEngine, { exact: true }),
    "What it passes; absent: what the settings say.",
    "caveman"
  ),
  combo: field(
    Schema.optionalWith(ComboName, { exact: true }),
    "A compression combo instead of an engine, by name or id.",
    "logs"
  ),
  wire: field(Schema.optionalWith(WireName, { exact: true }), "How it is written; absent: `chat`.", "chat")
}).annotations(body("CompressionPreview"))
export type CompressionPreviewInput = typeof CompressionPreviewInput.Type

const tokens = {
  tokensBefore: field(Schema.Number, "Tokens of its texts as they are.", 1_200),
  tokensAfter: field(Schema.Number, "Tokens of its texts when it is sent.", 700)
}

export const CompressionPreview = Schema.Struct({
  mode: field(Schema.String, "What clients would read in `X-Gateway-Compression`.", "standard"),
  body: field(Schema.Unknown, "The request as it would be sent.", { messages: [{ role: "user", content: "Hello" }] }),
  ...tokens,
  savedPercent: field(Schema.Number, "Part of the tokens that is saved, from 0 to 100.", 41.7),
  perEngine: field(
    Schema.Array(
      Schema.Struct({
        engine: field(Schema.String, "The engine.", "caveman"),
        ...tokens,
        elapsedMs: field(Schema.Number, "Milliseconds that it took.", 0.8)
      })
    ),
    "What each engine does to the texts that it changes."
  ),
  kept: field(
    Schema.Array(Schema.String),
    "Protected parts of the changed texts, of which every one is still there; at most 200.",
    ["src/index.ts"]
  )
}).annotations({ identifier: "CompressionPreviewResult" })

const RuleView = Schema.Struct({
  language: field(Schema.String, "Language of the pack.", "en"),
  category: field(Schema.String, "What kind of words.", "filler"),
  name: field(Schema.String, "Name of the rule in its pack.", "adverbs"),
  minIntensity: field(Schema.Literal("lite", "full", "ultra"), "The mildest intensity at which it is used.", "lite"),
  words: field(Schema.Array(Schema.String), "What goes.", ["basically"]),
  replacement: field(Schema.String, "What takes their place; empty: nothing.", "")
}).annotations({ identifier: "CompressionRule" })

export const CompressionRules = Schema.Struct({
  rules: field(Schema.Array(RuleView), "The rules of all packs.")
}).annotations({ identifier: "CompressionRules" })

export const LanguagePacks = Schema.Struct({
  packs: field(
    Schema.Array(
      Schema.Struct({
        language: field(Schema.String, "Language of the pack.", "en"),
        categories: field(Schema.Array(Schema.String), "Kinds of words that it has rules for.", ["filler"]),
        rules: field(Schema.Number, "Its rules.", 18)
      })
    ),
    "The packs, each for texts of its language."
  )
}).annotations({ identifier: "LanguagePacks" })

const savings = {
  requests: field(Schema.Number, "Requests for which an engine was chosen, or none while the compression is on.", 120),
  changed: field(Schema.Number, "Those of them that became smaller. The tokens are theirs.", 80),
  tokensBefore: field(Schema.Number, "Tokens of their texts as clients sent them.", 240_000),
  tokensAfter: field(Schema.Number, "Tokens of their texts as they were sent on.", 180_000),
  savedTokens: field(Schema.Number, "What was saved.", 60_000),
  savedPercent: field(Schema.Number, "The same as a part of the tokens before, from 0 to 100.", 25)
}

export const CompressionAnalytics = Schema.Struct({
  days: field(Schema.Number, "Days that are summed up, today included (UTC).", 30),
  totals: field(Schema.Struct(savings), "All together."),
  byMode: field(
    Schema.Array(Schema.Struct({ mode: field(Schema.String, "As in `X-Gateway-Compression`.", "rtk"), ...savings })),
    "By what was used, the greatest saving first."
  ),
  bySource: field(
    Schema.Array(
      Schema.Struct({ source: field(Schema.String, "As in `X-Gateway-Compression`.", "default"), ...savings })
    ),
    "By the reason why it was used, the greatest saving first."
  ),
  byDay: field(
    Schema.Array(Schema.Struct({ date: field(Schema.String, "The day in UTC.", "2035-01-01"), ...savings })),
    "By day, the oldest first; days without requests are left out."
  )
}).annotations({ identifier: "CompressionAnalytics" })

const AnalyticsQuery = Schema.Struct({
  days: field(
    Schema.optionalWith(
      Schema.NumberFromString.pipe(Schema.int(), Schema.between(1, 366)).annotations({
        jsonSchema: { type: "integer", minimum: 1, maximum: 366 }
      }),
      { exact: true }
    ),
    "Days to sum up, 1 to 366; absent: 30.",
    30
  )
}).annotations({ parseOptions: { onExcessProperty: "error", errors: "all" } })

const at = endpointsOf("compression")

export const Compression = HttpApiGroup.make("compression")
  .annotate(OpenApi.Description, "How requests are made smaller before they are sent.")
  .add(
    at("settings", {
      summary: "Show the settings of the compression",
      description: "Off as the program comes."
    }).addSuccess(CompressionSettings)
  )
  .add(
    at("setSettings", {
      summary: "Replace the settings of the compression",
      description: "What is absent has its default.",
      example: { enabled: true, engine: "stacked" }
    })
      .setPayload(CompressionSettingsPatch.annotations(body("ReplaceCompressionSettings")))
      .addSuccess(CompressionSettings)
  )
  .add(
    at("preview", {
      summary: "Show what becomes of a request",
      description: "Runs the engines over a request that is sent nowhere. It need not be switched on.",
      example: { engine: "caveman", body: { messages: [{ role: "user", content: "Hello" }] } }
    })
      .setPayload(CompressionPreviewInput)
      .addSuccess(CompressionPreview)
  )
  .add(
    at("rules", { summary: "List the rules for prose", description: "Of all language packs." }).addSuccess(
      CompressionRules
    )
  )
  .add(
    at("analytics", {
      summary: "Show what the compression saved",
      description: "Counted by day; kept for 366 days, also when the requests themselves are not."
    })
      .setUrlParams(AnalyticsQuery)
      .addSuccess(CompressionAnalytics)
  )
  .add(
    at("languagePacks", {
      summary: "List the language packs",
      description: "A text is worked on by the pack of its language, and left alone where that is none of these."
    }).addSuccess(LanguagePacks)
  )
