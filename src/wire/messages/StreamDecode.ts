/**
 * Message stream events → canonical events. Events are distinguished by the `type` in their data; `event:` lines may be missing.
 *
 * https://platform.claude.com/docs/en/build-with-claude/streaming
 */
import type { Dialect } from "../../domain/Dialect.ts"
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

/** Of a call that the provider runs: what is longer is not read. */
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

export const makeEventDecoder = (dialect?: Dialect): EventDecoder => {
  let out: Array<StreamEvent> = []
  let started = false
  let over = false
  let stop: Stop | null = null
  let nextIndex = 0
  let hasCalls = false
  let hasContent = false
  const open = new Map<number, OpenBlock>()
  const readUsage = makeUsageReader(dialect)
  const searches = makeSearchReader()

  /** Usage that the start reported, until the end reports more. */
  let atStart: Usage | null = null

  const tellUsage = (usage: unknown): void => {
    const known = isObject(usage) ? readUsage(usage, !hasContent) : null
    if (known === null) return
    atStart = null
    out.push({ type: "usage", usage: known })
  }

  const tellRest = (): void => {
    if (atStart !== null) out.push({ type: "usage", usage: atStart })
    atStart = null
  }

  /** The output is a placeholder here: it counts from the first content, or where nothing takes its place. */
  const tellStart = (usage: unknown): void => {
    atStart = isObject(usage) ? readUsage(usage) : null
    if (atStart !== null) out.push({ type: "usage", usage: { ...atStart, out: 0 } })
  }

  const closeBlock = (key: number): void => {
    const block = open.get(key)
    if (block === undefined) return
    open.delete(key)
    if (block.kind === "tool_call" && !block.hasArgs && Object.keys(block.input).length > 0) {
      out.push({ type: "delta", index: block.index, delta: { type: "args", text: JSON.stringify(block.input) } })
    }
    if (block.served !== null && block.servedInput !== "") searches.input(block.served, block.servedInput)
    for (const citation of block.citations) {
      out.push({
        type: "delta",
        index: block.index,
        delta: { type: "citation", citation: withLink(citation, block.chars) }
      })
    }
    out.push({ type: "block_stop", index: block.index })
  }

  const startBlock = (key: number, source: JsonObject): void => {
    closeBlock(key)
    const block = startOf(source, searches)
    const index = nextIndex++
    hasCalls ||= block.type === "tool_call"
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
    open.set(key, opened)
    out.push({ type: "block_start", index, block })
    const deltas = initialDeltas(source, block.type)
    for (const delta of deltas) {
      if (delta.type === "text") opened.chars += delta.text.length
      out.push({ type: "delta", index, delta })
    }
    hasContent ||= (block.type !== "text" && block.type !== "reasoning") || deltas.some((delta) => !isEmpty(delta))
    if (hasContent) tellRest()
  }

  const fail = (problem: UpstreamProblem): void => {
    over = true
    out.push({ type: "error", problem })
  }

  const start = (message: JsonObject): void => {
    // A proxy that retried may repeat the start; after content was sent, the rest belongs to another answer.
    if (started) {
      if (nextIndex > 0) fail(secondAnswer)
      return
    }
    started = true
    out.push({ type: "start", id: stringOr(message["id"]), model: stringOr(message["model"]), createdMs: null })
    tellStart(message["usage"])
  }

  /** `isMarked`: the stream has said that it is over. */
  const finishUp = (isMarked: boolean): void => {
    for (const key of open.keys()) closeBlock(key)
    if (stop === null && isMarked && nextIndex > 0) stop = inferredStop(hasCalls)
    tellRest()
    if (stop === null) return fail(incompleteStream)
    over = true
    out.push({ type: "finish", stop }, { type: "done" })
  }

  const readDelta = (event: JsonObject): void => {
    const block = open.get(numberOr(event["index"]) ?? 0)
    if (block === undefined) return
    const delta = deltaOf(objectOr(event["delta"]), block.kind)
    if (delta === null || isEmpty(delta)) return
    hasContent = true
    tellRest()
    if (delta.type === "args") block.hasArgs = true
    else if (delta.type === "text") block.chars += delta.text.length
    else if (delta.type === "citation") {
      block.citations.push(delta.citation)
      return
    } else if (block.served !== null && delta.type === "opaque" && block.servedInput.length <= maxServedInput) {
      block.servedInput += stringOr(delta.part.value["partial_json"]) ?? ""
    }
    out.push({ type: "delta", index: block.index, delta })
  }

  const read = (event: JsonObject): void => {
    switch (eventTypeOf(event)) {
      case "message_start":
        return start(objectOr(event["message"]))
      case "content_block_start":
        return startBlock(numberOr(event["index"]) ?? 0, objectOr(event["content_block"]))
      case "content_block_delta":
        return readDelta(event)
      case "content_block_stop":
        return closeBlock(numberOr(event["index"]) ?? 0)
      case "message_delta":
        stop = decodeStop(objectOr(event["delta"])) ?? stop
        return tellUsage(event["usage"])
      case "message_stop":
        return finishUp(true)
      case "ping":
        return void out.push({ type: "ping" })
      case "error":
        return fail(streamProblem(event))
    }
  }

  const take = (): ReadonlyArray<StreamEvent> => {
    const events = out
    out = []
    return events
  }

  return {
    event: ({ data }) => {
      if (over) return []
      const event = parseJson(data)
      if (isObject(event)) read(event)
      else if (stop === null && isTornEvent(data)) fail(tornEvent)
      return take()
    },
    end: () => {
      if (!over) finishUp(false)
      return take()
    }
  }
}
