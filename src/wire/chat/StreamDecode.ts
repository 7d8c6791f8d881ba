/**
 * Chat completion chunks → canonical events.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/streaming-events
 */
import type { Dialect } from "../../domain/Dialect.ts"
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
import { makeCallBlocks } from "./CallBlocks.ts"
import { callsOf, firstChoice, imagesOf, logprobsOf, reasoningOf, refusalOf, soundOf, textOf } from "./Message.ts"
import { inferredStop } from "../canonical/Response.ts"
import { pagesOf } from "./ResponseDecode.ts"
import { decodeStop } from "./Stop.ts"
import { decodeUsage, findUsage } from "./Usage.ts"

type TextKind = "text" | "reasoning" | "refusal"

/**
 * The finish reason is emitted at the end mark (or the end of the stream): only then is it certain that no tool call follows, and the
 * usage, which other wires need together with it, has arrived.
 */
export const makeEventDecoder = (dialect?: Dialect): EventDecoder => {
  let out: Array<StreamEvent> = []
  let started = false
  let over = false
  let finish: string | null = null
  let nextIndex = 0
  let openText: { readonly kind: TextKind; readonly index: number } | null = null
  const takeIndex = (): number => nextIndex++
  const calls = makeCallBlocks(takeIndex, (event) => out.push(event))

  const closeText = (): void => {
    if (openText !== null) out.push({ type: "block_stop", index: openText.index })
    openText = null
  }

  const emitText = (kind: TextKind, text: string, logprobs?: ReadonlyArray<JsonObject>): void => {
    // A token without text may still have log probabilities.
    if (text === "" && (logprobs === undefined || openText?.kind !== kind)) return
    if (openText?.kind !== kind) {
      closeText()
      openText = { kind, index: takeIndex() }
      out.push({ type: "block_start", index: openText.index, block: { type: kind } })
    }
    out.push({ type: "delta", index: openText.index, delta: { type: "text", text, ...optional("logprobs", logprobs) } })
  }

  /** Pages that are told beside the answer, in any of its chunks. */
  let pages: ReadonlyArray<Citation> = []
  let isCited = false

  const tellCitation = (citation: Citation): void => {
    if (openText?.kind !== "text") {
      closeText()
      openText = { kind: "text", index: takeIndex() }
      out.push({ type: "block_start", index: openText.index, block: { type: "text" } })
    }
    out.push({ type: "delta", index: openText.index, delta: { type: "citation", citation } })
  }

  /** Annotations come with the text or after it. */
  const cite = (annotations: Json | undefined): void => {
    for (const value of isArray(annotations) ? annotations : []) {
      if (!isObject(value)) continue
      isCited = true
      tellCitation(withLink({ wire: "chat", value }, null))
    }
  }

  const citePages = (): void => {
    if (isCited || openText?.kind !== "text") return
    for (const page of pages) tellCitation(page)
  }

  /** `closes`: the text ends with it; sound comes between its words. */
  const emitBlocks = (parts: ReadonlyArray<OpaquePart>, closes: boolean): void => {
    for (const part of parts) {
      if (closes) closeText()
      const index = takeIndex()
      out.push({ type: "block_start", index, block: { type: "opaque", part } }, { type: "block_stop", index })
    }
  }

  const start = (chunk: JsonObject): void => {
    started = true
    const id = stringOr(chunk["id"]) || null
    const created = numberOr(chunk["created"])
    calls.setResponseId(id ?? "")
    out.push({
      type: "start",
      id,
      model: stringOr(chunk["model"]) || null,
      createdMs: created === null || created === 0 ? null : created * 1000
    })
  }

  const fail = (event: StreamEvent): void => {
    over = true
    out.push(event)
  }

  const readChunk = (chunk: JsonObject): void => {
    const choice = firstChoice(chunk)
    const reason = stringOr(choice?.["finish_reason"]) ?? ""
    if (isObject(chunk["error"]) || typeof chunk["error"] === "string" || reason === "error") {
      return fail({ type: "error", problem: streamProblem(chunk) })
    }
    if (!started && choice !== undefined) start(chunk)
    const usage = findUsage(chunk, choice)
    if (usage !== undefined) out.push({ type: "usage", usage: decodeUsage(usage, chunk, dialect) })
    if (choice === undefined) return
    // Some servers send a whole message in the one chunk of a stream.
    const delta = objectOr(choice["delta"] ?? choice["message"])
    emitText("reasoning", reasoningOf(delta))
    // Before its words, so that it can be named before the first content goes out.
    emitBlocks(soundOf(delta), false)
    emitText("text", textOf(delta), logprobsOf(choice))
    cite(delta["annotations"])
    if (chunk["citations"] !== undefined || chunk["search_results"] !== undefined) pages = pagesOf(chunk)
    emitText("refusal", refusalOf(delta))
    emitBlocks(imagesOf(delta), true)
    for (const call of callsOf(delta)) {
      closeText()
      const problem = calls.push(call)
      if (problem !== null) return fail({ type: "error", problem })
    }
    if (reason !== "") finish = reason
  }

  /** `isMarked`: the stream has said that it is over. */
  const finishUp = (isMarked: boolean): void => {
    over = true
    citePages()
    closeText()
    calls.finish()
    if (finish === null && isMarked && nextIndex > 0) {
      out.push({ type: "finish", stop: inferredStop(calls.count() > 0) }, { type: "done" })
    } else if (finish === null) out.push({ type: "error", problem: incompleteStream })
    else out.push({ type: "finish", stop: decodeStop(finish, calls.count() > 0) }, { type: "done" })
  }

  const take = (): ReadonlyArray<StreamEvent> => {
    const events = out
    out = []
    return events
  }

  return {
    event: ({ data }) => {
      if (over) return []
      if (data.trim() === "[DONE]") finishUp(true)
      else {
        const chunk = parseJson(data)
        if (isObject(chunk)) readChunk(chunk)
        else if (finish === null && isTornEvent(data)) fail({ type: "error", problem: tornEvent })
      }
      return take()
    },
    end: () => {
      if (!over) finishUp(false)
      return take()
    }
  }
}
