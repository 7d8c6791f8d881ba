/**
 * The wire formats a client or an upstream can speak. The ids are those of the field `wires` of connections and provider nodes.
 */
import * as Schema from "effect/Schema"

export const WireName = Schema.Literal("chat", "messages", "responses", "gemini", "ollama").annotations({
  identifier: "WireName",
  description: "A wire format: chat completions, messages, responses, generative-language, local-runner."
})
export type WireName = typeof WireName.Type
