/**
 * Writers of the output items of a stream: each turns the deltas of one canonical block into the events of one item.
 *
 * https://developers.openai.com/api/reference/resources/responses/streaming-events
 */
import type { OpaquePart, ReasoningState } from "../canonical/Conversation.ts"
import type { BlockDelta, BlockStart } from "../canonical/Event.ts"
import { isObject, type Json, type JsonObject } from "../json/Json.ts"
import { encodeCitation } from "./Content.ts"
import { itemId } from "./Ids.ts"
import {
  callItem,
  type CallShape,
  callShape,
  completeLogprob,
  inputOf,
  messageItem,
  outputText,
  reasoningItem,
  summaryPart
} from "./OutputItems.ts"
import { pictureEvents, pictureItem } from "./Pictures.ts"
import { searchEvents, searchItem } from "./Searches.ts"
import { itemDone } from "./StreamDecode.ts"
import type { DeclaredTool } from "./ToolNames.ts"

export type Emit = (type: string, members: JsonObject) => void

export interface ItemWriter {
  /** The item at its start. */
  readonly item: JsonObject
  /** Events right after `output_item.added`. */
  readonly open: () => void
  readonly delta: (delta: BlockDelta) => void
  /** Writes the events before `output_item.done`, and returns the complete item. */
  readonly close: () => JsonObject
}

interface Place {
  readonly emit: Emit
  readonly responseId: string
  readonly index: number
}

const writeText = ({ emit, index, responseId }: Place): ItemWriter => {
  const id = itemId("msg", responseId, index)
  const at = { item_id: id, output_index: index, content_index: 0 }
  const annotations: Array<JsonObject> = []
  const logprobs: Array<JsonObject> = []
  let text = ""
  return {
    item: messageItem(id, [], "in_progress"),
    open: () => emit("response.content_part.added", { ...at, part: outputText("", []) }),
    delta: (delta) => {
      if (delta.type === "text") {
        text += delta.text
        for (const token of delta.logprobs ?? []) logprobs.push(completeLogprob(token))
        emit("response.output_text.delta", { ...at, delta: delta.text, logprobs: delta.logprobs ?? [] })
        return
      }
      const annotation = delta.type === "citation" ? encodeCitation(delta.citation) : null
      if (annotation === null) return
      const annotationIndex = annotations.push(annotation) - 1
      emit("response.output_text.annotation.added", { ...at, annotation_index: annotationIndex, annotation })
    },
    close: () => {
      const part = outputText(text, annotations, logprobs)
      emit("response.output_text.done", { ...at, text, logprobs })
      emit("response.content_part.done", { ...at, part })
      return messageItem(id, [part], "completed")
    }
  }
}

const writeRefusal = ({ emit, index, responseId }: Place): ItemWriter => {
  const id = itemId("msg", responseId, index)
  const at = { item_id: id, output_index: index, content_index: 0 }
  let refusal = ""
  return {
    item: messageItem(id, [], "in_progress"),
    open: () => emit("response.content_part.added", { ...at, part: { type: "refusal", refusal: "" } }),
    delta: (delta) => {
      if (delta.type !== "text") return
      refusal += delta.text
      emit("response.refusal.delta", { ...at, delta: delta.text })
    },
    close: () => {
      const part = { type: "refusal", refusal }
      emit("response.refusal.done", { ...at, refusal })
      emit("response.content_part.done", { ...at, part })
      return messageItem(id, [part], "completed")
    }
  }
}

const writeReasoning = ({ emit, index, responseId }: Place): ItemWriter => {
  const id = itemId("rs", responseId, index)
  const at = { item_id: id, output_index: index, summary_index: 0 }
  let text = ""
  let state: ReasoningState | undefined
  return {
    item: reasoningItem(id, "", undefined),
    open: () => undefined,
    delta: (delta) => {
      if (delta.type === "state") state = delta.state
      if (delta.type !== "text" || delta.text === "") return
      // Reasoning that is only opaque has no summary part.
      if (text === "") emit("response.reasoning_summary_part.added", { ...at, part: summaryPart("") })
      text += delta.text
      emit("response.reasoning_summary_text.delta", { ...at, delta: delta.text })
    },
    close: () => {
      if (text !== "") {
        emit("response.reasoning_summary_text.done", { ...at, text })
        emit("response.reasoning_summary_part.done", { ...at, part: summaryPart(text) })
      }
      return reasoningItem(id, text, state)
    }
  }
}

