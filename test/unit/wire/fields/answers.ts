/** For each row of the answer table: how each wire says it, and how it reads when it has arrived. */
import { isAudio } from "../../../../src/wire/canonical/Pictures.ts"
import type { AnswerPart, Response } from "../../../../src/wire/canonical/Response.ts"
import type { AnswerFieldId } from "../../../../src/wire/fields/AnswerFields.ts"
import { isArray, type JsonObject, objectOr } from "../../../../src/wire/json/Json.ts"

export interface AnswerExample {
  readonly read: (response: Response) => unknown
  /** Whole answers. */
  readonly chat?: JsonObject
  readonly messages?: JsonObject
  readonly ollama?: JsonObject
}

const chat = (message: JsonObject, finish = "stop", more: JsonObject = {}, choice: JsonObject = {}): JsonObject => ({
  id: "x",
  model: "m",
  created: 1_700_000_000,
  choices: [{ index: 0, message: { role: "assistant", content: "a", ...message }, finish_reason: finish, ...choice }],
  usage: { prompt_tokens: 9, completion_tokens: 5 },
  ...more
})

const png = "iVBORw0KGgo="

const messages = (content: ReadonlyArray<JsonObject>, stop = "end_turn", usage: JsonObject = {}): JsonObject => ({
  id: "x",
  type: "message",
  model: "m",
  content,
  stop_reason: stop,
  usage: { input_tokens: 9, output_tokens: 5, ...usage }
})

const ollama = (message: JsonObject, reason = "stop", more: JsonObject = {}): JsonObject => ({
  model: "m",
  created_at: "2023-11-14T22:13:20.000Z",
  message: { role: "assistant", content: "a", ...message },
  done: true,
  done_reason: reason,
  prompt_eval_count: 9,
  eval_count: 5,
  ...more
})

const text = { type: "text", text: "a" }
const kinds =
  (...types: ReadonlyArray<AnswerPart["type"]>) =>
  (response: Response) =>
    response.parts.filter(({ type }) => types.includes(type))
/** The addresses of citations, wherever their wire puts them. */
const cited = ({ parts }: Response) =>
  parts.flatMap((part) => (part.type === "text" ? (part.citations ?? []).flatMap(({ link }) => link?.url ?? []) : []))
const reason = ({ stop }: Response) => stop.reason

const chatCalls = { tool_calls: [{ id: "t", type: "function", function: { name: "f", arguments: '{"a":1}' } }] }
const toolUse = { type: "tool_use", id: "t", name: "f", input: { a: 1 } }
const ollamaCalls = { tool_calls: [{ id: "t", function: { name: "f", arguments: { a: 1 } } }] }
const logprobs = [{ token: "a", logprob: -1 }]

