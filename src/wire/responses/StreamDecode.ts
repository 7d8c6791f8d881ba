/**
 * Response stream events → canonical events. Items are identified by `output_index`, because some servers give an item another id with
 * each event. Content that was not in deltas is taken from the `done` event of the item.
 *
 * https://developers.openai.com/api/reference/resources/responses/streaming-events
 */
import type { Dialect } from "../../contract/domain/Dialect.ts"
import type { BlockDelta, BlockStart, StreamEvent, UpstreamProblem } from "../canonical/Event.ts"
import type { OpaquePart } from "../canonical/Conversation.ts"
import { withLink } from "../canonical/Links.ts"
import { isArray, isObject, type Json, type JsonObject, numberOr, objectOr, parseJson, stringOr } from "../json/Json.ts"
import type { EventDecoder } from "../sse/SseDecoder.ts"
import { eventTypeOf, incompleteStream, isTornEvent, streamProblem, tornEvent } from "../UpstreamError.ts"
import { citationsOf } from "./Content.ts"
import { pictureOf } from "./Pictures.ts"
import { reasoningText, sectionBreak, stateOf } from "./Reasoning.ts"
import { searchOf } from "./Searches.ts"
import { decodeStop } from "./Stop.ts"
import { usageOf } from "./Usage.ts"

/** The event that ends an item; also the kind of the opaque delta that carries the end of an opaque item. */
export const itemDone = "response.output_item.done"

/** No answer has more items. */
const maxItems = 10_000

type TextKind = "text" | "refusal" | "reasoning"

interface Block {
  readonly index: number
  /** Section of the summary that the last text belonged to. */
  section: number
  citations: number
}

interface Item {
  readonly type: string
  /** An item that only this wire has. */
  readonly opaque: boolean
  /** Blocks by content index; other items have one block, at 0. */
  readonly blocks: Map<number, Block>
  /** The source of reasoning when both are sent: the one that came first. */
  source: "summary" | "content" | null
  hasArgs: boolean
  open: boolean
}

const opaque = (kind: string, value: JsonObject): OpaquePart => ({ type: "opaque", wire: "responses", kind, value })

/** The block that begins with the item; null for items whose blocks begin with their text. */
const startOf = (source: JsonObject): BlockStart | null => {
  const type = stringOr(source["type"]) ?? ""
  switch (type) {
    case "message":
    case "reasoning":
      return null
    case "function_call":
    case "custom_tool_call":
      return {
        type: "tool_call",
        id: stringOr(source["call_id"]) || (stringOr(source["id"]) ?? ""),
        name: stringOr(source["name"]) ?? "",
        kind: type === "custom_tool_call" ? "custom" : "function"
      }
    default:
      return { type: "opaque", part: opaque(type, source) }
  }
}

const argsOf = (source: JsonObject): string => {
  const args = source["type"] === "custom_tool_call" ? source["input"] : source["arguments"]
  return typeof args === "string" ? args : args === undefined || args === null ? "" : JSON.stringify(args)
}

/** The `error` event has its members in `error` or at the top level. */
const problemOf = (event: JsonObject): UpstreamProblem => {
  if (isObject(event["error"])) return streamProblem({ error: event["error"] })
  if (typeof event["error"] === "string") return streamProblem(event)
  const { code, message } = event
  return streamProblem({ error: { code, message } })
}

/** Reads event objects; `event` and `end` are the same for a stream of server-sent events. */
export interface ResponsesEventDecoder extends EventDecoder {
  readonly read: (event: JsonObject) => ReadonlyArray<StreamEvent>
}

/** The events of one stream. A class, because one is made per stream. */
class EventReading {
  readonly #dialect: Dialect | undefined
  readonly #items = new Map<number, Item>()
  out: Array<StreamEvent> = []
  #started = false
  over = false
  #nextIndex = 0
  #lastKey = 0
  #calls = 0

  constructor(dialect: Dialect | undefined) {
    this.#dialect = dialect
  }

  fail(problem: UpstreamProblem): void {
    this.over = true
    this.out.push({ type: "error", problem })
  }

