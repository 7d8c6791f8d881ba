/** The wire of Ollama. https://github.com/ollama/ollama/blob/main/docs/api.md */
import { type Answer, at, isObject, listAt, textAt } from "./Answer.ts"
import { type Case, type CaseRequest, casesOf } from "./Case.ts"
import * as check from "./checks.ts"
import { refusalsOf } from "./refusals.ts"

const source = "https://github.com/ollama/ollama/blob/main/docs/api.md"

const ask =
  (more: Readonly<Record<string, unknown>> = {}, question = "Say hello.") =>
  (model: string): CaseRequest => ({
    method: "POST",
    path: "/api/chat",
    body: { model, messages: [{ role: "user", content: question }], ...more }
  })

const tools = [{ type: "function", function: check.weather }]

const isEnd = (json: unknown): check.Problems => [
  ...check.is(at(json, "done"), true, "done"),
  ...check.hasText(at(json, "done_reason"), "done_reason"),
  ...check.hasText(at(json, "model"), "model"),
  ...check.hasText(at(json, "created_at"), "created_at"),
  ...check.hasCount(at(json, "prompt_eval_count"), "prompt_eval_count"),
  ...check.hasCount(at(json, "eval_count"), "eval_count")
]

const isAnswer = (answer: Answer): check.Problems => [
  ...check.isJson(answer),
  ...check.is(at(answer.json, "message", "role"), "assistant", "the message's role"),
  ...isEnd(answer.json)
]

const hasContent = (answer: Answer): check.Problems => [
  ...isAnswer(answer),
  ...check.hasText(at(answer.json, "message", "content"), "the message's content")
]

const isStream = (answer: Answer): check.Problems => [
  ...check.unless(
    answer.contentType.startsWith("application/x-ndjson"),
    `the type is ${JSON.stringify(answer.contentType)}, not application/x-ndjson`
  ),
  ...check.unless(answer.lines.length > 0 && answer.lines.every(isObject), "not every line is a JSON object"),
  ...check.unless(
    answer.lines.slice(0, -1).every((line) => at(line, "done") === false),
    "a line before the last one is not marked as unfinished"
  ),
  ...isEnd(answer.lines.at(-1))
]

const isCall = (calls: ReadonlyArray<unknown>): check.Problems => [
  ...check.is(at(calls[0], "function", "name"), check.weather.name, "the call's name"),
  ...check.hasText(at(calls[0], "function", "arguments", "city"), "the call's city")
]

const isRefusal = (...statuses: ReadonlyArray<number>) =>
  check.isErrorOf(statuses, (body) => check.hasText(at(body, "error"), "error"))

const cases: ReadonlyArray<Omit<Case, "wire">> = [
  {
    id: "ollama.answer",
    kind: "required",
    title: "answers a question, with counts",
    source,
    request: ask({ stream: false }),
    problems: hasContent
  },
  {
    id: "ollama.models",
    kind: "feature",
    title: "lists its models",
    source,
    request: () => ({ method: "GET", path: "/api/tags", body: null }),
    problems: (answer) => [
      ...check.isJson(answer),
      ...check.unless(
        listAt(answer.json, "models").every((each) => textAt(each, "name") !== ""),
        "an entry of models has no name"
      )
    ]
  },
  {
    id: "ollama.version",
    kind: "feature",
    title: "says which version it is",
    source,
    request: () => ({ method: "GET", path: "/api/version", body: null }),
    problems: (answer) => check.hasText(at(answer.json, "version"), "version")
  },
  {
    id: "ollama.limit",
    kind: "feature",
    title: "ends an answer at num_predict, and says so",
    source,
    request: ask({ stream: false, options: { num_predict: 5 } }, check.longQuestion),
    problems: (answer) => [...isAnswer(answer), ...check.is(at(answer.json, "done_reason"), "length", "done_reason")]
  },
  {
    id: "ollama.stream",
    kind: "required",
    title: "streams an answer by lines where nothing else is asked for",
    source,
    request: ask(),
    problems: (answer) => [
      ...isStream(answer),
      ...check.hasText(answer.lines.map((line) => textAt(line, "message", "content")).join(""), "the text of all lines")
    ]
  },
  {
    id: "ollama.tools",
    kind: "feature",
    title: "calls a function that it is given",
    source,
    request: ask({ stream: false, tools }, check.weatherQuestion),
    problems: (answer) => [...isAnswer(answer), ...isCall(listAt(answer.json, "message", "tool_calls"))]
  },
  ...refusalsOf({ wire: "ollama", source, ask: ask({ stream: false }), isRefusal })
]

export const ollama = casesOf("ollama", cases)
