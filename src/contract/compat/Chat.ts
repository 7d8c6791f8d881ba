/** Bodies of the chat wire: https://developers.openai.com/api/reference */
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { anyObject, maybe, messages, model, others, servedModel, stream, temperature, tokens } from "./Open.ts"

const unix = 1_772_366_400

const Usage = Schema.Struct(
  {
    prompt_tokens: tokens("Tokens of the prompt.", 12),
    completion_tokens: field(maybe(Schema.Number), "Tokens of the answer.", 2),
    total_tokens: tokens("Their sum.", 14)
  },
  others
).annotations({ identifier: "ChatUsage" })
const usage = field(maybe(Usage), "What was used.")

const finishReason = field(
  Schema.NullOr(Schema.String),
  "Why it ended: `stop`, `length`, `tool_calls`, `content_filter`.",
  "stop"
)
const index = field(Schema.Number, "Its place in the list, from 0.", 0)
const created = field(Schema.Number, "Seconds since 1970.", unix)

export const ChatRequest = Schema.Struct(
  {
    model,
    messages,
    stream,
    max_tokens: field(maybe(Schema.Number), "Most tokens of the answer.", 200),
    temperature,
    tools: field(maybe(Schema.Array(anyObject)), "Functions the model may call.", [
      { type: "function", function: { name: "weather", parameters: { type: "object", properties: {} } } }
    ])
  },
  others
).annotations({ identifier: "ChatCompletionRequest", description: "A request for a chat completion." })

export const ChatAnswer = Schema.Struct(
  {
    id: field(Schema.String, "Id of the answer.", "chatcmpl-abc123"),
    object: field(Schema.String, "Always `chat.completion`.", "chat.completion"),
    created,
    model: servedModel,
    choices: field(
      Schema.Array(
        Schema.Struct(
          {
            index,
            message: field(
              Schema.Struct(
                {
                  role: field(Schema.String, "Always `assistant`.", "assistant"),
                  content: field(maybe(Schema.NullOr(Schema.String)), "The text; null: tools are called.", "Hello.")
                },
                others
              ),
              "What the model says."
            ),
            finish_reason: finishReason
          },
          others
        )
      ),
      "The answers; one, unless more were asked for."
    ),
    usage
  },
  others
).annotations({ identifier: "ChatCompletion", description: "A whole answer." })

export const CompletionRequest = Schema.Struct(
  {
    model,
    prompt: field(
      Schema.Union(Schema.String, Schema.Array(Schema.String)),
      "The text to continue; one per request.",
      "Once upon a time"
    ),
    stream,
    max_tokens: field(maybe(Schema.Number), "Most tokens of the answer.", 50)
  },
  others
).annotations({ identifier: "CompletionRequest", description: "A request to continue a text." })

export const CompletionAnswer = Schema.Struct(
  {
    id: field(Schema.String, "Id of the answer.", "cmpl-abc123"),
    object: field(Schema.Literal("text_completion"), "Always `text_completion`."),
    created,
    model: servedModel,
    choices: field(
      Schema.Array(
        Schema.Struct(
          { index, text: field(Schema.String, "The text.", " there was a gateway."), finish_reason: finishReason },
          others
        )
      ),
      "The answers."
    ),
    usage
  },
  others
).annotations({ identifier: "Completion", description: "A whole answer." })

export const EmbeddingsRequest = Schema.Struct(
  {
    model: field(Schema.String, "Id of an embedding model.", "openai/text-embedding-3-small"),
    input: field(
      Schema.Union(
        Schema.String,
        Schema.Array(Schema.Union(Schema.String, Schema.Number, Schema.Array(Schema.Number)))
      ),
      "A text, several texts, or tokens.",
      "Hello"
    ),
    encoding_format: field(maybe(Schema.Literal("float", "base64")), "How vectors are written."),
    dimensions: field(maybe(Schema.Number), "Length of the vectors, where the model can choose.", 256)
  },
  others
).annotations({ identifier: "EmbeddingsRequest", description: "A request for vectors of texts." })

export const EmbeddingsAnswer = Schema.Struct(
  {
    object: field(Schema.Literal("list"), "Always `list`."),
    data: field(
      Schema.Array(
        Schema.Struct(
          {
            object: field(Schema.String, "Always `embedding`.", "embedding"),
            index,
            embedding: field(Schema.Union(Schema.Array(Schema.Number), Schema.String), "The vector.", [0.12, -0.03])
          },
          others
        )
      ),
      "One vector per text."
    ),
    model: servedModel,
    usage
  },
  others
).annotations({ identifier: "EmbeddingsAnswer", description: "The vectors." })

