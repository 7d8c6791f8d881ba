/** Streams of upstreams, in the words of each wire. */
import type { WireName } from "../../src/contract/domain/Wire.ts"
import * as Fake from "../support/FakeUpstream.ts"

const named = (value: { readonly type: string } & Readonly<Record<string, unknown>>): string =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`
const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const line = (value: unknown): string => `${JSON.stringify(value)}\n`

/** The usage that an upstream tells at the end of a stream. */
export interface Told {
  readonly input: number
  readonly output: number
}

const usual: Told = { input: 1, output: 1 }

/** The events of an answer that is said in pieces. */
export const eventsOf = (
  wire: WireName,
  pieces: ReadonlyArray<string>,
  { input, output }: Told = usual
): ReadonlyArray<string> => {
  const whole = pieces.join("")
  switch (wire) {
    case "chat": {
      const chunk = (delta: object, finish: string | null) =>
        data({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })
      const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
      return [
        chunk({ role: "assistant" }, null),
        ...pieces.map((content) => chunk({ content }, null)),
        chunk({}, "stop"),
        data({ id: "c", object: "chat.completion.chunk", choices: [], usage }),
        "data: [DONE]\n\n"
      ]
    }
    case "messages":
      return [
        named({
          type: "message_start",
          message: { id: "m", type: "message", role: "assistant", model: "m", content: [], stop_reason: null },
          usage: { input_tokens: input, output_tokens: 1 }
        }),
        named({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
        ...pieces.map((text) => named({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
        named({ type: "content_block_stop", index: 0 }),
        named({
          type: "message_delta",
          delta: { stop_reason: "end_turn" },
          usage: { input_tokens: input, output_tokens: output }
        }),
        named({ type: "message_stop" })
      ]
    case "responses": {
      const part = { type: "output_text", text: whole, annotations: [] }
      const item = { id: "msg_1", type: "message", role: "assistant", status: "completed", content: [part] }
      const at = { item_id: "msg_1", output_index: 0, content_index: 0 }
      const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output }
      const response = { id: "resp_1", object: "response", created_at: 1, model: "m" }
      return [
        { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
        { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress", content: [] } },
        { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
        ...pieces.map((delta) => ({ type: "response.output_text.delta", ...at, delta })),
        { type: "response.output_text.done", ...at, text: whole },
        { type: "response.content_part.done", ...at, part },
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response: { ...response, status: "completed", output: [item], usage } }
      ].map((event, at) => named({ ...event, sequence_number: at }))
    }
    case "gemini": {
      const usageMetadata = { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output }
      return [
        ...pieces.map((text) => data({ candidates: [{ index: 0, content: { role: "model", parts: [{ text }] } }] })),
        data({ candidates: [{ index: 0, content: { role: "model", parts: [] }, finishReason: "STOP" }], usageMetadata })
      ]
    }
    case "ollama":
      return [
        ...pieces.map((content) => line({ model: "m", message: { role: "assistant", content }, done: false })),
        line({
          model: "m",
          message: { role: "assistant", content: "" },
          done: true,
          done_reason: "stop",
          prompt_eval_count: input,
          eval_count: output
        })
      ]
  }
}

export const streamOf = (wire: WireName, events: ReadonlyArray<string>, headers: Record<string, string> = {}) =>
  Fake.sse(events, {
    headers: { ...(wire === "ollama" ? { "content-type": "application/x-ndjson" } : {}), ...headers }
  })

/** All that a stream of a wire says, in one text: what a client joins from its events. */
export const saidIn = (wire: WireName, body: string): string =>
  body
    .split("\n")
    .map((each) => each.replace(/^data: ?/, ""))
    .filter((each) => each.startsWith("{"))
    .map((each) => {
      const event = JSON.parse(each)
      switch (wire) {
        case "chat":
          return event.choices?.[0]?.delta?.content ?? ""
        case "messages":
          return event.delta?.text ?? ""
        case "responses":
          return typeof event.delta === "string" ? event.delta : ""
        case "gemini":
          return (event.candidates?.[0]?.content?.parts ?? []).map(({ text }: { text?: string }) => text ?? "").join("")
        case "ollama":
          return event.message?.content ?? ""
      }
    })
    .join("")