const writeCall = (shape: CallShape, { emit, index }: Place): ItemWriter => {
  const at = { item_id: shape.id, output_index: index }
  const events = shape.custom ? "response.custom_tool_call_input" : "response.function_call_arguments"
  let args = ""
  return {
    item: callItem(shape, "", "in_progress"),
    open: () => undefined,
    delta: (delta) => {
      if (delta.type !== "args") return
      args += delta.text
      // Input wrapped in JSON can be unwrapped only when it is complete.
      if (!shape.wrapped) emit(`${events}.delta`, { ...at, delta: delta.text })
    },
    close: () => {
      // A call without arguments is `{}` for clients that parse the text.
      const whole = args === "" && !shape.custom ? "{}" : inputOf(shape, args)
      if (whole !== "" && (args === "" || shape.wrapped)) emit(`${events}.delta`, { ...at, delta: whole })
      emit(`${events}.done`, shape.custom ? { ...at, input: whole } : { ...at, name: shape.name, arguments: whole })
      return callItem(shape, whole, "completed")
    }
  }
}

/** An item of an upstream of this wire: its events are relayed with new numbers. */
const writeOpaque = (part: OpaquePart, { emit, index }: Place): ItemWriter => {
  let item = part.value
  return {
    item,
    open: () => undefined,
    delta: (delta) => {
      if (delta.type !== "opaque" || delta.part.wire !== "responses") return
      const { value } = delta.part
      if (delta.part.kind !== itemDone) emit(delta.part.kind, { ...value, output_index: index })
      else if (isObject(value["item"])) item = keepId(value["item"], item["id"])
    },
    close: () => item
  }
}

/** An image of another wire, which is complete; null for other opaque blocks. */
const writePicture = (part: OpaquePart, { emit, index, responseId }: Place): ItemWriter | null => {
  const id = itemId("ig", responseId, index)
  const item = pictureItem(id, part.picture)
  if (item === null) return null
  return {
    item: item.begun,
    open: () => {
      for (const type of pictureEvents) emit(type, { item_id: id, output_index: index })
    },
    delta: () => undefined,
    close: () => item.whole
  }
}

/** A search of another wire, which is complete; null where its results are told elsewhere. */
const writeSearch = (part: OpaquePart, { emit, index, responseId }: Place): ItemWriter | null => {
  const id = itemId("ws", responseId, index)
  const item = searchItem(id, part.search)
  if (item === null) return null
  return {
    item: item.begun,
    open: () => {
      for (const type of searchEvents) emit(type, { item_id: id, output_index: index })
    },
    delta: () => undefined,
    close: () => item.whole
  }
}

const writeForeign = (part: OpaquePart, place: Place): ItemWriter | null =>
  part.search === undefined ? writePicture(part, place) : writeSearch(part, place)

/** Some servers give an item another id with each event. */
const keepId = (item: JsonObject, id: Json | undefined): JsonObject => (id === undefined ? item : { ...item, id })

/** The writer for a block; null for blocks of another wire, which cannot be sent. */
export const writerFor = (
  block: BlockStart,
  tools: ReadonlyMap<string, DeclaredTool>,
  place: Place
): ItemWriter | null => {
  switch (block.type) {
    case "text":
      return writeText(place)
    case "refusal":
      return writeRefusal(place)
    case "reasoning":
      return writeReasoning(place)
    case "tool_call":
      return writeCall(callShape(block, tools, place.responseId, place.index), place)
    case "opaque":
      return block.part.wire === "responses" ? writeOpaque(block.part, place) : writeForeign(block.part, place)
  }
}
