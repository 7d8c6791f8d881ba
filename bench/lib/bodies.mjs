/** The request bodies, the same bytes in every run (only the model's name differs between servers). */

const SMALL_BYTES = 1_400
const FOUR_KB = 4_096
const HUNDRED_KB = 102_400
const BIG_BYTES = 91_000
const HUGE_BYTES = 1_000_000
const BIG_TURNS = 24
const TOOLS = 20

const sentences = [
  "The order was paid on Monday and has not left the warehouse.",
  "Please compare the invoice with the delivery note and list every difference.",
  "A replacement was promised by the branch, but nobody wrote down for which day.",
  "The customer prefers an answer by mail and asks for the name of a contact."
]

const prose = (from, count) =>
  Array.from({ length: count }, (_, i) => sentences[(from + i) % sentences.length]).join(" ")

/** Appends to the last message until the body has `bytes` bytes. */
const padded = (body, bytes) => {
  const last = body.messages.at(-1)
  const missing = bytes - Buffer.byteLength(JSON.stringify(body))
  if (missing < 0) throw new RangeError(`the body is ${-missing} bytes over its size`)
  const filler = prose(0, Math.ceil(missing / 50)).slice(0, missing)
  return { ...body, messages: [...body.messages.slice(0, -1), { ...last, content: last.content + filler }] }
}

const smallBody = (model) =>
  padded(
    {
      model,
      messages: [
        { role: "system", content: prose(0, 5) },
        { role: "user", content: prose(1, 3) },
        { role: "assistant", content: prose(2, 2) },
        { role: "user", content: "What should be done first? " }
      ],
      temperature: 0.2,
      max_tokens: 256
    },
    SMALL_BYTES
  )

const tool = (index) => ({
  type: "function",
  function: {
    name: `desk_action_${index}`,
    description: prose(index, 2),
    parameters: {
      type: "object",
      properties: {
        order: { type: "string", description: sentences[index % sentences.length] },
        amount: { type: "number", minimum: 0 },
        reason: { type: "string", enum: ["late", "lost", "damaged", "other"] }
      },
      required: ["order"]
    }
  }
})

/** One round of an agent: question, tool call, its result, a second call, its result. */
const turn = (index) => {
  const call = (step) => ({
    id: `call_${index}_${step}`,
    type: "function",
    function: {
      name: `desk_action_${(index + step) % TOOLS}`,
      arguments: JSON.stringify({ order: `A-${index}`, amount: step, reason: "late" })
    }
  })
  const result = (step) => ({
    role: "tool",
    tool_call_id: `call_${index}_${step}`,
    content: JSON.stringify({ found: true, note: prose(index + step, 10) })
  })
  return [
    { role: "user", content: [{ type: "text", text: prose(index, 12) }] },
    { role: "assistant", content: null, tool_calls: [call(0)] },
    result(0),
    { role: "assistant", content: prose(index, 3), tool_calls: [call(1)] },
    result(1)
  ]
}

const bigBody = (model, bytes = BIG_BYTES) =>
  padded(
    {
      model,
      messages: [
        { role: "system", content: prose(0, 12) },
        ...Array.from({ length: BIG_TURNS }, (_, index) => turn(index)).flat(),
        { role: "user", content: "Sum up what is still open. " }
      ],
      tools: Array.from({ length: TOOLS }, (_, index) => tool(index)),
      tool_choice: "auto",
      max_tokens: 1024
    },
    bytes
  )

const streamBody = (model) => ({ ...smallBody(model), stream: true, stream_options: { include_usage: true } })

const CODE_LINES = 45
const AGENT_TOOLS = 40
/** Beyond ASCII, as agents' bodies are: arrows of numbered lines, accents, box drawing, an emoji. */
const beyondAscii = ["→", "é", "│", "ß", "日本", "✅"]

const codeLines = (from) =>
  Array.from(
    { length: CODE_LINES },
    (_, i) =>
      `${String(i + 1).padStart(6)}→  const value${i} = "${beyondAscii[(from + i) % beyondAscii.length]}" // step ${i}`
  ).join("\n")

const agentTool = (index) => ({
  name: `desk_action_${index}`,
  description: prose(index, 12),
  input_schema: tool(index).function.parameters
})

/** A call of a tool and its result, as an agent that reads files sends them. */
const agentTurn = (index) => {
  const id = `toolu_${String(index).padStart(24, "0")}`
  return [
    {
      role: "assistant",
      content: [
        { type: "text", text: prose(index, 2) },
        {
          type: "tool_use",
          id,
          name: `desk_action_${index % AGENT_TOOLS}`,
          input: { order: `A-${index}`, reason: "late" }
        }
      ]
    },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: id, content: [{ type: "text", text: codeLines(index) }] }]
    }
  ]
}

const marked = { cache_control: { type: "ephemeral" } }

/** A turn of an agent in the messages form, streamed: system texts, 40 tools and as many turns as `bytes` take, with cache marks. */
const agentBody = (model, bytes) => {
  const body = {
    model,
    max_tokens: 32_000,
    system: [
      { type: "text", text: prose(0, 8) },
      { type: "text", text: prose(1, 120), ...marked }
    ],
    tools: Array.from({ length: AGENT_TOOLS }, (_, index) => agentTool(index)),
    messages: [{ role: "user", content: [{ type: "text", text: prose(2, 20) }] }],
    stream: true,
    metadata: { user_id: "user_bench_session_bench" }
  }
  Object.assign(body.tools.at(-1), marked)
  let size = Buffer.byteLength(JSON.stringify(body))
  for (let index = 0; size < bytes; index++) {
    const turn = agentTurn(index)
    body.messages.push(...turn)
    size += Buffer.byteLength(JSON.stringify(turn))
  }
  Object.assign(body.messages.at(-1).content.at(-1), marked)
  return body
}

const agentHeaders = ["anthropic-version: 2023-06-01", "anthropic-beta: prompt-caching-2024-07-31"]

const agentKind = (model, kilobytes) => ({
  model,
  path: "/v1/messages",
  headers: agentHeaders,
  body: (id) => agentBody(id, kilobytes * 1024)
})

/** Sizes of an agent's turn in KB, on the wire of the client and across to the chat wire. */
export const turnSizes = [100, 300, 1000]
export const turnKinds = Object.fromEntries(
  turnSizes.flatMap((kilobytes) => [
    [`turn${kilobytes}`, agentKind("turn-messages", kilobytes)],
    [`turn${kilobytes}across`, agentKind("turn-chat", kilobytes)]
  ])
)

/** Each kind of request: the upstream's model that answers it, and its body; where it is not for chat completions, the path and headers. */
export const requestKinds = {
  small: { model: "fixed", body: smallBody },
  big: { model: "fixed", body: (model) => bigBody(model) },
  huge: { model: "fixed", body: (model) => bigBody(model, HUGE_BYTES) },
  four: { model: "fixed", body: (model) => padded(smallBody(model), FOUR_KB) },
  hundred: { model: "fixed", body: (model) => padded(bigBody(model), HUNDRED_KB) },
  paced: { model: "paced", body: streamBody },
  idle: { model: "idle", body: streamBody },
  ...turnKinds
}
