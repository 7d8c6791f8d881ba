/**
 * Chunks of a gemini stream → canonical events. Each chunk has the shape of an answer.
 *
 * https://ai.google.dev/api/generate-content
 */
import type { BlockDelta, BlockStart, StreamEvent, UpstreamProblem } from "../../canonical/Event.ts"
import type { ReasoningState } from "../../canonical/Conversation.ts"
import type { Stop } from "../../canonical/Response.ts"
import { argsText } from "../../canonical/tools/ToolArgs.ts"
import { isArray, isObject, type JsonObject, parseJson, stringOr } from "../../json/Json.ts"
import { type EventDecoder, makeSseDecoder } from "../../sse/SseDecoder.ts"
import { incompleteStream, isTornEvent, streamProblem, tornEvent } from "../../UpstreamError.ts"
import type { StreamDecoder } from "../../WireCodec.ts"
import { candidateFailure, createdMsOf, firstCandidate, isError, partsOf, stopOf } from "../Answer.ts"
import { makeArrayScanner } from "./ArrayScanner.ts"
import { inventedId } from "../Calls.ts"
import { groundingOf, makeGrounded, searchPart } from "../Grounding.ts"
import { decodeLogprobs } from "../Logprobs.ts"
import { makePartialArgs, type PartialArgs } from "./PartialArgs.ts"
import { callOf, opaqueOf, stateOf } from "../Part.ts"
import { makeUsageReader } from "../Usage.ts"

type TextKind = "text" | "reasoning"

const unreadableArgs: UpstreamProblem = {
  status: 502,
  message: "The upstream sent pieces of arguments that cannot be put together.",
  type: null,
  code: "unreadable_stream"
}

/** The events of one stream. A class, because one is made per stream. */
class EventReading {
  out: Array<StreamEvent> = []
  #responseId: string | null = null
  #started = false
  over = false
  stop: Stop | null = null
  #nextIndex = 0
  #calls = 0
  #openText: { readonly kind: TextKind; readonly index: number; signed: boolean; text: string } | null = null
  /** The latest report of what the answer rests on. It counts from the begin of the whole text. */
  #grounding: JsonObject | null = null
  #hasText = false
  #isSplit = false
  #partial: { readonly index: number; readonly args: PartialArgs } | null = null
  readonly #readUsage = makeUsageReader()
  /** The token probabilities of the current chunk, until its text is emitted. */
  #logprobs: ReadonlyArray<JsonObject> = []

  fail(problem: UpstreamProblem): void {
    this.over = true
    this.out.push({ type: "error", problem })
  }

