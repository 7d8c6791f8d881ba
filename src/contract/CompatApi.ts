/**
 * The inference routes as endpoints, one per key of `EdgeRoutes`, for the OpenAPI document only: they are served by the raw edge, never by a
 * builder. `document/EdgeOperations` puts them at every path of the route table.
 */
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Schema from "effect/Schema"
import { field } from "../kernel/Documented.ts"
import * as Audio from "./compat/Audio.ts"
import * as Chat from "./compat/Chat.ts"
import { asking, DocumentedQuery, words } from "./compat/Described.ts"
import * as Gemini from "./compat/Gemini.ts"
import * as Images from "./compat/Images.ts"
import * as Background from "./compat/BackgroundEndpoints.ts"
import * as Jobs from "./compat/JobEndpoints.ts"
import * as LocalRunner from "./compat/LocalRunner.ts"
import { Manifest } from "./compat/Manifest.ts"
import * as Media from "./compat/Media.ts"
import * as Messages from "./compat/Messages.ts"
import { anyObject, maybe, others } from "./compat/Open.ts"
import * as Responses from "./compat/Responses.ts"
import * as Search from "./compat/Search.ts"
import * as A2a from "./compat/A2aEndpoints.ts"
import * as Mcp from "./compat/McpEndpoints.ts"
import * as Stored from "./compat/StoredEndpoints.ts"
import { NotFoundAnswer, TooManyRequestsAnswer, UpstreamFailedAnswer } from "./Errors.ts"
import { InferenceAccess } from "./Security.ts"

const GatewayInfo = Schema.Struct({
  name: field(Schema.String, "Always `gateway`.", "gateway"),
  version: field(Schema.String, "Version of the gateway.", "0.1.0"),
  docs: field(Schema.String, "Where this document is.", "/openapi.json")
}).annotations({ identifier: "GatewayInfo", description: "What answers here." })

const Handshake = Schema.Struct(
  {
    ok: field(Schema.Boolean, "Whether a socket would be opened.", true),
    enabled: field(Schema.Boolean, "The flag `GATEWAY_UPSTREAM_WS_ENABLED`.", true),
    problem: field(Schema.NullOr(Schema.String), "Why none would be opened; null: it would.", null),
    path: field(Schema.String, "Where sockets are opened.", "/v1/responses"),
    authenticated: field(Schema.Boolean, "Whether the key was accepted.", true),
    protocol: field(anyObject, "Examples of what is sent on the socket.", { cancel: { type: "response.cancel" } })
  },
  others
).annotations({ identifier: "SocketHandshake", description: "Whether a socket would be opened." })

const model = Schema.Struct({
  model: field(Schema.String, "The model id; a slash in it may be written as it is.", "auto")
})
const embeddingModel = Schema.Struct({
  model: field(Schema.String, "The model id; a slash in it may be written as it is.", "openai/text-embedding-3-small")
})
const provider = Schema.Struct({
  provider: field(Schema.String, "Id of a provider, or the prefix of a node.", "openai")
})
const token = Schema.Struct({
  token: field(Schema.String, "An API key of this gateway, for clients that cannot send headers.", "gw_your-key")
})

const hello = [{ role: "user", content: "Say hello in one word." }]
const greeting = { model: "auto", messages: hello }
const contents = { contents: [{ role: "user", parts: [{ text: "Say hello in one word." }] }] }
const embedded = { content: { parts: [{ text: "Hello" }] } }
const asStream = "With `stream: true` the answer is a `text/event-stream` of the same wire."
const asLines = "Unless `stream` is false the answer is a stream of JSON objects, one per line."

