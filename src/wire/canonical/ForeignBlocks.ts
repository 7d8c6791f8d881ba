/**
 * Buffers blocks that only another wire has before they reach a client's encoder: each is passed on in one piece when it is complete,
 * because only then is it known whether it holds an image. All other events pass unchanged.
 */
import type { WireName } from "../../domain/Wire.ts"
import type { OpaquePart } from "./Conversation.ts"
import type { StreamEvent } from "./Event.ts"
import type { CarriesPicture } from "./Pictures.ts"

export interface ForeignBlocks {
  /** The events for the encoder; a ping while a block is buffered. */
  readonly pass: (event: StreamEvent) => ReadonlyArray<StreamEvent>
  /** Images were dropped, and there was no other content. */
  readonly nothingLeft: () => boolean
}

const alive: ReadonlyArray<StreamEvent> = [{ type: "ping" }]

export const makeForeignBlocks = (wire: WireName, carries: CarriesPicture | undefined): ForeignBlocks => {
  const open = new Map<number, OpaquePart>()
  let said = false
  let lostPicture = false

  const finish = (index: number, part: OpaquePart): ReadonlyArray<StreamEvent> => {
    open.delete(index)
    if (part.picture !== undefined) {
      if (carries?.(part.picture) === true) said = true
      else lostPicture = true
    }
    return [
      { type: "block_start", index, block: { type: "opaque", part } },
      { type: "block_stop", index }
    ]
  }

  return {
    pass: (event) => {
      switch (event.type) {
        case "block_start": {
          const { block } = event
          if (block.type === "opaque" && block.part.wire !== wire) {
            open.set(event.index, block.part)
            return alive
          }
          if (block.type === "tool_call" || block.type === "opaque") said = true
          return [event]
        }
        case "delta": {
          const part = open.get(event.index)
          if (part === undefined) {
            if (event.delta.type === "text" && event.delta.text !== "") said = true
            return [event]
          }
          const picture = event.delta.type === "opaque" ? event.delta.part.picture : undefined
          if (picture !== undefined) open.set(event.index, { ...part, picture })
          return alive
        }
        case "block_stop": {
          const part = open.get(event.index)
          return part === undefined ? [event] : finish(event.index, part)
        }
        default:
          return [event]
      }
    },
    nothingLeft: () => lostPicture && !said
  }
}