  #start(chunk: JsonObject): void {
    this.#started = true
    this.#responseId = stringOr(chunk["responseId"])
    this.out.push({
      type: "start",
      id: this.#responseId,
      model: stringOr(chunk["modelVersion"]),
      createdMs: createdMsOf(chunk)
    })
  }

  #open(block: BlockStart): number {
    const index = this.#nextIndex
    this.#nextIndex += 1
    this.out.push({ type: "block_start", index, block })
    return index
  }

  #emit(index: number, delta: BlockDelta): void {
    this.out.push({ type: "delta", index, delta })
  }

  #close(index: number): void {
    this.out.push({ type: "block_stop", index })
  }

  #tellState(index: number, state: ReasoningState | undefined): void {
    if (state !== undefined) this.#emit(index, { type: "state", state })
  }

  #closeText(): void {
    if (this.#openText !== null) this.#close(this.#openText.index)
    this.#openText = null
  }

  #closePartial(): void {
    if (this.#partial === null) return
    this.#emit(this.#partial.index, { type: "args", text: this.#partial.args.text() })
    this.#close(this.#partial.index)
    this.#partial = null
  }

  #tellText(index: number, kind: TextKind, text: string): void {
    const tokens = kind === "text" ? this.#logprobs : []
    this.#emit(index, { type: "text", text, ...(tokens.length === 0 ? {} : { logprobs: tokens }) })
    if (kind === "text") this.#logprobs = []
  }

  /** A signature on an empty text belongs to the text before it. */
  #emitText(kind: TextKind, text: string, state: ReasoningState | undefined): void {
    if (text === "" && state === undefined) return
    this.#closePartial()
    // Text after a signature is not covered by it.
    if (this.#openText === null || (text !== "" && (this.#openText.signed || this.#openText.kind !== kind))) {
      this.#closeText()
      this.#isSplit ||= this.#hasText
      this.#openText = { kind, index: this.#open({ type: kind }), signed: false, text: "" }
    }
    if (kind === "text") {
      this.#hasText = true
      this.#openText.text += text
    }
    if (text !== "") this.#tellText(this.#openText.index, kind, text)
    this.#tellState(this.#openText.index, state)
    this.#openText.signed ||= state !== undefined
  }

  #beginCall(call: JsonObject, name: string): number {
    this.#closeText()
    this.#closePartial()
    const id = stringOr(call["id"]) || inventedId(this.#responseId ?? "", this.#calls)
    this.#calls += 1
    return this.#open({ type: "tool_call", id, name, kind: "function" })
  }

  #addPieces(call: JsonObject): void {
    if (this.#partial?.args.add(call["args"], call["partialArgs"]) === false) return this.fail(unreadableArgs)
    if (call["willContinue"] !== true) this.#closePartial()
  }

  #readCall(call: JsonObject, state: ReasoningState | undefined): void {
    const name = stringOr(call["name"]) ?? ""
    if (name === "") {
      // A further piece of the open call; without an open call it only marks an end.
      if (this.#partial === null) return
      this.#tellState(this.#partial.index, state)
      return this.#addPieces(call)
    }
    const index = this.#beginCall(call, name)
    this.#tellState(index, state)
    if (call["willContinue"] === true || isArray(call["partialArgs"])) {
      this.#partial = { index, args: makePartialArgs() }
      return this.#addPieces(call)
    }
    this.#emit(index, { type: "args", text: argsText(call["args"]) })
    this.#close(index)
  }

  #readPart(part: JsonObject): void {
    const { state } = stateOf(part)
    const call = callOf(part)
    const text = stringOr(part["text"])
    if (call !== null) return this.#readCall(call, state)
    if (text !== null) return this.#emitText(part["thought"] === true ? "reasoning" : "text", text, state)
    const opaque = opaqueOf(part)
    if (opaque === null) return this.#emitText("text", "", state)
    this.#closeText()
    this.#closePartial()
    this.#close(this.#open({ type: "opaque", part: opaque }))
  }

  readChunk(chunk: JsonObject): void {
    if (isError(chunk)) return this.fail(streamProblem(chunk))
    if (!this.#started) this.#start(chunk)
    const candidate = firstCandidate(chunk)
    this.#logprobs = decodeLogprobs(candidate)
    for (const part of partsOf(candidate)) if (!this.over) this.#readPart(part)
    this.#grounding = groundingOf(candidate) ?? this.#grounding
    const usage = this.#readUsage(chunk)
    if (this.over) return
    if (usage !== null) this.out.push({ type: "usage", usage })
    const failure = candidateFailure(candidate)
    if (failure !== null) return this.fail(failure)
    this.stop = stopOf(chunk, this.#calls > 0) ?? this.stop
  }

  /** Emits the citations of the last text, and the search. Offsets hold for an answer of one text. */
  #tellGrounding(): void {
    if (this.#grounding === null) return
    if (this.#openText?.kind === "text") {
      const { index, text } = this.#openText
      for (const citation of makeGrounded(this.#grounding)(text, () => !this.#isSplit))
        this.#emit(index, { type: "citation", citation })
    }
    this.#closeText()
    const part = searchPart(this.#grounding)
    if (part !== null) this.#close(this.#open({ type: "opaque", part }))
  }

  finishUp(): void {
    this.over = true
    this.#tellGrounding()
    this.#closeText()
    this.#closePartial()
    if (this.stop === null) this.out.push({ type: "error", problem: incompleteStream })
    else {
      const reason = this.stop.reason === "stop" && this.#calls > 0 ? "tool_calls" : this.stop.reason
      this.out.push({ type: "finish", stop: { ...this.stop, reason } }, { type: "done" })
    }
  }

  take(): ReadonlyArray<StreamEvent> {
    const events = this.out
    this.out = []
    return events
  }
}

/** The wire has no end mark: an answer is complete when its stream ends after a finish reason. */
export const makeEventDecoder = (): EventDecoder & Required<Pick<StreamDecoder, "stopRead">> => {
  const reading = new EventReading()
  return {
    event: ({ data }) => {
      if (reading.over) return []
      if (data.trim() === "[DONE]") reading.finishUp()
      else {
        const chunk = parseJson(data)
        if (isObject(chunk)) reading.readChunk(chunk)
        else if (reading.stop === null && isTornEvent(data)) reading.fail(tornEvent)
        // Pieces of arguments are buffered: a ping shows that the upstream is alive.
        if (reading.out.length === 0) reading.out.push({ type: "ping" })
      }
      return reading.take()
    },
    end: () => {
      if (!reading.over) reading.finishUp()
      return reading.take()
    },
    stopRead: () => reading.stop !== null
  }
}

/** Decodes streams without `alt=sse`: the servers send one array of chunks; some always send one object. */
const makeArrayDecoder = (decoder: EventDecoder): StreamDecoder => {
  const scanner = makeArrayScanner()
  return {
    push: (chunk) => {
      const events = scanner.push(chunk).flatMap((data) => decoder.event({ event: null, data }))
      if (!scanner.tooLarge()) return events
      const message = "The upstream sent a larger chunk than is taken."
      return [...events, { type: "error", problem: { status: 502, message, type: null, code: null } }]
    },
    end: decoder.end
  }
}

/** White space, and the bytes of a byte order mark. */
const insignificant: ReadonlySet<number> = new Set([9, 10, 13, 32, 0xef, 0xbb, 0xbf])

/** The first significant byte decides between events and an array. */
export const makeStreamDecoder = (): StreamDecoder => {
  const events = makeEventDecoder()
  let decoder: StreamDecoder | null = null
  return {
    push: (chunk) => {
      if (decoder !== null) return decoder.push(chunk)
      const first = chunk.findIndex((byte) => !insignificant.has(byte))
      if (first < 0) return []
      const isArrayStream = chunk[first] === 91 || chunk[first] === 123
      decoder = isArrayStream ? makeArrayDecoder(events) : makeSseDecoder(events)
      return decoder.push(chunk.subarray(first))
    },
    end: () => (decoder ?? makeArrayDecoder(events)).end(),
    stopRead: events.stopRead
  }
}
