/**
 * The inference routes as endpoints, for the OpenAPI document only: they are served by the raw edge, never by a builder.
 * The schemas name what a newcomer needs; every other field of a wire format passes through.
 */
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Schema from "effect/Schema"
import { NotFoundAnswer, TooManyRequestsAnswer, UpstreamFailedAnswer } from "./Errors.ts"

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

class Inference extends HttpApiGroup.make("inference")
  .add(HttpApiEndpoint.post("chat", "/v1/chat/completions").setPayload(ChatRequest).addSuccess(ChatAnswer))
  .add(HttpApiEndpoint.post("messages", "/v1/messages").setPayload(MessagesRequest).addSuccess(MessagesAnswer))
  .add(
    HttpApiEndpoint.post("countTokens", "/v1/messages/count_tokens").setPayload(CountRequest).addSuccess(CountAnswer)
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
  .addError(NotFoundAnswer)
  .addError(TooManyRequestsAnswer)
  .addError(UpstreamFailedAnswer) {}

export class CompatApi extends HttpApi.make("compat").add(Inference) {}
