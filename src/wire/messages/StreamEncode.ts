/**
 * Canonical events → message stream events. Blocks are written one after the other, with indexes from 0.
 *
 * https://platform.claude.com/docs/en/build-with-claude/streaming
 */
import type { OpaquePart } from "../canonical/Conversation.ts"
import type { BlockDelta, BlockStart, StreamEvent } from "../canonical/Event.ts"
import { lostComment } from "../canonical/Pictures.ts"
import type { Stop } from "../canonical/Response.ts"
import { mergeUsage, type Usage } from "../canonical/Usage.ts"
import type { JsonObject } from "../json/Json.ts"
import { encodeSse } from "../sse/SseScanner.ts"
import type { EncodeContext, StreamEncoder } from "../WireCodec.ts"
import { citationOf } from "./ResponseEncode.ts"
import { searchBlocks } from "./Searches.ts"
import { stopReasons } from "./Stop.ts"
import { encodeUsage } from "./Usage.ts"

type BlockEvent = Extract<StreamEvent, { readonly index: number }>

const write = (event: JsonObject): string => encodeSse(String(event["type"]), JSON.stringify(event))

/** A block that was started, or waits for content: an empty text would be refused when the client sends it back. */
interface Block {
  readonly start: BlockStart
  begun: boolean
}

/** The start of a block; null for blocks of another wire, which cannot be sent. */
const startOf = (block: BlockStart): JsonObject | null => {
  switch (block.type) {
    case "text":
    case "refusal":
      return { type: "text", text: "" }
    case "reasoning":
      return { type: "thinking", thinking: "", signature: "" }
    case "tool_call":
      return { type: "tool_use", id: block.id, name: block.name, input: {} }
    case "opaque":
      return block.part.wire === "messages" ? block.part.value : null
  }
}

const deltaOf = (delta: BlockDelta, block: BlockStart): JsonObject | null => {
  switch (delta.type) {
    case "text":
      return block.type === "reasoning"
        ? { type: "thinking_delta", thinking: delta.text }
        : { type: "text_delta", text: delta.text }
    case "args":
      return { type: "input_json_delta", partial_json: delta.text }
    case "state": {
      const { signature, wire } = delta.state
      return wire === "messages" && signature !== undefined ? { type: "signature_delta", signature } : null
    }
    case "citation": {
      const citation = citationOf(delta.citation)
      return citation === null ? null : { type: "citations_delta", citation }
    }
    case "opaque":
      return delta.part.wire === "messages" ? delta.part.value : null
  }
}

/** Reasoning that consists only of this wire's state is a `redacted_thinking` block, complete in its start. */
const redactedBy = (delta: BlockDelta): JsonObject | null => {
  const encrypted = delta.type === "state" && delta.state.wire === "messages" ? delta.state.encrypted : undefined
  return encrypted === undefined ? null : { type: "redacted_thinking", data: encrypted }
}

const saysNothing = (delta: BlockDelta): boolean => delta.type === "text" && delta.text === ""

export const makeStreamEncoder = (context: EncodeContext): StreamEncoder => {
  const blocks = new Map<number, Block>()
  // Events of blocks that began while another was open, in order of their start.
  const waiting = new Map<number, Array<BlockEvent>>()
  let current: number | null = null
  let started = false
  let over = false
  let nextIndex = 0
  let usage: Usage | null = null
  let stop: Stop | null = null

  const begin = (id: string | null, model: string | null): string => {
    started = true
    return write({
      type: "message_start",
      message: {
        id: id ?? context.fallbackId,
        type: "message",
        role: "assistant",
        model: model ?? context.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: encodeUsage(usage)
      }
    })
  }

  const writeStart = (block: Block, content: JsonObject): string => {
    block.begun = true
    return write({ type: "content_block_start", index: nextIndex, content_block: content })
  }

  const writeDelta = (block: Block, delta: BlockDelta): string => {
    const redacted = block.begun ? null : redactedBy(delta)
    if (redacted !== null) return writeStart(block, redacted)
    const encoded = saysNothing(delta) ? null : deltaOf(delta, block.start)
    if (encoded === null) return ""
    const start = block.begun ? null : startOf(block.start)
    return (
      (start === null ? "" : writeStart(block, start)) +
      write({ type: "content_block_delta", index: nextIndex, delta: encoded })
    )
  }

  /** A search that is told in two blocks, which are complete. */
  const writeSearch = (part: OpaquePart, index: number): string | null => {
    const blocks = searchBlocks(part.search, `${context.fallbackId}${index}`)
    if (blocks === null) return part.search === undefined ? null : ""
    const { input, ...call } = blocks.call
    const delta = { type: "input_json_delta", partial_json: JSON.stringify(input) }
    return (
      write({ type: "content_block_start", index: nextIndex, content_block: { ...call, input: {} } }) +
      write({ type: "content_block_delta", index: nextIndex, delta }) +
      writeStop() +
      write({ type: "content_block_start", index: nextIndex, content_block: blocks.result }) +
      writeStop()
    )
  }

  const writeStop = (): string => {
    const end = write({ type: "content_block_stop", index: nextIndex })
    nextIndex += 1
    return end
  }

  /** Writes an event of the current block. */
  const writeBlock = (event: BlockEvent): string => {
    if (event.type === "block_start") {
      const content = startOf(event.block)
      if (content === null) {
        if (event.block.type !== "opaque") return ""
        return writeSearch(event.block.part, event.index) ?? lostComment(event.block.part)
      }
      const begun: Block = { start: event.block, begun: false }
      blocks.set(event.index, begun)
      return event.block.type === "tool_call" || event.block.type === "opaque" ? writeStart(begun, content) : ""
    }
    const block = blocks.get(event.index)
    if (event.type === "delta") return block === undefined ? "" : writeDelta(block, event.delta)
    blocks.delete(event.index)
    return (block?.begun === true ? writeStop() : "") + advance()
  }

  /** The next waiting block becomes the current one. */
  const advance = (): string => {
    current = null
    const [next] = waiting
    if (next === undefined) return ""
    const [index, events] = next
    waiting.delete(index)
    current = index
    return events.map(writeBlock).join("")
  }

  const onBlock = (event: BlockEvent): string => {
    if (current === null && event.type === "block_start") current = event.index
    if (current === event.index) return writeBlock(event)
    const queue = waiting.get(event.index)
    if (queue !== undefined) queue.push(event)
    else if (event.type === "block_start") waiting.set(event.index, [event])
    return ""
  }

  const finish = (): string => {
    over = true
    const delta = {
      stop_reason: stopReasons[stop?.reason ?? "other"],
      stop_sequence: stop?.sequence ?? null
    }
    return write({ type: "message_delta", delta, usage: encodeUsage(usage) }) + write({ type: "message_stop" })
  }

  const body = (event: StreamEvent): string => {
    switch (event.type) {
      case "block_start":
      case "delta":
      case "block_stop":
        return onBlock(event)
      case "usage":
        usage = mergeUsage(usage, event.usage)
        return ""
      case "finish":
        stop = event.stop
        return ""
      case "done":
        return finish()
      case "ping":
        return write({ type: "ping" })
      case "error":
        over = true
        return ""
      case "start":
        return ""
    }
  }

  return {
    encode: (event) => {
      if (over) return ""
      if (started) return body(event)
      if (event.type === "start") return begin(event.id, event.model)
      const silent = event.type === "usage" || event.type === "error"
      if (event.type === "ping") return ": ping\n\n"
      return silent ? body(event) : begin(null, null) + body(event)
    }
  }
}