class Inference extends HttpApiGroup.make("inference")
  .add(
    HttpApiEndpoint.post("chat", "/v1/chat/completions")
      .setPayload(Chat.ChatRequest)
      .addSuccess(Chat.ChatAnswer)
      .annotateContext(asking("Ask a model (chat)", `OpenAI's chat completions. ${asStream}`, greeting))
  )
  .add(
    HttpApiEndpoint.post("completions", "/v1/completions")
      .setPayload(Chat.CompletionRequest)
      .addSuccess(Chat.CompletionAnswer)
      .annotateContext(
        asking("Continue a text", `OpenAI's older completions. ${asStream}`, {
          model: "auto",
          prompt: "Once upon a time",
          max_tokens: 50
        })
      )
  )
  .add(
    HttpApiEndpoint.post("embeddings", "/v1/embeddings")
      .setPayload(Chat.EmbeddingsRequest)
      .addSuccess(Chat.EmbeddingsAnswer)
      .annotateContext(
        asking("Embed texts", "OpenAI's embeddings.", { model: "openai/text-embedding-3-small", input: "Hello" })
      )
  )
  .add(
    HttpApiEndpoint.post("cohereEmbed", "/v2/embed")
      .setPayload(Chat.CohereEmbedRequest)
      .addSuccess(Chat.CohereEmbedAnswer)
      .annotateContext(
        asking("Embed texts (Cohere)", "Cohere's embed. At Cohere the request goes through as it is.", {
          model: "openai/text-embedding-3-small",
          texts: ["Hello"]
        })
      )
  )
  .add(
    HttpApiEndpoint.post("rerank", "/v1/rerank")
      .setPayload(Chat.RerankRequest)
      .addSuccess(Chat.RerankAnswer)
      .annotateContext(
        asking("Order documents", "The documents that answer a query best, in the form of Cohere and Jina.", {
          model: "cohere/rerank-v3.5",
          query: "What is a gateway?",
          documents: ["A gateway passes requests on.", "Bread is baked."]
        })
      )
  )
  .add(
    HttpApiEndpoint.post("moderations", "/v1/moderations")
      .setPayload(Chat.ModerationRequest)
      .addSuccess(Chat.ModerationAnswer)
      .annotateContext(
        asking("Look for harmful content", "OpenAI's moderations.", {
          model: "openai/omni-moderation-latest",
          input: "Hello"
        })
      )
  )
  .add(
    HttpApiEndpoint.post("speech", "/v1/audio/speech")
      .setPayload(Chat.SpeechRequest)
      .addSuccess(Chat.SpeechAnswer)
      .annotateContext(
        asking("Speak a text", "OpenAI's speech. The sound comes as it is made; one that is cut ends without an end.", {
          model: "openai/gpt-4o-mini-tts",
          input: "Hello there.",
          voice: "alloy"
        })
      )
  )
  .add(
    HttpApiEndpoint.post("images", "/v1/images/generations")
      .setPayload(Chat.ImageRequest)
      .addSuccess(Chat.ImageAnswer)
      .annotateContext(
        asking("Make pictures", "OpenAI's images. With `stream` the answer is a stream of events.", {
          model: "openai/gpt-image-1",
          prompt: "A gate in the morning.",
          size: "1024x1024"
        })
      )
  )
  .add(
    HttpApiEndpoint.post("search", "/v1/search")
      .setPayload(Search.SearchRequest)
      .addSuccess(Search.SearchAnswer)
      .annotateContext(
        asking(
          "Search the web",
          "By the provider that is named, else by those that are connected, one after the other.",
          {
            query: "what is an API gateway",
            max_results: 3
          }
        )
      )
  )
  .add(
    HttpApiEndpoint.get("searchProviders", "/v1/search")
      .addSuccess(Search.SearchProviders)
      .annotateContext(words("List search providers", "All that are known, and which of them are connected."))
  )
  .add(
    HttpApiEndpoint.get("searchAnalytics", "/v1/search/analytics")
      .addSuccess(Search.SearchAnalytics)
      .annotateContext(
        words(
          "Show what searches have done",
          "By provider, since the gateway was set up. API keys see their own searches."
        )
      )
  )
  .add(
    HttpApiEndpoint.post("transcriptions", "/v1/audio/transcriptions")
      .setPayload(Audio.TranscriptionForm)
      .addSuccess(Audio.Transcription)
      .annotateContext(
        words(
          "Write down what is said",
          "OpenAI's transcriptions: a form of at most `GATEWAY_MAX_UPLOAD_MB`, sent on as it is taken. With `response_format` `text`, `srt` or `vtt` the answer is text."
        )
      )
  )
  .add(
    HttpApiEndpoint.post("translations", "/v1/audio/translations")
      .setPayload(Audio.TranslationForm)
      .addSuccess(Audio.Transcription)
      .annotateContext(words("Write down in English what is said", "OpenAI's translations of recordings."))
  )
  .add(
    HttpApiEndpoint.post("videos", "/v1/videos/generations")
      .setPayload(Media.VideoRequest)
      .addSuccess(Media.VideoAnswer)
      .addSuccess(Media.JobAnswer, { status: 202 })
      .annotateContext(
        asking("Make a film", "Waits until the provider's job is done, up to the time limit of requests.", {
          model: "openai/sora-2",
          prompt: "A gate opens at dawn.",
          seconds: "4"
        })
      )
  )
  .add(
    HttpApiEndpoint.post("music", "/v1/music/generations")
      .setPayload(Media.MusicRequest)
      .addSuccess(Media.MusicAnswer)
      .addSuccess(Media.JobAnswer, { status: 202 })
      .annotateContext(
        asking("Make music", "Waits until the provider's job is done, up to the time limit of requests.", {
          model: "openai/music-1",
          prompt: "A slow waltz."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("imageEdits", "/v1/images/edits")
      .setPayload(Images.ImageEditForm)
      .addSuccess(Chat.ImageAnswer)
      .annotateContext(
        words(
          "Change pictures",
          "OpenAI's edits: a form of pictures, a mask and a prompt, or JSON that names pictures by address. With `stream` the answer is a stream of events."
        )
      )
  )
  .add(
    HttpApiEndpoint.post("imageVariations", "/v1/images/variations")
      .setPayload(Images.ImageVariationForm)
      .addSuccess(Chat.ImageAnswer)
      .annotateContext(words("Vary a picture", "OpenAI's variations of a picture."))
  )
  .add(Background.response)
  .add(Background.deleteResponse)
  .add(Background.cancelResponse)
  .add(Background.responseItems)
  .add(Jobs.createVideo)
  .add(Jobs.videoJobs)
  .add(Jobs.video)
  .add(Jobs.deleteVideo)
  .add(Jobs.cancelVideo)
  .add(Jobs.videoContent)
  .add(Jobs.song)
  .add(Jobs.deleteSong)
  .add(Jobs.cancelSong)
  .add(Jobs.songContent)
  .add(
    HttpApiEndpoint.post("messages", "/v1/messages")
      .setPayload(Messages.MessagesRequest)
      .addSuccess(Messages.MessagesAnswer)
      .annotateContext(
        asking("Ask a model (messages)", `Anthropic's messages. ${asStream}`, { ...greeting, max_tokens: 200 })
      )
  )
  .add(
    HttpApiEndpoint.post("countTokens", "/v1/messages/count_tokens")
      .setPayload(Messages.CountRequest)
      .addSuccess(Messages.CountAnswer)
      .annotateContext(
        asking("Count tokens (messages)", "Counted by the provider where it can, else here. Costs nothing.", greeting)
      )
  )
  .add(
    HttpApiEndpoint.post("responses", "/v1/responses")
      .setPayload(Responses.ResponsesRequest)
      .addSuccess(Responses.ResponsesAnswer)
      .annotateContext(
        asking(
          "Ask a model (responses)",
          `OpenAI's responses. ${asStream} The same path takes a WebSocket; each frame is a request.`,
          { model: "auto", input: "Say hello in one word." }
        )
      )
  )
  .add(
    HttpApiEndpoint.post("countResponseTokens", "/v1/responses/input_tokens")
      .setPayload(Responses.ResponsesRequest)
      .addSuccess(Messages.CountAnswer)
      .annotateContext(
        asking("Count tokens (responses)", "Counted by the provider where it can, else here. Costs nothing.", {
          model: "auto",
          input: "Say hello in one word."
        })
      )
  )
  .add(
    HttpApiEndpoint.post("generateContent", "/v1beta/models/:model/generateContent")
      .setPath(model)
      .setPayload(Gemini.GeminiRequest)
      .addSuccess(Gemini.GeminiAnswer)
      .annotateContext(asking("Ask a model (gemini)", "Google's generateContent.", contents))
  )
  .add(
    HttpApiEndpoint.post("streamGenerateContent", "/v1beta/models/:model/streamGenerateContent")
      .setPath(model)
      .setPayload(Gemini.GeminiRequest)
      .addSuccess(Schema.Array(Gemini.GeminiAnswer))
      .annotateContext(
        asking(
          "Ask a model for a stream (gemini)",
          "With `alt=sse` a `text/event-stream`, else a JSON array.",
          contents
        )
      )
      .annotate(
        DocumentedQuery,
        Schema.Struct({ alt: field(maybe(Schema.Literal("sse", "json")), "Form of the stream; absent: `json`.") })
      )
  )
  .add(
    HttpApiEndpoint.post("countContentTokens", "/v1beta/models/:model/countTokens")
      .setPath(model)
      .setPayload(Gemini.GeminiRequest)
      .addSuccess(Gemini.GeminiCount)
      .annotateContext(
        asking("Count tokens (gemini)", "Counted by the provider where it can, else here. Costs nothing.", contents)
      )
  )
  .add(
    HttpApiEndpoint.post("embedContent", "/v1beta/models/:model/embedContent")
      .setPath(embeddingModel)
      .setPayload(Gemini.GeminiEmbedRequest)
      .addSuccess(Gemini.GeminiEmbedAnswer)
      .annotateContext(asking("Embed a content (gemini)", "Google's embedContent.", embedded))
  )
  .add(
    HttpApiEndpoint.post("batchEmbedContents", "/v1beta/models/:model/batchEmbedContents")
      .setPath(embeddingModel)
      .setPayload(Gemini.GeminiBatchEmbedRequest)
      .addSuccess(Gemini.GeminiBatchEmbedAnswer)
      .annotateContext(asking("Embed contents (gemini)", "Google's batchEmbedContents.", { requests: [embedded] }))
  )
  .add(
    HttpApiEndpoint.post("ollamaEmbed", "/api/embed")
      .setPayload(LocalRunner.OllamaEmbedRequest)
      .addSuccess(LocalRunner.OllamaEmbedAnswer)
      .annotateContext(
        asking("Embed texts (ollama)", "Ollama's embed.", { model: "openai/text-embedding-3-small", input: "Hello" })
      )
  )
  .add(
    HttpApiEndpoint.post("ollamaEmbeddings", "/api/embeddings")
      .setPayload(LocalRunner.OllamaEmbeddingsRequest)
      .addSuccess(LocalRunner.OllamaEmbeddingsAnswer)
      .annotateContext(
        asking("Embed a text (ollama)", "Ollama's older endpoint for one text.", {
          model: "openai/text-embedding-3-small",
          prompt: "Hello"
        })
      )
  )
  .add(
    HttpApiEndpoint.post("ollamaChat", "/api/chat")
      .setPayload(LocalRunner.OllamaChatRequest)
      .addSuccess(LocalRunner.OllamaChatAnswer)
      .annotateContext(asking("Ask a model (ollama)", `Ollama's chat. ${asLines}`, { ...greeting, stream: false }))
  )
  .add(
    HttpApiEndpoint.post("ollamaGenerate", "/api/generate")
      .setPayload(LocalRunner.OllamaGenerateRequest)
      .addSuccess(LocalRunner.OllamaGenerateAnswer)
      .annotateContext(
        asking("Answer a text (ollama)", `Ollama's generate. ${asLines}`, {
          model: "auto",
          prompt: "Say hello in one word.",
          stream: false
        })
      )
  )
  .add(
    HttpApiEndpoint.post("ollamaShow", "/api/show")
      .setPayload(LocalRunner.OllamaShowRequest)
      .addSuccess(LocalRunner.OllamaShowAnswer)
      .annotateContext(asking("Show a model (ollama)", "What is known of a model.", { model: "auto" }))
  )
  .add(Stored.createFile)
  .add(Stored.files)
  .add(Stored.file)
  .add(Stored.deleteFile)
  .add(Stored.fileContent)
  .add(Stored.createBatch)
  .add(Stored.batches)
  .add(Stored.batch)
  .add(Stored.cancelBatch)
  .add(Stored.deleteBatch)
  .add(
    HttpApiEndpoint.get("models", "/v1/models")
      .addSuccess(Chat.ModelList)
      .annotateContext(
        words("List models", "Everything the caller may ask for: models, combos, aliases, automatic ids.")
      )
      .annotate(DocumentedQuery, Chat.ModelPage)
  )
  .add(
    HttpApiEndpoint.get("model", "/v1/models/:model")
      .setPath(model)
      .addSuccess(Chat.ModelEntry)
      .annotateContext(words("Show a model", "One entry of the list of models."))
  )
  .add(
    HttpApiEndpoint.get("embeddingModels", "/v1/embeddings")
      .addSuccess(Chat.ModelList)
      .annotateContext(words("List embedding models", "The part of the list of models that makes embeddings."))
      .annotate(DocumentedQuery, Chat.ModelPage)
  )
  .add(
    HttpApiEndpoint.get("imageModels", "/v1/images/generations")
      .addSuccess(Chat.ModelList)
      .annotateContext(words("List image models", "The part of the list of models that makes pictures."))
      .annotate(DocumentedQuery, Chat.ModelPage)
  )
  .add(
    HttpApiEndpoint.get("videoModels", "/v1/videos/generations")
      .addSuccess(Chat.ModelList)
      .annotateContext(words("List video models", "The part of the list of models that makes films."))
      .annotate(DocumentedQuery, Chat.ModelPage)
  )
  .add(
    HttpApiEndpoint.get("musicModels", "/v1/music/generations")
      .addSuccess(Chat.ModelList)
      .annotateContext(words("List music models", "The part of the list of models that makes music."))
      .annotate(DocumentedQuery, Chat.ModelPage)
  )
  .add(
    HttpApiEndpoint.get("providerModels", "/v1/providers/:provider/models")
      .setPath(provider)
      .addSuccess(Chat.ModelList)
      .annotateContext(
        words("List the models of a provider", "The part of the list of models that one provider serves.")
      )
      .annotate(DocumentedQuery, Chat.ModelPage)
  )
  .add(
    HttpApiEndpoint.get("geminiModels", "/v1beta/models")
      .addSuccess(Gemini.GeminiModels)
      .annotateContext(words("List models (gemini)", "The list of models in the words of this wire."))
      .annotate(DocumentedQuery, Gemini.GeminiPage)
  )
  .add(
    HttpApiEndpoint.get("geminiModel", "/v1beta/models/:model")
      .setPath(model)
      .addSuccess(Gemini.GeminiModel)
      .annotateContext(words("Show a model (gemini)", "One entry of the list of models."))
  )
  .add(
    HttpApiEndpoint.get("ollamaTags", "/api/tags")
      .addSuccess(LocalRunner.OllamaModels)
      .annotateContext(words("List models (ollama)", "The list of models in the words of this wire."))
  )
  .add(
    HttpApiEndpoint.get("ollamaPs", "/api/ps")
      .addSuccess(LocalRunner.OllamaModels)
      .annotateContext(words("List loaded models (ollama)", "Here all of them."))
  )
  .add(
    HttpApiEndpoint.get("ollamaVersion", "/api/version")
      .addSuccess(LocalRunner.OllamaVersion)
      .annotateContext(words("Show the version of the wire (ollama)", "Clients compare it with the one they need."))
  )
  .add(
    HttpApiEndpoint.get("providerManifest", "/api/v1/provider-plugin-manifest")
      .addSuccess(Manifest)
      .annotateContext(words("List the known providers", "For other routers: what is needed to call each provider."))
  )
  .add(
    HttpApiEndpoint.get("editor", "/api/v1/editor/:token")
      .setPath(token)
      .addSuccess(GatewayInfo)
      .annotateContext(words("Check a key in a path", "The prefix for editors that cannot send headers."))
  )
  .add(
    HttpApiEndpoint.get("handshake", "/v1/ws")
      .addSuccess(Handshake)
      .annotateContext(words("Ask whether a socket would be opened", "Judges the headers of an upgrade, without one."))
      .annotate(
        DocumentedQuery,
        Schema.Struct({ handshake: field(Schema.String, "`1`: ask; else the answer is 426.", "1") })
      )
  )
  .middleware(InferenceAccess)
  .addError(NotFoundAnswer)
  .addError(TooManyRequestsAnswer)
  .addError(UpstreamFailedAnswer) {}

/** Pages of the raw edge that are not about models. */
class Pages extends HttpApiGroup.make("pages")
  .add(
    HttpApiEndpoint.get("root", "/")
      .addSuccess(GatewayInfo)
      .annotateContext(
        words("Say what answers here", "JSON for programs; a page for browsers (`Accept: text/html`). Needs no key.")
      )
  )
  .add(
    HttpApiEndpoint.get("metrics", "/metrics")
      .addSuccess(
        HttpApiSchema.Text({ contentType: "text/plain" }).annotations({
          description: "The text format of Prometheus.",
          examples: ["# HELP gateway_requests_total Requests.\n# TYPE gateway_requests_total counter\n"]
        })
      )
      .annotateContext(
        words(
          "Show metrics",
          "For Prometheus. Needs no key from this machine, else one of scope `read:metrics` or `manage` (`metricsPublic`)."
        )
      )
  )
  .add(Mcp.sendMessage)
  .add(Mcp.listen)
  .add(Mcp.endSession)
  .add(A2a.askAgent) {}

export class CompatApi extends HttpApi.make("compat").add(Inference).add(Pages) {}
