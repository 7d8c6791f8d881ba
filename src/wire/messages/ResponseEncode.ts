/**
 * Canonical response → message.
 *
 * https://platform.claude.com/docs/en/api/messages
 */
import type { Citation } from "../canonical/Conversation.ts"
import { searchLocation } from "../canonical/Links.ts"
import type { AnswerPart, Response } from "../canonical/Response.ts"
import { argsAsObject } from "../canonical/tools/ToolArgs.ts"
import type { JsonObject } from "../json/Json.ts"
import type { EncodeContext } from "../WireCodec.ts"
import { searchBlocks } from "./Searches.ts"
import { stopReasons } from "./Stop.ts"
import { encodeUsage } from "./Usage.ts"

/** A citation of this wire; null for one that it cannot say. */
export const citationOf = ({ link, value, wire }: Citation): JsonObject | null =>
  wire === "messages" ? value : link === undefined ? null : searchLocation(link)

const encodePart = (
  part: AnswerPart,
  index: number,
  answerId: string
): JsonObject | ReadonlyArray<JsonObject> | null => {
  switch (part.type) {
    case "text": {
      if (part.text === "") return null
      const citations = part.citations?.flatMap<JsonObject>((citation) => citationOf(citation) ?? []) ?? []
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
    case "opaque": {
      if (part.wire === "messages") return part.value
      const blocks = searchBlocks(part.search, `${answerId}${index}`)
      return blocks === null ? null : [blocks.call, blocks.result]
    }
  }
}

export const encodeResponse = (response: Response, context: EncodeContext): JsonObject => ({
  id: response.id ?? context.fallbackId,
  type: "message",
  role: "assistant",
  model: response.model ?? context.model,
  content: response.parts.flatMap<JsonObject>(
    (part, index) => encodePart(part, index, response.id ?? context.fallbackId) ?? []
  ),
  stop_reason: stopReasons[response.stop.reason],
  stop_sequence: response.stop.sequence,
  usage: encodeUsage(response.usage)
})
