/** The wire of messages. https://docs.anthropic.com/en/api/messages */
import { type Answer, at, isCount, listAt, textAt } from "./Answer.ts"
import { type Case, type CaseRequest, casesOf } from "./Case.ts"
import * as check from "./checks.ts"
import { refusalsOf } from "./refusals.ts"

const source = "https://docs.anthropic.com/en/api/messages"
const streaming = "https://docs.anthropic.com/en/docs/build-with-claude/streaming"
const errors = "https://docs.anthropic.com/en/api/errors"
const toolUse = "https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/overview"

const path = "/v1/messages"
const maxTokens = 256

const ask =
  (more: Readonly<Record<string, unknown>> = {}, question = "Say hello.") =>
  (model: string): CaseRequest => ({
    method: "POST",
    path,
    body: { model, max_tokens: maxTokens, messages: [{ role: "user", content: question }], ...more }
  })

const reasons = ["end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal"]
const tool = {
  name: check.weather.name,
  description: check.weather.description,
  input_schema: check.weather.parameters
}
const forced = { tools: [tool], tool_choice: { type: "tool", name: tool.name } }
const usageParts = ["input_tokens", "output_tokens"] as const

const isAnswer = (answer: Answer): check.Problems => {
  const { json } = answer
  return [
    ...check.isJson(answer),
    ...check.is(at(json, "type"), "message", "type"),
    ...check.is(at(json, "role"), "assistant", "role"),
    ...check.hasText(at(json, "id"), "id"),
    ...check.hasText(at(json, "model"), "model"),
    ...check.isOneOf(at(json, "stop_reason"), reasons, "stop_reason"),
    ...check.unless(listAt(json, "content").length > 0, "content is no list with blocks"),
    ...check.hasUsage(at(json, "usage"), usageParts, null)
  ]
}

const blockOf = (answer: Answer, type: string): unknown =>
  listAt(answer.json, "content").find((block) => at(block, "type") === type)

const hasContent = (answer: Answer): check.Problems => [
  ...isAnswer(answer),
  ...check.hasText(at(blockOf(answer, "text"), "text"), "the text of a block")
]

/** The order of events: one start, blocks one after the other with numbers from 0, one delta with the reason, one stop. */
const isInOrder = (types: ReadonlyArray<string>, answer: Answer): check.Problems => {
  const starts = answer.events.filter(({ json }) => at(json, "type") === "content_block_start")
  let open: unknown = null
  const problems: Array<string> = []
  for (const { json } of answer.events) {
    const type = textAt(json, "type")
    if (type === "content_block_start") {
      if (open !== null) problems.push("a block starts before the one before it has stopped")
      open = at(json, "index")
    }
    if (type === "content_block_delta" && at(json, "index") !== open) problems.push("a delta is of no open block")
    if (type === "content_block_stop") {
      if (at(json, "index") !== open) problems.push("a block stops that is not open")
      open = null
    }
  }
  return [
    ...new Set(problems),
    ...check.is(types[0], "message_start", "the first event"),
    ...check.is(types.at(-1), "message_stop", "the last event"),
    ...check.is(types.at(-2), "message_delta", "the last event but one"),
    ...check.unless(
      starts.every(({ json }, index) => at(json, "index") === index),
      "the blocks are not numbered from 0"
    )
  ]
}

const deltasOf = ({ events }: Answer, type: string): ReadonlyArray<unknown> =>
  events.map(({ json }) => at(json, "delta")).filter((delta) => at(delta, "type") === type)

const isStream = (answer: Answer): check.Problems => {
  const events = answer.events.filter(({ json }) => at(json, "type") !== "ping")
  const types = events.map(({ json }) => textAt(json, "type"))
  const last = events.find(({ json }) => at(json, "type") === "message_delta")?.json
  return [
    ...check.isStreamOfEvents(answer),
    ...check.unless(
      events.every(({ json, name }) => name === textAt(json, "type")),
      "an event's name is not its type"
    ),
    ...isInOrder(types, answer),
    ...check.isOneOf(at(last, "delta", "stop_reason"), reasons, "stop_reason"),
    ...check.hasCount(at(events[0]?.json, "message", "usage", "input_tokens"), "usage's input_tokens at the start"),
    ...check.hasCount(at(last, "usage", "output_tokens"), "usage's output_tokens at the end")
  ]
}

const isCall = (answer: Answer): check.Problems => {
  const block = blockOf(answer, "tool_use")
  return [
    ...isAnswer(answer),
    ...check.hasText(at(block, "id"), "the call's id"),
    ...check.is(at(block, "name"), tool.name, "the call's name"),
    ...check.hasText(at(block, "input", "city"), "the call's city"),
    ...check.is(at(answer.json, "stop_reason"), "tool_use", "stop_reason")
  ]
}

