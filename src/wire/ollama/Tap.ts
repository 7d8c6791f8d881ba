/**
 * Watches an ollama stream of either endpoint while its bytes are relayed. Only complete lines pass, so that one can be withheld; when
 * nothing is withheld and a chunk ends with a line, the chunk object itself is relayed.
 *
 * https://docs.ollama.com/api/streaming
 */
import { type MutableFacts, observeReasoning, observeText, observeToolArgs, startFacts } from "../canonical/Facts.ts"
import { isObject, type Json } from "../json/Json.ts"
import { streamProblem } from "../UpstreamError.ts"
import type { StreamTap } from "../WireCodec.ts"
import { makeNdjsonScanner, parseLine } from "./NdjsonScanner.ts"
import { callsOf, isErrorLine, picturesOf, contentOf, textOf, thinkingOf } from "./Piece.ts"
import { decodeStop } from "./Stop.ts"
import { tooLarge, unreadableLine } from "./StreamDecode.ts"
import { usageOf } from "./Usage.ts"

const nothing = Buffer.alloc(0)
const lineEnd = Buffer.from("\n")

/** Updates the facts from a line; false for a line that must not be relayed. */
const makeReader = (facts: MutableFacts): ((line: Json | undefined) => boolean) => {
  let calls = 0
  return (line) => {
    if (line === null) return true
    facts.events += 1
    if (!isObject(line) || isErrorLine(line)) {
      facts.problem = isObject(line) ? streamProblem(line) : unreadableLine
      return false
    }
    const content = contentOf(line)
    if (content !== null) {
      observeReasoning(facts, thinkingOf(content))
      observeText(facts, textOf(content))
      facts.content ||= picturesOf(content).length > 0
      for (const { args } of callsOf(content, "", calls)) {
        calls += 1
        observeToolArgs(facts, args)
      }
    }
    facts.stop = decodeStop(line, calls > 0)
    if (facts.stop === null) return true
    facts.terminated = true
    facts.usage = usageOf(line)
    return true
  }
}

const isBlank = (bytes: Buffer, start: number, end: number): boolean =>
  bytes.subarray(start, end).every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d))

export const makeStreamTap = (maxLineBytes?: number): StreamTap => {
  const facts = startFacts()
  const scanner = makeNdjsonScanner(maxLineBytes)
  const read = makeReader(facts)

  /**
   * Decides whether a line passes. After a failure nothing does: the relay writes the one error line. After a complete
   * answer only blank lines do.
   */
  const judge = (bytes: Buffer, start: number, end: number): boolean =>
    facts.problem === null && (facts.terminated ? isBlank(bytes, start, end) : read(parseLine(bytes, start, end)))

  const push = (chunk: Buffer): Buffer => {
    // Bytes buffered from earlier chunks must come first: then the chunk itself cannot be relayed.
    let kept: Array<Buffer> | null = scanner.pendingBytes() > 0 ? [] : null
    const boundary = scanner.push(chunk, (bytes, start, end) => {
      const relayed = judge(bytes, start, end)
      if (kept === null && !relayed) kept = [chunk.subarray(0, start)]
      else if (kept !== null && relayed) kept.push(bytes.subarray(start, end))
    })
    const failure = scanner.failure()
    if (failure !== null && facts.problem === null) facts.problem = tooLarge(failure)
    if (kept !== null) return Buffer.concat(kept)
    return boundary === chunk.length ? chunk : chunk.subarray(0, boundary)
  }

  const end = (): Buffer => {
    const rest = scanner.takePending()
    if (facts.problem !== null || facts.terminated || rest.length === 0) return nothing
    const line = parseLine(rest, 0, rest.length)
    // A cut line is useless to the client, and would break the error line that follows.
    return isObject(line) && read(line) ? Buffer.concat([rest, lineEnd]) : nothing
  }

  return { facts, push, end }
}
