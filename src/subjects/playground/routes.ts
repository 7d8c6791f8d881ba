/** The playground: presets, better prompts, models side by side, and code for all of it (docs/playground.md). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import {
  maxCompared,
  maxModelChars,
  maxParamsChars,
  maxPromptChars,
  maxSystemChars,
  PlaygroundEndpoint,
  PlaygroundParams
} from "./entity.ts"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer, TooManyRequestsAnswer, UpstreamFailedAnswer } from "../../contract/Errors.ts"
import { exampleId, exampleTime } from "../../contract/Examples.ts"
import { body, clearable, Created, Name, NoContent, optional, ReadOnly, Text } from "../../contract/Inputs.ts"

const atMost = (limit: number) => ({ message: () => `must have at most ${limit} characters` })

/** No program can be given one as an argument, and none of the texts needs it. */
const withoutNul = { message: () => "must not hold NUL characters" }

const Long = (limit: number) =>
  Schema.String.pipe(Schema.maxLength(limit, atMost(limit)), Schema.pattern(/^[^\0]*$/, withoutNul))

const Model = Text.pipe(
  Schema.maxLength(maxModelChars, atMost(maxModelChars)),
  Schema.pattern(/^\P{Cc}*$/u, { message: () => "must not hold control characters" })
)
const System = Long(maxSystemChars)
const Prompt = Long(maxPromptChars).pipe(Schema.pattern(/\S/, { message: () => "must not be empty" }))
const ParamsJson = Schema.String.pipe(Schema.maxLength(maxParamsChars, atMost(maxParamsChars)))

const maxMessages = 200

const words = {
  name: ["Its name.", "Short answers"],
  endpoint: ["What is tried: `audio` is music; speech and transcriptions have names of their own.", "chat"],
  model: ["A model id, alias, combo or automatic id, as requests name it.", "openai/gpt-4o-mini"],
  system: ["The system prompt.", "Answer in one sentence."],
  params_json: [
    "A JSON object, as text, of `temperature`, `max_tokens`, `top_p`, `presence_penalty`, `frequency_penalty`, `seed` and `stop`.",
    '{"temperature":0.2,"max_tokens":200}'
  ]
} as const

export const PresetView = Schema.Struct({
  id: field(Schema.String, "Id of the preset, in paths of this API.", exampleId),
  name: field(Schema.String, ...words.name),
  endpoint: field(PlaygroundEndpoint, ...words.endpoint),
  model: field(Schema.String, ...words.model),
  system: field(Schema.NullOr(Schema.String), ...words.system),
  params_json: field(Schema.String, ...words.params_json),
  created_at: field(Schema.String, "When it was made, ISO 8601.", exampleTime)
}).annotations({ identifier: "PlaygroundPreset" })
export type PresetView = typeof PresetView.Type

/** Members of a preset. */
export const PresetBody = Schema.Struct({
  name: field(Schema.String, ...words.name),
  endpoint: field(PlaygroundEndpoint, ...words.endpoint),
  model: field(Schema.String, ...words.model),
  system: field(Schema.NullOr(Schema.String), ...words.system),
  params_json: field(Schema.String, ...words.params_json)
}).annotations({ identifier: "PlaygroundPresetBody" })
export type PresetBody = typeof PresetBody.Type

export const CreatePreset = Schema.Struct({
  name: field(Name, ...words.name),
  endpoint: field(PlaygroundEndpoint, ...words.endpoint),
  model: field(Model, ...words.model),
  system: field(optional(System), ...words.system),
  params_json: field(optional(ParamsJson), ...words.params_json)
}).annotations(body("CreatePlaygroundPreset"))
export type CreatePreset = typeof CreatePreset.Type

export const UpdatePreset = Schema.Struct({
  name: field(optional(Name), ...words.name),
  endpoint: field(optional(PlaygroundEndpoint), ...words.endpoint),
  model: field(optional(Model), ...words.model),
  system: field(clearable(System), ...words.system),
  params_json: field(optional(ParamsJson), ...words.params_json),
  id: ReadOnly,
  created_at: ReadOnly
}).annotations(body("UpdatePlaygroundPreset"))
export type UpdatePreset = typeof UpdatePreset.Type