export const CohereEmbedRequest = Schema.Struct(
  {
    model: field(Schema.String, "Id of an embedding model.", "cohere/embed-v4.0"),
    texts: field(maybe(Schema.Array(Schema.String)), "The texts.", ["Hello"]),
    input_type: field(maybe(Schema.String), "What the vectors are for.", "search_document"),
    embedding_types: field(maybe(Schema.Array(Schema.String)), "How vectors are written; absent: `float`.", ["float"]),
    output_dimension: field(maybe(Schema.Number), "Length of the vectors, where the model can choose.", 256)
  },
  others
).annotations({ identifier: "CohereEmbedRequest", description: "A request for vectors of texts." })

export const CohereEmbedAnswer = Schema.Struct(
  {
    id: field(Schema.String, "Id of the answer.", "e-abc123"),
    embeddings: field(anyObject, "The vectors, by how they are written.", { float: [[0.12, -0.03]] }),
    texts: field(maybe(Schema.Array(Schema.String)), "The texts.", ["Hello"])
  },
  others
).annotations({ identifier: "CohereEmbedAnswer", description: "The vectors." })

const RankedDocument = Schema.Struct(
  { text: field(Schema.String, "Its text.", "A gateway passes requests on.") },
  others
).annotations({ identifier: "RankedDocument" })

export const RerankRequest = Schema.Struct(
  {
    model: field(Schema.String, "Id of a reranking model.", "cohere/rerank-v3.5"),
    query: field(Schema.String, "What the documents are to answer.", "What is a gateway?"),
    documents: field(
      Schema.Array(Schema.Union(Schema.String, RankedDocument)),
      "The documents, as texts or objects with a `text`.",
      ["A gateway passes requests on.", "Bread is baked."]
    ),
    top_n: field(maybe(Schema.Number), "Most results; absent: all.", 1),
    return_documents: field(maybe(Schema.Boolean), "Repeat each document beside its score.", false)
  },
  others
).annotations({ identifier: "RerankRequest", description: "A request to order documents." })

export const RerankAnswer = Schema.Struct(
  {
    id: field(maybe(Schema.String), "Id of the answer, where the provider gives one.", "rr-abc123"),
    model: servedModel,
    results: field(
      Schema.Array(
        Schema.Struct(
          {
            index: field(Schema.Number, "Place of the document in the request, from 0.", 0),
            relevance_score: field(Schema.Number, "Higher is better; its range is the model's.", 0.98),
            document: field(maybe(RankedDocument), "The document, where asked for.", { text: "Bread is baked." })
          },
          others
        )
      ),
      "Best first.",
      [{ index: 0, relevance_score: 0.98 }]
    )
  },
  others
).annotations({ identifier: "RerankAnswer", description: "The documents in their order." })

export const ModerationRequest = Schema.Struct(
  {
    model: field(
      maybe(Schema.String),
      "Id of a moderation model; absent: OpenAI's own.",
      "openai/omni-moderation-latest"
    ),
    input: field(
      Schema.Union(Schema.String, Schema.Array(Schema.Union(Schema.String, anyObject))),
      "A text, several texts, or parts with a `type`.",
      "Hello"
    )
  },
  others
).annotations({ identifier: "ModerationRequest", description: "A request to look for harmful content." })

export const ModerationAnswer = Schema.Struct(
  {
    id: field(Schema.String, "Id of the answer.", "modr-abc123"),
    model: servedModel,
    results: field(Schema.Array(anyObject), "One result per input: `flagged`, `categories`, `category_scores`.", [
      { flagged: false, categories: {}, category_scores: {} }
    ])
  },
  others
).annotations({ identifier: "ModerationAnswer", description: "What was found." })

export const SpeechRequest = Schema.Struct(
  {
    model: field(Schema.String, "Id of a speech model.", "openai/gpt-4o-mini-tts"),
    input: field(Schema.String, "The text to speak.", "Hello there."),
    voice: field(
      maybe(Schema.Union(Schema.String, anyObject)),
      "Name of a voice, or an object with its `id`.",
      "alloy"
    ),
    response_format: field(maybe(Schema.String), "`mp3`, `opus`, `aac`, `flac`, `wav` or `pcm`.", "mp3"),
    speed: field(maybe(Schema.Number), "1 is the voice's own.", 1)
  },
  others
).annotations({ identifier: "SpeechRequest", description: "A request to speak a text." })

