/**
 * Schemas of the gemini wire for the API document and for tests; see `chat/Schema.ts` for why requests are checked by hand.
 *
 * https://ai.google.dev/api/generate-content
 */
import * as Schema from "effect/Schema"

const open = { key: Schema.String, value: Schema.Unknown }
const maybe = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))
const positive = Schema.Int.pipe(Schema.positive())

const Part = Schema.Struct({ text: maybe(Schema.String), thought: maybe(Schema.Boolean) }, open)

const GeminiContent = Schema.Struct(
  { role: maybe(Schema.String), parts: Schema.optional(Schema.Array(Part)) },
  open
).annotations({ identifier: "GeminiContent" })

/** The body only: model and method are in the path. Every member may also be written in snake_case. */
export const GeminiRequest = Schema.Struct(
  {
    contents: Schema.NonEmptyArray(GeminiContent),
    systemInstruction: maybe(Schema.Union(Schema.String, GeminiContent)),
    tools: maybe(
      Schema.Array(Schema.Struct({ functionDeclarations: Schema.optional(Schema.Array(Schema.Unknown)) }, open))
    ),
    toolConfig: maybe(Schema.Struct({}, open)),
    generationConfig: maybe(
      Schema.Struct(
        {
          temperature: maybe(Schema.Number),
          topP: maybe(Schema.Number),
          topK: maybe(Schema.Number),
          seed: maybe(Schema.Number),
          maxOutputTokens: maybe(positive),
          candidateCount: maybe(positive),
          stopSequences: maybe(Schema.Array(Schema.String)),
          responseMimeType: maybe(Schema.String),
          thinkingConfig: maybe(Schema.Struct({}, open))
        },
        open
      )
    ),
    safetySettings: maybe(Schema.Array(Schema.Unknown)),
    cachedContent: maybe(Schema.String)
  },
  open
).annotations({ identifier: "GeminiRequest" })

const count = Schema.NonNegativeInt

export const GeminiResponse = Schema.Struct(
  {
    candidates: Schema.NonEmptyArray(
      Schema.Struct(
        {
          content: Schema.Struct({ role: Schema.Literal("model"), parts: Schema.NonEmptyArray(Part) }),
          finishReason: Schema.optional(Schema.String),
          index: count
        },
        open
      )
    ),
    usageMetadata: Schema.optional(
      Schema.Struct({ promptTokenCount: count, candidatesTokenCount: count, totalTokenCount: count }, open)
    ),
    modelVersion: Schema.String,
    responseId: Schema.String
  },
  open
).annotations({ identifier: "GeminiResponse" })