const Presets = Schema.Struct({
  presets: field(Schema.Array(PresetView), "The presets, oldest first.")
}).annotations({ identifier: "PlaygroundPresets" })
const OnePreset = Schema.Struct({ preset: field(PresetView, "The preset.") }).annotations({
  identifier: "PlaygroundPresetAnswer"
})

export const ImprovePrompt = Schema.Struct({
  system: field(optional(System), "The system prompt that is used with it; it is improved too.", "You help customers."),
  prompt: field(Prompt, "The prompt. Placeholders such as `{{name}}` are kept.", "tell {{name}} about the delay"),
  model: field(
    optional(Schema.String.pipe(Schema.maxLength(maxModelChars, atMost(maxModelChars)))),
    "The model that improves it. Without one, or with one that cannot be asked, the answer is 502.",
    "openai/gpt-4o-mini"
  ),
  tone: field(optional(Text.pipe(Schema.maxLength(200, atMost(200)))), "How it is to sound.", "friendly")
}).annotations(body("ImprovePrompt"))
export type ImprovePrompt = typeof ImprovePrompt.Type

export const Improved = Schema.Struct({
  improvedSystem: field(
    Schema.optionalWith(Schema.String, { exact: true }),
    "The better system prompt; only where one was sent.",
    "You help the customers of a shop."
  ),
  improvedPrompt: field(Schema.String, "The better prompt.", "Tell {{name}} in two sentences why the parcel is late."),
  tokensIn: field(Schema.Number, "Tokens that were asked for it.", 412),
  tokensOut: field(Schema.Number, "Tokens that were answered.", 96)
}).annotations({ identifier: "ImprovedPrompt" })

const Message = Schema.Struct({
  role: field(Schema.Literal("system", "user", "assistant"), "Who says it.", "user"),
  content: field(Long(maxPromptChars), "What is said.", "What is the capital of France?")
}).annotations({ identifier: "PlaygroundMessage" })

const Messages = Schema.Array(Message).pipe(
  Schema.maxItems(maxMessages, { message: () => `must have at most ${maxMessages} messages` })
)

export const Compare = Schema.Struct({
  models: field(
    Schema.Array(Model).pipe(
      Schema.minItems(1, { message: () => "must have at least one model" }),
      Schema.maxItems(maxCompared, { message: () => `must have at most ${maxCompared} models` })
    ),
    "1 to 4 model ids, each once. Each is asked at the same time, by a request of its own.",
    ["openai/gpt-4o-mini", "anthropic/claude-haiku-4-5"]
  ),
  system: field(optional(System), "The system prompt.", "Answer in one sentence."),
  prompt: field(optional(Prompt), "What is asked; or else `messages`.", "Why is the sky blue?"),
  messages: field(
    optional(Messages.pipe(Schema.minItems(1, { message: () => "must have at least one message" }))),
    "A conversation, in place of `prompt`.",
    null
  ),
  params: field(optional(PlaygroundParams), "Parameters for all of them.", { temperature: 0.2 })
}).annotations(body("ComparePrompt"))
export type Compare = typeof Compare.Type

export const WriteSnippets = Schema.Struct({
  endpoint: field(PlaygroundEndpoint, ...words.endpoint),
  model: field(Model, ...words.model),
  system: field(optional(System), ...words.system),
  messages: field(
    optional(Messages),
    "What is asked. Endpoints that take one text take the last one of the user; of a rerank the first is the query and the others are the documents.",
    [{ role: "user", content: "Why is the sky blue?" }]
  ),
  params: field(optional(PlaygroundParams), "Parameters.", { temperature: 0.2 })
}).annotations(body("WriteSnippets"))
export type WriteSnippets = typeof WriteSnippets.Type

