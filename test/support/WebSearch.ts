/** Clients and upstreams of four wires that search the web: what they ask, and what they answer, whole and as a stream. */
import * as Fake from "./FakeUpstream.ts"
import { parseJson } from "../../src/wire/json/Json.ts"

export const wires = ["chat", "messages", "responses", "gemini"] as const
export type SearchWire = (typeof wires)[number]

export const page = { url: "https://example.com/gateways", title: "Gateways" }
export const said = "A gateway passes requests on."
export const query = "what is a gateway"

const question = "What is a gateway?"

/** A request of each wire that asks for a search of the web. */
export const asks: Readonly<
  Record<SearchWire, (model: string, stream: boolean, more?: object) => readonly [string, object]>
> = {
  chat: (model, stream, more = {}) => [
    "/v1/chat/completions",
    { model, stream, messages: [{ role: "user", content: question }], web_search_options: {}, ...more }
  ],
  messages: (model, stream, more = {}) => [
    "/v1/messages",
    {
      model,
      stream,
      max_tokens: 500,
      messages: [{ role: "user", content: question }],
      tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 3 }],
      ...more
    }
  ],
  responses: (model, stream, more = {}) => [
    "/v1/responses",
    { model, stream, input: question, tools: [{ type: "web_search" }], ...more }
  ],
  gemini: (model, stream, more = {}) => [
    `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    { contents: [{ role: "user", parts: [{ text: question }] }], tools: [{ googleSearch: {} }], ...more }
  ]
}

const usage = { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 }

const chatAnnotation = { type: "url_citation", url_citation: { ...page, start_index: 0, end_index: 9 } }
const chatAnswer = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1_700_000_000,
  model: "m",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: said, annotations: [chatAnnotation] },
      finish_reason: "stop"
    }
  ],
  usage
}
const chatChunk = (delta: object, finish: string | null = null, more: object = {}) => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1_700_000_000,
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more
})

const useBlock = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search" }
const resultBlock = {
  type: "web_search_tool_result",
  tool_use_id: "srvtoolu_1",
  content: [{ type: "web_search_result", ...page, encrypted_content: "EqgfCioIARgB", page_age: "April 30, 2025" }]
}
const location = {
  type: "web_search_result_location",
  ...page,
  encrypted_index: "Eo8BCioIAhgB",
  cited_text: "What a gateway is."
}
const messagesAnswer = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ ...useBlock, input: { query } }, resultBlock, { type: "text", text: said, citations: [location] }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 20, output_tokens: 7, server_tool_use: { web_search_requests: 1 } }
}

const searchItem = {
  id: "ws_1",
  type: "web_search_call",
  status: "completed",
  action: { type: "search", query, sources: [{ type: "url", url: page.url }] }
}
const annotation = { type: "url_citation", start_index: 0, end_index: 9, ...page }
const messageItem = {
  id: "msg_1",
  type: "message",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text: said, annotations: [annotation], logprobs: [] }]
}
const response = (status: string, output: ReadonlyArray<object>) => ({
  id: "resp_1",
  object: "response",
  created_at: 1_700_000_000,
  status,
  model: "m",
  output,
  ...(status === "completed" ? { usage: { input_tokens: 20, output_tokens: 7, total_tokens: 27 } } : {})
})

const grounding = {
  webSearchQueries: [query],
  groundingChunks: [{ web: { uri: page.url, title: page.title } }],
  groundingSupports: [{ segment: { endIndex: 9, text: said.slice(0, 9) }, groundingChunkIndices: [0] }]
}
const geminiAnswer = (text: string, more: object = {}) => ({
  candidates: [{ index: 0, content: { role: "model", parts: [{ text }] }, ...more }],
  usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 7, totalTokenCount: 27 },
  modelVersion: "m",
  responseId: "g1"
})

const event = (body: object): string =>
  `${"type" in body ? `event: ${String(body.type)}\n` : ""}data: ${JSON.stringify(body)}\n\n`

const half = said.length >> 1
const [first, second] = [said.slice(0, half), said.slice(half)]

const streams: Readonly<Record<SearchWire, ReadonlyArray<string>>> = {
  chat: [
    event(chatChunk({ role: "assistant", content: first })),
    event(chatChunk({ content: second })),
    event(chatChunk({ annotations: [chatAnnotation] })),
    event(chatChunk({}, "stop")),
    event({ ...chatChunk({}), choices: [], usage }),
    "data: [DONE]\n\n"
  ],
  messages: [
    event({ type: "message_start", message: { ...messagesAnswer, content: [], stop_reason: null } }),
    event({ type: "content_block_start", index: 0, content_block: { ...useBlock, input: {} } }),
    event({
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json: JSON.stringify({ query }) }
    }),
    event({ type: "content_block_stop", index: 0 }),
    event({ type: "content_block_start", index: 1, content_block: resultBlock }),
    event({ type: "content_block_stop", index: 1 }),
    event({ type: "content_block_start", index: 2, content_block: { type: "text", text: "", citations: [] } }),
    event({ type: "content_block_delta", index: 2, delta: { type: "citations_delta", citation: location } }),
    event({ type: "content_block_delta", index: 2, delta: { type: "text_delta", text: first } }),
    event({ type: "content_block_delta", index: 2, delta: { type: "text_delta", text: second } }),
    event({ type: "content_block_stop", index: 2 }),
    event({
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: 7 }
    }),
    event({ type: "message_stop" })
  ],
  responses: [
    event({ type: "response.created", response: response("in_progress", []) }),
    event({
      type: "response.output_item.added",
      output_index: 0,
      item: { id: "ws_1", type: "web_search_call", status: "in_progress" }
    }),
    event({ type: "response.web_search_call.searching", output_index: 0, item_id: "ws_1" }),
    event({ type: "response.web_search_call.completed", output_index: 0, item_id: "ws_1" }),
    event({ type: "response.output_item.done", output_index: 0, item: searchItem }),
    event({
      type: "response.output_item.added",
      output_index: 1,
      item: { ...messageItem, status: "in_progress", content: [] }
    }),
    event({ type: "response.output_text.delta", output_index: 1, content_index: 0, delta: first }),
    event({ type: "response.output_text.delta", output_index: 1, content_index: 0, delta: second }),
    event({
      type: "response.output_text.annotation.added",
      output_index: 1,
      content_index: 0,
      annotation_index: 0,
      annotation
    }),
    event({ type: "response.output_text.done", output_index: 1, content_index: 0, text: said }),
    event({ type: "response.output_item.done", output_index: 1, item: messageItem }),
    event({ type: "response.completed", response: response("completed", [searchItem, messageItem]) })
  ],
  gemini: [
    event(geminiAnswer(first)),
    event(geminiAnswer(second, { finishReason: "STOP", groundingMetadata: grounding }))
  ]
}

const answers: Readonly<Record<SearchWire, object>> = {
  chat: chatAnswer,
  messages: messagesAnswer,
  responses: response("completed", [searchItem, messageItem]),
  gemini: geminiAnswer(said, { finishReason: "STOP", groundingMetadata: grounding })
}

const wantsStream = ({ body, url }: Fake.RecordedRequest): boolean =>
  url.includes("streamGenerateContent") || (JSON.parse(body) as { readonly stream?: boolean }).stream === true

/** An upstream of a wire that has searched the web itself; asked at the path of another one, it answers in that. */
export const searched =
  (spoken: SearchWire): Fake.Answer =>
  (reply, request) => {
    const wire = request.url.endsWith("/chat/completions") ? "chat" : spoken
    return wantsStream(request)
      ? Fake.sse([...streams[wire]])(reply, request)
      : Fake.json(answers[wire])(reply, request)
  }

/** What it answers with a call of one function, or with words. */
export interface Told {
  readonly call?: { readonly name: string; readonly args: object; readonly id?: string }
  /** Further calls beside it. */
  readonly calls?: ReadonlyArray<{ readonly name: string; readonly args: object; readonly id?: string }>
  readonly text?: string
}

const callsOf = ({ call, calls = [] }: Told) => [...(call === undefined ? [] : [call]), ...calls]

const chatTold = (told: Told) => {
  const calls = callsOf(told).map(({ args, id, name }, index) => ({
    id: id ?? `call_${index}`,
    type: "function" as const,
    function: { name, arguments: JSON.stringify(args) }
  }))
  const finish = calls.length > 0 ? "tool_calls" : "stop"
  return {
    whole: {
      ...chatAnswer,
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: told.text ?? null,
            ...(calls.length === 0 ? {} : { tool_calls: calls })
          },
          finish_reason: finish
        }
      ]
    },
    stream: [
      ...(told.text === undefined ? [] : [event(chatChunk({ role: "assistant", content: told.text }))]),
      ...calls.map((call, index) => event(chatChunk({ tool_calls: [{ index, ...call }] }))),
      event(chatChunk({}, finish)),
      event({ ...chatChunk({}), choices: [], usage }),
      "data: [DONE]\n\n"
    ]
  }
}

const messagesTold = (told: Told) => {
  const blocks = [
    ...(told.text === undefined ? [] : [{ type: "text", text: told.text }]),
    ...callsOf(told).map(({ args, id, name }, index) => ({
      type: "tool_use",
      id: id ?? `toolu_${index}`,
      name,
      input: args
    }))
  ]
  const stop = callsOf(told).length > 0 ? "tool_use" : "end_turn"
  const whole = { ...messagesAnswer, content: blocks, stop_reason: stop, usage: { input_tokens: 20, output_tokens: 7 } }
  return {
    whole,
    stream: [
      event({ type: "message_start", message: { ...whole, content: [], stop_reason: null } }),
      ...blocks.flatMap((block, index) => [
        event({
          type: "content_block_start",
          index,
          content_block: "text" in block ? { type: "text", text: "" } : { ...block, input: {} }
        }),
        event({
          type: "content_block_delta",
          index,
          delta:
            "text" in block
              ? { type: "text_delta", text: block.text }
              : { type: "input_json_delta", partial_json: JSON.stringify("input" in block ? block.input : {}) }
        }),
        event({ type: "content_block_stop", index })
      ]),
      event({ type: "message_delta", delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 7 } }),
      event({ type: "message_stop" })
    ]
  }
}

const responsesTold = (told: Told) => {
  const items = [
    ...(told.text === undefined
      ? []
      : [{ ...messageItem, content: [{ type: "output_text", text: told.text, annotations: [], logprobs: [] }] }]),
    ...callsOf(told).map(({ args, id, name }, index) => ({
      id: `fc_${index}`,
      type: "function_call",
      status: "completed",
      call_id: id ?? `call_${index}`,
      name,
      arguments: JSON.stringify(args)
    }))
  ]
  return {
    whole: response("completed", items),
    stream: [
      event({ type: "response.created", response: response("in_progress", []) }),
      ...items.map((item, index) => event({ type: "response.output_item.done", output_index: index, item })),
      event({ type: "response.completed", response: response("completed", items) })
    ]
  }
}

const geminiTold = (told: Told) => {
  const parts = [
    ...(told.text === undefined ? [] : [{ text: told.text }]),
    ...callsOf(told).map(({ args, name }) => ({ functionCall: { name, args } }))
  ]
  const whole = {
    ...geminiAnswer(""),
    candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }]
  }
  return { whole, stream: [event(whole)] }
}

const toldIn = { chat: chatTold, messages: messagesTold, responses: responsesTold, gemini: geminiTold } as const

/** An upstream of a wire that calls functions or says something. */
export const tells =
  (wire: SearchWire, told: Told): Fake.Answer =>
  (reply, request) => {
    const { stream, whole } = toldIn[wire](told)
    return wantsStream(request) ? Fake.sse(stream)(reply, request) : Fake.json(whole)(reply, request)
  }

/** The same in one piece, also where a stream was asked for. */
export const tellsWhole =
  (wire: SearchWire, told: Told): Fake.Answer =>
  (reply, request) =>
    Fake.json(toldIn[wire](told).whole)(reply, request)

/** What a client has of an answer, in words that all wires have. */
export interface Read {
  readonly text: string
  readonly links: ReadonlyArray<{ readonly url: string; readonly words: string }>
  readonly queries: ReadonlyArray<string>
  readonly found: ReadonlyArray<string>
  readonly errors: ReadonlyArray<string>
  readonly calls: ReadonlyArray<string>
  readonly stop: string
  // eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
  readonly body: any
}

// eslint-disable-next-line typescript/no-explicit-any -- answers are read as they come
type Any = any

const eventsIn = (text: string): ReadonlyArray<Any> =>
  text.split("\n").flatMap((line) => {
    const value = line.startsWith("data: {") ? parseJson(line.slice(6)) : undefined
    return value === undefined ? [] : [value]
  })

const readChat = (message: Any, stop: string, body: Any): Read => ({
  text: message.content ?? "",
  links: (message.annotations ?? []).map(({ url_citation: { end_index: end, start_index: start, url } }: Any) => ({
    url,
    words: (message.content ?? "").slice(start, end)
  })),
  queries: [],
  found: [],
  errors: [],
  calls: (message.tool_calls ?? []).map((call: Any) => call.function.name),
  stop,
  body
})

const chatOf = (text: string, stream: boolean): Read => {
  if (!stream) {
    const body = JSON.parse(text)
    return readChat(body.choices[0].message, body.choices[0].finish_reason, body)
  }
  const events = eventsIn(text)
  const message = { content: "", annotations: [] as Array<Any>, tool_calls: [] as Array<Any> }
  let stop = ""
  for (const { choices } of events) {
    const [choice] = choices
    if (choice === undefined) continue
    const { annotations = [], content, tool_calls: calls = [] } = choice.delta
    message.content += content ?? ""
    message.annotations.push(...annotations)
    for (const call of calls) if (call.function?.name !== undefined) message.tool_calls.push(call)
    stop = choice.finish_reason ?? stop
  }
  return readChat(message, stop, events)
}

const readMessage = (content: ReadonlyArray<Any>, stop: string, body: Any): Read => ({
  text: content.map((block) => block.text ?? "").join(""),
  links: content.flatMap((block) =>
    (block.citations ?? []).map((citation: Any) => ({ url: citation.url, words: block.text }))
  ),
  queries: content.flatMap((block) => (block.type === "server_tool_use" ? block.input.query : [])),
  found: content.flatMap((block) =>
    Array.isArray(block.content) ? block.content.map((result: Any) => result.url) : []
  ),
  errors: content.flatMap((block) => block.content?.error_code ?? []),
  calls: content.flatMap((block) => (block.type === "tool_use" ? block.name : [])),
  stop,
  body
})

const messagesOf = (text: string, stream: boolean): Read => {
  if (!stream) {
    const body = JSON.parse(text)
    return readMessage(body.content, body.stop_reason, body)
  }
  const events = eventsIn(text)
  const content: Array<Any> = []
  let stop = ""
  for (const { content_block: block, delta, index, type } of events) {
    if (type === "content_block_start") {
      if (index !== content.length) throw new Error(`block ${index} begins where ${content.length} is next`)
      content.push({ ...block, json: "" })
    }
    if (type === "content_block_delta") {
      const open = content[index]
      if (delta.type === "text_delta") open.text += delta.text
      if (delta.type === "citations_delta") open.citations = [...(open.citations ?? []), delta.citation]
      if (delta.type === "input_json_delta") open.json += delta.partial_json
    }
    if (type === "content_block_stop" && content[index].json !== "")
      content[index].input = JSON.parse(content[index].json)
    if (type === "message_delta") stop = delta.stop_reason
  }
  return readMessage(content, stop, events)
}

const readResponse = (body: Any): Read => {
  const texts = body.output.flatMap((item: Any) => (item.type === "message" ? item.content : []))
  const searches = body.output.filter((item: Any) => item.type === "web_search_call")
  return {
    text: texts.map((part: Any) => part.text).join(""),
    links: texts.flatMap((part: Any) =>
      part.annotations.map(({ end_index: end, start_index: start, url }: Any) => ({
        url,
        words: part.text.slice(start, end)
      }))
    ),
    queries: searches.map((item: Any) => item.action.query),
    found: searches.flatMap((item: Any) => (item.action.sources ?? []).map((source: Any) => source.url)),
    errors: searches.flatMap((item: Any) => (item.status === "failed" ? "failed" : [])),
    calls: body.output.flatMap((item: Any) => (item.type === "function_call" ? item.name : [])),
    stop: body.status,
    body
  }
}

const readGemini = (parts: ReadonlyArray<Any>, metadata: Any, stop: string, body: Any): Read => {
  const text = parts.map((part) => part.text ?? "").join("")
  const bytesOf = (part: number | undefined): Buffer =>
    Buffer.from(part === undefined ? text : (parts[part].text ?? ""))
  const chunks = (metadata?.groundingChunks ?? []).map((chunk: Any) => chunk.web.uri)
  return {
    text,
    links: (metadata?.groundingSupports ?? []).flatMap(({ groundingChunkIndices: indices, segment }: Any) =>
      indices.map((index: number) => ({
        url: chunks[index],
        words: bytesOf(segment.partIndex)
          .subarray(segment.startIndex ?? 0, segment.endIndex)
          .toString()
      }))
    ),
    queries: metadata?.webSearchQueries ?? [],
    found: chunks,
    errors: [],
    calls: parts.flatMap((part) => part.functionCall?.name ?? []),
    stop,
    body
  }
}

const geminiOf = (text: string, stream: boolean): Read => {
  const bodies = stream ? eventsIn(text) : [JSON.parse(text)]
  const candidates = bodies.map((body) => body.candidates[0])
  const last = candidates.at(-1)
  const metadata = candidates.map(({ groundingMetadata }) => groundingMetadata).findLast((each) => each !== undefined)
  return readGemini(
    candidates.flatMap(({ content }) => content.parts),
    metadata,
    last.finishReason,
    stream ? bodies : bodies[0]
  )
}

export const read = (wire: SearchWire, text: string, stream: boolean): Read => {
  switch (wire) {
    case "chat":
      return chatOf(text, stream)
    case "messages":
      return messagesOf(text, stream)
    case "gemini":
      return geminiOf(text, stream)
    case "responses": {
      const events = stream ? eventsIn(text) : []
      return readResponse(stream ? events.at(-1).response : JSON.parse(text))
    }
  }
}
