/** For each row of the request table: how each wire says it, and how it reads when it has arrived. */
import type { Conversation, Part } from "../../../../src/wire/canonical/Conversation.ts"
import type { RequestFieldId } from "../../../../src/wire/fields/RequestFields.ts"
import { codecs, forOtherWires } from "../../../../src/wire/Codec.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"

export interface RequestExample {
  readonly read: (conversation: Conversation) => unknown
  /** Members put into a plain request of the wire. */
  readonly chat?: JsonObject
  readonly messages?: JsonObject
  readonly ollama?: JsonObject
}

const png = "iVBORw0KGgoAAAANSUhEUgAA"
const schema = { type: "object", properties: { a: { type: "string" } } }
/** As every wire takes it: closed, and with all it has required. */
const closed = { ...schema, required: ["a"], additionalProperties: false }

const said = (...messages: ReadonlyArray<JsonObject>): JsonObject => ({ messages })
const user = (content: JsonObject[string], more: JsonObject = {}): JsonObject => ({ role: "user", content, ...more })
const assistant = (content: JsonObject[string], more: JsonObject = {}): JsonObject => ({
  role: "assistant",
  content,
  ...more
})
const hi = user("Hi")

const partsOf = (conversation: Conversation): ReadonlyArray<Part> =>
  conversation.messages.flatMap((message) => message.parts)
const textOf = (parts: ReadonlyArray<Part>) => parts.flatMap((part) => (part.type === "text" ? part.text : []))
const turns = (conversation: Conversation) => conversation.messages.map(({ parts, role }) => [role, ...textOf(parts)])
const results = (conversation: Conversation) =>
  partsOf(conversation).flatMap((part) => (part.type === "tool_result" ? part : []))
const kinds = (type: Part["type"]) => (conversation: Conversation) =>
  partsOf(conversation).filter((part) => part.type === type)
const sources = (conversation: Conversation) =>
  partsOf(conversation).flatMap((part) => (part.type === "image" ? part.source : []))
const files = (conversation: Conversation) =>
  partsOf(conversation).flatMap((part) => (part.type === "file" ? part.source : []))
const calls = (conversation: Conversation) =>
  partsOf(conversation).flatMap((part) => (part.type === "tool_call" ? [[part.id, part.name, part.args]] : []))

const image = (url: string, more: JsonObject = {}): JsonObject => ({ type: "image_url", image_url: { url, ...more } })
const block = (type: string, source: JsonObject, more: JsonObject = {}): JsonObject => ({ type, source, ...more })
const inlineSource = { type: "base64", media_type: "image/png", data: png }
const chatFile = (file: JsonObject): JsonObject => said(user([{ type: "file", file }]))
const document = (source: JsonObject, more: JsonObject = {}): JsonObject =>
  said(user([block("document", source, more)]))
const pdfUrl = "data:application/pdf;base64,AAAA"

const chatCall = (id: string, args: string): JsonObject =>
  said(hi, assistant(null, { tool_calls: [{ id, type: "function", function: { name: "f", arguments: args } }] }), {
    role: "tool",
    tool_call_id: id,
    content: "r"
  })
const messagesCall = (result: JsonObject): JsonObject =>
  said(
    hi,
    assistant([{ type: "tool_use", id: "t", name: "f", input: { a: 1 } }]),
    user([{ type: "tool_result", tool_use_id: "t", content: "r", ...result }])
  )
const ollamaCallOf = (id: string): JsonObject =>
  said(hi, assistant("", { tool_calls: [{ id, function: { name: "f", arguments: { a: 1 } } }] }), {
    role: "tool",
    tool_call_id: id,
    content: "r"
  })
const ollamaCall = ollamaCallOf("t")

const spec = { name: "f", description: "d" }
const chatTool = { type: "function", function: { ...spec, parameters: schema } }
const chatTools = { tools: [chatTool, { type: "function", function: { name: "g", parameters: schema } }] }
const messagesTools = { tools: [{ ...spec, input_schema: schema }] }
const functions = (conversation: Conversation) =>
  conversation.tools.flatMap((tool) => (tool.type === "function" ? [[tool.name, tool.description, tool.schema]] : []))
const choice = ({ toolChoice }: Conversation) => toolChoice

const extra =
  (name: string) =>
  ({ extras }: Conversation) =>
    extras[name]

const schemaFormat = { type: "json_schema", json_schema: { name: "n", schema: closed } }

