/** The wire of Gemini. https://ai.google.dev/api/generate-content */
import { type Answer, at, listAt, textAt } from "./Answer.ts"
import { type Case, type CaseRequest, casesOf } from "./Case.ts"
import * as check from "./checks.ts"
import { refusalsOf } from "./refusals.ts"

const source = "https://ai.google.dev/api/generate-content"
const calling = "https://ai.google.dev/gemini-api/docs/function-calling"
const errors = "https://ai.google.dev/gemini-api/docs/troubleshooting"

const pathOf = (model: string, action: string): string => `/v1beta/models/${encodeURIComponent(model)}:${action}`

const says = (text: string, role = "user") => ({ role, parts: [{ text }] })

const ask =
  (more: Readonly<Record<string, unknown>> = {}, question = "Say hello.", action = "generateContent") =>
  (model: string): CaseRequest => ({
    method: "POST",
    path: pathOf(model, action),
    body: { contents: [says(question)], ...more }
  })

const streamed = "streamGenerateContent?alt=sse"
const reasons = ["STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER"]
const tools = [{ functionDeclarations: [check.weather] }]
const forced = {
  tools,
  toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: [check.weather.name] } }
}

const hasUsage = (json: unknown): check.Problems =>
  check.hasUsage(at(json, "usageMetadata"), ["promptTokenCount", "candidatesTokenCount"], "totalTokenCount")

const partsOf = (json: unknown): ReadonlyArray<unknown> => listAt(json, "candidates", 0, "content", "parts")

const textOf = (json: unknown): string =>
  partsOf(json)
    .filter((part) => at(part, "thought") !== true)
    .map((part) => textAt(part, "text"))
    .join("")

const isAnswer = (answer: Answer): check.Problems => [
  ...check.isJson(answer),
  ...check.is(at(answer.json, "candidates", 0, "content", "role"), "model", "the content's role"),
  ...check.isOneOf(at(answer.json, "candidates", 0, "finishReason"), reasons, "finishReason"),
  ...hasUsage(answer.json)
]

const hasContent = (answer: Answer): check.Problems => [
  ...isAnswer(answer),
  ...check.hasText(textOf(answer.json), "the text of all parts")
]

const isStream = (answer: Answer): check.Problems => {
  const chunks = answer.events.map(({ json }) => json)
  const ends = chunks.filter((chunk) => textAt(chunk, "candidates", 0, "finishReason") !== "")
  return [
    ...check.isStreamOfEvents(answer),
    ...check.unless(
      chunks.every((chunk) => typeof chunk === "object"),
      "an event is no JSON"
    ),
    ...check.exactlyOne(ends, "finish reasons"),
    ...hasUsage(chunks.findLast((chunk) => at(chunk, "usageMetadata") !== undefined))
  ]
}

const isCall = (parts: ReadonlyArray<unknown>): check.Problems => {
  const call = parts.map((part) => at(part, "functionCall")).find((found) => found !== undefined)
  return [
    ...check.is(at(call, "name"), check.weather.name, "the call's name"),
    ...check.hasText(at(call, "args", "city"), "the call's city")
  ]
}

/** `{"error": {"code", "message", "status"}}`, where the code is the status of HTTP. */
const isRefusal = (...statuses: ReadonlyArray<number>) => {
  const problems = check.isErrorOf(statuses, (body) => [
    ...check.hasText(at(body, "error", "message"), "error.message"),
    ...check.hasText(at(body, "error", "status"), "error.status")
  ])
  return (answer: Answer): check.Problems => [
    ...problems(answer),
    ...check.is(at(answer.json, "error", "code"), answer.status, "error.code")
  ]
}

const answers: ReadonlyArray<Omit<Case, "wire">> = [
  {
    id: "gemini.answer",
    kind: "required",
    title: "answers a question, with usage",
    source,
    request: ask(),
    problems: hasContent
  },
  {
    id: "gemini.models",
    kind: "feature",
    title: "lists its models",
    source: "https://ai.google.dev/api/models",
    request: () => ({ method: "GET", path: "/v1beta/models", body: null }),
    problems: (answer) => [
      ...check.isJson(answer),
      ...check.unless(
        listAt(answer.json, "models").every((each) => textAt(each, "name").startsWith("models/")),
        "a name does not begin with models/"
      )
    ]
  },
  {
    id: "gemini.turns",
    kind: "required",
    title: "takes a system instruction and earlier turns",
    source,
    request: (model) => ({
      method: "POST",
      path: pathOf(model, "generateContent"),
      body: {
        systemInstruction: { parts: [{ text: "You are brief." }] },
        contents: [says("Hi."), says("Hello.", "model"), says("Say hello again.")]
      }
    }),
    problems: hasContent
  },
  {
    id: "gemini.limit",
    kind: "feature",
    title: "ends an answer at maxOutputTokens, and says so",
    source,
    request: ask({ generationConfig: { maxOutputTokens: 5 } }, check.longQuestion),
    problems: (answer) => check.is(at(answer.json, "candidates", 0, "finishReason"), "MAX_TOKENS", "finishReason")
  },
  {
    id: "gemini.count",
    kind: "feature",
    title: "counts the tokens of a request",
    source: "https://ai.google.dev/api/tokens",
    request: ask({}, "Say hello.", "countTokens"),
    problems: (answer) => [...check.isJson(answer), ...check.hasCount(at(answer.json, "totalTokens"), "totalTokens")]
  },
  {
    id: "gemini.stream",
    kind: "required",
    title: "streams an answer, with one finish reason and usage",
    source,
    request: ask({}, "Say hello.", streamed),
    problems: (answer) => [
      ...isStream(answer),
      ...check.hasText(answer.events.map(({ json }) => textOf(json)).join(""), "the text of all parts")
    ]
  },
  {
    id: "gemini.tools",
    kind: "feature",
    title: "calls the function that it has to call",
    source: calling,
    request: ask(forced, check.weatherQuestion),
    problems: (answer) => [...isAnswer(answer), ...isCall(partsOf(answer.json))]
  },
  {
    id: "gemini.tools.stream",
    kind: "feature",
    title: "streams a call whole, in one event",
    source: calling,
    request: ask(forced, check.weatherQuestion, streamed),
    problems: (answer) => [...isStream(answer), ...isCall(answer.events.flatMap(({ json }) => partsOf(json)))]
  },
  {
    id: "gemini.tools.result",
    kind: "feature",
    title: "answers from the result of a call",
    source: calling,
    request: (model) => ({
      method: "POST",
      path: pathOf(model, "generateContent"),
      body: {
        tools,
        contents: [
          says(check.weatherQuestion),
          { role: "model", parts: [{ functionCall: { name: check.weather.name, args: { city: "Paris" } } }] },
          {
            role: "user",
            parts: [{ functionResponse: { name: check.weather.name, response: { result: "18 degrees, clear" } } }]
          }
        ]
      }
    }),
    problems: hasContent
  }
]

const refusals = refusalsOf({ wire: "gemini", source: errors, ask: ask(), isRefusal, wrongKey: [400] })

export const gemini = casesOf("gemini", [...answers, ...refusals])
