/** A local runner: NDJSON, whole calls, thinking in the open. */
import { halves, list, type Loose, nameProblems, textOf, type Turn, type UpstreamWire, usage } from "./Words.ts"

const roles = new Set(["system", "user", "assistant", "tool"])

const messageProblems = (message: Loose, index: number): ReadonlyArray<string> => {
  const at = `messages[${index}]`
  return [
    ...(roles.has(message.role) ? [] : [`${at}.role ${message.role}`]),
    ...(message.content === undefined || typeof message.content === "string" ? [] : [`${at}.content is no text`]),
    ...list(message.tool_calls)
      .filter((call) => call.function?.arguments === null || typeof call.function?.arguments !== "object")
      .map(() => `${at}: arguments are no object`)
  ]
}

const head = { model: "scripted", created_at: "2026-09-21T13:33:20.000000000Z" }

const messageOf = (turn: Turn) => ({
  role: "assistant",
  content: turn.text,
  ...(turn.reasoning === "" ? {} : { thinking: turn.reasoning }),
  ...(turn.call === null ? {} : { tool_calls: callOf(turn) })
})

const callOf = (turn: Turn) =>
  turn.call === null ? [] : [{ function: { name: turn.call.tool, arguments: turn.call.args } }]

const ending = {
  done: true,
  done_reason: "stop",
  total_duration: 5_000_000,
  load_duration: 1_000_000,
  prompt_eval_count: usage.in,
  prompt_eval_duration: 1_000_000,
  eval_count: usage.out,
  eval_duration: 2_000_000
}

const line = (value: unknown): string => `${JSON.stringify(value)}\n`

export const ollama: UpstreamWire = {
  name: "ollama",
  label: "ollama",
  model: "scripted",
  node: (origin) => ({ type: "ollama-compatible", baseUrl: origin }),
  path: /^\/api\/chat$/u,
  contentType: "application/x-ndjson",
  proofOf: (turn) => turn.reasoning,
  read: (body, knows) => {
    const messages = list(body.messages)
    const names = list(body.tools).map((tool) => tool.function?.name)
    const results = messages.filter((message) => message.role === "tool")
    const calls = messages.flatMap((message) => list(message.tool_calls))
    return {
      stream: body.stream !== false,
      tools: names,
      results: results.map((message) => textOf(message.content)),
      proofs: messages.flatMap((message) => (message.thinking ? [message.thinking] : [])).filter(knows),
      problems: [
        ...messages.flatMap(messageProblems),
        ...nameProblems(names),
        ...(calls.length === results.length ? [] : [`${calls.length} calls, ${results.length} results`])
      ]
    }
  },
  stream: (turn) => {
    const piece = (message: object) =>
      line({ ...head, message: { role: "assistant", content: "", ...message }, done: false })
    return [
      ...halves(turn.reasoning).map((thinking) => piece({ thinking })),
      ...halves(turn.text).map((content) => piece({ content })),
      ...(turn.call === null ? [] : [piece({ tool_calls: callOf(turn) })]),
      line({ ...head, message: { role: "assistant", content: "" }, ...ending })
    ]
  },
  whole: (turn) => ({ ...head, message: messageOf(turn), ...ending })
}
