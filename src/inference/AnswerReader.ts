/**
 * Bodies that are read whole before anything is said: non-streamed answers and error answers.
 */
import * as Either from "effect/Either"
import type { UpstreamHeaders } from "../egress/UpstreamHeaders.ts"
import { isObject, parseJson } from "../wire/json/Json.ts"
import type { EncodeContext } from "../wire/WireCodec.ts"
import {
  type AttemptFailure,
  type AttemptResult,
  type BodyReader,
  failed,
  noReport,
  ownFailure,
  retryAfterMs
} from "./Attempt.ts"
import type { UpstreamCall } from "./UpstreamCall.ts"
import type { Work } from "./Exchange.ts"

/** Largest non-streamed answer that is read. Beyond it the attempt fails. */
export const maxAnswerBytes = 256 * 1_048_576
/** As much of an error answer as is worth reading. */
export const maxErrorBytes = 64 * 1024

interface Collector {
  /** False once the limit is passed; the rest is not kept. */
  readonly add: (chunk: Buffer) => boolean
  readonly all: () => Buffer
}

const collector = (limitBytes: number): Collector => {
  const chunks: Array<Buffer> = []
  let size = 0
  return {
    add: (chunk) => {
      if (size > limitBytes) return false
      size += chunk.length
      if (size <= limitBytes) chunks.push(chunk)
      return size <= limitBytes
    },
    all: () => (chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks))
  }
}

/** Reads a non-streamed answer: the client's own bytes on the same wire, re-encoded on another. */
export const answerReader = (
  work: Work,
  call: UpstreamCall,
  context: EncodeContext,
  lastChance: boolean,
  monotonicMs: () => number
): BodyReader => {
  const body = collector(maxAnswerBytes)
  let tooLarge = false
  let firstMs: number | null = null
  const client = work.exchange.codec

  const sameWire = (bytes: Buffer, parsed: ReturnType<typeof parseJson>): AttemptResult => {
    if (!isObject(parsed)) return failed(ownFailure(502, "not_json", "The upstream's answer is not JSON."))
    const facts = client.readAnswer(parsed)
    if (facts.stop === null) return failed(incomplete(parsed))
    if (!facts.hasContent && !lastChance)
      return failed(ownFailure(502, "empty_answer", "The upstream's answer is empty."))
    return completed(bytes, facts)
  }

  const incomplete = (parsed: NonNullable<ReturnType<typeof parseJson>>): AttemptFailure => {
    if (!isObject(parsed) || parsed.error === undefined || parsed.error === null) {
      return ownFailure(502, "incomplete_answer", "The upstream's answer has no finish reason.")
    }
    const problem = call.codec.readUpstreamError(502, JSON.stringify(parsed))
    return { ...ownFailure(problem.status, "error_in_200", problem.message), answered: true }
  }

  const otherWire = (parsed: ReturnType<typeof parseJson>): AttemptResult => {
    if (!isObject(parsed)) return failed(ownFailure(502, "not_json", "The upstream's answer is not JSON."))
    const decoded = call.codec.decodeResponse(parsed)
    if (Either.isLeft(decoded)) {
      return failed({ ...ownFailure(decoded.left.status, "bad_answer", decoded.left.message), answered: true })
    }
    const facts = call.codec.readAnswer(parsed)
    if (decoded.right.parts.length === 0 && !lastChance) {
      return failed(ownFailure(502, "empty_answer", "The upstream's answer is empty."))
    }
    return completed(JSON.stringify(client.encodeResponse(decoded.right, context)), facts)
  }

  const completed = (bytes: Buffer | string, facts: ReturnType<typeof client.readAnswer>): AttemptResult => ({
    _tag: "Completed",
    status: 200,
    streamed: false,
    body: bytes,
    report: facts,
    firstContentMs: firstMs,
    dropped: call.dropped
  })

  return {
    data: (chunk) => {
      firstMs ??= monotonicMs()
      tooLarge ||= !body.add(chunk)
      return true
    },
    end: () => {
      if (tooLarge) return failed(ownFailure(502, "answer_too_large", "The upstream's answer is too large."))
      const bytes = body.all()
      const parsed = parseJson(bytes.toString("utf8"))
      return call.sameWire ? sameWire(bytes, parsed) : otherWire(parsed)
    },
    broken: failed,
    report: () => noReport,
    firstContentMs: () => firstMs
  }
}

/** Reads an error answer and keeps the upstream's own words. */
export const errorReader = (
  call: UpstreamCall,
  status: number,
  headers: UpstreamHeaders,
  nowMs: number
): BodyReader => {
  const body = collector(maxErrorBytes)
  const result = (): AttemptResult => {
    const problem = call.codec.readUpstreamError(status, body.all().toString("utf8"))
    return failed({
      status: problem.status,
      answered: true,
      reason: `http_${status}`,
      message: problem.message,
      retryAfterMs: retryAfterMs(headers.get("retry-after"), nowMs)
    })
  }
  return {
    data: (chunk) => {
      body.add(chunk)
      return true
    },
    end: result,
    // The status line already said what matters.
    broken: result,
    report: () => noReport,
    firstContentMs: () => null
  }
}
