/** Bodies of the ollama wire: https://docs.ollama.com/api */
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { anyObject, maybe, messages, model, others, servedModel } from "./Open.ts"

const stream = field(maybe(Schema.Boolean), "Answer in parts, one JSON object per line; absent: true.", false)
const options = field(maybe(anyObject), "Limits and sampling.", { num_predict: 200 })
const createdAt = field(Schema.String, "When it was made, ISO 8601.", "2026-03-01T12:00:00Z")
const done = field(Schema.Boolean, "Whether this is the end.", true)
const doneReason = field(maybe(Schema.String), "Why it ended.", "stop")

export const OllamaChatRequest = Schema.Struct({ model, messages, stream, options }, others).annotations({
  identifier: "LocalRunnerChatRequest",
  description: "A request for the next message."
})

export const OllamaChatAnswer = Schema.Struct(
  {
    model: servedModel,
    created_at: createdAt,
    message: field(
      Schema.Struct(
        {
          role: field(Schema.String, "Always `assistant`.", "assistant"),
          content: field(Schema.String, "The text.", "Hello.")
        },
        others
      ),
      "What the model says."
    ),
    done,
    done_reason: doneReason
  },
  others
).annotations({ identifier: "LocalRunnerChatAnswer", description: "A whole answer." })

export const OllamaGenerateRequest = Schema.Struct(
  { model, prompt: field(Schema.String, "The text to answer.", "Say hello in one word."), stream, options },
  others
).annotations({ identifier: "LocalRunnerGenerateRequest", description: "A request for a text." })

export const OllamaGenerateAnswer = Schema.Struct(
  {
    model: servedModel,
    created_at: createdAt,
    response: field(Schema.String, "The text.", "Hello."),
    done,
    done_reason: doneReason
  },
  others
).annotations({ identifier: "LocalRunnerGenerateAnswer", description: "A whole answer." })

const details = field(anyObject, "Family and size, where known.", { family: "openai", families: ["openai"] })
const capabilities = field(Schema.Array(Schema.String), "What it can do.", ["completion", "tools"])

export const OllamaShowRequest = Schema.Struct({ model }, others).annotations({
  identifier: "LocalRunnerShowRequest",
  description: "Which model to show."
})

export const OllamaShowAnswer = Schema.Struct(
  { details, model_info: field(anyObject, "Facts, by name.", { "general.basename": "auto" }), capabilities },
  others
).annotations({ identifier: "LocalRunnerModelInfo", description: "What is known of a model." })

export const OllamaModels = Schema.Struct(
  {
    models: field(
      Schema.Array(
        Schema.Struct(
          {
            name: field(Schema.String, "What requests name as `model`.", "auto"),
            model: field(Schema.String, "The same.", "auto"),
            digest: field(Schema.String, "Made from the name.", "6f9f4f6e0c1d"),
            details
          },
          others
        )
      ),
      "The models."
    )
  },
  others
).annotations({ identifier: "LocalRunnerModels", description: "What can be asked for." })

export const OllamaVersion = Schema.Struct({
  version: field(Schema.String, "The version of the wire that is spoken, not of the gateway.", "0.13.5")
}).annotations({ identifier: "LocalRunnerVersion", description: "Which version of the wire is spoken." })

const embeddingModel = field(Schema.String, "Id of an embedding model.", "openai/text-embedding-3-small")

export const OllamaEmbedRequest = Schema.Struct(
  {
    model: embeddingModel,
    input: field(Schema.Union(Schema.String, Schema.Array(Schema.String)), "A text or several.", "Hello"),
    dimensions: field(maybe(Schema.Number), "Length of the vectors, where the model can choose.", 256)
  },
  others
).annotations({ identifier: "LocalRunnerEmbedRequest", description: "A request for vectors of texts." })

export const OllamaEmbedAnswer = Schema.Struct(
  {
    model: servedModel,
    embeddings: field(Schema.Array(Schema.Array(Schema.Number)), "One vector per text.", [[0.12, -0.03]]),
    prompt_eval_count: field(maybe(Schema.Number), "Tokens of the texts.", 1)
  },
  others
).annotations({ identifier: "LocalRunnerEmbedAnswer", description: "The vectors." })

export const OllamaEmbeddingsRequest = Schema.Struct(
  { model: embeddingModel, prompt: field(Schema.String, "The text.", "Hello") },
  others
).annotations({ identifier: "LocalRunnerEmbeddingsRequest", description: "A request for the vector of a text." })

export const OllamaEmbeddingsAnswer = Schema.Struct(
  { embedding: field(Schema.Array(Schema.Number), "The vector.", [0.12, -0.03]) },
  others
).annotations({ identifier: "LocalRunnerEmbeddingsAnswer", description: "The vector." })
