/**
 * The wire formats a client or an upstream can speak (document 1, "What the service does").
 * The ids are those of the contract's `wires` field (0-READ-FIRST B3).
 */
import * as Schema from "effect/Schema"

export const WireName = Schema.Literal("chat", "messages", "responses", "gemini", "ollama").annotations({
  identifier: "WireName",
  description: "A wire format: chat completions, messages, responses, generative-language, local-runner."
})
export type WireName = typeof WireName.Type
