/**
 * Canonical response → message.
 *
 * https://platform.claude.com/docs/en/api/messages
 */
import type { AnswerPart, Response } from "../canonical/Response.ts"
import { argsAsObject } from "../canonical/tools/ToolArgs.ts"
import type { JsonObject } from "../json/Json.ts"
import type { EncodeContext } from "../WireCodec.ts"
import { stopReasons } from "./Stop.ts"
import { encodeUsage } from "./Usage.ts"

const encodePart = (part: AnswerPart): JsonObject | null => {
  switch (part.type) {
    case "text": {
      if (part.text === "") return null
      const citations =
        part.citations?.flatMap<JsonObject>(({ value, wire }) => (wire === "messages" ? value : [])) ?? []
      return { type: "text", text: part.text, ...(citations.length === 0 ? {} : { citations }) }
    }
    case "refusal":
      return part.text === "" ? null : { type: "text", text: part.text }
    case "reasoning":
      if (part.state?.wire === "messages" && part.state.encrypted !== undefined) {
        return { type: "redacted_thinking", data: part.state.encrypted }
      }
      // Reasoning that consists only of another wire's state has no content here.
      if (part.text === "" && part.state?.wire !== "messages") return null
      // Clients need the member; an empty signature means that there is none, and is removed when it comes back.
      return {
        type: "thinking",
        thinking: part.text,
        signature: part.state?.wire === "messages" ? (part.state.signature ?? "") : ""
      }
    case "tool_call":
      return { type: "tool_use", id: part.id, name: part.name, input: argsAsObject(part.args) }
    case "opaque":
      return part.wire === "messages" ? part.value : null
  }
}

export const encodeResponse = (response: Response, context: EncodeContext): JsonObject => ({
  id: response.id ?? context.fallbackId,
  type: "message",
  role: "assistant",
  model: response.model ?? context.model,
  content: response.parts.flatMap<JsonObject>((part) => encodePart(part) ?? []),
  stop_reason: stopReasons[response.stop.reason],
  stop_sequence: response.stop.sequence,
  usage: encodeUsage(response.usage)
})
