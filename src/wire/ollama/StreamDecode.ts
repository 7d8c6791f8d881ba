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
import { type Call, callsOf, isErrorLine, picturesOf, saidBy, textOf, thinkingOf } from "./Piece.ts"
import { decodeStop } from "./Stop.ts"
import { fromTimestamp } from "./Timestamp.ts"
import { usageOf } from "./Usage.ts"

type SpeechKind = "text" | "reasoning"

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
  let speech: { readonly kind: SpeechKind; readonly index: number } | null = null

  const fail = (problem: UpstreamProblem): void => {
    over = true
    out.push({ type: "error", problem })
  }

  const start = (line: JsonObject): string => {
    const createdAt = stringOr(line["created_at"])
    out.push({ type: "start", id: null, model: stringOr(line["model"]), createdMs: fromTimestamp(createdAt) })
    return createdAt ?? ""
  }

  const closeSpeech = (): void => {
    if (speech !== null) out.push({ type: "block_stop", index: speech.index })
    speech = null
  }

  const say = (kind: SpeechKind, text: string, logprobs?: Json): void => {
    if (text === "") return
    if (speech?.kind !== kind) {
      closeSpeech()
      speech = { kind, index: nextIndex++ }
      out.push({ type: "block_start", index: speech.index, block: { type: kind } })
    }
    const tokens = isArray(logprobs) ? logprobs.filter(isObject) : []
    const delta = { type: "text" as const, text, ...(tokens.length === 0 ? {} : { logprobs: tokens }) }
    out.push({ type: "delta", index: speech.index, delta })
  }

  const call = ({ args, id, name }: Call): void => {
    closeSpeech()
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
    const said = saidBy(line)
    if (said !== null) {
      say("reasoning", thinkingOf(said))
      say("text", textOf(said), line["logprobs"])
      for (const part of picturesOf(said)) {
        closeSpeech()
        const index = nextIndex++
        out.push({ type: "block_start", index, block: { type: "opaque", part } }, { type: "block_stop", index })
      }
      for (const piece of callsOf(said, begun, calls)) call(piece)
    }
    const stop = decodeStop(line, calls > 0)
    if (stop === null) return
    over = true
    closeSpeech()
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
      if (scanner.failure !== null && !over) fail(tooLarge(scanner.failure))
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