export const SpeechAnswer = HttpApiSchema.Text({ contentType: "audio/mpeg" }).annotations({
  description: "The sound, as the provider sends it.",
  examples: ["ID3…"]
})

export const ImageRequest = Schema.Struct(
  {
    model: field(Schema.String, "Id of a model that makes pictures.", "openai/gpt-image-1"),
    prompt: field(Schema.String, "What the picture shows.", "A gate in the morning."),
    n: field(maybe(Schema.Number), "Pictures to make, up to 10; providers may take fewer.", 1),
    size: field(maybe(Schema.String), "Width and height in pixels, or `auto`.", "1024x1024"),
    quality: field(maybe(Schema.String), "`low`, `medium` or `high`; `standard` or `hd`; `auto`.", "high"),
    background: field(maybe(Schema.String), "`transparent`, `opaque` or `auto`.", "auto"),
    output_format: field(maybe(Schema.String), "`png`, `jpeg` or `webp`.", "png"),
    response_format: field(
      maybe(Schema.String),
      "`url` or `b64_json`; absent: as the provider makes it. Asked for `url`, a picture without an address comes as a `data:` address.",
      "b64_json"
    ),
    stream: field(maybe(Schema.Boolean), "Answer with events, the last of them `image_generation.completed`.", false),
    partial_images: field(maybe(Schema.Number), "Unfinished pictures in the stream, up to 3.", 0),
    user: field(maybe(Schema.String), "Your own name for the person who asks.", "user-1")
  },
  others
).annotations({ identifier: "ImageRequest", description: "A request for pictures." })

const Picture = Schema.Struct(
  {
    b64_json: field(maybe(Schema.String), "The picture in base64.", "iVBORw0KGgo="),
    url: field(maybe(Schema.String), "Where it is; providers keep it for a short time.", "https://example.com/a.png"),
    revised_prompt: field(maybe(Schema.String), "The prompt as the model has read it.", "A gate in the morning.")
  },
  others
)

export const ImageAnswer = Schema.Struct(
  {
    created: field(Schema.Number, "Epoch seconds.", 2_050_000_000),
    data: field(Schema.Array(Picture), "The pictures.", [{ b64_json: "iVBORw0KGgo=" }]),
    usage: field(maybe(anyObject), "Tokens, where the provider counts them.", {
      input_tokens: 10,
      output_tokens: 1056,
      total_tokens: 1066
    })
  },
  others
).annotations({ identifier: "ImageAnswer", description: "The pictures." })

export const ModelEntry = Schema.Struct(
  {
    id: field(Schema.String, "What requests name as `model`.", "openai/gpt-4o-mini"),
    object: field(Schema.String, "Always `model`.", "model"),
    created,
    owned_by: field(Schema.String, "Its provider, or `combo`.", "openai"),
    context_length: field(maybe(Schema.NullOr(Schema.Number)), "Tokens of prompt and answer together.", 128_000),
    input_modalities: field(maybe(Schema.Array(Schema.String)), "What it reads; absent: unknown.", ["text", "image"]),
    output_modalities: field(maybe(Schema.Array(Schema.String)), "What it makes; absent: unknown.", ["text"])
  },
  others
).annotations({ identifier: "Model", description: "A model that can be asked for." })

export const ModelList = Schema.Struct(
  {
    object: field(Schema.Literal("list"), "Always `list`."),
    data: field(Schema.Array(ModelEntry), "The models."),
    has_more: field(maybe(Schema.Boolean), "Whether more follow on another page.", false),
    first_id: field(maybe(Schema.NullOr(Schema.String)), "Id of the first one; null: there is none.", "auto"),
    last_id: field(
      maybe(Schema.NullOr(Schema.String)),
      "Id of the last one, for `after_id`; null: there is none.",
      "openai/gpt-4o-mini"
    )
  },
  others
).annotations({ identifier: "ModelList", description: "What can be asked for." })

/** Pages as the messages wire asks for them. */
export const ModelPage = Schema.Struct({
  limit: field(maybe(Schema.String), "How many entries to answer at most; absent: all of them.", "100"),
  after_id: field(maybe(Schema.String), "Begin behind the model of this id.", "openai/gpt-4o-mini"),
  before_id: field(maybe(Schema.String), "End before the model of this id.", "openai/gpt-4o-mini")
})
