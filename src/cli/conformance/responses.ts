/** The wire of responses. https://platform.openai.com/docs/api-reference/responses */
import { type Answer, at, listAt, textAt } from "./Answer.ts"
import { type Case, type CaseRequest, casesOf } from "./Case.ts"
import * as check from "./checks.ts"
import { refusalsOf } from "./refusals.ts"

const source = "https://platform.openai.com/docs/api-reference/responses"
const streaming = "https://platform.openai.com/docs/api-reference/responses-streaming"
const errors = "https://platform.openai.com/docs/guides/error-codes"
const calling = "https://platform.openai.com/docs/guides/function-calling"

const path = "/v1/responses"

const ask =
  (more: Readonly<Record<string, unknown>> = {}, input: unknown = "Say hello.") =>
  (model: string): CaseRequest => ({ method: "POST", path, body: { model, input, ...more } })

const tool = { type: "function", ...check.weather }
const forced = { tools: [tool], tool_choice: { type: "function", name: tool.name } }

const isResponse = (json: unknown): check.Problems => [
  ...check.is(at(json, "object"), "response", "object"),
  ...check.hasText(at(json, "id"), "id"),
  ...check.hasText(at(json, "model"), "model"),
  ...check.hasCount(at(json, "created_at"), "created_at"),
  ...check.isOneOf(at(json, "status"), ["completed", "incomplete"], "status"),
  ...check.hasUsage(at(json, "usage"), ["input_tokens", "output_tokens"], "total_tokens")
]

const itemOf = (json: unknown, type: string): unknown =>
  listAt(json, "output").find((item) => at(item, "type") === type)

const textOf = (json: unknown): string =>
  listAt(itemOf(json, "message"), "content")
    .filter((part) => at(part, "type") === "output_text")
    .map((part) => textAt(part, "text"))
    .join("")

const hasContent = (answer: Answer): check.Problems => [
  ...check.isJson(answer),
  ...isResponse(answer.json),
  ...check.hasText(textOf(answer.json), "the output's text")
]

const isCallItem = (json: unknown): check.Problems => {
  const item = itemOf(json, "function_call")
  return [
    ...check.hasText(at(item, "call_id"), "the call's call_id"),
    ...check.is(at(item, "name"), tool.name, "the call's name"),
    ...check.hasArguments(at(item, "arguments"))
  ]
}

const joinedDeltas = ({ events }: Answer, type: string): string =>
  events
    .filter(({ json }) => at(json, "type") === type)
    .map(({ json }) => textAt(json, "delta"))
    .join("")

const lastOf = ({ events }: Answer): unknown => at(events.at(-1)?.json, "response")

const isStream = (answer: Answer): check.Problems => {
  const { events } = answer
  const numbers = events.map(({ json }) => at(json, "sequence_number"))
  return [
    ...check.isStreamOfEvents(answer),
    ...check.unless(
      events.every(({ json, name }) => name === textAt(json, "type")),
      "an event's name is not its type"
    ),
    ...check.is(textAt(events[0]?.json, "type"), "response.created", "the first event"),
    ...check.isOneOf(
      textAt(events.at(-1)?.json, "type"),
      ["response.completed", "response.incomplete"],
      "the last event"
    ),
    ...check.unless(
      numbers.every((number, index) => number === Number(numbers[0]) + index),
      "sequence_number does not grow by one"
    ),
    ...isResponse(lastOf(answer))
  ]
}

const followed = (answer: Answer, model: string): CaseRequest | null => {
  const id = textAt(answer.json, "id")
  return id === "" ? null : ask({ previous_response_id: id }, "Say it again.")(model)
}

const isRefusal = (...statuses: ReadonlyArray<number>) => check.isErrorOf(statuses, check.openAiError)

const answers: ReadonlyArray<Omit<Case, "wire">> = [
  {
    id: "responses.answer",
    kind: "required",
    title: "answers a question, with usage",
    source,
    request: ask(),
    problems: hasContent
  },
  {
    id: "responses.turns",
    kind: "required",
    title: "takes instructions, and earlier turns as items",
    source,
    request: ask({ instructions: "You are brief." }, [
      { role: "user", content: "Hi." },
      { role: "assistant", content: "Hello." },
      { role: "user", content: [{ type: "input_text", text: "Say hello again." }] }
    ]),
    problems: hasContent
  },
  {
    id: "responses.previous",
    kind: "feature",
    title: "goes on from an earlier response by its id",
    source: "https://platform.openai.com/docs/guides/conversation-state",
    request: ask({ store: true }),
    next: followed,
    problems: (answer) => [
      ...hasContent(answer),
      ...check.hasText(at(answer.json, "previous_response_id"), "previous_response_id")
    ]
  },
  {
    id: "responses.get",
    kind: "feature",
    title: "gives a stored response by its id",
    source,
    request: ask({ store: true }),
    next: (answer) => {
      const id = textAt(answer.json, "id")
      return id === "" ? null : { method: "GET", path: `${path}/${encodeURIComponent(id)}`, body: null }
    },
    problems: hasContent
  },
  {
    id: "responses.stream",
    kind: "required",
    title: "streams an answer, with numbered events from created to completed",
    source: streaming,
    request: ask({ stream: true }),
    problems: (answer) => {
      const text = joinedDeltas(answer, "response.output_text.delta")
      return [
        ...isStream(answer),
        ...check.hasText(text, "the text of all deltas"),
        ...check.unless(textOf(lastOf(answer)) === text, "the text of all deltas is not that of the last event")
      ]
    }
  }
]

const tools: ReadonlyArray<Omit<Case, "wire">> = [
  {
    id: "responses.tools",
    kind: "feature",
    title: "calls the function that it has to call",
    source: calling,
    request: ask(forced, check.weatherQuestion),
    problems: (answer) => [...check.isJson(answer), ...isResponse(answer.json), ...isCallItem(answer.json)]
  },
  {
    id: "responses.tools.stream",
    kind: "feature",
    title: "streams a call in pieces that make a whole one",
    source: streaming,
    request: ask({ ...forced, stream: true }, check.weatherQuestion),
    problems: (answer) => [
      ...isStream(answer),
      ...isCallItem(lastOf(answer)),
      ...check.unless(
        joinedDeltas(answer, "response.function_call_arguments.delta") ===
          textAt(itemOf(lastOf(answer), "function_call"), "arguments"),
        "the arguments of all deltas are not those of the last event"
      )
    ]
  },
  {
    id: "responses.tools.result",
    kind: "feature",
    title: "answers from the result of a call",
    source: calling,
    request: ask({ tools: [tool] }, [
      { role: "user", content: check.weatherQuestion },
      { type: "function_call", call_id: "call_1", name: tool.name, arguments: '{"city":"Paris"}' },
      { type: "function_call_output", call_id: "call_1", output: "18 degrees, clear" }
    ]),
    problems: hasContent
  }
]

const refusals = refusalsOf({
  wire: "responses",
  source: errors,
  ask: ask(),
  isRefusal,
  unreadable: [422],
  own: [
    {
      id: "responses.error.previous",
      title: "refuses to go on from a response that it has not",
      request: ask({ previous_response_id: "resp_000000000000000000000000" }),
      problems: isRefusal(400, 404)
    }
  ]
})

export const responses = casesOf("responses", [...answers, ...tools, ...refusals])
