/**
 * Message stream events → canonical events. Events are distinguished by the `type` in their data; `event:` lines may be missing.
 *
 * https://platform.claude.com/docs/en/build-with-claude/streaming
 */
import type { Dialect } from "../../contract/domain/Dialect.ts"
import type { BlockDelta, BlockStart, StreamEvent, UpstreamProblem } from "../canonical/Event.ts"
import type { Citation, OpaquePart } from "../canonical/Conversation.ts"
import { withLink } from "../canonical/Links.ts"
import { inferredStop, type Stop } from "../canonical/Response.ts"
import { isObject, type JsonObject, numberOr, objectOr, parseJson, stringOr } from "../json/Json.ts"
import type { EventDecoder } from "../sse/SseDecoder.ts"
import { eventTypeOf, incompleteStream, isTornEvent, secondAnswer, streamProblem, tornEvent } from "../UpstreamError.ts"
import type { Usage } from "../canonical/Usage.ts"
import { makeSearchReader, type SearchReader } from "./Searches.ts"
import { decodeStop } from "./Stop.ts"
import { makeUsageReader } from "./Usage.ts"

interface OpenBlock {
  readonly index: number
  /** Complete input given at the start of a call; used when no fragment follows. */
  readonly input: JsonObject
  readonly kind: BlockStart["type"]
  hasArgs: boolean
  /** Characters of a text so far: what a citation says of it is known at its end. */
  chars: number
  readonly citations: Array<Citation>
  /** A call that the provider runs itself, and its input so far. */
  readonly served: JsonObject | null
  servedInput: string
}

/** Most characters of the input of a call that the provider runs: what is longer is not read. */
const maxServedInput = 65_536

const opaque = (kind: string, value: JsonObject): OpaquePart => ({ type: "opaque", wire: "messages", kind, value })

const startOf = (block: JsonObject, searches: SearchReader): BlockStart => {
  const kind = stringOr(block["type"]) ?? ""
  switch (kind) {
    case "text":
      return { type: "text" }
    case "thinking":
    case "redacted_thinking":
      return { type: "reasoning" }
    case "tool_use":
      return {
        type: "tool_call",
        id: stringOr(block["id"]) ?? "",
        name: stringOr(block["name"]) ?? "",
        kind: "function"
      }
    default:
      return { type: "opaque", part: { ...opaque(kind, block), ...searches.read(block) } }
  }
}

/** Content that a block has in its start event. */
const initialDeltas = (block: JsonObject, kind: BlockStart["type"]): ReadonlyArray<BlockDelta> => {
  const text = stringOr(kind === "reasoning" ? block["thinking"] : kind === "text" ? block["text"] : null) ?? ""
  const encrypted = block["type"] === "redacted_thinking" ? stringOr(block["data"]) : null
  if (encrypted !== null) return [{ type: "state", state: { wire: "messages", encrypted } }]
  const signature = kind === "reasoning" ? (stringOr(block["signature"]) ?? "") : ""
  return [
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...(signature === "" ? [] : [{ type: "state" as const, state: { wire: "messages" as const, signature } }])
  ]
}

const deltaOf = (delta: JsonObject, kind: BlockStart["type"]): BlockDelta | null => {
  const text = (key: string): string => stringOr(delta[key]) ?? ""
  const name = stringOr(delta["type"]) ?? ""
  if (kind === "opaque") return { type: "opaque", part: opaque(name, delta) }
  switch (name) {
    case "text_delta":
      return { type: "text", text: text("text") }
    case "thinking_delta":
      return { type: "text", text: text("thinking") }
    case "input_json_delta":
      return { type: "args", text: text("partial_json") }
    case "signature_delta":
      return { type: "state", state: { wire: "messages", signature: text("signature") } }
    case "citations_delta": {
      const { citation } = delta
      return isObject(citation) ? { type: "citation", citation: { wire: "messages", value: citation } } : null
    }
    default:
      return { type: "opaque", part: opaque(name, delta) }
  }
}

const isEmpty = (delta: BlockDelta): boolean => (delta.type === "text" || delta.type === "args") && delta.text === ""

/** The events of one stream. A class, because one is made per stream. */
class EventReading {
  #out: Array<StreamEvent> = []
  #started = false
  over = false
  stop: Stop | null = null
  #nextIndex = 0
  #hasCalls = false
  #hasContent = false
  readonly #open = new Map<number, OpenBlock>()
  readonly #readUsage: (usage: JsonObject, isEmpty?: boolean) => Usage | null
  readonly #searches = makeSearchReader()
  /** Usage that the start reported, until the end reports more. */
  #atStart: Usage | null = null

  constructor(dialect?: Dialect) {
    this.#readUsage = makeUsageReader(dialect)
  }

