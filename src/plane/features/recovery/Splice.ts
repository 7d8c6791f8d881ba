/**
 * The answer of the target that goes on, as the rest of the stream that the client has begun to read: no second start, its text in the
 * open block, further blocks with further numbers, one usage over all parts, one end. It is in the place of a stream encoder.
 */
import type { StreamEvent } from "../../../wire/canonical/Event.ts"
import { makeObserver, startFacts } from "../../../wire/canonical/Facts.ts"
import type { Usage } from "../../../wire/canonical/Usage.ts"
import type { StreamEncoder } from "../../../wire/WireCodec.ts"
import { type AnswerReport, reportOf } from "../../request/AnswerReport.ts"
import { makeOverlapTrimmer, type OverlapTrimmer } from "./Overlap.ts"
import type { DeliveredPrefix } from "../../request/DeliveredPrefix.ts"

export interface SpliceOptions {
  readonly sent: DeliveredPrefix
  /** The target was not shown the white space at the end of what was sent. */
  readonly blanksCut: boolean
  /** Sums the usage of all parts, given the report of this one; null when none reported any. */
  readonly usageOfAll: (report: AnswerReport) => Usage | null
  /** Bytes written before the first ones, to mark that another target goes on. May be empty. */
  readonly mark: string
}

export interface Splice extends StreamEncoder {
  /** Something for the client has come: until then its stream is as it was. */
  readonly hasSpoken: () => boolean
}

type BlockEvent = Extract<StreamEvent, { readonly index: number }>

export const makeSplice = ({ blanksCut, mark, sent, usageOfAll }: SpliceOptions): Splice => {
  const facts = startFacts()
  const observe = makeObserver(facts)
  /** Kinds of the target's blocks, by its own numbers. */
  const kinds = new Map<number, string>()
  /** The client's numbers of blocks, by the target's. */
  const numbers = new Map<number, number>()
  /** Trimmer for the first text only. */
  const overlap = makeOverlapTrimmer(sent.text(), blanksCut)
  let trimmer: OverlapTrimmer | null = overlap
  let hasSpoken = false

  const tell = (event: StreamEvent): string => {
    const before = hasSpoken ? "" : mark
    hasSpoken = true
    return before + sent.feed(event)
  }

  /** Another block cannot begin inside the open one. */
  const closeText = (): string => {
    const index = sent.openText()
    return index === null ? "" : tell({ type: "block_stop", index })
  }

  const newNumber = (index: number): number => {
    const number = sent.nextIndex()
    numbers.set(index, number)
    return number
  }

  /** The first text goes on in the block that is open; every other begins its own. */
  const textNumber = (index: number): { readonly number: number; readonly begin: string } => {
    const known = numbers.get(index)
    if (known !== undefined) return { number: known, begin: "" }
    const open = numbers.size === 0 ? sent.openText() : null
    if (open !== null) {
      numbers.set(index, open)
      return { number: open, begin: "" }
    }
    const number = newNumber(index)
    return { number, begin: tell({ type: "block_start", index: number, block: { type: "text" } }) }
  }

  const say = (index: number, text: string): string => {
    if (text === "") return ""
    const { begin, number } = textNumber(index)
    return begin + tell({ type: "delta", index: number, delta: { type: "text", text } })
  }

  const endTrimming = (index: number): string => {
    const rest = trimmer?.end() ?? ""
    trimmer = null
    return say(index, rest)
  }

  const onText = (event: BlockEvent): string => {
    const { index } = event
    if (event.type === "block_start") return ""
    if (event.type === "block_stop") {
      const rest = endTrimming(index)
      const number = numbers.get(index)
      return number === undefined ? rest : rest + tell({ type: "block_stop", index: number })
    }
    const { delta } = event
    if (delta.type === "text") return say(index, trimmer === null ? delta.text : trimmer.push(delta.text))
    const number = numbers.get(index)
    return number === undefined ? "" : tell({ ...event, index: number })
  }

  const onBlock = (event: BlockEvent): string => {
    if (event.type === "block_start") kinds.set(event.index, event.block.type)
    const kind = kinds.get(event.index)
    // How the second one came to go on is not the client's answer; it counts in the usage.
    if (kind === "reasoning") return ""
    if (kind === "text") return onText(event)
    if (event.type === "block_start") {
      const closed = closeText()
      return closed + tell({ ...event, index: newNumber(event.index) })
    }
    const number = numbers.get(event.index)
    return number === undefined ? "" : tell({ ...event, index: number })
  }

  /** A target that only repeated the last words, and then ended in order, says that the answer was whole. */
  const finish = (event: StreamEvent): string => {
    const rest = endTrimming(Math.max(0, ...kinds.keys()))
    return hasSpoken || overlap.hasTrimmed() ? rest + closeText() + tell(event) : ""
  }

  const done = (event: StreamEvent): string => {
    const usage = usageOfAll(reportOf(facts))
    return (usage === null ? "" : tell({ type: "usage", usage })) + tell(event)
  }

  return {
    hasSpoken: () => hasSpoken,
    encode: (event) => {
      observe(event)
      switch (event.type) {
        case "start":
        case "usage":
        case "error":
          return ""
        case "ping":
          return hasSpoken ? sent.feed(event) : ""
        case "finish":
          return finish(event)
        case "done":
          return hasSpoken ? done(event) : ""
        default:
          return onBlock(event)
      }
    }
  }
}
