/**
 * Chat completion chunks → canonical events.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/streaming-events
 */
import type { Dialect } from "../../contract/domain/Dialect.ts"
import type { Citation, OpaquePart } from "../canonical/Conversation.ts"
import type { StreamEvent } from "../canonical/Event.ts"
import { withLink } from "../canonical/Links.ts"
import {
  numberOr,
  isArray,
  isObject,
  type Json,
  type JsonObject,
  objectOr,
  optional,
  parseJson,
  stringOr
} from "../json/Json.ts"
import type { EventDecoder } from "../sse/SseDecoder.ts"
import { incompleteStream, isTornEvent, streamProblem, tornEvent } from "../UpstreamError.ts"
import { type CallBlocks, makeCallBlocks } from "./CallBlocks.ts"
import { callsOf, firstChoice, imagesOf, logprobsOf, reasoningOf, refusalOf, soundOf, textOf } from "./Message.ts"
import { inferredStop } from "../canonical/Response.ts"
import { pagesOf } from "./ResponseDecode.ts"
import { decodeStop } from "./Stop.ts"
import { decodeUsage, findUsage } from "./Usage.ts"

type TextKind = "text" | "reasoning" | "refusal"

/** The events of one stream. A class, because one is made per stream. */
class EventReading {
  readonly #dialect: Dialect | undefined
  #out: Array<StreamEvent> = []
  #started = false
  over = false
  finish: string | null = null
  #nextIndex = 0
  #openText: { readonly kind: TextKind; readonly index: number } | null = null
  readonly #calls: CallBlocks
  /** Pages that are told beside the answer, in any of its chunks. */
  #pages: ReadonlyArray<Citation> = []
  #isCited = false

  constructor(dialect: Dialect | undefined) {
    this.#dialect = dialect
    this.#calls = makeCallBlocks(
      () => this.#takeIndex(),
      (event) => this.#out.push(event)
    )
  }

  #takeIndex(): number {
    return this.#nextIndex++
  }

  #closeText(): void {
    if (this.#openText !== null) this.#out.push({ type: "block_stop", index: this.#openText.index })
    this.#openText = null
  }

  #emitText(kind: TextKind, text: string, logprobs?: ReadonlyArray<JsonObject>): void {
    // A token without text may still have log probabilities.
    if (text === "" && (logprobs === undefined || this.#openText?.kind !== kind)) return
    if (this.#openText?.kind !== kind) {
      this.#closeText()
      this.#openText = { kind, index: this.#takeIndex() }
      this.#out.push({ type: "block_start", index: this.#openText.index, block: { type: kind } })
    }
    this.#out.push({
      type: "delta",
      index: this.#openText.index,
      delta: { type: "text", text, ...optional("logprobs", logprobs) }
    })
  }

  #tellCitation(citation: Citation): void {
    if (this.#openText?.kind !== "text") {
      this.#closeText()
      this.#openText = { kind: "text", index: this.#takeIndex() }
      this.#out.push({ type: "block_start", index: this.#openText.index, block: { type: "text" } })
    }
    this.#out.push({ type: "delta", index: this.#openText.index, delta: { type: "citation", citation } })
  }

  /** Annotations come with the text or after it. */
  #cite(annotations: Json | undefined): void {
    for (const value of isArray(annotations) ? annotations : []) {
      if (!isObject(value)) continue
      this.#isCited = true
      this.#tellCitation(withLink({ wire: "chat", value }, null))
    }
  }

  #citePages(): void {
    if (this.#isCited || this.#openText?.kind !== "text") return
    for (const page of this.#pages) this.#tellCitation(page)
  }

  /** `closes`: the text ends with it; sound comes between its words. */
  #emitBlocks(parts: ReadonlyArray<OpaquePart>, closes: boolean): void {
    for (const part of parts) {
      if (closes) this.#closeText()
      const index = this.#takeIndex()
      this.#out.push({ type: "block_start", index, block: { type: "opaque", part } }, { type: "block_stop", index })
    }
  }

  #start(chunk: JsonObject): void {
    this.#started = true
    const id = stringOr(chunk["id"]) || null
    const created = numberOr(chunk["created"])
    this.#calls.setResponseId(id ?? "")
    this.#out.push({
      type: "start",
      id,
      model: stringOr(chunk["model"]) || null,
      createdMs: created === null || created === 0 ? null : created * 1000
    })
  }

  fail(event: StreamEvent): void {
    this.over = true
    this.#out.push(event)
  }

  readChunk(chunk: JsonObject): void {
    const choice = firstChoice(chunk)
    const reason = stringOr(choice?.["finish_reason"]) ?? ""
    if (isObject(chunk["error"]) || typeof chunk["error"] === "string" || reason === "error") {
      return this.fail({ type: "error", problem: streamProblem(chunk) })
    }
    if (!this.#started && choice !== undefined) this.#start(chunk)
    const usage = findUsage(chunk, choice)
    if (usage !== undefined) this.#out.push({ type: "usage", usage: decodeUsage(usage, chunk, this.#dialect) })
    if (choice === undefined) return
    // Some servers send a whole message in the one chunk of a stream.
    const delta = objectOr(choice["delta"] ?? choice["message"])
    this.#emitText("reasoning", reasoningOf(delta))
    // Before its words, so that it can be named before the first content goes out.
    this.#emitBlocks(soundOf(delta), false)
    this.#emitText("text", textOf(delta), logprobsOf(choice))
    this.#cite(delta["annotations"])
    if (chunk["citations"] !== undefined || chunk["search_results"] !== undefined) this.#pages = pagesOf(chunk)
    this.#emitText("refusal", refusalOf(delta))
    this.#emitBlocks(imagesOf(delta), true)
    for (const call of callsOf(delta)) {
      this.#closeText()
      const problem = this.#calls.push(call)
      if (problem !== null) return this.fail({ type: "error", problem })
    }
    if (reason !== "") this.finish = reason
  }

  /** `isMarked`: the stream has said that it is over. */
  finishUp(isMarked: boolean): void {
    this.over = true
    this.#citePages()
    this.#closeText()
    this.#calls.finish()
    if (this.finish === null && isMarked && this.#nextIndex > 0) {
      this.#out.push({ type: "finish", stop: inferredStop(this.#calls.count() > 0) }, { type: "done" })
    } else if (this.finish === null) this.#out.push({ type: "error", problem: incompleteStream })
    else this.#out.push({ type: "finish", stop: decodeStop(this.finish, this.#calls.count() > 0) }, { type: "done" })
  }

  take(): ReadonlyArray<StreamEvent> {
    const events = this.#out
    this.#out = []
    return events
  }
}

/**
 * The finish reason is emitted at the end mark (or the end of the stream): only then is it certain that no tool call follows, and the
 * usage, which other wires need together with it, has arrived.
 */
export const makeEventDecoder = (dialect?: Dialect): EventDecoder => {
  const reading = new EventReading(dialect)
  return {
    event: ({ data }) => {
      if (reading.over) return []
      if (data.trim() === "[DONE]") reading.finishUp(true)
      else {
        const chunk = parseJson(data)
        if (isObject(chunk)) reading.readChunk(chunk)
        else if (reading.finish === null && isTornEvent(data)) reading.fail({ type: "error", problem: tornEvent })
      }
      return reading.take()
    },
    end: () => {
      if (!reading.over) reading.finishUp(false)
      return reading.take()
    }
  }
}
