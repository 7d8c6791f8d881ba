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
  readonly hasContent: () => boolean
}

type BlockEvent = Extract<StreamEvent, { readonly index: number }>

/** The events of another target on their way into the stream that the client has begun to read. */
class Splicing {
  readonly #mark: string
  readonly sent: DeliveredPrefix
  readonly #usageOfAll: (report: AnswerReport) => Usage | null
  readonly #facts = startFacts()
  readonly observe: (event: StreamEvent) => void
  /** Kinds of the target's blocks, by its own numbers. */
  readonly #kinds = new Map<number, string>()
  /** The client's numbers of blocks, by the target's. */
  readonly #numbers = new Map<number, number>()
  /** Trimmer for the first text only. */
  readonly #overlap: OverlapTrimmer
  #trimmer: OverlapTrimmer | null
  hasContent = false

  constructor({ blanksCut, mark, sent, usageOfAll }: SpliceOptions) {
    this.#mark = mark
    this.sent = sent
    this.#usageOfAll = usageOfAll
    this.observe = makeObserver(this.#facts)
    this.#overlap = makeOverlapTrimmer(sent.text(), blanksCut)
    this.#trimmer = this.#overlap
  }

  #tell(event: StreamEvent): string {
    const before = this.hasContent ? "" : this.#mark
    this.hasContent = true
    return before + this.sent.feed(event)
  }

  /** Another block cannot begin inside the open one. */
  #closeText(): string {
    const index = this.sent.openText()
    return index === null ? "" : this.#tell({ type: "block_stop", index })
  }

  #newNumber(index: number): number {
    const number = this.sent.nextIndex()
    this.#numbers.set(index, number)
    return number
  }

  /** The first text goes on in the block that is open; every other begins its own. */
  #textNumber(index: number): { readonly number: number; readonly begin: string } {
    const known = this.#numbers.get(index)
    if (known !== undefined) return { number: known, begin: "" }
    const open = this.#numbers.size === 0 ? this.sent.openText() : null
    if (open !== null) {
      this.#numbers.set(index, open)
      return { number: open, begin: "" }
    }
    const number = this.#newNumber(index)
    return { number, begin: this.#tell({ type: "block_start", index: number, block: { type: "text" } }) }
  }

  #say(index: number, text: string): string {
    if (text === "") return ""
    const { begin, number } = this.#textNumber(index)
    return begin + this.#tell({ type: "delta", index: number, delta: { type: "text", text } })
  }

  #endTrimming(index: number): string {
    const rest = this.#trimmer?.end() ?? ""
    this.#trimmer = null
    return this.#say(index, rest)
  }

  #onText(event: BlockEvent): string {
    const { index } = event
    if (event.type === "block_start") return ""
    if (event.type === "block_stop") {
      const rest = this.#endTrimming(index)
      const number = this.#numbers.get(index)
      return number === undefined ? rest : rest + this.#tell({ type: "block_stop", index: number })
    }
    const { delta } = event
    if (delta.type === "text")
      return this.#say(index, this.#trimmer === null ? delta.text : this.#trimmer.push(delta.text))
    const number = this.#numbers.get(index)
    return number === undefined ? "" : this.#tell({ ...event, index: number })
  }

  onBlock(event: BlockEvent): string {
    if (event.type === "block_start") this.#kinds.set(event.index, event.block.type)
    const kind = this.#kinds.get(event.index)
    // How the second one came to go on is not the client's answer; it counts in the usage.
    if (kind === "reasoning") return ""
    if (kind === "text") return this.#onText(event)
    if (event.type === "block_start") {
      const closed = this.#closeText()
      return closed + this.#tell({ ...event, index: this.#newNumber(event.index) })
    }
    const number = this.#numbers.get(event.index)
    return number === undefined ? "" : this.#tell({ ...event, index: number })
  }

  /** A target that only repeated the last words, and then ended in order, says that the answer was whole. */
  finish(event: StreamEvent): string {
    const rest = this.#endTrimming(Math.max(0, ...this.#kinds.keys()))
    return this.hasContent || this.#overlap.hasTrimmed() ? rest + this.#closeText() + this.#tell(event) : ""
  }

  done(event: StreamEvent): string {
    const usage = this.#usageOfAll(reportOf(this.#facts))
    return (usage === null ? "" : this.#tell({ type: "usage", usage })) + this.#tell(event)
  }
}

export const makeSplice = (options: SpliceOptions): Splice => {
  const splicing = new Splicing(options)
  return {
    hasContent: () => splicing.hasContent,
    encode: (event) => {
      splicing.observe(event)
      switch (event.type) {
        case "start":
        case "usage":
        case "error":
          return ""
        case "ping":
          return splicing.hasContent ? splicing.sent.feed(event) : ""
        case "finish":
          return splicing.finish(event)
        case "done":
          return splicing.hasContent ? splicing.done(event) : ""
        default:
          return splicing.onBlock(event)
      }
    }
  }
}