export const requestExamples: Readonly<Record<RequestFieldId, RequestExample>> = {
  system: {
    read: turns,
    chat: said({ role: "system", content: "s" }, hi),
    messages: { system: "s" },
    ollama: said({ role: "system", content: "s" }, hi)
  },
  systemBetween: {
    read: turns,
    chat: said(hi, assistant("a"), { role: "system", content: "s" }, user("b")),
    messages: said(hi, assistant("a"), { role: "system", content: "s" }, user("b")),
    ollama: said(hi, assistant("a"), { role: "system", content: "s" }, user("b"))
  },
  developer: { read: turns, chat: said({ role: "developer", content: "s" }, hi) },
  userText: { read: turns, chat: said(user("a")), messages: said(user("a")), ollama: said(user("a")) },
  userTexts: {
    read: turns,
    chat: said(
      user([
        { type: "text", text: "a" },
        { type: "text", text: "b" }
      ])
    ),
    messages: said(
      user([
        { type: "text", text: "a" },
        { type: "text", text: "b" }
      ])
    )
  },
  imageInline: {
    read: sources,
    chat: said(user([image(`data:image/png;base64,${png}`)])),
    messages: said(user([block("image", inlineSource)])),
    ollama: said(user("", { images: [png] }))
  },
  imageUrl: {
    read: sources,
    chat: said(user([image("https://x.test/a")])),
    messages: said(user([block("image", { type: "url", url: "https://x.test/a" })]))
  },
  imageDetail: { read: kinds("image"), chat: said(user([image(`data:image/png;base64,${png}`, { detail: "low" })])) },
  imageId: { read: sources },
  filePdf: {
    read: files,
    chat: chatFile({ file_data: pdfUrl }),
    messages: document({ type: "base64", media_type: "application/pdf", data: "AAAA" })
  },
  fileText: {
    read: files,
    chat: chatFile({ file_data: "data:text/plain;base64,AAAA" }),
    messages: document({ type: "text", media_type: "text/plain", data: "x" })
  },
  fileName: {
    read: (conversation) => partsOf(conversation).flatMap((part) => (part.type === "file" ? part.filename : [])),
    chat: chatFile({ file_data: pdfUrl, filename: "a.pdf" }),
    messages: document({ type: "base64", media_type: "application/pdf", data: "AAAA" }, { title: "a.pdf" })
  },
  fileUrl: { read: files, messages: document({ type: "url", url: "https://x.test/a.pdf" }) },
  fileId: { read: files, chat: chatFile({ file_id: "f" }), messages: document({ type: "file", file_id: "f" }) },
  audio: {
    read: kinds("audio"),
    chat: said(user([{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }]))
  },
  video: { read: files },
  ownItem: { read: kinds("opaque") },
  opaqueBlock: {
    read: kinds("opaque"),
    messages: said(
      user([{ type: "search_result", title: "t", source: "https://x.test", content: [{ type: "text", text: "a" }] }])
    )
  },
  unknownBlock: { read: kinds("opaque") },
  mcpResult: {
    read: kinds("opaque"),
    messages: said(
      user("a"),
      assistant([
        { type: "mcp_tool_result", tool_use_id: "t", is_error: false, content: [{ type: "text", text: "Found" }] }
      ]),
      user("b")
    )
  },
  documentBlocks: {
    read: kinds("opaque"),
    messages: said(user([{ type: "document", source: { type: "content", content: [{ type: "text", text: "a" }] } }]))
  },
  containerFile: { read: kinds("opaque"), messages: said(user([{ type: "container_upload", file_id: "f" }])) },
  itemReference: { read: kinds("opaque") },
  cacheControl: {
    read: (conversation) => partsOf(conversation).flatMap((part) => ("cacheControl" in part ? part.cacheControl : [])),
    chat: said(user([{ type: "text", text: "a", cache_control: { type: "ephemeral" } }])),
    messages: said(user([{ type: "text", text: "a", cache_control: { type: "ephemeral" } }]))
  },
  messageName: { read: ({ messages }) => messages.map(({ name }) => name), chat: said(user("a", { name: "bob" })) },
  reasoningHistory: {
    read: (conversation) => partsOf(conversation).flatMap((part) => (part.type === "reasoning" ? part.text : [])),
    chat: said(hi, assistant("a", { reasoning_content: "hm" }), hi),
    ollama: said(hi, assistant("a", { thinking: "hm" }), hi)
  },
  reasoningSigned: {
    read: kinds("reasoning"),
    messages: said(
      hi,
      assistant([
        { type: "thinking", thinking: "hm", signature: "c2ln" },
        { type: "text", text: "a" }
      ]),
      hi
    )
  },
  refusalHistory: { read: kinds("refusal"), chat: said(hi, assistant(null, { refusal: "No." }), hi) },
  citations: {
    read: (conversation) =>
      partsOf(forOtherWires(codecs[conversation.wire], conversation)).flatMap((part) =>
        part.type === "text" ? [[part.text, part.citations?.map(({ link }) => link?.url) ?? []]] : []
      ),
    chat: said(
      hi,
      assistant("a", { annotations: [{ type: "url_citation", url_citation: { url: "https://x.test", title: "X" } }] }),
      hi
    ),
    messages: said(
      hi,
      assistant([
        {
          type: "text",
          text: "a",
          citations: [{ type: "web_search_result_location", url: "https://x.test", title: "X" }]
        }
      ]),
      hi
    )
  },
  toolCall: { read: calls, chat: chatCall("t", '{"a":1}'), messages: messagesCall({}), ollama: ollamaCall },
  toolCallOddId: { read: calls, chat: chatCall("a:b", "{}"), ollama: ollamaCallOf("a:b") },
  toolArgsBroken: { read: calls, chat: chatCall("t", "{oops") },
  toolCallCustom: {
    read: (conversation) => partsOf(conversation).flatMap((part) => (part.type === "tool_call" ? part.kind : [])),
    chat: said(hi, assistant(null, { tool_calls: [{ id: "t", type: "custom", custom: { name: "f", input: "go" } }] }), {
      role: "tool",
      tool_call_id: "t",
      content: "r"
    })
  },
  toolResult: { read: results, chat: chatCall("t", "{}"), messages: messagesCall({}), ollama: ollamaCall },
  toolResultImage: {
    read: (conversation) =>
      results(conversation).flatMap(({ content }) =>
        content.flatMap((part) => (part.type === "image" ? part.source : []))
      ),
    messages: messagesCall({ content: [block("image", inlineSource)] })
  },
  toolResultError: { read: results, messages: messagesCall({ is_error: true }) },
  tool: { read: functions, chat: { tools: [chatTool] }, messages: messagesTools, ollama: { tools: [chatTool] } },
  toolStrict: {
    read: ({ tools }) => tools.map((tool) => "strict" in tool && tool.strict),
    chat: { tools: [{ type: "function", function: { ...spec, parameters: closed, strict: true } }] },
    messages: { tools: [{ ...spec, input_schema: closed, strict: true }] }
  },
  toolCustom: {
    read: ({ tools }) => tools.map((tool) => [tool.type, tool.type === "builtin" ? null : tool.name]),
    chat: { tools: [{ type: "custom", custom: { name: "c" } }] }
  },
  toolNamespace: { read: functions },
  toolBuiltin: { read: ({ tools }) => tools, messages: { tools: [{ type: "code_execution_20250825", name: "c" }] } },
  toolWebSearch: {
    read: ({ tools }) => tools,
    chat: { web_search_options: {} },
    messages: { tools: [{ type: "web_search_20250305", name: "w" }] }
  },
  toolChoiceNone: {
    read: choice,
    chat: { ...chatTools, tool_choice: "none" },
    messages: { ...messagesTools, tool_choice: { type: "none" } }
  },
  toolChoiceRequired: {
    read: choice,
    chat: { ...chatTools, tool_choice: "required" },
    messages: { ...messagesTools, tool_choice: { type: "any" } }
  },
  toolChoiceNamed: {
    read: choice,
    chat: { ...chatTools, tool_choice: { type: "function", function: { name: "f" } } },
    messages: { ...messagesTools, tool_choice: { type: "tool", name: "f" } }
  },
  toolChoiceAllowed: {
    read: choice,
    chat: {
      ...chatTools,
      tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [{ type: "function", name: "f" }] } }
    }
  },
  toolChoiceBuiltin: {
    read: choice,
    messages: { tools: [{ type: "web_search_20250305", name: "w" }], tool_choice: { type: "tool", name: "w" } }
  },
  parallelOff: {
    read: ({ parallelToolCalls }) => parallelToolCalls,
    chat: { ...chatTools, parallel_tool_calls: false },
    messages: { ...messagesTools, tool_choice: { type: "auto", disable_parallel_tool_use: true } }
  },
  maxOutputTokens: {
    read: ({ maxOutputTokens }) => maxOutputTokens,
    chat: { max_tokens: 77 },
    messages: { max_tokens: 77 },
    ollama: { options: { num_predict: 77 } }
  },
  maxOutputTokensLow: {
    read: ({ maxOutputTokens }) => maxOutputTokens,
    chat: { max_tokens: 5 },
    messages: { max_tokens: 5 },
    ollama: { options: { num_predict: 5 } }
  },
  temperature: {
    read: ({ sampling }) => sampling.temperature,
    chat: { temperature: 0.5 },
    messages: { temperature: 0.5 },
    ollama: { options: { temperature: 0.5 } }
  },
  temperatureHigh: {
    read: ({ sampling }) => sampling.temperature,
    chat: { temperature: 1.5 },
    ollama: { options: { temperature: 1.5 } }
  },
  topP: {
    read: ({ sampling }) => sampling.topP,
    chat: { top_p: 0.5 },
    messages: { top_p: 0.5 },
    ollama: { options: { top_p: 0.5 } }
  },
  topK: { read: ({ sampling }) => sampling.topK, messages: { top_k: 5 }, ollama: { options: { top_k: 5 } } },
  stop: {
    read: ({ sampling }) => sampling.stop,
    chat: { stop: ["a", "b"] },
    messages: { stop_sequences: ["a", "b"] },
    ollama: { options: { stop: ["a", "b"] } }
  },
  stopMany: {
    read: ({ sampling }) => sampling.stop,
    messages: { stop_sequences: ["a", "b", "c", "d", "e"] },
    ollama: { options: { stop: ["a", "b", "c", "d", "e"] } }
  },
  stopMore: {
    read: ({ sampling }) => sampling.stop,
    messages: { stop_sequences: ["a", "b", "c", "d", "e", "f"] },
    ollama: { options: { stop: ["a", "b", "c", "d", "e", "f"] } }
  },
  seed: { read: ({ sampling }) => sampling.seed, chat: { seed: 7 }, ollama: { options: { seed: 7 } } },
  presencePenalty: {
    read: ({ sampling }) => sampling.presencePenalty,
    chat: { presence_penalty: 0.5 },
    ollama: { options: { presence_penalty: 0.5 } }
  },
  frequencyPenalty: {
    read: ({ sampling }) => sampling.frequencyPenalty,
    chat: { frequency_penalty: 0.5 },
    ollama: { options: { frequency_penalty: 0.5 } }
  },
  logprobs: {
    read: ({ sampling }) => sampling.logprobs,
    chat: { logprobs: true },
    ollama: { logprobs: true, stream: false }
  },
  topLogprobs: {
    read: ({ sampling }) => sampling.topLogprobs,
    chat: { top_logprobs: 2 },
    ollama: { top_logprobs: 2, stream: false }
  },
  logitBias: { read: ({ sampling }) => sampling.logitBias, chat: { logit_bias: { "1": 2 } } },
  candidates: { read: ({ candidates }) => candidates, chat: { n: 2 } },
  jsonAny: {
    read: ({ outputFormat }) => outputFormat,
    chat: { response_format: { type: "json_object" } },
    ollama: { format: "json" }
  },
  jsonSchema: {
    read: ({ outputFormat }) => (outputFormat?.type === "json_schema" ? outputFormat.schema : null),
    chat: { response_format: schemaFormat },
    messages: { output_config: { format: { type: "json_schema", schema: closed } } },
    ollama: { format: closed }
  },
  verbosity: { read: ({ extras }) => extras["verbosity"] ?? extras["text.verbosity"], chat: { verbosity: "low" } },
  reasoningEffort: {
    read: ({ reasoning }) => reasoning,
    chat: { reasoning_effort: "high" },
    ollama: { think: "high" }
  },
  reasoningBudget: {
    read: ({ reasoning }) => reasoning,
    messages: { max_tokens: 8000, thinking: { type: "enabled", budget_tokens: 4096 } }
  },
  reasoningOff: {
    read: ({ reasoning }) => reasoning,
    chat: { reasoning_effort: "none" },
    messages: { thinking: { type: "disabled" } },
    ollama: { think: false }
  },
  reasoningShown: {
    read: ({ reasoning }) => reasoning?.summary,
    messages: { max_tokens: 8000, thinking: { type: "enabled", budget_tokens: 4096, display: "omitted" } }
  },
  user: { read: ({ user }) => user, chat: { user: "u" }, messages: { metadata: { user_id: "u" } } },
  metadata: { read: ({ metadata }) => metadata, chat: { metadata: { a: "b" } } },
  stream: { read: ({ stream }) => stream, chat: { stream: true }, messages: { stream: true }, ollama: {} },
  store: { read: extra("store"), chat: { store: true } },
  serviceTier: {
    read: extra("service_tier"),
    chat: { service_tier: "flex" },
    messages: { service_tier: "standard_only" }
  },
  promptCacheKey: { read: extra("prompt_cache_key"), chat: { prompt_cache_key: "k" } },
  safetyIdentifier: { read: extra("safety_identifier"), chat: { safety_identifier: "s" } },
  previousResponse: { read: extra("previous_response_id") },
  storedConversation: { read: extra("conversation") },
  storedPrompt: { read: extra("prompt") },
  background: { read: extra("background") },
  include: { read: extra("include") },
  maxToolCalls: { read: extra("max_tool_calls") },
  safetySettings: { read: extra("safetySettings") },
  cachedContent: { read: extra("cachedContent") },
  responseModalities: { read: extra("generationConfig.responseModalities") },
  ownMember: {
    read: ({ extras }) => extras,
    chat: { prediction: { type: "content", content: "a" } },
    messages: { container: "c" },
    ollama: { keep_alive: "5m" }
  },
  ownOption: { read: ({ extras }) => extras, ollama: { options: { num_ctx: 4096 } } }
}
