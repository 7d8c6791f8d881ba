/**
 * The frame shared by streams of chat and of text completions: chunks of one choice, the usage, the end mark.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/streaming-events
 */
import type { StreamEvent } from "../canonical/Event.ts"
import { mergeUsage, type Usage } from "../canonical/Usage.ts"
import type { EncodeContext, StreamEncoder } from "../WireCodec.ts"
import { encodeUsage } from "./Usage.ts"

/** The events that a choice can express. */
export type ChoiceEvent = Extract<StreamEvent, { readonly type: "block_start" | "delta" | "block_stop" | "finish" }>

/** Writer for the part of the frame in which the two endpoints differ. */
export interface ChoiceWriter {
  /** Text before the first event of the answer. */
  readonly opening: () => string
  readonly encode: (event: ChoiceEvent) => string
}

/** A complete chunk around the JSON text of its choice. */
export type WriteChunk = (choice: string) => string

export const makeChunkEncoder = (
  context: EncodeContext,
  object: "chat.completion.chunk" | "text_completion",
  makeWriter: (write: WriteChunk) => ChoiceWriter
): StreamEncoder => {
  let head = ""
  let usage: Usage | null = null
  let over = false
  // When usage was requested, every chunk but the last has `usage: null`, as OpenAI's have.
  const tail = context.wantsUsage ? `],"usage":null}\n\n` : "]}\n\n"
  const writer = makeWriter((choice) => `${head}${choice}${tail}`)

  const begin = (id: string | null, model: string | null, createdMs: number | null): string => {
    const named = {
      id: id ?? context.fallbackId,
      object,
      created: Math.floor((createdMs ?? context.nowMs) / 1000),
      model: model ?? context.model
    }
    head = `data: ${JSON.stringify(named).slice(0, -1)},"choices":[`
    return writer.opening()
  }

  const body = (event: StreamEvent): string => {
    switch (event.type) {
      case "usage":
        usage = mergeUsage(usage, event.usage)
        return ""
      case "done": {
        over = true
        const counted =
          usage === null || !context.wantsUsage ? "" : `${head}],"usage":${JSON.stringify(encodeUsage(usage))}}\n\n`
        return `${counted}data: [DONE]\n\n`
      }
      case "error":
        over = true
        return ""
      case "ping":
        return ": ping\n\n"
      case "start":
        return ""
      default:
        return writer.encode(event)
    }
  }

  return {
    encode: (event) => {
      if (over) return ""
      if (head !== "") return body(event)
      if (event.type === "start") return begin(event.id, event.model, event.createdMs)
      const silent = event.type === "usage" || event.type === "ping" || event.type === "error"
      return silent ? body(event) : begin(null, null, null) + body(event)
    }
  }
}
