/** How the responses wire says the rows of the request table. */
import type { RequestFieldId } from "../../../../src/wire/fields/RequestFields.ts"
import type { JsonObject } from "../../../../src/wire/json/Json.ts"

const png = "iVBORw0KGgoAAAANSUhEUgAA"
const pngUrl = `data:image/png;base64,${png}`
const schema = { type: "object", properties: { a: { type: "string" } } }
/** As every wire takes it: closed, and with all it has required. */
const closed = { ...schema, required: ["a"], additionalProperties: false }

const items = (...input: ReadonlyArray<JsonObject>): JsonObject => ({ input })
const says = (role: string, content: JsonObject[string]): JsonObject => ({ type: "message", role, content })
const user = (...content: ReadonlyArray<JsonObject>): JsonObject => says("user", content)
const hi = says("user", "Hi")
const text = (value: string): JsonObject => ({ type: "input_text", text: value })
const image = (more: JsonObject): JsonObject => items(user({ type: "input_image", ...more }))
const file = (more: JsonObject): JsonObject => items(user({ type: "input_file", ...more }))

const call = (id: string, args: string, output: JsonObject[string] = "r"): JsonObject =>
  items(
    hi,
    { type: "function_call", call_id: id, name: "f", arguments: args },
    { type: "function_call_output", call_id: id, output }
  )

const tool = (name: string): JsonObject => ({ type: "function", name, description: "d", parameters: schema })
const tools = { tools: [{ ...tool("f"), strict: false }] }
const two = { tools: [tool("f"), tool("g")] }
const reasoning = (more: JsonObject): JsonObject =>
  items(hi, { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }], ...more }, says("assistant", "a"), hi)

export const responsesRequests: Partial<Readonly<Record<RequestFieldId, JsonObject>>> = {
  system: { instructions: "s" },
  systemBetween: items(hi, says("assistant", "a"), says("system", "s"), says("user", "b")),
  developer: items(says("developer", "s"), hi),
  userText: items(says("user", "a")),
  userTexts: items(user(text("a"), text("b"))),
  imageInline: image({ image_url: pngUrl }),
  imageUrl: image({ image_url: "https://x.test/a.png" }),
  imageDetail: image({ image_url: pngUrl, detail: "low" }),
  imageId: image({ file_id: "f" }),
  filePdf: file({ file_data: "data:application/pdf;base64,AAAA" }),
  fileText: file({ file_data: "data:text/plain;base64,AAAA" }),
  fileName: file({ file_data: "data:application/pdf;base64,AAAA", filename: "a.pdf" }),
  fileUrl: file({ file_url: "https://x.test/a.pdf" }),
  fileId: file({ file_id: "f" }),
  audio: items(user({ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } })),
  unknownBlock: items(user(text("a"), { type: "input_new", value: 1 })),
  ownItem: items(hi, { type: "web_search_call", id: "ws", status: "completed" }, says("assistant", "a"), hi),
  reasoningHistory: reasoning({}),
  reasoningSigned: reasoning({ id: "rs_1", encrypted_content: "c2ln" }),
  refusalHistory: items(hi, says("assistant", [{ type: "refusal", refusal: "No." }]), hi),
  citations: items(
    hi,
    says("assistant", [
      { type: "output_text", text: "a", annotations: [{ type: "url_citation", url: "https://x.test" }] }
    ]),
    hi
  ),
  toolCall: call("t", '{"a":1}'),
  toolCallOddId: call("a:b", "{}"),
  toolArgsBroken: call("t", "{oops"),
  toolCallCustom: items(
    hi,
    { type: "custom_tool_call", call_id: "t", name: "f", input: "go" },
    { type: "custom_tool_call_output", call_id: "t", output: "r" }
  ),
  toolResult: call("t", "{}"),
  toolResultImage: call("t", "{}", [{ type: "input_image", image_url: pngUrl }]),
  tool: tools,
  toolStrict: { tools: [{ ...tool("f"), parameters: closed, strict: true }] },
  toolCustom: { tools: [{ type: "custom", name: "c" }] },
  toolNamespace: { tools: [{ type: "namespace", name: "n", tools: [tool("f")] }] },
  toolBuiltin: { tools: [{ type: "code_interpreter" }] },
  toolWebSearch: { tools: [{ type: "web_search" }] },
  toolChoiceNone: { ...two, tool_choice: "none" },
  toolChoiceRequired: { ...two, tool_choice: "required" },
  toolChoiceNamed: { ...two, tool_choice: { type: "function", name: "f" } },
  toolChoiceAllowed: {
    ...two,
    tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "f" }] }
  },
  toolChoiceBuiltin: { ...two, tool_choice: { type: "web_search" } },
  parallelOff: { ...tools, parallel_tool_calls: false },
  maxOutputTokens: { max_output_tokens: 77 },
  temperature: { temperature: 0.5 },
  temperatureHigh: { temperature: 1.5 },
  topP: { top_p: 0.5 },
  logprobs: { include: ["message.output_text.logprobs"] },
  topLogprobs: { top_logprobs: 2 },
  jsonAny: { text: { format: { type: "json_object" } } },
  jsonSchema: { text: { format: { type: "json_schema", name: "n", schema: closed } } },
  verbosity: { text: { verbosity: "low" } },
  reasoningEffort: { reasoning: { effort: "high" } },
  reasoningOff: { reasoning: { effort: "none" } },
  reasoningShown: { reasoning: { effort: "high", summary: "detailed" } },
  user: { user: "u" },
  metadata: { metadata: { a: "b" } },
  stream: { stream: true },
  store: { store: true },
  serviceTier: { service_tier: "flex" },
  promptCacheKey: { prompt_cache_key: "k" },
  safetyIdentifier: { safety_identifier: "s" },
  previousResponse: { previous_response_id: "resp_1" },
  storedConversation: { conversation: "conv_1" },
  storedPrompt: { prompt: { id: "pmpt_1" } },
  itemReference: items(hi, { type: "item_reference", id: "msg_1" }),
  mcpResult: items(
    hi,
    { type: "mcp_call", id: "mcp_1", server_label: "s", name: "look", arguments: "{}", output: "Found" },
    hi
  ),
  background: { background: true },
  include: { include: ["file_search_call.results"] },
  maxToolCalls: { max_tool_calls: 3 },
  ownMember: { truncation: "auto" }
}
