/**
 * Tracks the part of a streamed answer that the client has, so that another target can continue it: the text, the open block, and an
 * encoder in exactly the state of the client's stream. Pure state of one answer.
 */
import type { BlockStart, StreamEvent } from "../../../wire/canonical/Event.ts"
import type { StreamEncoder } from "../../../wire/WireCodec.ts"
import type { DeliveredPrefix } from "../../request/DeliveredPrefix.ts"

/** Most characters of a text that is asked to be continued. A longer one is reported as broken. */
export const maxSentChars = 262_144

const isSpeech = (block: BlockStart): boolean =>
  block.type === "text" ||
  block.type === "reasoning" ||
  // Reasoning that only its maker can read.
  (block.type === "opaque" && block.part.kind === "redacted_thinking")

interface Open {
  readonly type: BlockStart["type"]
  says: boolean
  /** True when the client has its frame from the upstream itself; ours is sent with its first text. */
  isFramed: boolean
}

export const makeDeliveredPrefix = (encoder: StreamEncoder): DeliveredPrefix => {
  const open = new Map<number, Open>()
  const pieces: Array<string> = []
  let chars = 0
  let nextIndex = 0
  let isUnsafe = false
  /** End of a text block, held until the next event: a cut may come first, and then the block goes on. */
  let ending: Extract<StreamEvent, { readonly type: "block_stop" }> | null = null

  const addText = (text: string): void => {
    chars += text.length
    if (chars <= maxSentChars) pieces.push(text)
    else isUnsafe = true
  }

  const note = (event: StreamEvent): void => {
    switch (event.type) {
      case "block_start":
        nextIndex = Math.max(nextIndex, event.index + 1)
        open.set(event.index, { type: event.block.type, says: event.block.type === "opaque", isFramed: false })
        if (!isSpeech(event.block)) isUnsafe = true
        return
      case "delta": {
        const block = open.get(event.index)
        if (block === undefined) return
        block.says = true
        if (block.type === "text" && event.delta.type === "text") addText(event.delta.text)
        return
      }
      case "block_stop":
        open.delete(event.index)
        return
      case "finish":
      case "done":
        isUnsafe = true
    }
  }

  const write = (event: StreamEvent): string => {
    note(event)
    return encoder.encode(event)
  }

  const openText = (): number | null => {
    for (const [index, { type }] of open) if (type === "text") return index
    return null
  }

  return {
    text: () => pieces.join(""),
    openText,
    nextIndex: () => nextIndex,
    isSafe: () =>
      !isUnsafe && [...open.values()].every(({ isFramed, says, type }) => type === "text" && (says || !isFramed)),
    hear: (event) => {
      if (event.type === "error") return
      const block = event.type === "block_stop" ? open.get(event.index) : undefined
      write(event)
      const begun = event.type === "block_start" ? open.get(event.index) : undefined
      if (begun !== undefined) begun.isFramed = true
      // The client has a block that our encoder left out: their numbers differ from here on.
      if (block?.says === false) isUnsafe = true
    },
    feed: (event) => {
      if (event.type === "error") return ""
      if (event.type === "ping") return encoder.encode(event)
      const before = ending
      if (event.type === "block_stop" && open.get(event.index)?.type === "text") {
        ending = event
        return before === null || before.index === event.index ? "" : write(before)
      }
      ending = null
      const goesOn = before !== null && event.type === "delta" && event.index === before.index
      return (before === null || goesOn ? "" : write(before)) + write(event)
    }
  }
}
