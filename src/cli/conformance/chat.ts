/** The wire of chat completions. https://platform.openai.com/docs/api-reference/chat */
import { type Answer, at, listAt, textAt } from "./Answer.ts"
import { type Case, type CaseRequest, casesOf } from "./Case.ts"
import * as check from "./checks.ts"
import { refusalsOf } from "./refusals.ts"

const source = "https://platform.openai.com/docs/api-reference/chat"
const streaming = "https://platform.openai.com/docs/api-reference/chat-streaming"
const errors = "https://platform.openai.com/docs/guides/error-codes"

const ask =
  (more: Readonly<Record<string, unknown>> = {}, question = "Say hello.") =>
  (model: string): CaseRequest => ({
    method: "POST",
    path: "/v1/chat/completions",
    body: { model, messages: [{ role: "user", content: question }], ...more }
  })

const reasons = ["stop", "length", "tool_calls", "content_filter", "function_call"]
const tool = { type: "function", function: check.weather }
const forced = { tools: [tool], tool_choice: { type: "function", function: { name: check.weather.name } } }
const usageParts = ["prompt_tokens", "completion_tokens"] as const

const isAnswer = (answer: Answer): check.Problems => {
  const { json } = answer
  return [
    ...check.isJson(answer),
    ...check.is(at(json, "object"), "chat.completion", "object"),
    ...check.hasText(at(json, "id"), "id"),
    ...check.hasCount(at(json, "created"), "created"),
    ...check.hasText(at(json, "model"), "model"),
    ...check.is(at(json, "choices", 0, "index"), 0, "the choice's index"),
    ...check.is(at(json, "choices", 0, "message", "role"), "assistant", "the message's role"),
    ...check.isOneOf(at(json, "choices", 0, "finish_reason"), reasons, "finish_reason"),
    ...check.hasUsage(at(json, "usage"), usageParts, "total_tokens")
  ]
}

const hasContent = (answer: Answer): check.Problems => [
  ...isAnswer(answer),
  ...check.hasText(at(answer.json, "choices", 0, "message", "content"), "the message's content")
]

const chunksOf = ({ events }: Answer): ReadonlyArray<unknown> =>
  events.filter(({ data }) => data !== "[DONE]").map(({ json }) => json)

const deltaTexts = (answer: Answer): string =>
  chunksOf(answer)
    .map((chunk) => textAt(chunk, "choices", 0, "delta", "content"))
    .join("")

const reasonsIn = (answer: Answer): ReadonlyArray<unknown> =>
  chunksOf(answer).flatMap((chunk) => {
    const reason = at(chunk, "choices", 0, "finish_reason")
    return typeof reason === "string" ? [reason] : []
  })

const isStream = (answer: Answer): check.Problems => {
  const chunks = chunksOf(answer)
  const ids = new Set(chunks.map((chunk) => at(chunk, "id")))
  return [
    ...check.isStreamOfEvents(answer),
    ...check.unless(
      chunks.every((chunk) => at(chunk, "object") === "chat.completion.chunk"),
      "not every event is a chat.completion.chunk"
    ),
    ...check.unless(ids.size === 1, `the chunks have ${ids.size} ids`),
    ...check.is(at(chunks[0], "choices", 0, "delta", "role"), "assistant", "the first delta's role"),
    ...check.exactlyOne(reasonsIn(answer), "finish reasons"),
    ...check.is(answer.events.at(-1)?.data, "[DONE]", "the last event"),
    ...check.exactlyOne(
      answer.events.filter(({ data }) => data === "[DONE]"),
      "end marks"
    )
  ]
}

const hasUsageLast = (answer: Answer): check.Problems => {
  const chunks = chunksOf(answer)
  const counted = chunks.filter((chunk) => typeof at(chunk, "usage") === "object" && at(chunk, "usage") !== null)
  return [
    ...isStream(answer),
    ...check.exactlyOne(counted, "chunks with usage"),
    ...check.unless(listAt(counted[0], "choices").length === 0, "the chunk with usage has choices"),
    ...check.unless(counted[0] === chunks.at(-1), "the chunk with usage is not the last one"),
    ...check.hasUsage(at(counted[0], "usage"), usageParts, "total_tokens")
  ]
}

const isCall = (answer: Answer): check.Problems => {
  const call = at(answer.json, "choices", 0, "message", "tool_calls", 0)
  return [
    ...isAnswer(answer),
    ...check.is(at(call, "type"), "function", "the call's type"),
    ...check.hasText(at(call, "id"), "the call's id"),
    ...check.is(at(call, "function", "name"), check.weather.name, "the call's name"),
    ...check.hasArguments(at(call, "function", "arguments"))
  ]
}