export const answerExamples: Readonly<Record<AnswerFieldId, AnswerExample>> = {
  id: { read: ({ id }) => id, chat: chat({}), messages: messages([text]) },
  model: { read: ({ model }) => model, chat: chat({}), messages: messages([text]), ollama: ollama({}) },
  created: { read: ({ createdMs }) => createdMs, chat: chat({}), ollama: ollama({}) },
  text: { read: kinds("text"), chat: chat({}), messages: messages([text]), ollama: ollama({}) },
  texts: { read: kinds("text"), messages: messages([text, text]) },
  refusal: { read: kinds("text", "refusal"), chat: chat({ content: null, refusal: "No." }) },
  reasoning: {
    read: kinds("reasoning"),
    chat: chat({ reasoning_content: "hm" }),
    messages: messages([{ type: "thinking", thinking: "hm", signature: "" }, text]),
    ollama: ollama({ thinking: "hm" })
  },
  reasoningProof: {
    read: ({ parts }) => parts.flatMap((part) => (part.type === "reasoning" && part.state ? part.state : [])),
    messages: messages([{ type: "thinking", thinking: "hm", signature: "c2ln" }, text])
  },
  toolCall: {
    read: kinds("tool_call"),
    chat: chat(chatCalls, "tool_calls"),
    messages: messages([toolUse], "tool_use"),
    ollama: ollama(ollamaCalls)
  },
  toolCallCustom: {
    read: kinds("tool_call"),
    chat: chat({ tool_calls: [{ id: "t", type: "custom", custom: { name: "f", input: "free" } }] }, "tool_calls")
  },
  serverTool: {
    read: kinds("opaque"),
    messages: messages([{ type: "server_tool_use", id: "s", name: "code_execution", input: {} }, text])
  },
  webSearch: {
    read: ({ parts }) =>
      parts.flatMap((part) => {
        const search = part.type === "opaque" && part.search?.isBegun !== true ? part.search : undefined
        return search === undefined ? [] : [[search.queries, search.hits.map(({ url }) => url)]]
      }),
    messages: messages([
      { type: "server_tool_use", id: "s", name: "web_search", input: { query: "q" } },
      {
        type: "web_search_tool_result",
        tool_use_id: "s",
        content: [
          { type: "web_search_result", url: "https://x.test", title: "X", encrypted_content: "e", page_age: null }
        ]
      },
      text
    ])
  },
  picture: {
    read: ({ parts }) => parts.flatMap((part) => (part.type === "opaque" ? (part.picture ?? []) : [])),
    chat: chat({ images: [{ type: "image_url", image_url: { url: `data:image/png;base64,${png}` } }] }),
    ollama: ollama({ images: [png] })
  },
  sound: {
    read: ({ parts }) => parts.filter((part) => part.type === "opaque" && isAudio(part)),
    chat: chat({ content: null, audio: { id: "audio_1", data: png, transcript: "a", expires_at: 1 } })
  },
  citations: {
    read: cited,
    chat: chat({ annotations: [{ type: "url_citation", url_citation: { url: "https://x.test", title: "X" } }] }),
    messages: messages([
      {
        ...text,
        citations: [{ type: "web_search_result_location", url: "https://x.test", title: "X", cited_text: "x" }]
      }
    ])
  },
  logprobs: {
    read: ({ logprobs }) =>
      (isArray(logprobs?.["content"]) ? logprobs["content"] : []).map((entry) => [
        objectOr(entry)["token"],
        objectOr(entry)["logprob"]
      ]),
    chat: chat({}, "stop", {}, { logprobs: { content: logprobs } }),
    ollama: ollama({}, "stop", { logprobs })
  },
  stopEnd: { read: reason, chat: chat({}), messages: messages([text]), ollama: ollama({}) },
  stopLength: {
    read: reason,
    chat: chat({}, "length"),
    messages: messages([text], "max_tokens"),
    ollama: ollama({}, "length")
  },
  stopTools: {
    read: reason,
    chat: chat(chatCalls, "tool_calls"),
    messages: messages([toolUse], "tool_use"),
    ollama: ollama(ollamaCalls)
  },
  stopSequence: { read: reason, messages: messages([text], "stop_sequence") },
  stopFilter: { read: reason, chat: chat({}, "content_filter"), messages: messages([text], "refusal") },
  stopWindow: { read: reason, messages: messages([text], "model_context_window_exceeded") },
  stopPause: { read: reason, messages: messages([text], "pause_turn") },
  usageIn: { read: ({ usage }) => usage?.in, chat: chat({}), messages: messages([text]), ollama: ollama({}) },
  usageOut: { read: ({ usage }) => usage?.out, chat: chat({}), messages: messages([text]), ollama: ollama({}) },
  usageCacheRead: {
    read: ({ usage }) => usage?.cacheRead,
    chat: chat({}, "stop", {
      usage: { prompt_tokens: 9, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } }
    }),
    messages: messages([text], "end_turn", { cache_read_input_tokens: 4 })
  },
  usageCacheWrite: {
    read: ({ usage }) => usage?.cacheWrite,
    messages: messages([text], "end_turn", { cache_creation_input_tokens: 4 })
  },
  usageReasoning: {
    read: ({ usage }) => usage?.reasoning,
    chat: chat({}, "stop", {
      usage: { prompt_tokens: 9, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 4 } }
    })
  }
}