  #tellUsage(usage: unknown): void {
    const known = isObject(usage) ? this.#readUsage(usage, !this.#hasContent) : null
    if (known === null) return
    this.#atStart = null
    this.#out.push({ type: "usage", usage: known })
  }

  #tellRest(): void {
    if (this.#atStart !== null) this.#out.push({ type: "usage", usage: this.#atStart })
    this.#atStart = null
  }

  /** The output is a placeholder here: it counts from the first content, or where nothing takes its place. */
  #tellStart(usage: unknown): void {
    this.#atStart = isObject(usage) ? this.#readUsage(usage) : null
    if (this.#atStart !== null) this.#out.push({ type: "usage", usage: { ...this.#atStart, out: 0 } })
  }

  #closeBlock(key: number): void {
    const block = this.#open.get(key)
    if (block === undefined) return
    this.#open.delete(key)
    if (block.kind === "tool_call" && !block.hasArgs && Object.keys(block.input).length > 0) {
      this.#out.push({ type: "delta", index: block.index, delta: { type: "args", text: JSON.stringify(block.input) } })
    }
    if (block.served !== null && block.servedInput !== "") this.#searches.input(block.served, block.servedInput)
    for (const citation of block.citations) {
      this.#out.push({
        type: "delta",
        index: block.index,
        delta: { type: "citation", citation: withLink(citation, block.chars) }
      })
    }
    this.#out.push({ type: "block_stop", index: block.index })
  }

  #startBlock(key: number, source: JsonObject): void {
    this.#closeBlock(key)
    const block = startOf(source, this.#searches)
    const index = this.#nextIndex++
    this.#hasCalls ||= block.type === "tool_call"
    const opened: OpenBlock = {
      index,
      input: objectOr(source["input"]),
      kind: block.type,
      hasArgs: false,
      chars: 0,
      citations: [],
      served: source["type"] === "server_tool_use" ? source : null,
      servedInput: ""
    }
    this.#open.set(key, opened)
    this.#out.push({ type: "block_start", index, block })
    const deltas = initialDeltas(source, block.type)
    for (const delta of deltas) {
      if (delta.type === "text") opened.chars += delta.text.length
      this.#out.push({ type: "delta", index, delta })
    }
    this.#hasContent ||=
      (block.type !== "text" && block.type !== "reasoning") || deltas.some((delta) => !isEmpty(delta))
    if (this.#hasContent) this.#tellRest()
  }

  fail(problem: UpstreamProblem): void {
    this.over = true
    this.#out.push({ type: "error", problem })
  }

  #start(message: JsonObject): void {
    // A proxy that retried may repeat the start; after content was sent, the rest belongs to another answer.
    if (this.#started) {
      if (this.#nextIndex > 0) this.fail(secondAnswer)
      return
    }
    this.#started = true
    this.#out.push({ type: "start", id: stringOr(message["id"]), model: stringOr(message["model"]), createdMs: null })
    this.#tellStart(message["usage"])
  }

  /** `isMarked`: the stream has said that it is over. */
  finishUp(isMarked: boolean): void {
    for (const key of this.#open.keys()) this.#closeBlock(key)
    if (this.stop === null && isMarked && this.#nextIndex > 0) this.stop = inferredStop(this.#hasCalls)
    this.#tellRest()
    if (this.stop === null) return this.fail(incompleteStream)
    this.over = true
    this.#out.push({ type: "finish", stop: this.stop }, { type: "done" })
  }

  #readDelta(event: JsonObject): void {
    const block = this.#open.get(numberOr(event["index"]) ?? 0)
    if (block === undefined) return
    const delta = deltaOf(objectOr(event["delta"]), block.kind)
    if (delta === null || isEmpty(delta)) return
    this.#hasContent = true
    this.#tellRest()
    if (delta.type === "args") block.hasArgs = true
    else if (delta.type === "text") block.chars += delta.text.length
    else if (delta.type === "citation") {
      block.citations.push(delta.citation)
      return
    } else if (block.served !== null && delta.type === "opaque" && block.servedInput.length <= maxServedInput) {
      block.servedInput += stringOr(delta.part.value["partial_json"]) ?? ""
    }
    this.#out.push({ type: "delta", index: block.index, delta })
  }

  read(event: JsonObject): void {
    switch (eventTypeOf(event)) {
      case "message_start":
        return this.#start(objectOr(event["message"]))
      case "content_block_start":
        return this.#startBlock(numberOr(event["index"]) ?? 0, objectOr(event["content_block"]))
      case "content_block_delta":
        return this.#readDelta(event)
      case "content_block_stop":
        return this.#closeBlock(numberOr(event["index"]) ?? 0)
      case "message_delta":
        this.stop = decodeStop(objectOr(event["delta"])) ?? this.stop
        return this.#tellUsage(event["usage"])
      case "message_stop":
        return this.finishUp(true)
      case "ping":
        return void this.#out.push({ type: "ping" })
      case "error":
        return this.fail(streamProblem(event))
    }
  }

  take(): ReadonlyArray<StreamEvent> {
    const events = this.#out
    this.#out = []
    return events
  }
}

export const makeEventDecoder = (dialect?: Dialect): EventDecoder => {
  const reading = new EventReading(dialect)
  return {
    event: ({ data }) => {
      if (reading.over) return []
      const event = parseJson(data)
      if (isObject(event)) reading.read(event)
      else if (reading.stop === null && isTornEvent(data)) reading.fail(tornEvent)
      return reading.take()
    },
    end: () => {
      if (!reading.over) reading.finishUp(false)
      return reading.take()
    }
  }
}
