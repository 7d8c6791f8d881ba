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

/** The events of one stream. A class, because one is made per stream. */
class EventWriting {
  readonly #context: EncodeContext
  readonly #blocks = new Map<number, Block>()
  // Events of blocks that began while another was open, in order of their start.
  readonly #waiting = new Map<number, Array<BlockEvent>>()
  #current: number | null = null
  started = false
  over = false
  #nextIndex = 0
  #usage: Usage | null = null
  #stop: Stop | null = null

  constructor(context: EncodeContext) {
    this.#context = context
  }

  begin(id: string | null, model: string | null): string {
    this.started = true
    return write({
      type: "message_start",
      message: {
        id: id ?? this.#context.fallbackId,
        type: "message",
        role: "assistant",
        model: model ?? this.#context.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: encodeUsage(this.#usage)
      }
    })
  }

  #writeStart(block: Block, content: JsonObject): string {
    block.begun = true
    return write({ type: "content_block_start", index: this.#nextIndex, content_block: content })
  }

  #writeDelta(block: Block, delta: BlockDelta): string {
    const redacted = block.begun ? null : redactedBy(delta)
    if (redacted !== null) return this.#writeStart(block, redacted)
    const encoded = saysNothing(delta) ? null : deltaOf(delta, block.start)
    if (encoded === null) return ""
    const start = block.begun ? null : startOf(block.start)
    return (
      (start === null ? "" : this.#writeStart(block, start)) +
      write({ type: "content_block_delta", index: this.#nextIndex, delta: encoded })
    )
  }

  /** A search that is told in two blocks, which are complete. */
  #writeSearch(part: OpaquePart, index: number): string | null {
    const blocks = searchBlocks(part.search, `${this.#context.fallbackId}${index}`)
    if (blocks === null) return part.search === undefined ? null : ""
    const { input, ...call } = blocks.call
    const delta = { type: "input_json_delta", partial_json: JSON.stringify(input) }
    return (
      write({ type: "content_block_start", index: this.#nextIndex, content_block: { ...call, input: {} } }) +
      write({ type: "content_block_delta", index: this.#nextIndex, delta }) +
      this.#writeStop() +
      write({ type: "content_block_start", index: this.#nextIndex, content_block: blocks.result }) +
      this.#writeStop()
    )
  }

  #writeStop(): string {
    const end = write({ type: "content_block_stop", index: this.#nextIndex })
    this.#nextIndex += 1
    return end
  }

  /** Writes an event of the current block. */
  #writeBlock(event: BlockEvent): string {
    if (event.type === "block_start") {
      const content = startOf(event.block)
      if (content === null) {
        if (event.block.type !== "opaque") return ""
        return this.#writeSearch(event.block.part, event.index) ?? lostComment(event.block.part)
      }
      const begun: Block = { start: event.block, begun: false }
      this.#blocks.set(event.index, begun)
      return event.block.type === "tool_call" || event.block.type === "opaque" ? this.#writeStart(begun, content) : ""
    }
    const block = this.#blocks.get(event.index)
    if (event.type === "delta") return block === undefined ? "" : this.#writeDelta(block, event.delta)
    this.#blocks.delete(event.index)
    return (block?.begun === true ? this.#writeStop() : "") + this.#advance()
  }

  /** The next waiting block becomes the current one. */
  #advance(): string {
    this.#current = null
    const [next] = this.#waiting
    if (next === undefined) return ""
    const [index, events] = next
    this.#waiting.delete(index)
    this.#current = index
    return events.map((event) => this.#writeBlock(event)).join("")
  }

  #onBlock(event: BlockEvent): string {
    if (this.#current === null && event.type === "block_start") this.#current = event.index
    if (this.#current === event.index) return this.#writeBlock(event)
    const queue = this.#waiting.get(event.index)
    if (queue !== undefined) queue.push(event)
    else if (event.type === "block_start") this.#waiting.set(event.index, [event])
    return ""
  }

  #finish(): string {
    this.over = true
    const delta = {
      stop_reason: stopReasons[this.#stop?.reason ?? "other"],
      stop_sequence: this.#stop?.sequence ?? null
    }
    return write({ type: "message_delta", delta, usage: encodeUsage(this.#usage) }) + write({ type: "message_stop" })
  }

  body(event: StreamEvent): string {
    switch (event.type) {
      case "block_start":
      case "delta":
      case "block_stop":
        return this.#onBlock(event)
      case "usage":
        this.#usage = mergeUsage(this.#usage, event.usage)
        return ""
      case "finish":
        this.#stop = event.stop
        return ""
      case "done":
        return this.#finish()
      case "ping":
        return write({ type: "ping" })
      case "error":
        this.over = true
        return ""
      case "start":
        return ""
    }
  }
}

export const makeStreamEncoder = (context: EncodeContext): StreamEncoder => {
  const writing = new EventWriting(context)
  return {
    encode: (event) => {
      if (writing.over) return ""
      if (writing.started) return writing.body(event)
      if (event.type === "start") return writing.begin(event.id, event.model)
      const silent = event.type === "usage" || event.type === "error"
      if (event.type === "ping") return ": ping\n\n"
      return silent ? writing.body(event) : writing.begin(null, null) + writing.body(event)
    }
  }
}
