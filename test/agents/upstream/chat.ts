/** A chat-completions upstream that reasons the way DeepSeek does: `reasoning_content`, wanted back while tools are at work. */
import {
  data,
  halves,
  list,
  type Loose,
  nameProblems,
  pairProblems,
  textOf,
  type Turn,
  type UpstreamWire,
  usage
} from "./Words.ts"

const roles = new Set(["system", "developer", "user", "assistant", "tool"])

const messageProblems = (message: Loose, index: number): ReadonlyArray<string> => {
  const at = `messages[${index}]`
  const problems: Array<string> = []
  if (!roles.has(message.role)) problems.push(`${at}.role ${message.role}`)
  if (message.role === "assistant" && list(message.tool_calls).length === 0 && textOf(message.content) === "")
    problems.push(`${at} says nothing`)
  if ((message.role === "user" || message.role === "tool") && message.content == null)
    problems.push(`${at}.content is missing`)
  for (const call of list(message.tool_calls)) {
    if (call.type !== "function") problems.push(`${at}: call of type ${call.type}`)
    try {
      JSON.parse(call.function?.arguments)
    } catch {
      problems.push(`${at}: arguments are no JSON text`)
    }
  }
  return problems
}

const toolProblems = (tool: Loose): ReadonlyArray<string> => [
  ...(tool.type === "function" ? [] : [`tool of type ${tool.type}`]),
  ...(tool.function?.parameters === undefined || tool.function.parameters?.type === "object"
    ? []
    : ["parameters is no object schema"])
]

const callOf = (turn: Turn) =>
  turn.call === null
    ? []
    : [
        {
          id: turn.call.id,
          type: "function",
          function: { name: turn.call.tool, arguments: JSON.stringify(turn.call.args) }
        }
      ]

/** The call as a stream tells it: its name first, then its arguments in pieces. */
const growing = (turn: Turn): ReadonlyArray<object> => {
  const [call] = callOf(turn)
  if (call === undefined) return []
  const started = { index: 0, ...call, function: { name: call.function.name, arguments: "" } }
  return [started, ...halves(call.function.arguments).map((piece) => ({ index: 0, function: { arguments: piece } }))]
}

const tokens = {
  prompt_tokens: usage.in,
  completion_tokens: usage.out,
  total_tokens: usage.in + usage.out,
  prompt_tokens_details: { cached_tokens: usage.cached },
  completion_tokens_details: { reasoning_tokens: usage.reasoning }
}

const headOf = (turn: Turn) => ({ id: `chatcmpl-${turn.id}`, created: 1_790_000_000, model: "scripted" })

export const chat: UpstreamWire = {
  name: "chat",
  label: "chat",
  model: "scripted",
  node: (origin) => ({ type: "openai-compatible", baseUrl: `${origin}/v1` }),
  path: /^\/v1\/chat\/completions$/u,
  contentType: "text/event-stream",
  proofOf: (turn) => turn.reasoning,
  read: (body, knows) => {
    const messages = list(body.messages)
    const tools = list(body.tools)
    const names = tools.map((tool) => tool.function?.name)
    const calls = messages.flatMap((message) => list(message.tool_calls).map((call) => call.id))
    const results = messages.filter((message) => message.role === "tool")
    const thoughts = messages.flatMap((message) =>
      typeof message.reasoning_content === "string" ? [message.reasoning_content] : []
    )
    return {
      stream: body.stream === true,
      tools: names,
      results: results.map((message) => textOf(message.content)),
      proofs: thoughts.filter(knows),
      problems: [
        ...messages.flatMap(messageProblems),
        ...tools.flatMap(toolProblems),
        ...nameProblems(names),
        ...pairProblems(
          calls,
          results.map((message) => message.tool_call_id)
        ),
        ...(body.max_tokens !== undefined && body.max_completion_tokens !== undefined ? ["two output limits"] : [])
      ]
    }
  },
  stream: (turn) => {
    const head = headOf(turn)
    const delta = (value: object, finish_reason: string | null = null) =>
      data({ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta: value, finish_reason }] })
    return [
      delta({ role: "assistant", content: "" }),
      ...halves(turn.reasoning).map((reasoning_content) => delta({ reasoning_content })),
      ...halves(turn.text).map((content) => delta({ content })),
      ...growing(turn).map((call) => delta({ tool_calls: [call] })),
      delta({}, turn.call === null ? "stop" : "tool_calls"),
      data({ ...head, object: "chat.completion.chunk", choices: [], usage: tokens }),
      "data: [DONE]\n\n"
    ]
  },
  whole: (turn) => ({
    ...headOf(turn),
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: turn.text,
          ...(turn.reasoning === "" ? {} : { reasoning_content: turn.reasoning }),
          ...(turn.call === null ? {} : { tool_calls: callOf(turn) })
        },
        finish_reason: turn.call === null ? "stop" : "tool_calls"
      }
    ],
    usage: tokens
  })
}
