/**
 * Lines of an ollama stream of either endpoint → canonical events.
 *
 * https://docs.ollama.com/api/streaming
 */
import { answerTooLarge } from "../UpstreamError.ts"
import type { StreamEvent, UpstreamProblem } from "../canonical/Event.ts"
import { isArray, isObject, type Json, type JsonObject, stringOr } from "../json/Json.ts"
import { incompleteStream, streamProblem } from "../UpstreamError.ts"
import type { StreamDecoder } from "../WireCodec.ts"
import { makeNdjsonScanner, type NdjsonFailure, parseLine } from "./NdjsonScanner.ts"
import { type Call, callsOf, isErrorLine, picturesOf, contentOf, textOf, thinkingOf } from "./Piece.ts"
import { decodeStop } from "./Stop.ts"
import { fromTimestamp } from "./Timestamp.ts"
import { usageOf } from "./Usage.ts"

type TextKind = "text" | "reasoning"

/** An unreadable line may have contained a part of the answer. */
export const unreadableLine: UpstreamProblem = {
  status: 502,
  message: "The upstream's stream holds a line that is no JSON object.",
  type: null,
  code: "unreadable_stream"
}

export const tooLarge = ({ limitBytes }: NdjsonFailure): UpstreamProblem => ({
  status: 502,
  message: `The upstream sent a line larger than ${limitBytes} bytes.`,
  type: null,
  code: answerTooLarge
})

export const makeStreamDecoder = (maxLineBytes?: number): StreamDecoder => {
  const scanner = makeNdjsonScanner(maxLineBytes)
  let out: Array<StreamEvent> = []
  let over = false
  /** `created_at` of the first line; null before it. */
  let begun: string | null = null
  let nextIndex = 0
  let calls = 0
  let openText: { readonly kind: TextKind; readonly index: number } | null = null

  const fail = (problem: UpstreamProblem): void => {
    over = true
    out.push({ type: "error", problem })
  }

  const start = (line: JsonObject): string => {
    const createdAt = stringOr(line["created_at"])
    out.push({ type: "start", id: null, model: stringOr(line["model"]), createdMs: fromTimestamp(createdAt) })
    return createdAt ?? ""
  }

  const closeText = (): void => {
    if (openText !== null) out.push({ type: "block_stop", index: openText.index })
    openText = null
  }

  const emitText = (kind: TextKind, text: string, logprobs?: Json): void => {
    if (text === "") return
    if (openText?.kind !== kind) {
      closeText()
      openText = { kind, index: nextIndex++ }
      out.push({ type: "block_start", index: openText.index, block: { type: kind } })
    }
    const tokens = isArray(logprobs) ? logprobs.filter(isObject) : []
    const delta = { type: "text" as const, text, ...(tokens.length === 0 ? {} : { logprobs: tokens }) }
    out.push({ type: "delta", index: openText.index, delta })
  }

  const call = ({ args, id, name }: Call): void => {
    closeText()
    calls += 1
    const index = nextIndex++
    out.push(
      { type: "block_start", index, block: { type: "tool_call", id, name, kind: "function" } },
      { type: "delta", index, delta: { type: "args", text: args } },
      { type: "block_stop", index }
    )
  }

  const readLine = (line: Json | undefined): void => {
    if (line === null || over) return
    if (!isObject(line)) return fail(unreadableLine)
    if (isErrorLine(line)) return fail(streamProblem(line))
    begun ??= start(line)
    const content = contentOf(line)
    if (content !== null) {
      emitText("reasoning", thinkingOf(content))
      emitText("text", textOf(content), line["logprobs"])
      for (const part of picturesOf(content)) {
        closeText()
        const index = nextIndex++
        out.push({ type: "block_start", index, block: { type: "opaque", part } }, { type: "block_stop", index })
      }
      for (const piece of callsOf(content, begun, calls)) call(piece)
    }
    const stop = decodeStop(line, calls > 0)
    if (stop === null) return
    over = true
    closeText()
    const usage = usageOf(line)
    if (usage !== null) out.push({ type: "usage", usage })
    out.push({ type: "finish", stop }, { type: "done" })
  }

  const take = (): ReadonlyArray<StreamEvent> => {
    const events = out
    out = []
    return events
  }

  return {
    push: (chunk) => {
      scanner.push(chunk, (bytes, from, to) => {
        if (!over) readLine(parseLine(bytes, from, to))
      })
      const failure = scanner.failure()
      if (failure !== null && !over) fail(tooLarge(failure))
      return take()
    },
    end: () => {
      const rest = scanner.takePending()
      const line = over ? null : parseLine(rest, 0, rest.length)
      // The last line may lack its line end; one that is not JSON was cut.
      if (line !== undefined) readLine(line)
      if (!over) fail(incompleteStream)
      return take()
    }
  }
}
