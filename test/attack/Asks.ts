/** A small request of each wire, and where each wire keeps what a caller may write. */
import type { WireName } from "../../src/contract/domain/Wire.ts"

export const wires: ReadonlyArray<WireName> = ["chat", "messages", "responses", "gemini", "ollama"]

export interface Ask {
  readonly path: string
  readonly body: Record<string, unknown>
}

const clean = (model: string): string => encodeURIComponent(model).replaceAll("%2F", "/")

/** A question in the words of a wire. */
export const ask = (wire: WireName, model: string, prompt = "Hi", stream = false): Ask => {
  switch (wire) {
    case "chat":
      return { path: "/v1/chat/completions", body: { model, stream, messages: [{ role: "user", content: prompt }] } }
    case "messages":
      return {
        path: "/v1/messages",
        body: { model, stream, max_tokens: 64, messages: [{ role: "user", content: prompt }] }
      }
    case "responses":
      return { path: "/v1/responses", body: { model, stream, input: prompt } }
    case "gemini":
      return {
        path: `/v1beta/models/${clean(model)}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
        body: { contents: [{ role: "user", parts: [{ text: prompt }] }] }
      }
    case "ollama":
      return { path: "/api/chat", body: { model, stream, messages: [{ role: "user", content: prompt }] } }
  }
}

/** A whole answer of an upstream. */
export const answerOf = (wire: WireName): unknown => {
  switch (wire) {
    case "chat":
      return {
        id: "c",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
      }
    case "messages":
      return {
        id: "m",
        type: "message",
        role: "assistant",
        model: "m",
        content: [{ type: "text", text: "Hello" }],
        stop_reason: "end_turn",
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 }
      }
    case "responses":
      return {
        id: "resp_1",
        object: "response",
        created_at: 1,
        status: "completed",
        model: "m",
        output: [
          {
            id: "msg_1",
            type: "message",
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text: "Hello", annotations: [] }]
          }
        ],
        usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
      }
    case "gemini":
      return {
        candidates: [{ index: 0, content: { role: "model", parts: [{ text: "Hello" }] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
      }
    case "ollama":
      return {
        model: "m",
        created_at: "2026-01-01T00:00:00Z",
        message: { role: "assistant", content: "Hello" },
        done: true,
        done_reason: "stop",
        prompt_eval_count: 1,
        eval_count: 1
      }
  }
}

/** An error body in a wire's own shape. */
export const errorOf = (wire: WireName, status: number, message: string): unknown => {
  switch (wire) {
    case "messages":
      return { type: "error", error: { type: "invalid_request_error", message } }
    case "gemini":
      return { error: { code: status, message, status: "INVALID_ARGUMENT" } }
    case "ollama":
      return { error: message }
    default:
      return { error: { message, type: "invalid_request_error", param: null, code: null } }
  }
}
