/** The parts of an answer, gathered from its stream while it passes. Pure state. */
import type { ReasoningState } from "./Conversation.ts"
import type { BlockDelta, BlockStart, StreamEvent } from "./Event.ts"
import type { AnswerPart } from "./Response.ts"

/** An answer larger than this is not gathered. */
const maxCollectedChars = 4 * 1_048_576

interface Building {
  readonly block: BlockStart
  text: string
  state: ReasoningState | null
}

export interface PartCollector {
  readonly add: (event: StreamEvent) => void
  /** Parts of the answer in the order of the blocks; null when the answer was too large. */
  readonly parts: () => ReadonlyArray<AnswerPart> | null
}

const finished = ({ block, state, text }: Building): AnswerPart => {
  const proof = state === null ? {} : { state }
  switch (block.type) {
    case "text":
      return { type: "text", text, ...proof }
    case "refusal":
      return { type: "refusal", text }
    case "reasoning":
      return { type: "reasoning", text, ...proof }
    case "tool_call":
      return {
        type: "tool_call",
        id: block.id,
        name: block.name,
        kind: block.kind,
        args: text === "" && block.kind === "function" ? "{}" : text,
        ...proof
      }
    case "opaque":
      return block.part
  }
}

export const makePartCollector = (): PartCollector => {
  const blocks = new Map<number, Building>()
  let chars = 0

  const change = (building: Building, delta: BlockDelta): void => {
    switch (delta.type) {
      case "text":
      case "args":
        chars += delta.text.length
        if (chars <= maxCollectedChars) building.text += delta.text
        return
      case "state":
        building.state = delta.state
        return
      case "citation":
      case "opaque":
    }
  }

  return {
    add: (event) => {
      if (event.type === "block_start") blocks.set(event.index, { block: event.block, text: "", state: null })
      if (event.type !== "delta") return
      const building = blocks.get(event.index)
      if (building !== undefined) change(building, event.delta)
    },
    parts: () =>
      chars > maxCollectedChars
        ? null
        : [...blocks.entries()].toSorted(([a], [b]) => a - b).map(([, building]) => finished(building))
  }
}
