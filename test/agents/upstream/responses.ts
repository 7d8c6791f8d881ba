/** A responses upstream that keeps nothing (`store: false`) and gives its reasoning away encrypted. */
import {
  event,
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

const itemTypes = new Set([
  "message",
  "reasoning",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output"
])

const itemProblems = (item: Loose, index: number, knows: (proof: string) => boolean): ReadonlyArray<string> => {
  const at = `input[${index}]`
  const type = item.type ?? "message"
  if (!itemTypes.has(type)) return [`${at}.type ${type}`]
  if (type === "reasoning") {
    if (!Array.isArray(item.summary)) return [`${at}.summary is missing`]
    if (typeof item.encrypted_content !== "string")
      return [`${at}: reasoning that is not stored here, without encrypted_content`]
    return knows(item.encrypted_content) ? [] : [`${at}: encrypted_content is not ours`]
  }
  if (type === "function_call" && typeof item.arguments !== "string") return [`${at}.arguments`]
  return []
}

const named = (tool: Loose): ReadonlyArray<string> =>
  tool.type === "namespace" ? list(tool.tools).map((inner) => inner.name) : tool.name === undefined ? [] : [tool.name]

const tokens = {
  input_tokens: usage.in,
  input_tokens_details: { cached_tokens: usage.cached },
  output_tokens: usage.out,
  output_tokens_details: { reasoning_tokens: usage.reasoning },
  total_tokens: usage.in + usage.out
}

const itemsOf = (turn: Turn): ReadonlyArray<Loose> => [
  ...(turn.reasoning === ""
    ? []
    : [
        {
          id: `rs_${turn.id}`,
          type: "reasoning",
          summary: [{ type: "summary_text", text: turn.reasoning }],
          encrypted_content: turn.proof
        }
      ]),
  ...(turn.text === ""
    ? []
    : [
        {
          id: `msg_${turn.id}`,
          type: "message",
          status: "completed",
          role: "assistant",
          content: [{ type: "output_text", text: turn.text, annotations: [], logprobs: [] }]
        }
      ]),
  ...(turn.call === null
    ? []
    : [
        {
          id: `fc_${turn.id}`,
          type: "function_call",
          status: "completed",
          call_id: turn.call.id,
          name: turn.call.tool,
          arguments: JSON.stringify(turn.call.args)
        }
      ])
]

const whole = (turn: Turn) => ({
  id: `resp_${turn.id}`,
  object: "response",
  created_at: 1_790_000_000,
  status: "completed",
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  model: "scripted",
  output: itemsOf(turn),
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: "auto",
  tools: [],
  top_p: 1,
  usage: tokens
})

type Unnumbered = { readonly type: string } & Record<string, unknown>

const deltas = (type: string, place: object, text: string): ReadonlyArray<Unnumbered> =>
  halves(text).map((delta) => Object.assign({ type, delta }, place))

/** The events between an item's `added` and its `done`, and the item as it is added. */
const grown = (item: Loose, output_index: number): readonly [start: Loose, events: ReadonlyArray<Unnumbered>] => {
  const place = { item_id: item.id, output_index }
  switch (item.type) {
    case "reasoning": {
      const [part] = item.summary
      const inPart = { ...place, summary_index: 0 }
      return [
        { ...item, summary: [], encrypted_content: null },
        [
          { type: "response.reasoning_summary_part.added", ...inPart, part: { ...part, text: "" } },
          ...deltas("response.reasoning_summary_text.delta", inPart, part.text),
          { type: "response.reasoning_summary_text.done", ...inPart, text: part.text },
          { type: "response.reasoning_summary_part.done", ...inPart, part }
        ]
      ]
    }
    case "message": {
      const [part] = item.content
      const inPart = { ...place, content_index: 0 }
      return [
        { ...item, status: "in_progress", content: [] },
        [
          { type: "response.content_part.added", ...inPart, part: { ...part, text: "" } },
          ...deltas("response.output_text.delta", { ...inPart, logprobs: [] }, part.text),
          { type: "response.output_text.done", ...inPart, text: part.text, logprobs: [] },
          { type: "response.content_part.done", ...inPart, part }
        ]
      ]
    }
    default:
      return [
        { ...item, status: "in_progress", arguments: "" },
        [
          ...deltas("response.function_call_arguments.delta", place, item.arguments),
          { type: "response.function_call_arguments.done", ...place, arguments: item.arguments }
        ]
      ]
  }
}

export const responses: UpstreamWire = {
  name: "responses",
  label: "responses",
  model: "scripted",
  node: (origin) => ({ type: "openai-compatible", baseUrl: `${origin}/v1`, wires: ["responses"] }),
  path: /^\/v1\/responses$/u,
  contentType: "text/event-stream",
  proofOf: (turn) => turn.proof,
  read: (body, knows) => {
    const items = list(body.input)
    const ofType = (type: RegExp) => items.filter((item) => type.test(item.type ?? "message"))
    const results = ofType(/^(function|custom_tool)_call_output$/u)
    const names = list(body.tools).flatMap(named)
    return {
      stream: body.stream === true,
      tools: names,
      results: results.map((item) => textOf(item.output)),
      proofs: ofType(/^reasoning$/u).flatMap((item) => (item.encrypted_content ? [item.encrypted_content] : [])),
      problems: [
        ...(typeof body.input === "string" || items.length > 0 ? [] : ["input is empty"]),
        ...(body.previous_response_id == null
          ? []
          : [`previous_response_id ${body.previous_response_id} is not stored here`]),
        ...items.flatMap((item, index) => itemProblems(item, index, knows)),
        ...nameProblems(names),
        ...pairProblems(
          ofType(/^(function|custom_tool)_call$/u).map((item) => item.call_id),
          results.map((item) => item.call_id)
        )
      ]
    }
  },
  stream: (turn) => {
    const response = whole(turn)
    const started = { ...response, status: "in_progress", output: [], usage: null }
    const events: ReadonlyArray<Unnumbered> = [
      { type: "response.created", response: started },
      { type: "response.in_progress", response: started },
      ...response.output.flatMap((item, output_index) => {
        const [start, between] = grown(item, output_index)
        return [
          { type: "response.output_item.added", output_index, item: start },
          ...between,
          { type: "response.output_item.done", output_index, item }
        ]
      }),
      { type: "response.completed", response }
    ]
    return events.map((each, sequence_number) => event({ ...each, sequence_number }))
  },
  whole
}
