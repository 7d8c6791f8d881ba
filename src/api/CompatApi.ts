/**
 * The inference routes as endpoints, for the OpenAPI document only: they are served by the raw edge, never by a builder.
 * The schemas name what a newcomer needs; every other field of a wire format passes through.
 */
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Schema from "effect/Schema"
import { NotFoundAnswer, TooManyRequestsAnswer, UpstreamFailedAnswer } from "./Errors.ts"
import { InferenceAccess } from "./Security.ts"

const open = { key: Schema.String, value: Schema.Unknown }

const Message = Schema.Struct({ role: Schema.String, content: Schema.Unknown }, open)

const streamed = "With `stream: true` the answer is a `text/event-stream` in the same format."

const ChatRequest = Schema.Struct(
  {
    model: Schema.String,
    messages: Schema.Array(Message),
    stream: Schema.optionalWith(Schema.Boolean, { exact: true })
  },
  open
).annotations({ identifier: "ChatCompletionRequest", description: streamed })

const ChatAnswer = Schema.Struct(
  { id: Schema.String, object: Schema.String, model: Schema.String, choices: Schema.Array(Schema.Unknown) },
  open
).annotations({ identifier: "ChatCompletion" })

const MessagesRequest = Schema.Struct(
  {
    model: Schema.String,
    max_tokens: Schema.Number,
    messages: Schema.Array(Message),
    stream: Schema.optionalWith(Schema.Boolean, { exact: true })
  },
  open
).annotations({ identifier: "MessagesRequest", description: streamed })

const MessagesAnswer = Schema.Struct(
  { id: Schema.String, type: Schema.String, role: Schema.String, content: Schema.Array(Schema.Unknown) },
  open
).annotations({ identifier: "MessagesAnswer" })

const ResponsesRequest = Schema.Struct(
  {
    model: Schema.String,
    input: Schema.Unknown,
    stream: Schema.optionalWith(Schema.Boolean, { exact: true })
  },
  open
).annotations({ identifier: "ResponsesRequest", description: streamed })

const ResponsesAnswer = Schema.Struct(
  { id: Schema.String, object: Schema.Literal("response"), output: Schema.Array(Schema.Unknown) },
  open
).annotations({ identifier: "ResponsesAnswer" })

const CountRequest = Schema.Struct({ model: Schema.String, messages: Schema.Array(Message) }, open).annotations({
  identifier: "CountTokensRequest"
})

const CountAnswer = Schema.Struct({ input_tokens: Schema.Number }).annotations({ identifier: "CountTokensAnswer" })

const OllamaChatRequest = Schema.Struct({ model: Schema.String, messages: Schema.Array(Message) }, open).annotations({
  identifier: "LocalRunnerChatRequest",
  description: "Streams lines of JSON (`application/x-ndjson`) unless `stream` is false."
})

const OllamaChatAnswer = Schema.Struct({ model: Schema.String, done: Schema.Boolean }, open).annotations({
  identifier: "LocalRunnerChatAnswer"
})

/** A body of its wire, with whatever members. */
const OpenObject = Schema.Struct({}, open).annotations({ identifier: "OpenObject" })

const OllamaTags = Schema.Struct({ models: Schema.Array(Schema.Struct({ name: Schema.String }, open)) }).annotations({
  identifier: "LocalRunnerTags"
})

const ModelList = Schema.Struct({
  object: Schema.Literal("list"),
  data: Schema.Array(Schema.Struct({ id: Schema.String, object: Schema.String, owned_by: Schema.String }, open))
}).annotations({ identifier: "ModelList" })

const CompletionRequest = Schema.Struct(
  {
    model: Schema.String,
    prompt: Schema.Union(Schema.String, Schema.Array(Schema.String)),
    stream: Schema.optionalWith(Schema.Boolean, { exact: true })
  },
  open
).annotations({ identifier: "CompletionRequest", description: `One prompt per request. ${streamed}` })

const CompletionAnswer = Schema.Struct(
  { id: Schema.String, object: Schema.Literal("text_completion"), choices: Schema.Array(Schema.Unknown) },
  open
).annotations({ identifier: "Completion" })

const EmbeddingsRequest = Schema.Struct(
  {
    model: Schema.String,
    input: Schema.Unknown,
    encoding_format: Schema.optionalWith(Schema.Literal("float", "base64"), { exact: true }),
    dimensions: Schema.optionalWith(Schema.Number, { exact: true })
  },
  open
).annotations({ identifier: "EmbeddingsRequest", description: "`input`: a text, texts, or token ids." })

const EmbeddingsAnswer = Schema.Struct(
  { object: Schema.Literal("list"), data: Schema.Array(Schema.Unknown), model: Schema.String, usage: Schema.Unknown },
  open
).annotations({ identifier: "EmbeddingsAnswer" })

const GatewayInfo = Schema.Struct({ name: Schema.String, version: Schema.String, docs: Schema.String }).annotations({
  identifier: "GatewayInfo"
})

