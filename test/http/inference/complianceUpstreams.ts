/** Upstreams for the compliance cases: one answer of text and one of a tool call, whole and streamed, in each upstream's wire. */
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

export type UpstreamWire = "chat" | "messages" | "responses" | "gemini" | "ollama"

const call: Fake.FakeToolCall = { id: "call_1", name: "get_weather", arguments: '{"location":"San Francisco, CA"}' }
const texts = ["Hello", " there", "!"]
const said = texts.join("")

interface Asked {
  readonly tools: boolean
  readonly stream: boolean
}

const tokens = { input_tokens: 7, output_tokens: 3, total_tokens: 10 }
const usage = { ...tokens, input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } }

/** As a server of the wire itself sends it: the whole object, with every setting. */
const responseObject = (status: string, output: ReadonlyArray<object>) => ({
  id: "resp_1",
  object: "response",
  created_at: 1_700_000_000,
  completed_at: status === "completed" ? 1_700_000_001 : null,
  status,
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  model: "fake-model",
  output,
  parallel_tool_calls: true,
  presence_penalty: 0,
  frequency_penalty: 0,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: "default",
  store: true,
  temperature: 1,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: "disabled",
  usage: status === "completed" ? usage : null,
  user: null,
  metadata: {}
})

const message = (status: string, content: ReadonlyArray<object>) => ({
  id: "msg_1",
  type: "message",
  status,
  role: "assistant",
  content
})
const functionCall = (status: string, args: string) => ({
  id: "fc_1",
  type: "function_call",
  status,
  call_id: call.id,
  name: call.name,
  arguments: args
})
const outputText = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] })

const itemEvents = (tools: boolean): ReadonlyArray<Record<string, unknown> & { readonly type: string }> => {
  const at = { item_id: tools ? "fc_1" : "msg_1", output_index: 0 }
  const content = { ...at, content_index: 0 }
  if (tools) {
    return [
      { type: "response.output_item.added", output_index: 0, item: functionCall("in_progress", "") },
      { type: "response.function_call_arguments.delta", ...at, delta: call.arguments },
      { type: "response.function_call_arguments.done", ...at, arguments: call.arguments },
      { type: "response.output_item.done", output_index: 0, item: functionCall("completed", call.arguments) }
    ]
  }
  return [
    { type: "response.output_item.added", output_index: 0, item: message("in_progress", []) },
    { type: "response.content_part.added", ...content, part: outputText("") },
    ...texts.map((delta) => ({ type: "response.output_text.delta", ...content, delta, logprobs: [] })),
    { type: "response.output_text.done", ...content, text: said, logprobs: [] },
    { type: "response.content_part.done", ...content, part: outputText(said) },
    { type: "response.output_item.done", output_index: 0, item: message("completed", [outputText(said)]) }
  ]
}

const responsesOutput = (tools: boolean): ReadonlyArray<object> =>
  tools ? [functionCall("completed", call.arguments)] : [message("completed", [outputText(said)])]