const isCallInPieces = (answer: Answer): check.Problems => {
  const start = answer.events.find(({ json }) => at(json, "content_block", "type") === "tool_use")?.json
  const pieces = deltasOf(answer, "input_json_delta").map((delta) => textAt(delta, "partial_json"))
  return [
    ...isStream(answer),
    ...check.is(at(start, "content_block", "name"), tool.name, "the call's name"),
    ...check.hasText(at(start, "content_block", "id"), "the call's id"),
    ...check.hasArguments(pieces.join(""))
  ]
}

/** `{"type": "error", "error": {"type", "message"}}` */
const isRefusal = (...statuses: ReadonlyArray<number>) =>
  check.isErrorOf(statuses, (body) => [...check.is(at(body, "type"), "error", "type"), ...check.openAiError(body)])

const answers: ReadonlyArray<Omit<Case, "wire">> = [
  {
    id: "messages.answer",
    kind: "required",
    title: "answers a question, with usage",
    source,
    request: ask(),
    problems: hasContent
  },
  {
    id: "messages.turns",
    kind: "required",
    title: "takes a system prompt, earlier turns, and content in blocks",
    source,
    request: (model) => ({
      method: "POST",
      path,
      body: {
        model,
        max_tokens: maxTokens,
        system: [{ type: "text", text: "You are brief." }],
        messages: [
          { role: "user", content: "Hi." },
          { role: "assistant", content: "Hello." },
          { role: "user", content: [{ type: "text", text: "Say hello again." }] }
        ]
      }
    }),
    problems: hasContent
  },
  {
    id: "messages.limit",
    kind: "feature",
    title: "ends an answer at max_tokens, and says so",
    source,
    request: ask({ max_tokens: 5 }, check.longQuestion),
    problems: (answer) => [
      ...isAnswer(answer),
      ...check.is(at(answer.json, "stop_reason"), "max_tokens", "stop_reason")
    ]
  },
  {
    id: "messages.count",
    kind: "feature",
    title: "counts the tokens of a request",
    source: "https://docs.anthropic.com/en/api/messages-count-tokens",
    request: (model) => ({
      method: "POST",
      path: `${path}/count_tokens`,
      body: { model, messages: [{ role: "user", content: "Say hello." }] }
    }),
    problems: (answer) => [
      ...check.isJson(answer),
      ...check.unless(
        isCount(at(answer.json, "input_tokens")) && Number(at(answer.json, "input_tokens")) > 0,
        "input_tokens is no count"
      )
    ]
  },
  {
    id: "messages.stream",
    kind: "required",
    title: "streams an answer, with its events in order",
    source: streaming,
    request: ask({ stream: true }),
    problems: (answer) => [
      ...isStream(answer),
      ...check.hasText(
        deltasOf(answer, "text_delta")
          .map((delta) => textAt(delta, "text"))
          .join(""),
        "the text of all deltas"
      )
    ]
  }
]

const tools: ReadonlyArray<Omit<Case, "wire">> = [
  {
    id: "messages.tools",
    kind: "feature",
    title: "calls the tool that it has to call",
    source: toolUse,
    request: ask(forced, check.weatherQuestion),
    problems: isCall
  },
  {
    id: "messages.tools.stream",
    kind: "feature",
    title: "streams a call in pieces that make a whole one",
    source: streaming,
    request: ask({ ...forced, stream: true }, check.weatherQuestion),
    problems: isCallInPieces
  },
  {
    id: "messages.tools.result",
    kind: "feature",
    title: "answers from the result of a call",
    source: toolUse,
    request: (model) => ({
      method: "POST",
      path,
      body: {
        model,
        max_tokens: maxTokens,
        tools: [tool],
        messages: [
          { role: "user", content: check.weatherQuestion },
          {
            role: "assistant",
            content: [{ type: "tool_use", id: "toolu_1", name: tool.name, input: { city: "Paris" } }]
          },
          {
            role: "user",
            content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "18 degrees, clear" }]
          }
        ]
      }
    }),
    problems: hasContent
  }
]

const refusals = refusalsOf({
  wire: "messages",
  source: errors,
  ask: ask(),
  isRefusal,
  own: [
    {
      id: "messages.error.messages",
      title: "refuses a request without messages",
      request: (model) => ({ method: "POST", path, body: { model, max_tokens: maxTokens } }),
      problems: isRefusal(400)
    }
  ]
})

export const messages = casesOf("messages", [...answers, ...tools, ...refusals])