const Handshake = Schema.Struct(
  {
    ok: Schema.Boolean,
    enabled: Schema.Boolean,
    problem: Schema.NullOr(Schema.String),
    path: Schema.String,
    authenticated: Schema.Boolean,
    protocol: Schema.Unknown
  },
  open
).annotations({ identifier: "SocketHandshake" })

const provider = Schema.Struct({ provider: Schema.String })
/** An API key, for clients that cannot send headers. */
const token = Schema.Struct({ token: Schema.String })
const ofProvider = "/v1/providers/:provider"
const editor = "/api/v1/editor/:token"

class Inference extends HttpApiGroup.make("inference")
  .add(HttpApiEndpoint.post("chat", "/v1/chat/completions").setPayload(ChatRequest).addSuccess(ChatAnswer))
  .add(
    HttpApiEndpoint.post("completions", "/v1/completions").setPayload(CompletionRequest).addSuccess(CompletionAnswer)
  )
  .add(HttpApiEndpoint.post("embeddings", "/v1/embeddings").setPayload(EmbeddingsRequest).addSuccess(EmbeddingsAnswer))
  .add(HttpApiEndpoint.get("embeddingModels", "/v1/embeddings").addSuccess(ModelList))
  .add(HttpApiEndpoint.get("providerModels", `${ofProvider}/models`).setPath(provider).addSuccess(ModelList))
  .add(
    HttpApiEndpoint.post("providerChat", `${ofProvider}/chat/completions`)
      .setPath(provider)
      .setPayload(ChatRequest)
      .addSuccess(ChatAnswer)
  )
  .add(
    HttpApiEndpoint.post("providerEmbeddings", `${ofProvider}/embeddings`)
      .setPath(provider)
      .setPayload(EmbeddingsRequest)
      .addSuccess(EmbeddingsAnswer)
  )
  .add(HttpApiEndpoint.get("editor", editor).setPath(token).addSuccess(GatewayInfo))
  .add(HttpApiEndpoint.get("editorModels", `${editor}/models`).setPath(token).addSuccess(ModelList))
  .add(
    HttpApiEndpoint.post("editorChat", `${editor}/chat/completions`)
      .setPath(token)
      .setPayload(ChatRequest)
      .addSuccess(ChatAnswer)
  )
  .add(
    HttpApiEndpoint.post("editorResponses", `${editor}/responses`)
      .setPath(token)
      .setPayload(ResponsesRequest)
      .addSuccess(ResponsesAnswer)
  )
  .add(
    HttpApiEndpoint.post("editorOllamaChat", `${editor}/api/chat`)
      .setPath(token)
      .setPayload(OllamaChatRequest)
      .addSuccess(OllamaChatAnswer)
  )
  .add(HttpApiEndpoint.get("editorOllamaTags", `${editor}/api/tags`).setPath(token).addSuccess(OllamaTags))
  .add(
    HttpApiEndpoint.get("handshake", "/v1/ws")
      .setUrlParams(Schema.Struct({ handshake: Schema.optionalWith(Schema.String, { exact: true }) }))
      .addSuccess(Handshake)
  )
  .add(HttpApiEndpoint.post("messages", "/v1/messages").setPayload(MessagesRequest).addSuccess(MessagesAnswer))
  .add(
    HttpApiEndpoint.post("countTokens", "/v1/messages/count_tokens").setPayload(CountRequest).addSuccess(CountAnswer)
  )
  .add(
    HttpApiEndpoint.post("countResponseTokens", "/v1/responses/input_tokens")
      .setPayload(ResponsesRequest)
      .addSuccess(CountAnswer)
  )
  .add(HttpApiEndpoint.post("responses", "/v1/responses").setPayload(ResponsesRequest).addSuccess(ResponsesAnswer))
  .add(HttpApiEndpoint.post("ollamaChat", "/api/chat").setPayload(OllamaChatRequest).addSuccess(OllamaChatAnswer))
  .add(HttpApiEndpoint.get("ollamaTags", "/api/tags").addSuccess(OllamaTags))
  .add(HttpApiEndpoint.post("ollamaGenerate", "/api/generate").setPayload(OpenObject).addSuccess(OpenObject))
  .add(HttpApiEndpoint.post("ollamaShow", "/api/show").setPayload(OpenObject).addSuccess(OpenObject))
  .add(HttpApiEndpoint.get("ollamaVersion", "/api/version").addSuccess(OpenObject))
  .add(HttpApiEndpoint.get("ollamaPs", "/api/ps").addSuccess(OllamaTags))
  .add(HttpApiEndpoint.get("geminiModels", "/v1beta/models").addSuccess(OpenObject))
  .add(HttpApiEndpoint.get("models", "/v1/models").addSuccess(ModelList))
  .add(HttpApiEndpoint.get("providerManifest", "/api/v1/provider-plugin-manifest").addSuccess(OpenObject))
  .middleware(InferenceAccess)
  .addError(NotFoundAnswer)
  .addError(TooManyRequestsAnswer)
  .addError(UpstreamFailedAnswer) {}

export class CompatApi extends HttpApi.make("compat").add(Inference) {}