const responsesStream = (tools: boolean): ReadonlyArray<string> =>
  [
    { type: "response.created", response: responseObject("in_progress", []) },
    { type: "response.in_progress", response: responseObject("in_progress", []) },
    ...itemEvents(tools),
    { type: "response.completed", response: responseObject("completed", responsesOutput(tools)) }
  ].map((event, index) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`)

const geminiParts = (tools: boolean): ReadonlyArray<object> =>
  tools ? [{ functionCall: { name: call.name, args: JSON.parse(call.arguments) } }] : texts.map((text) => ({ text }))

const geminiAnswer = (parts: ReadonlyArray<object>, last: boolean) => ({
  candidates: [{ index: 0, content: { role: "model", parts }, ...(last ? { finishReason: "STOP" } : {}) }],
  ...(last ? { usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 } } : {}),
  modelVersion: "fake-model",
  responseId: "r1"
})

const ollamaLine = (content: string, done: boolean, tools: boolean) => ({
  model: "fake-model",
  created_at: "2023-11-14T22:13:20Z",
  message: {
    role: "assistant",
    content,
    ...(tools ? { tool_calls: [{ function: { name: call.name, arguments: JSON.parse(call.arguments) } }] } : {})
  },
  done,
  ...(done ? { done_reason: "stop", prompt_eval_count: 7, eval_count: 3 } : {})
})

const answers: Readonly<Record<UpstreamWire, (asked: Asked) => Fake.Answer>> = {
  chat: ({ stream, tools }) =>
    stream
      ? Fake.sse(tools ? Fake.chatStream([], { toolCalls: [call] }) : Fake.chatStream(texts))
      : Fake.json(Fake.chatCompletion(tools ? { toolCalls: [call] } : { text: said })),
  messages: ({ stream, tools }) =>
    stream
      ? Fake.sse(tools ? Fake.messagesStream([], { toolCalls: [call] }) : Fake.messagesStream(texts))
      : Fake.json(Fake.messagesAnswer(tools ? { toolCalls: [call] } : { text: said })),
  responses: ({ stream, tools }) =>
    stream ? Fake.sse(responsesStream(tools)) : Fake.json(responseObject("completed", responsesOutput(tools))),
  gemini: ({ stream, tools }) => {
    const parts = geminiParts(tools)
    if (!stream) return Fake.json(geminiAnswer(parts, true))
    const chunks = parts.map((part, index) => geminiAnswer([part], index === parts.length - 1))
    return Fake.sse(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`))
  },
  ollama: ({ stream, tools }) => {
    if (!stream) return Fake.json(ollamaLine(tools ? "" : said, true, tools))
    const lines = [...(tools ? [] : texts).map((text) => ollamaLine(text, false, false)), ollamaLine("", true, tools)]
    return Fake.sse(
      lines.map((line) => `${JSON.stringify(line)}\n`),
      { headers: { "content-type": "application/x-ndjson" } }
    )
  }
}

/** Answers with a call where tools were offered, else with text; streamed when asked so. */
const answerOf =
  (wire: UpstreamWire): Fake.Answer =>
  async (response, request) => {
    const body = JSON.parse(request.body) as { readonly tools?: ReadonlyArray<unknown>; readonly stream?: boolean }
    const stream = wire === "gemini" ? request.url.includes(":streamGenerateContent") : body.stream === true
    await answers[wire]({ tools: (body.tools ?? []).length > 0, stream })(response, request)
  }

const nodeTypes = {
  chat: "openai-compatible",
  responses: "openai-compatible",
  messages: "anthropic-compatible",
  gemini: "gemini-compatible",
  ollama: "ollama-compatible"
} as const

/** What to create so that `prefix/m` is served by an upstream of the wire. */
const nodeOf = (prefix: string, wire: UpstreamWire, origin: string) => ({
  name: prefix,
  prefix,
  type: nodeTypes[wire],
  baseUrl: `${origin}${wire === "gemini" ? "/v1beta" : wire === "ollama" ? "" : "/v1"}`,
  wires: [wire]
})

/** A gateway that serves `up/m` from an upstream of the wire, which gives every request the same good answer. */
export const setUp = (wire: UpstreamWire) =>
  Effect.gen(function* () {
    const gateway = yield* TestGateway.start()
    const upstream = yield* Fake.start
    upstream.always(answerOf(wire))
    yield* Effect.promise(async () => {
      await gateway.manage("POST", "/api/provider-nodes", nodeOf("up", wire, upstream.origin))
      await gateway.manage("POST", "/api/providers", { provider: "up", name: "up", apiKey: "k", models: ["m"] })
    })
    return { gateway, upstream }
  })

/** A gateway of each upstream's wire, for tests that only ask. */
export const setUpAll = Effect.all({
  chat: setUp("chat"),
  messages: setUp("messages"),
  responses: setUp("responses"),
  gemini: setUp("gemini"),
  ollama: setUp("ollama")
})
