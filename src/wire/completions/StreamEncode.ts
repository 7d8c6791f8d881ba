/** Canonical events → text completion chunks. */
import type { StreamEvent } from "../canonical/Event.ts"
import { mergeUsage, type Usage } from "../canonical/Usage.ts"
import { encodeUsage } from "../chat/Usage.ts"
import type { EncodeContext, StreamEncoder } from "../WireCodec.ts"
import { echoOf, finishReasonOf } from "./Answer.ts"

export const makeStreamEncoder = (context: EncodeContext): StreamEncoder => {
  /** Blocks that are no text: reasoning, calls, blocks of one wire. */
  const hidden = new Set<number>()
  let head = ""
  let usage: Usage | null = null
  let over = false

  const tail = context.wantsUsage ? `],"usage":null}\n\n` : "]}\n\n"
  const chunk = (text: string, finish: string | null): string =>
    `${head}{"text":${JSON.stringify(text)},"index":0,"logprobs":null,"finish_reason":${JSON.stringify(finish)}}${tail}`

  const begin = (id: string | null, model: string | null, createdMs: number | null): string => {
    const named = {
      id: id ?? context.fallbackId,
      object: "text_completion",
      created: Math.floor((createdMs ?? context.nowMs) / 1000),
      model: model ?? context.model
    }
    head = `data: ${JSON.stringify(named).slice(0, -1)},"choices":[`
    const echo = echoOf(context)
    return echo === "" ? "" : chunk(echo, null)
  }

  const body = (event: StreamEvent): string => {
    switch (event.type) {
      case "block_start":
        if (event.block.type !== "text" && event.block.type !== "refusal") hidden.add(event.index)
        return ""
      case "delta":
        return event.delta.type === "text" && !hidden.has(event.index) ? chunk(event.delta.text, null) : ""
      case "block_stop":
        hidden.delete(event.index)
        return ""
      case "usage":
        usage = mergeUsage(usage, event.usage)
        return ""
      case "finish":
        return chunk("", finishReasonOf(event.stop.reason))
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