const isCallInPieces = (answer: Answer): check.Problems => {
  const pieces = chunksOf(answer).flatMap((chunk) => listAt(chunk, "choices", 0, "delta", "tool_calls"))
  const named = pieces.filter((piece) => textAt(piece, "function", "name") !== "")
  return [
    ...isStream(answer),
    ...check.unless(
      pieces.every((piece) => at(piece, "index") === 0),
      "a piece of the call has another index than 0"
    ),
    ...check.exactlyOne(named, "pieces with the call's name"),
    ...check.hasText(at(named[0], "id"), "the id of the piece with the name"),
    ...check.hasArguments(pieces.map((piece) => textAt(piece, "function", "arguments")).join(""))
  ]
}

const called = [
  { role: "user", content: check.weatherQuestion },
  {
    role: "assistant",
    content: null,
    tool_calls: [
      { id: "call_1", type: "function", function: { name: check.weather.name, arguments: '{"city":"Paris"}' } }
    ]
  },
  { role: "tool", tool_call_id: "call_1", content: "18 degrees, clear" }
]

const isRefusal = (...statuses: ReadonlyArray<number>) => check.isErrorOf(statuses, check.openAiError)

const answers: ReadonlyArray<Omit<Case, "wire">> = [
  {
    id: "chat.answer",
    kind: "required",
    title: "answers a question, with usage",
    source,
    request: ask(),
    problems: hasContent
  },
  {
    id: "chat.models",
    kind: "feature",
    title: "lists its models",
    source: "https://platform.openai.com/docs/api-reference/models/list",
    request: () => ({ method: "GET", path: "/v1/models", body: null }),
    problems: (answer) => [
      ...check.isJson(answer),
      ...check.is(at(answer.json, "object"), "list", "object"),
      ...check.unless(
        listAt(answer.json, "data").every((each) => textAt(each, "id") !== "" && at(each, "object") === "model"),
        "an entry of data is no model with an id"
      )
    ]
  },
  {
    id: "chat.turns",
    kind: "required",
    title: "takes a system prompt, earlier turns, and content in parts",
    source,
    request: (model) => ({
      method: "POST",
      path: "/v1/chat/completions",
      body: {
        model,
        messages: [
          { role: "system", content: "You are brief." },
          { role: "user", content: "Hi." },
          { role: "assistant", content: "Hello." },
          { role: "user", content: [{ type: "text", text: "Say hello again." }] }
        ]
      }
    }),
    problems: hasContent
  },
  {
    id: "chat.limit",
    kind: "feature",
    title: "ends an answer at max_tokens, and says so",
    source,
    request: ask({ max_tokens: 5 }, check.longQuestion),
    problems: (answer) => [
      ...isAnswer(answer),
      ...check.is(at(answer.json, "choices", 0, "finish_reason"), "length", "finish_reason")
    ]
  },
  {
    id: "chat.json",
    kind: "feature",
    title: "answers in JSON where that is asked for",
    source: "https://platform.openai.com/docs/guides/structured-outputs",
    request: ask({ response_format: { type: "json_object" } }, 'Answer with the JSON object {"hello": "world"}.'),
    problems: (answer) => [
      ...isAnswer(answer),
      ...check
        .hasArguments(at(answer.json, "choices", 0, "message", "content"))
        .map((problem) => problem.replace("arguments are", "content is"))
    ]
  }
]

const streams: ReadonlyArray<Omit<Case, "wire">> = [
  {
    id: "chat.stream",
    kind: "required",
    title: "streams an answer, with one finish reason and the end mark last",
    source: streaming,
    request: ask({ stream: true }),
    problems: (answer) => [...isStream(answer), ...check.hasText(deltaTexts(answer), "the text of all deltas")]
  },
  {
    id: "chat.stream.usage",
    kind: "feature",
    title: "counts a stream in one last chunk where that is asked for",
    source: streaming,
    request: ask({ stream: true, stream_options: { include_usage: true } }),
    problems: hasUsageLast
  }
]

const tools: ReadonlyArray<Omit<Case, "wire">> = [
  {
    id: "chat.tools",
    kind: "feature",
    title: "calls the function that it has to call",
    source: "https://platform.openai.com/docs/guides/function-calling",
    request: ask(forced, check.weatherQuestion),
    problems: isCall
  },
  {
    id: "chat.tools.stream",
    kind: "feature",
    title: "streams a call in pieces that make a whole one",
    source: streaming,
    request: ask({ ...forced, stream: true }, check.weatherQuestion),
    problems: isCallInPieces
  },
  {
    id: "chat.tools.result",
    kind: "feature",
    title: "answers from the result of a call",
    source: "https://platform.openai.com/docs/guides/function-calling",
    request: (model) => ({
      method: "POST",
      path: "/v1/chat/completions",
      body: { model, messages: called, tools: [tool] }
    }),
    problems: hasContent
  }
]

const refusals = refusalsOf({
  wire: "chat",
  source: errors,
  ask: ask(),
  isRefusal,
  unreadable: [422],
  own: [
    {
      id: "chat.error.messages",
      title: "refuses a request without messages",
      request: (model) => ({ method: "POST", path: "/v1/chat/completions", body: { model } }),
      problems: isRefusal(400, 422)
    }
  ]
})

export const chat = casesOf("chat", [...answers, ...streams, ...tools, ...refusals])
