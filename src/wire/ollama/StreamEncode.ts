/**
 * Canonical events → lines of an ollama stream, in the shape of either endpoint.
 *
 * https://docs.ollama.com/api/streaming
 */
import type { BlockStart, StreamEvent } from "../canonical/Event.ts"
import type { Stop } from "../canonical/Response.ts"
import { mergeUsage, type Usage } from "../canonical/Usage.ts"
import { type JsonObject, optional } from "../json/Json.ts"
import type { EncodeContext, StreamEncoder } from "../WireCodec.ts"
import { imageOf, type Piece, type PieceShape } from "./Piece.ts"
import { encodeCall } from "./ResponseEncode.ts"
import { doneReasons } from "./Stop.ts"
import { toTimestamp } from "./Timestamp.ts"
import { type Elapsed, encodeCounts } from "./Usage.ts"

interface OpenBlock {
  readonly start: BlockStart
  /** Arguments so far: this wire sends a call in one piece. */
  args: string
}

const silence: Piece = { content: "" }

export const makeStreamEncoder =
  (shape: PieceShape) =>
  (context: EncodeContext): StreamEncoder => {
    const open = new Map<number, OpenBlock>()
    let model = context.model
    let createdAt = toTimestamp(context.nowMs)
    let firstMs: number | null = null
    let usage: Usage | null = null
    let stop: Stop | null = null
    let over = false

    const line = (piece: Piece, end: JsonObject): string =>
      `${JSON.stringify({ model, created_at: createdAt, ...shape(piece), ...end })}\n`

    const encodePiece = (piece: Piece, more: JsonObject = {}): string => {
      firstMs ??= context.elapsedMs?.() ?? null
      return line(piece, { done: false, ...more })
    }

    const elapsed = (): Elapsed | null => {
      const totalMs = context.elapsedMs?.()
      return totalMs === undefined ? null : { firstMs: firstMs ?? totalMs, totalMs }
    }

    const delta = ({ delta, index }: Extract<StreamEvent, { readonly type: "delta" }>): string => {
      const block = open.get(index)
      if (block === undefined) return ""
      if (delta.type === "args") block.args += delta.text
      if (delta.type !== "text" || delta.text === "") return ""
      if (block.start.type === "reasoning") return encodePiece({ content: "", thinking: delta.text })
      return encodePiece({ content: delta.text }, optional("logprobs", delta.logprobs))
    }

    const startBlock = (block: BlockStart): string => {
      const image = block.type === "opaque" ? imageOf(block.part) : null
      return image === null ? "" : encodePiece({ content: "", images: [image] })
    }

    const stopBlock = (index: number): string => {
      const block = open.get(index)
      open.delete(index)
      if (block?.start.type !== "tool_call") return ""
      const { id, kind, name } = block.start
      return encodePiece({ content: "", tool_calls: [encodeCall(id, name, kind, block.args)] })
    }

    return {
      encode: (event) => {
        if (over) return ""
        switch (event.type) {
          case "start":
            model = event.model ?? model
            if (event.createdMs !== null) createdAt = toTimestamp(event.createdMs)
            return ""
          case "block_start":
            open.set(event.index, { start: event.block, args: "" })
            return startBlock(event.block)
          case "delta":
            return delta(event)
          case "block_stop":
            return stopBlock(event.index)
          case "usage":
            usage = mergeUsage(usage, event.usage)
            return ""
          case "finish":
            stop = event.stop
            return ""
          case "done":
            over = true
            return line(silence, {
              done: true,
              done_reason: doneReasons[stop?.reason ?? "other"],
              ...encodeCounts(usage, elapsed())
            })
          case "error":
            over = true
            return ""
          // Clients parse every line, also an empty one: a keep-alive is an empty piece.
          case "ping":
            return line(silence, { done: false })
        }
      }
    }
  }
