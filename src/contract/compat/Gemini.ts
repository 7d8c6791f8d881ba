/** Bodies of the gemini wire: https://ai.google.dev/api/generate-content */
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { anyObject, maybe, others, tokens } from "./Open.ts"

const Parts = Schema.Array(
  Schema.Struct({ text: field(maybe(Schema.String), "Text, where the part is one.", "Hello.") }, others)
)
const parts = field(maybe(Parts), "Its parts: text, pictures, calls of functions and their results.")

const GeminiContent = Schema.Struct(
  { role: field(maybe(Schema.String), "`user` or `model`.", "user"), parts },
  others
).annotations({ identifier: "GeminiContent" })

const contents = field(Schema.Array(GeminiContent), "The conversation so far, the oldest turn first.")

export const GeminiRequest = Schema.Struct(
  {
    contents,
    generationConfig: field(maybe(anyObject), "Limits and sampling.", { maxOutputTokens: 200 })
  },
  others
).annotations({ identifier: "GeminiRequest", description: "A request for content. The model is in the path." })

export const GeminiAnswer = Schema.Struct(
  {
    candidates: field(
      Schema.Array(
        Schema.Struct(
          {
            content: field(maybe(GeminiContent), "What the model says."),
            finishReason: field(maybe(Schema.String), "Why it ended.", "STOP")
          },
          others
        )
      ),
      "The answers."
    ),
    usageMetadata: field(
      maybe(
        Schema.Struct(
          {
            promptTokenCount: field(maybe(Schema.Number), "Tokens of the prompt.", 12),
            candidatesTokenCount: field(maybe(Schema.Number), "Tokens of the answer.", 2),
            totalTokenCount: field(maybe(Schema.Number), "Their sum.", 14)
          },
          others
        )
      ),
      "What was used."
    )
  },
  others
).annotations({ identifier: "GeminiAnswer", description: "A whole answer." })

export const GeminiCount = Schema.Struct({ totalTokens: tokens("Tokens of the prompt.", 12) }, others).annotations({
  identifier: "GeminiTokenCount",
  description: "How many tokens a prompt has."
})

export const GeminiModel = Schema.Struct(
  {
    name: field(Schema.String, "`models/` and the model id.", "models/auto"),
    displayName: field(Schema.String, "Name for people.", "auto"),
    supportedGenerationMethods: field(Schema.Array(Schema.String), "What it can be asked for.", [
      "generateContent",
      "streamGenerateContent",
      "countTokens"
    ]),
    inputTokenLimit: field(maybe(Schema.Number), "Tokens of the longest prompt.", 128_000)
  },
  others
).annotations({ identifier: "GeminiModel", description: "A model that can be asked for." })

export const GeminiModels = Schema.Struct(
  {
    models: field(Schema.Array(GeminiModel), "The models of the page."),
    nextPageToken: field(maybe(Schema.String), "The `pageToken` of the next page; absent on the last one.", "YXV0bw")
  },
  others
).annotations({ identifier: "GeminiModelList", description: "What can be asked for." })

/** Pages as this wire asks for them. */
export const GeminiPage = Schema.Struct({
  pageSize: field(maybe(Schema.String), "How many models to answer at most; absent: all of them.", "50"),
  pageToken: field(maybe(Schema.String), "The `nextPageToken` of the page before this one.", "YXV0bw")
})

const Content = Schema.Struct(
  {
    parts: field(Schema.Array(anyObject), "The parts of the content; of texts, `{text}`.", [{ text: "Hello" }])
  },
  others
).annotations({ identifier: "GeminiEmbeddedContent" })

const embedded = {
  content: field(Content, "What the vector is made of."),
  taskType: field(maybe(Schema.String), "What the vector is for.", "RETRIEVAL_DOCUMENT"),
  outputDimensionality: field(maybe(Schema.Number), "Length of the vector, where the model can choose.", 256)
}

const Values = Schema.Struct(
  { values: field(Schema.Array(Schema.Number), "The vector.", [0.12, -0.03]) },
  others
).annotations({ identifier: "GeminiEmbedding" })

export const GeminiEmbedRequest = Schema.Struct(embedded, others).annotations({
  identifier: "GeminiEmbedRequest",
  description: "A request for the vector of a content."
})

export const GeminiEmbedAnswer = Schema.Struct({ embedding: field(Values, "The vector.") }, others).annotations({
  identifier: "GeminiEmbedAnswer",
  description: "The vector."
})

export const GeminiBatchEmbedRequest = Schema.Struct(
  {
    requests: field(
      Schema.Array(
        Schema.Struct(
          {
            model: field(maybe(Schema.String), "Told by the path; not read.", "models/text-embedding-004"),
            ...embedded
          },
          others
        )
      ),
      "One per vector."
    )
  },
  others
).annotations({ identifier: "GeminiBatchEmbedRequest", description: "A request for the vectors of contents." })

export const GeminiBatchEmbedAnswer = Schema.Struct(
  { embeddings: field(Schema.Array(Values), "One per request.") },
  others
).annotations({ identifier: "GeminiBatchEmbedAnswer", description: "The vectors." })
