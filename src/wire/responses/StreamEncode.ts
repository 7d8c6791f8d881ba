/**
 * Canonical events → response stream events: objects for a WebSocket, and their text as server-sent events. The last event repeats the
 * complete output.
 *
 * https://developers.openai.com/api/reference/resources/responses/streaming-events
 */
import type { StreamEvent } from "../canonical/Event.ts"
import { lostComment } from "../canonical/Pictures.ts"
import type { Stop } from "../canonical/Response.ts"
import { mergeUsage, type Usage } from "../canonical/Usage.ts"
import { isArray, isObject, type JsonObject } from "../json/Json.ts"
import { encodeSse } from "../sse/SseScanner.ts"
import type { EncodeContext, StreamEncoder } from "../WireCodec.ts"
import { finished, isCodex, refused, responseHead, unfinished } from "./ResponseObject.ts"
import { type ItemWriter, writerFor } from "./StreamItems.ts"
import { declaredTools } from "./ToolNames.ts"

/** Canonical events → event objects, numbered from 0. Emits no end before `done`, and nothing after `done` or `error`. */
export interface ResponsesEventEncoder {
  readonly encode: (event: StreamEvent) => ReadonlyArray<JsonObject>
}

/** Reasoning may come before a refusal; it is not an answer. */
const isAnswerText = ({ content, type }: JsonObject): boolean =>
  type === "message"
    ? isArray(content) && content.some((part) => isObject(part) && (part["text"] ?? part["refusal"]) !== "")
    : type !== "reasoning"

interface OpenItem {
  readonly writer: ItemWriter
  readonly outputIndex: number
}

export const makeResponsesEventEncoder = (context: EncodeContext): ResponsesEventEncoder => {
  const tools = declaredTools(context.request)
  const open = new Map<number, OpenItem>()
  /** Items by output index; one that is still open is as it began. */
  const output: Array<JsonObject> = []
  let out: Array<JsonObject> = []
  let head: JsonObject | null = null
  let nextNumber = 0
  let over = false
  let usage: Usage | null = null
  let stop: Stop | null = null

  const emit = (type: string, members: JsonObject): void => {
    out.push({ ...members, type, sequence_number: nextNumber })
    nextNumber += 1
  }

  const begin = (id: string | null, model: string | null, createdMs: number | null): JsonObject => {
    head = responseHead({ id, model, createdMs }, context)
    const response = unfinished(head)
    emit("response.created", { response })
    emit("response.in_progress", { response })
    return head
  }

  const startBlock = (event: Extract<StreamEvent, { readonly type: "block_start" }>, response: JsonObject): void => {
    const outputIndex = output.length
    const writer = writerFor(event.block, tools, { emit, responseId: String(response["id"]), index: outputIndex })
    if (writer === null) return
    open.set(event.index, { writer, outputIndex })
    output.push(writer.item)
    emit("response.output_item.added", { output_index: outputIndex, item: writer.item })
    writer.open()
  }

  const stopBlock = (index: number): void => {
    const item = open.get(index)
    if (item === undefined) return
    open.delete(index)
    const whole = item.writer.close()
    output[item.outputIndex] = whole
    emit("response.output_item.done", { output_index: item.outputIndex, item: whole })
  }

  const finish = (response: JsonObject): void => {
    over = true
    for (const index of open.keys()) stopBlock(index)
    // A retry cannot help a refused prompt.
    const whole =
      stop?.reason === "content_filter" && isCodex(context.request) && !output.some(isAnswerText)
        ? refused(response, output, stop, usage)
        : finished(response, output, stop, usage, context.nowMs + (context.elapsedMs?.() ?? 0))
    emit(`response.${whole.status}`, { response: whole })
  }

  const write = (event: StreamEvent): void => {
    switch (event.type) {
      case "usage":
        usage = mergeUsage(usage, event.usage)
        return
      case "error":
        over = true
        return
      case "ping":
        return
      case "start":
        if (head === null) begin(event.id, event.model, event.createdMs)
        return
    }
    const response = head ?? begin(null, null, null)
    switch (event.type) {
      case "block_start":
        return startBlock(event, response)
      case "delta":
        return open.get(event.index)?.writer.delta(event.delta)
      case "block_stop":
        return stopBlock(event.index)
      case "finish":
        stop = event.stop
        return
      case "done":
        return finish(response)
    }
  }

  return {
    encode: (event) => {
      if (over) return []
      out = []
      write(event)
      return out
    }
  }
}

export const makeStreamEncoder = (context: EncodeContext): StreamEncoder => {
  const encoder = makeResponsesEventEncoder(context)
  return {
    encode: (event) => {
      // Clients throw on unknown event types, so a keep-alive is a comment.
      if (event.type === "ping") return ": ping\n\n"
      const { block } = event.type === "block_start" ? event : { block: null }
      let text = ""
      for (const object of encoder.encode(event)) text += encodeSse(String(object["type"]), JSON.stringify(object))
      // A block of another wire that has no item here.
      return text === "" && block?.type === "opaque" && block.part.search === undefined ? lostComment(block.part) : text
    }
  }
}