  #delta(block: Block, delta: BlockDelta): void {
    this.out.push({ type: "delta", index: block.index, delta })
  }

  #startBlock(item: Item, part: number, block: BlockStart): Block {
    const begun: Block = { index: this.#nextIndex, section: -1, citations: 0 }
    this.#nextIndex += 1
    item.blocks.set(part, begun)
    this.out.push({ type: "block_start", index: begun.index, block })
    return begun
  }

  #keyOf(event: JsonObject): number {
    this.#lastKey = numberOr(event["output_index"]) ?? this.#lastKey
    return this.#lastKey
  }

  #openItem(key: number, source: JsonObject): Item {
    const block = startOf(source)
    const item: Item = {
      type: stringOr(source["type"]) ?? "",
      opaque: block?.type === "opaque",
      blocks: new Map(),
      source: null,
      hasArgs: false,
      open: true
    }
    this.#items.set(key, item)
    if (this.#items.size > maxItems)
      this.fail({ ...incompleteStream, message: `The upstream sent more than ${maxItems} items.` })
    if (block === null) return item
    if (block.type === "tool_call") this.#calls += 1
    this.#startBlock(item, 0, block)
    return item
  }

  /** The item of a text delta, also when its start was not sent; null when the item is finished or of another type. */
  #textItem(event: JsonObject, type: "message" | "reasoning"): Item | null {
    const key = this.#keyOf(event)
    const item = this.#items.get(key) ?? this.#openItem(key, { type })
    return item.open && item.type === type ? item : null
  }

  #emitText(item: Item, part: number, kind: TextKind, text: string, logprobs?: Json): Block | undefined {
    if (text === "") return item.blocks.get(part)
    const block = item.blocks.get(part) ?? this.#startBlock(item, part, { type: kind })
    const tokens = isArray(logprobs) ? logprobs.filter(isObject) : []
    this.#delta(block, { type: "text", text, ...(tokens.length === 0 ? {} : { logprobs: tokens }) })
    return block
  }

  #sayText(event: JsonObject, kind: "text" | "refusal", member: string, whole: boolean): void {
    const item = this.#textItem(event, "message")
    const part = numberOr(event["content_index"]) ?? 0
    if (item === null || (whole && item.blocks.has(part))) return
    this.#emitText(item, part, kind, stringOr(event[member]) ?? "", event["logprobs"])
  }

  #sayReasoning(event: JsonObject, source: "summary" | "content", member: string, whole: boolean): void {
    const item = this.#textItem(event, "reasoning")
    const text = stringOr(event[member]) ?? ""
    if (item === null || text === "") return
    item.source ??= source
    if (item.source !== source) return
    const section = numberOr(event[source === "summary" ? "summary_index" : "content_index"]) ?? 0
    const last = item.blocks.get(0)?.section ?? -1
    if (whole && section <= last) return
    if (source === "summary" && last >= 0 && section > last) this.#emitText(item, 0, "reasoning", sectionBreak)
    const block = this.#emitText(item, 0, "reasoning", text)
    if (block !== undefined) block.section = section
  }

  #pushArgs(item: Item, text: string): void {
    const block = item.blocks.get(0)
    if (text === "" || block === undefined) return
    item.hasArgs = true
    this.#delta(block, { type: "args", text })
  }

  #readArgs(event: JsonObject, member: string, whole: boolean): void {
    const item = this.#items.get(this.#keyOf(event))
    if (item === undefined || !item.open || item.opaque || (whole && item.hasArgs)) return
    this.#pushArgs(item, stringOr(event[member]) ?? "")
  }

  #cite(event: JsonObject): void {
    const block = this.#items.get(this.#keyOf(event))?.blocks.get(numberOr(event["content_index"]) ?? 0)
    const { annotation } = event
    if (block === undefined || !isObject(annotation)) return
    block.citations += 1
    this.#delta(block, { type: "citation", citation: withLink({ wire: "responses", value: annotation }, null) })
  }

  #fillMessage(item: Item, content: Json | undefined): void {
    if (!isArray(content)) return
    for (const [index, part] of content.entries()) {
      if (!isObject(part)) continue
      const refused = part["type"] === "refusal"
      const text = stringOr(part[refused ? "refusal" : "text"]) ?? ""
      const block =
        item.blocks.get(index) ?? this.#emitText(item, index, refused ? "refusal" : "text", text, part["logprobs"])
      if (block === undefined || block.citations > 0) continue
      for (const citation of citationsOf(part).citations ?? []) this.#delta(block, { type: "citation", citation })
    }
  }

  #fillReasoning(item: Item, source: JsonObject): void {
    const state = stateOf(source)
    let block = item.blocks.get(0) ?? this.#emitText(item, 0, "reasoning", reasoningText(source))
    // Reasoning without text or state (an id alone) is left out.
    if (block === undefined && state?.encrypted !== undefined) block = this.#startBlock(item, 0, { type: "reasoning" })
    if (block !== undefined && state !== undefined) this.#delta(block, { type: "state", state })
  }

  /** Emits what the deltas left out. */
  #fill(item: Item, source: JsonObject, event: JsonObject): void {
    switch (item.type) {
      case "message":
        return this.#fillMessage(item, source["content"])
      case "reasoning":
        return this.#fillReasoning(item, source)
      case "function_call":
      case "custom_tool_call":
        if (!item.hasArgs) this.#pushArgs(item, argsOf(source))
        return
      default: {
        const block = item.blocks.get(0)
        const part = { ...opaque(itemDone, event), ...pictureOf(source), ...searchOf(source) }
        if (block !== undefined) this.#delta(block, { type: "opaque", part })
      }
    }
  }

  #closeItem(item: Item): void {
    item.open = false
    for (const { index } of item.blocks.values()) this.out.push({ type: "block_stop", index })
    item.blocks.clear()
  }

  #endItem(key: number, event: JsonObject): void {
    const source = objectOr(event["item"])
    const item = this.#items.get(key) ?? this.#openItem(key, source)
    if (!item.open) return
    this.#fill(item, source, event)
    this.#closeItem(item)
  }

  #start(response: JsonObject): void {
    // A proxy that retried may repeat the start; after content was sent, the rest belongs to another answer.
    if (this.#started) {
      if (this.#nextIndex > 0) this.fail(incompleteStream)
      return
    }
    this.#started = true
    const created = numberOr(response["created_at"])
    this.out.push({
      type: "start",
      id: stringOr(response["id"]),
      model: stringOr(response["model"]),
      createdMs: created === null ? null : created * 1000
    })
  }

  #finish(status: string, response: JsonObject): void {
    // An answer that was not streamed is only in the last event.
    if (this.#items.size === 0 && isArray(response["output"])) {
      for (const [key, item] of response["output"].entries()) this.#endItem(key, { item })
    }
    for (const item of this.#items.values()) if (item.open) this.#closeItem(item)
    const usage = usageOf(response, this.#dialect)
    if (usage !== null) this.out.push({ type: "usage", usage })
    const stop = decodeStop({ ...response, status }, this.#calls > 0)
    if (stop === null) return this.fail(streamProblem({ error: objectOr(response["error"]) }))
    this.over = true
    this.out.push({ type: "finish", stop }, { type: "done" })
  }

  /** Progress of an item that only this wire has. */
  #pass(type: string, event: JsonObject): void {
    if (event["output_index"] === undefined) return
    const item = this.#items.get(this.#keyOf(event))
    const block = item?.blocks.get(0)
    if (item === undefined || block === undefined || !item.opaque) return
    this.#delta(block, { type: "opaque", part: opaque(type, event) })
  }

  #route(type: string, event: JsonObject): void {
    switch (type) {
      case "response.created":
        return this.#start(objectOr(event["response"]))
      case "response.output_item.added": {
        const key = this.#keyOf(event)
        if (!this.#items.has(key)) this.#openItem(key, objectOr(event["item"]))
        return
      }
      case itemDone:
        return this.#endItem(this.#keyOf(event), event)
      case "response.output_text.delta":
        return this.#sayText(event, "text", "delta", false)
      case "response.output_text.done":
        return this.#sayText(event, "text", "text", true)
      case "response.refusal.delta":
        return this.#sayText(event, "refusal", "delta", false)
      case "response.refusal.done":
        return this.#sayText(event, "refusal", "refusal", true)
      case "response.reasoning_summary_text.delta":
        return this.#sayReasoning(event, "summary", "delta", false)
      case "response.reasoning_summary_text.done":
        return this.#sayReasoning(event, "summary", "text", true)
      case "response.reasoning_text.delta":
        return this.#sayReasoning(event, "content", "delta", false)
      case "response.reasoning_text.done":
        return this.#sayReasoning(event, "content", "text", true)
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
        return this.#readArgs(event, "delta", false)
      case "response.function_call_arguments.done":
        return this.#readArgs(event, "arguments", true)
      case "response.custom_tool_call_input.done":
        return this.#readArgs(event, "input", true)
      case "response.output_text.annotation.added":
        return this.#cite(event)
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        return this.#finish(type.slice("response.".length), objectOr(event["response"]))
      case "error":
        return this.fail(problemOf(event))
      case "keepalive":
        return void this.out.push({ type: "ping" })
      default:
        return this.#pass(type, event)
    }
  }

  read(event: JsonObject): ReadonlyArray<StreamEvent> {
    if (this.over) return []
    this.out = []
    this.#route(eventTypeOf(event), event)
    return this.out
  }
}

export const makeEventDecoder = (dialect?: Dialect): ResponsesEventDecoder => {
  const reading = new EventReading(dialect)
  return {
    read: (event) => reading.read(event),
    event: ({ data }) => {
      const event = parseJson(data)
      if (isObject(event)) return reading.read(event)
      if (reading.over || !isTornEvent(data)) return []
      reading.out = []
      reading.fail(tornEvent)
      return reading.out
    },
    end: () => {
      if (reading.over) return []
      reading.out = []
      reading.fail(incompleteStream)
      return reading.out
    }
  }
}
