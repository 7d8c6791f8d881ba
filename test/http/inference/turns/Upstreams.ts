/** What the model says in each turn of a long session, in each upstream's wire: words, one call or two, with reasoning now and then. */
import type { WireName } from "../../../../src/contract/domain/Wire.ts"
import * as Fake from "../../../support/FakeUpstream.ts"

interface Said {
  readonly text: string
  readonly thought: string | null
  readonly calls: ReadonlyArray<Fake.FakeToolCall>
}

/** By the number of the request, from 0. A turn of the user begins with a thought; in a round of calls there is one seldom. */
const saidIn = (turn: number): Said => {
  const count = turn % 4 === 1 ? 1 : turn % 4 === 2 ? 2 : 0
  const calls = Array.from({ length: count }, (_, index) => ({
    id: `call_${turn}_${index}`,
    name: index === 0 ? "read_file" : "list_folder",
    arguments: JSON.stringify({ path: `src/${turn}/${index}.ts` })
  }))
  const thought = turn % 4 < 2 || turn % 12 === 6 ? `What stands in ${turn}?` : null
  return { text: count === 2 ? "" : `Step ${turn} is done.`, thought, calls }
}

type Made = (said: Said, turn: number, stream: boolean) => Fake.Answer

const chat: Made = ({ calls, text }, _turn, stream) =>
  stream
    ? Fake.sse(Fake.chatStream(text === "" ? [] : [text], { toolCalls: calls }))
    : Fake.json(Fake.chatCompletion({ text, toolCalls: calls }))

const messages: Made = ({ calls, text, thought }, turn) => {
  const answer = Fake.messagesAnswer({ text, toolCalls: calls })
  const signature = Buffer.from(`proof ${turn}`).toString("base64")
  const thinking = thought === null ? [] : [{ type: "thinking", thinking: thought, signature }]
  return Fake.json({ ...answer, content: [...thinking, ...answer.content] })
}

const responses: Made = ({ calls, text, thought }, turn, stream) => {
  const content = [{ type: "output_text", text, annotations: [], logprobs: [] }]
  const output = [
    ...(thought === null
      ? []
      : [{ type: "reasoning", id: `rs_${turn}`, summary: [], encrypted_content: `sealed-${turn}` }]),
    ...(text === "" ? [] : [{ type: "message", id: `msg_${turn}`, status: "completed", role: "assistant", content }]),
    ...calls.map(({ id, ...call }) => ({
      type: "function_call",
      id: `fc_${id}`,
      status: "completed",
      call_id: id,
      ...call
    }))
  ]
  const usage = { input_tokens: 7, output_tokens: 3, total_tokens: 10 }
  const response = { id: `resp_${turn}`, object: "response", created_at: 1_700_000_000, model: "m", usage }
  const whole = { ...response, status: "completed", output }
  if (!stream) return Fake.json(whole)
  const events: ReadonlyArray<Record<string, unknown> & { readonly type: string }> = [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    ...output.flatMap((item, output_index) => [
      { type: "response.output_item.added", output_index, item },
      { type: "response.output_item.done", output_index, item }
    ]),
    { type: "response.completed", response: whole }
  ]
  return Fake.sse(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`))
}

const gemini: Made = ({ calls, text, thought }, turn, stream) => {
  const thoughtSignature = Buffer.from(`proof ${turn}`).toString("base64")
  const parts = [
    ...(thought === null ? [] : [{ text: thought, thought: true }]),
    ...(text === "" ? [] : [{ text }]),
    ...calls.map(({ arguments: args, name }, index) => ({
      functionCall: { name, args: JSON.parse(args) as unknown },
      ...(index === 0 ? { thoughtSignature } : {})
    }))
  ]
  const usageMetadata = { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 }
  const whole = { candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }], usageMetadata }
  return stream ? Fake.sse([`data: ${JSON.stringify(whole)}\n\n`]) : Fake.json(whole)
}

const ollama: Made = ({ calls, text, thought }, _turn, stream) => {
  const line = {
    model: "m",
    created_at: "2023-11-14T22:13:20Z",
    message: {
      role: "assistant",
      content: text,
      ...(thought === null ? {} : { thinking: thought }),
      ...(calls.length === 0
        ? {}
        : {
            tool_calls: calls.map(({ arguments: args, name }) => ({ function: { name, arguments: JSON.parse(args) } }))
          })
    },
    done: true,
    done_reason: "stop",
    prompt_eval_count: 7,
    eval_count: 3
  }
  const headers = { "content-type": "application/x-ndjson" }
  return stream ? Fake.sse([`${JSON.stringify(line)}\n`], { headers }) : Fake.json(line)
}

const makers: Readonly<Record<WireName, Made>> = { chat, messages, responses, gemini, ollama }

/** An upstream's answer to the n-th request of the session, from 0. */
export const answerOf = (wire: WireName, turn: number, stream: boolean): Fake.Answer =>
  makers[wire](saidIn(turn), turn, stream)