export const Snippets = Schema.Struct({
  curl: field(
    Schema.String,
    "A command of a shell. In place of the key there is `$GATEWAY_API_KEY`.",
    `curl 'http://127.0.0.1:20128/v1/chat/completions' -H "Authorization: Bearer $GATEWAY_API_KEY" …`
  ),
  python: field(Schema.String, "A program with `requests`.", "import os\n\nimport requests\n…"),
  typescript: field(Schema.String, "A program with OpenAI's SDK, or `fetch`.", 'import OpenAI from "openai"\n…'),
  omitted: field(Schema.Array(Schema.String), "What was sent and the endpoint does not take.", [])
}).annotations({ identifier: "Snippets" })

const Events = HttpApiSchema.Text({ contentType: "text/event-stream" }).annotations({
  description:
    "Events as they come: `column {column, model}`, `delta {column, text}`, `column_done {column, requestId, metrics}` or `column_error {column, requestId, error}`, at last `done {}`. `metrics` is `{ttftMs, tokensPerSecond, tokensIn, tokensOut, costUsd, isEstimate}`.",
  examples: ['event: delta\ndata: {"column":0,"text":"Because"}\n\n']
})

const at = endpointsOf("playground", { id: ["Id of the preset.", exampleId] })

export class Playground extends HttpApiGroup.make("playground")
  .annotate(OpenApi.Title, "Playground")
  .annotate(
    OpenApi.Description,
    "Models and prompts tried against the real pipeline. Open to who may use inference; every question to a model counts as a request of the caller."
  )
  .add(
    at("presets", {
      summary: "List the presets",
      description: "Named configurations of the playground, which all callers read."
    }).addSuccess(Presets)
  )
  .add(
    at("createPreset", {
      summary: "Create a preset",
      description: "Keeps a configuration under a name; 100 of an API key at most, 500 of callers without one.",
      example: {
        name: "Short answers",
        endpoint: "chat",
        model: "openai/gpt-4o-mini",
        system: "Answer in one sentence.",
        params_json: '{"temperature":0.2}'
      }
    })
      .setPayload(CreatePreset)
      .addSuccess(Created(OnePreset))
      .addError(ConflictAnswer)
  )
  .add(
    at("preset", { summary: "Show a preset", description: "One preset." })
      .addSuccess(OnePreset)
      .addError(NotFoundAnswer)
  )
  .add(
    at("updatePreset", {
      summary: "Change a preset",
      description: "What is absent stays as it is. Only for who has made it, and for who manages the gateway.",
      example: { name: "Shorter answers" }
    })
      .setPayload(UpdatePreset)
      .addSuccess(OnePreset)
      .addError(NotFoundAnswer)
  )
  .add(
    at("removePreset", {
      summary: "Delete a preset",
      description: "Removes it for all callers. Only for who has made it, and for who manages the gateway."
    })
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
  )
  .add(
    at("improvePrompt", {
      summary: "Improve a prompt",
      description:
        "Has a model rewrite a prompt, and the system prompt that goes with it. Placeholders are kept: an answer that loses one is asked for once more, then it is 502.",
      example: { prompt: "tell {{name}} about the delay", model: "openai/gpt-4o-mini", tone: "friendly" }
    })
      .setPayload(ImprovePrompt)
      .addSuccess(Improved)
      .addError(UpstreamFailedAnswer)
      .addError(TooManyRequestsAnswer)
  )
  .add(
    at("compare", {
      summary: "Compare models",
      description:
        "Sends one prompt to up to four models at once and streams their answers side by side. A model that fails disturbs no other; closing the connection ends all of them.",
      example: { models: ["openai/gpt-4o-mini", "anthropic/claude-haiku-4-5"], prompt: "Why is the sky blue?" }
    })
      .setPayload(Compare)
      .addSuccess(Events)
  )
  .add(
    at("snippets", {
      summary: "Write code for a request",
      description:
        "The same request as a command and as programs that run as they are, once `GATEWAY_API_KEY` is set or a key stands in its place.",
      example: {
        endpoint: "chat",
        model: "openai/gpt-4o-mini",
        messages: [{ role: "user", content: "Why is the sky blue?" }]
      }
    })
      .setPayload(WriteSnippets)
      .addSuccess(Snippets)
  ) {}
