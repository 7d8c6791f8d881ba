/**
 * Canonical response → ollama answer, in the shape of either endpoint.
 *
 * https://docs.ollama.com/api/chat
 */
import type { Response } from "../canonical/Response.ts"
import { argsAsObject } from "../canonical/tools/ToolArgs.ts"
import { type JsonObject, optional } from "../json/Json.ts"
import type { EncodeContext } from "../WireCodec.ts"
import { imageOf, type Piece, type PieceShape } from "./Piece.ts"
import { doneReasons } from "./Stop.ts"
import { toTimestamp } from "./Timestamp.ts"
import { encodeCounts } from "./Usage.ts"

/** A call of this wire. Free-form input is wrapped in one argument. */
export const encodeCall = (id: string, name: string, kind: "function" | "custom", args: string): JsonObject => ({
  id,
  function: { name, arguments: kind === "custom" ? { input: args } : argsAsObject(args) }
})

const pieceOf = (response: Response): Piece => {
  let content = ""
  let thinking = ""
  const calls: Array<JsonObject> = []
  const images: Array<string> = []
  for (const part of response.parts) {
    switch (part.type) {
      case "text":
      case "refusal":
        content += part.text
        break
      case "reasoning":
        thinking += part.text
        break
      case "tool_call":
        calls.push(encodeCall(part.id, part.name, part.kind, part.args))
        break
      // A block of another wire that is not an image: its server has already processed it, and the text around it is kept.
      case "opaque": {
        const image = imageOf(part)
        if (image !== null) images.push(image)
      }
    }
  }
  return {
    content,
    ...(thinking === "" ? {} : { thinking }),
    ...(images.length === 0 ? {} : { images }),
    ...(calls.length === 0 ? {} : { tool_calls: calls })
  }
}

export const makeResponseEncoder =
  (shape: PieceShape) =>
  (response: Response, context: EncodeContext): JsonObject => {
    const totalMs = context.elapsedMs?.()
    return {
      model: response.model ?? context.model,
      created_at: toTimestamp(response.createdMs ?? context.nowMs),
      ...shape(pieceOf(response)),
      done: true,
      done_reason: doneReasons[response.stop.reason],
      ...optional("logprobs", response.logprobs?.["content"]),
      ...encodeCounts(response.usage, totalMs === undefined ? null : { firstMs: 0, totalMs })
    }
  }
