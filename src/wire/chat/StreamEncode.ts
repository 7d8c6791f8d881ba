/** Canonical events → chat completion chunks. */
import type { BlockStart, StreamEvent } from "../canonical/Event.ts"
import { mergeUsage, type Usage } from "../canonical/Usage.ts"
import type { JsonObject } from "../json/Json.ts"
import type { EncodeContext, StreamEncoder } from "../WireCodec.ts"
import { finishReasons } from "./Stop.ts"
import { encodeUsage } from "./Usage.ts"

interface OpenBlock {
  readonly type: BlockStart["type"]
  /** Index among the answer's tool calls, from 0 without gaps. */
  readonly call: number
  readonly custom: boolean
  hasArgs: boolean
}

const textMember = { text: "content", reasoning: "reasoning_content", refusal: "refusal" } as const

export const makeStreamEncoder = (context: EncodeContext): StreamEncoder => {
  const open = new Map<number, OpenBlock>()
  let head = ""
  let calls = 0
  let usage: Usage | null = null
  let over = false

  const begin = (id: string | null, model: string | null, createdMs: number | null): string => {
    const created = Math.floor((createdMs ?? context.nowMs) / 1000)
    const named = {
      id: id ?? context.fallbackId,
      object: "chat.completion.chunk",
      created,
      model: model ?? context.model
    }
    head = `data: ${JSON.stringify(named).slice(0, -1)},"choices":[`
    return chunk({ role: "assistant", content: "" }, null)
  }
  // With usage asked for, every chunk but the last says `usage: null`, as the wire's own servers do.
  const tail = context.wantsUsage ? `],"usage":null}\n\n` : "]}\n\n"
  const chunk = (delta: JsonObject, finish: string | null, logprobs?: ReadonlyArray<JsonObject>): string => {
    const told = logprobs === undefined ? "null" : `{"content":${JSON.stringify(logprobs)},"refusal":null}`
    return `${head}{"index":0,"delta":${JSON.stringify(delta)},"logprobs":${told},"finish_reason":${JSON.stringify(finish)}}${tail}`
  }

  const startBlock = (index: number, block: BlockStart): string => {
    const isCall = block.type === "tool_call"
    const custom = isCall && block.kind === "custom"
    open.set(index, { type: block.type, call: isCall ? calls : -1, custom, hasArgs: false })
    if (!isCall) return ""
    const spec = custom
      ? { custom: { name: block.name, input: "" } }
      : { function: { name: block.name, arguments: "" } }
    const call = { index: calls, id: block.id, type: block.kind, ...spec }
    calls += 1
    return chunk({ tool_calls: [call] }, null)
  }

  const argsChunk = (block: OpenBlock, text: string): string => {
    block.hasArgs = true
    const spec = block.custom ? { custom: { input: text } } : { function: { arguments: text } }
    return chunk({ tool_calls: [{ index: block.call, ...spec }] }, null)
  }

  const body = (event: StreamEvent): string => {
    switch (event.type) {
      case "block_start":
        return startBlock(event.index, event.block)
      case "delta": {
        const block = open.get(event.index)
        if (block === undefined) return ""
        if (event.delta.type === "args") return event.delta.text === "" ? "" : argsChunk(block, event.delta.text)
        if (event.delta.type !== "text" || block.type === "tool_call" || block.type === "opaque") return ""
        return chunk({ [textMember[block.type]]: event.delta.text }, null, event.delta.logprobs)
      }
      case "block_stop": {
        const block = open.get(event.index)
        open.delete(event.index)
        // A call without arguments is `{}` for clients that parse the text.
        return block?.type === "tool_call" && !block.hasArgs && !block.custom ? argsChunk(block, "{}") : ""
      }
      case "usage":
        usage = mergeUsage(usage, event.usage)
        return ""
      case "finish":
        return chunk({}, finishReasons[event.stop.reason])
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
