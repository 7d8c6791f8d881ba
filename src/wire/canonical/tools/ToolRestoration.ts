/** Restores the client's tool names, tool kinds and call ids in the calls of an answer. */
import type { StreamEvent } from "../Event.ts"
import { unwrapInput } from "./FreeForm.ts"
import type { AnswerPart, Response } from "../Response.ts"
import type { CallIds, ToolNames } from "./ToolAdaptation.ts"

/** The client's tools and ids by those the upstream got; null where nothing differs. */
export interface ToolAliases {
  readonly toolNames?: ToolNames | null
  readonly callIds?: CallIds | null
}

const restorePart = (part: AnswerPart, { callIds, toolNames }: ToolAliases): AnswerPart => {
  if (part.type !== "tool_call") return part
  const id = callIds?.get(part.id) ?? part.id
  const own = toolNames?.get(part.name)
  if (own === undefined) return id === part.id ? part : { ...part, id }
  const unwraps = own.custom && part.kind === "function"
  return { ...part, id, name: own.name, ...(unwraps ? { kind: "custom", args: unwrapInput(part.args) } : {}) }
}

const knowsNothing = ({ callIds, toolNames }: ToolAliases): boolean =>
  (callIds ?? null) === null && (toolNames ?? null) === null

/** A complete answer, with the client's tools. */
export const restoreTools = (response: Response, words: ToolAliases): Response =>
  knowsNothing(words) ? response : { ...response, parts: response.parts.map((part) => restorePart(part, words)) }

/**
 * The events of a stream, with the client's tools. Free-form input wrapped in JSON can be unwrapped only when it is complete: the input
 * of such a call comes in one piece, at its end.
 */
export const makeToolRestorer = (words: ToolAliases): ((event: StreamEvent) => ReadonlyArray<StreamEvent>) | null => {
  if (knowsNothing(words)) return null
  const wrapped = new Map<number, Array<string>>()

  const start = (event: Extract<StreamEvent, { readonly type: "block_start" }>): StreamEvent => {
    const { block, index } = event
    if (block.type !== "tool_call") return event
    const id = words.callIds?.get(block.id) ?? block.id
    const own = words.toolNames?.get(block.name)
    if (own === undefined) return id === block.id ? event : { ...event, block: { ...block, id } }
    const unwraps = own.custom && block.kind === "function"
    if (unwraps) wrapped.set(index, [])
    return { ...event, block: { ...block, id, name: own.name, kind: unwraps ? "custom" : block.kind } }
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
