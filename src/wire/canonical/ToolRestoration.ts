/** Gives the calls of an answer back the names and the form the client declared its tools with. */
import type { StreamEvent } from "./Event.ts"
import { unwrapInput } from "./FreeForm.ts"
import type { AnswerPart, Response } from "./Response.ts"
import type { ToolNames } from "./ToolAdaptation.ts"

const restorePart = (part: AnswerPart, names: ToolNames): AnswerPart => {
  const own = part.type === "tool_call" ? names.get(part.name) : undefined
  if (part.type !== "tool_call" || own === undefined) return part
  const unwraps = own.custom && part.kind === "function"
  return { ...part, name: own.name, ...(unwraps ? { kind: "custom", args: unwrapInput(part.args) } : {}) }
}

/** A whole answer, with the client's tools. */
export const restoreTools = (response: Response, names: ToolNames | null): Response =>
  names === null ? response : { ...response, parts: response.parts.map((part) => restorePart(part, names)) }

/**
 * The events of a stream, with the client's tools. What is wrapped in JSON can be unwrapped only when it is whole: the input of such
 * a call comes in one piece, at its end.
 */
export const makeToolRestorer = (names: ToolNames): ((event: StreamEvent) => ReadonlyArray<StreamEvent>) => {
  const wrapped = new Map<number, Array<string>>()

  const start = (event: Extract<StreamEvent, { readonly type: "block_start" }>): StreamEvent => {
    const { block, index } = event
    const own = block.type === "tool_call" ? names.get(block.name) : undefined
    if (block.type !== "tool_call" || own === undefined) return event
    const unwraps = own.custom && block.kind === "function"
    if (unwraps) wrapped.set(index, [])
    return { ...event, block: { ...block, name: own.name, kind: unwraps ? "custom" : block.kind } }
  }

  return (event) => {
    switch (event.type) {
      case "block_start":
        return [start(event)]
      case "delta": {
        const pieces = event.delta.type === "args" ? wrapped.get(event.index) : undefined
        if (pieces === undefined || event.delta.type !== "args") return [event]
        pieces.push(event.delta.text)
        return []
      }
      case "block_stop": {
        const pieces = wrapped.get(event.index)
        if (pieces === undefined) return [event]
        wrapped.delete(event.index)
        const text = unwrapInput(pieces.join(""))
        return [{ type: "delta", index: event.index, delta: { type: "args", text } }, event]
      }
      default:
        return [event]
    }
  }
}
