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

/** The wire has no end mark: an answer is complete when its stream ends after a finish reason. */
export const makeEventDecoder = (): EventDecoder & Required<Pick<StreamDecoder, "stopRead">> => {
  let out: Array<StreamEvent> = []
  let responseId: string | null = null
  let started = false
  let over = false
  let stop: Stop | null = null
  let nextIndex = 0
  let calls = 0
  let openText: { readonly kind: TextKind; readonly index: number; signed: boolean; text: string } | null = null
  /** The latest report of what the answer rests on. It counts from the begin of the whole text. */
  let grounding: JsonObject | null = null
  let hasText = false
  let isSplit = false
  let partial: { readonly index: number; readonly args: PartialArgs } | null = null
  const readUsage = makeUsageReader()

  const fail = (problem: UpstreamProblem): void => {
    over = true
    out.push({ type: "error", problem })
  }

  const start = (chunk: JsonObject): void => {
    started = true
    responseId = stringOr(chunk["responseId"])
    out.push({ type: "start", id: responseId, model: stringOr(chunk["modelVersion"]), createdMs: createdMsOf(chunk) })
  }

  const open = (block: BlockStart): number => {
    const index = nextIndex
    nextIndex += 1
    out.push({ type: "block_start", index, block })
    return index
  }
  const emit = (index: number, delta: BlockDelta): void => void out.push({ type: "delta", index, delta })
  const close = (index: number): void => void out.push({ type: "block_stop", index })

  const tellState = (index: number, state: ReasoningState | undefined): void => {
    if (state !== undefined) emit(index, { type: "state", state })
  }

  const closeText = (): void => {
    if (openText !== null) close(openText.index)
    openText = null
  }

  const closePartial = (): void => {
    if (partial === null) return
    emit(partial.index, { type: "args", text: partial.args.text() })
    close(partial.index)
    partial = null
  }

  /** The token probabilities of the current chunk, until its text is emitted. */
  let logprobs: ReadonlyArray<JsonObject> = []

  const tellText = (index: number, kind: TextKind, text: string): void => {
    const tokens = kind === "text" ? logprobs : []
    emit(index, { type: "text", text, ...(tokens.length === 0 ? {} : { logprobs: tokens }) })
    if (kind === "text") logprobs = []
  }

  /** A signature on an empty text belongs to the text before it. */
  const emitText = (kind: TextKind, text: string, state: ReasoningState | undefined): void => {
    if (text === "" && state === undefined) return
    closePartial()
    // Text after a signature is not covered by it.
    if (openText === null || (text !== "" && (openText.signed || openText.kind !== kind))) {
      closeText()
      isSplit ||= hasText
      openText = { kind, index: open({ type: kind }), signed: false, text: "" }
    }
    if (kind === "text") {
      hasText = true
      openText.text += text
    }
    if (text !== "") tellText(openText.index, kind, text)
    tellState(openText.index, state)
    openText.signed ||= state !== undefined
  }

  const beginCall = (call: JsonObject, name: string): number => {
    closeText()
    closePartial()
    const id = stringOr(call["id"]) || inventedId(responseId ?? "", calls)
    calls += 1
    return open({ type: "tool_call", id, name, kind: "function" })
  }

  const addPieces = (call: JsonObject): void => {
    if (partial?.args.add(call["args"], call["partialArgs"]) === false) return fail(unreadableArgs)
    if (call["willContinue"] !== true) closePartial()
  }

  const readCall = (call: JsonObject, state: ReasoningState | undefined): void => {
    const name = stringOr(call["name"]) ?? ""
    if (name === "") {
      // A further piece of the open call; without an open call it only marks an end.
      if (partial === null) return
      tellState(partial.index, state)
      return addPieces(call)
    }
    const index = beginCall(call, name)
    tellState(index, state)
    if (call["willContinue"] === true || isArray(call["partialArgs"])) {
      partial = { index, args: makePartialArgs() }
      return addPieces(call)
    }
    emit(index, { type: "args", text: argsText(call["args"]) })
    close(index)
  }

  const readPart = (part: JsonObject): void => {
    const { state } = stateOf(part)
    const call = callOf(part)
    const text = stringOr(part["text"])
    if (call !== null) return readCall(call, state)
    if (text !== null) return emitText(part["thought"] === true ? "reasoning" : "text", text, state)
    const opaque = opaqueOf(part)
    if (opaque === null) return emitText("text", "", state)
    closeText()
    closePartial()
    close(open({ type: "opaque", part: opaque }))
  }

  const readChunk = (chunk: JsonObject): void => {
    if (isError(chunk)) return fail(streamProblem(chunk))
    if (!started) start(chunk)
    const candidate = firstCandidate(chunk)
    logprobs = decodeLogprobs(candidate)
    for (const part of partsOf(candidate)) if (!over) readPart(part)
    grounding = groundingOf(candidate) ?? grounding
    const usage = readUsage(chunk)
    if (over) return
    if (usage !== null) out.push({ type: "usage", usage })
    const failure = candidateFailure(candidate)
    if (failure !== null) return fail(failure)
    stop = stopOf(chunk, calls > 0) ?? stop
  }

  /** Emits the citations of the last text, and the search. Offsets hold for an answer of one text. */
  const tellGrounding = (): void => {
    if (grounding === null) return
    if (openText?.kind === "text") {
      const { index, text } = openText
      for (const citation of makeGrounded(grounding)(text, () => !isSplit)) emit(index, { type: "citation", citation })
    }
    closeText()
    const part = searchPart(grounding)
    if (part !== null) close(open({ type: "opaque", part }))
  }

  const finishUp = (): void => {
    over = true
    tellGrounding()
    closeText()
    closePartial()
    if (stop === null) out.push({ type: "error", problem: incompleteStream })
    else {
      const reason = stop.reason === "stop" && calls > 0 ? "tool_calls" : stop.reason
      out.push({ type: "finish", stop: { ...stop, reason } }, { type: "done" })
    }
  }

  const take = (): ReadonlyArray<StreamEvent> => {
    const events = out
    out = []
    return events
  }

  return {
    event: ({ data }) => {
      if (over) return []
      if (data.trim() === "[DONE]") finishUp()
      else {
        const chunk = parseJson(data)
        if (isObject(chunk)) readChunk(chunk)
        else if (stop === null && isTornEvent(data)) fail(tornEvent)
        // Pieces of arguments are buffered: a ping shows that the upstream is alive.
        if (out.length === 0) out.push({ type: "ping" })
      }
      return take()
    },
    end: () => {
      if (!over) finishUp()
      return take()
    },
    stopRead: () => stop !== null
  }
}

/** Decodes streams without `alt=sse`: the servers send one array of chunks; some always send one object. */
const makeArrayDecoder = (decoder: EventDecoder): StreamDecoder => {
  const scanner = makeArrayScanner()
  return {
    push: (chunk) => {
      const events = scanner.push(chunk).flatMap((data) => decoder.event({ event: null, data }))
      if (!scanner.tooLarge) return events
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
