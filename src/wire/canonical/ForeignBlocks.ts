/**
 * Buffers blocks that only another wire has before they reach a client's encoder: each is passed on in one piece when it is complete,
 * because only then is it known whether it holds an image. All other events pass unchanged.
 */
import type { WireName } from "../../contract/domain/Wire.ts"
import { optional } from "../json/Json.ts"
import type { OpaquePart } from "./Conversation.ts"
import type { StreamEvent } from "./Event.ts"
import { type CarriesPicture, lostName, type Uncarried, uncarriedOf } from "./Pictures.ts"

export interface ForeignBlocks {
  /** The events for the encoder; a ping while a block is buffered. */
  readonly pass: (event: StreamEvent) => ReadonlyArray<StreamEvent>
  /** Kind of the dropped content where there was no other; null: there was, or nothing was dropped. */
  readonly nothingLeft: () => Uncarried | null
  /** Names of the blocks that the client does not get, as far as they have come. */
  readonly lost: () => ReadonlyArray<string>
}

const alive: ReadonlyArray<StreamEvent> = [{ type: "ping" }]

export const makeForeignBlocks = (wire: WireName, carries: CarriesPicture | undefined): ForeignBlocks => {
  const open = new Map<number, OpaquePart>()
  let said = false
  let uncarried: Uncarried | null = null
  const lost = new Set<string>()

  const finish = (index: number, part: OpaquePart): ReadonlyArray<StreamEvent> => {
    open.delete(index)
    const isCarried = part.picture !== undefined && carries?.(part.picture) === true
    if (isCarried) said = true
    else {
      uncarried ??= uncarriedOf(part)
      // Sound comes in hundreds of pieces: what is left out is named once.
      const name = lostName(part)
      if (lost.has(name)) return alive
      lost.add(name)
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
          const { picture, search } = event.delta.type === "opaque" ? event.delta.part : part
          if (picture !== undefined || search !== undefined) {
            open.set(event.index, { ...part, ...optional("picture", picture), ...optional("search", search) })
          }
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
    nothingLeft: () => (said ? null : uncarried),
    lost: () => [...lost]
  }
}
