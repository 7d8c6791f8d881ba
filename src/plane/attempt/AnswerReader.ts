/**
 * Reads answers that are not streams: relayed byte for byte on the same wire, re-encoded on another. When the client asked for a stream
 * and the upstream sent a whole answer, the answer is sent as a stream.
 */
import * as Either from "effect/Either"
import { type LostParts, lostParts, nothingCarried } from "../../wire/canonical/Pictures.ts"
import { offersFreeForm, withJsonCalls } from "../../wire/canonical/tools/JsonCalls.ts"
import { replay } from "../../wire/canonical/Replay.ts"
import type { Response } from "../../wire/canonical/Response.ts"
import { restoreTools } from "../../wire/canonical/tools/ToolRestoration.ts"
import { isObject, type JsonObject, parseJson } from "../../wire/json/Json.ts"
import type { AnswerFacts, EncodeContext, WireCodec } from "../../wire/WireCodec.ts"
import {
  type AttemptFailure,
  type AttemptResult,
  type BodyReader,
  failed,
  ownFailure,
  failureInAnswer
} from "./AttemptResult.ts"
import { type AnswerReport, noReport } from "../request/AnswerReport.ts"
import { makeCollector } from "../request/Collector.ts"
import type { Work } from "../request/Exchange.ts"
import type { AnswerWatch } from "../state/AnswerWatch.ts"
import type { UpstreamCall } from "./UpstreamCall.ts"

/** A complete answer in the words of a client, as one piece or as the text of a stream. */
export const renderAnswer = (
  client: WireCodec,
  response: Response,
  context: EncodeContext,
  stream: boolean
): string => {
  if (!stream) return JSON.stringify(client.encodeResponse(response, context))
  const encoder = client.makeStreamEncoder(context)
  return replay(response)
    .map((event) => encoder.encode(event))
    .join("")
}

/** Largest answer that is read whole. Beyond it the attempt fails. */
const maxAnswerBytes = 256 * 1_048_576

const notJson = ownFailure(502, "not_json", "The upstream's answer is not JSON.")
const tooLarge = ownFailure(502, "answer_too_large", "The upstream's answer is too large.")
const empty = ownFailure(502, "empty_answer", "The upstream's answer is empty.")
const noneAtAll = ownFailure(502, "bad_answer", "The upstream's answer holds no answer.")
const notAll = ownFailure(502, "bad_answer", "The upstream's answer does not hold a result for each input.")
const noneLost: LostParts = { names: [], nothingLeft: null }
const unfinished = ownFailure(502, "incomplete_answer", "The upstream's answer has no finish reason.")

export const answerReader = (
  work: Work,
  call: UpstreamCall,
  context: EncodeContext,
  lastChance: boolean,
  monotonicMs: () => number,
  watch: AnswerWatch,
  /** Headers of the upstream for a client of its own wire. */
  passed: ReadonlyArray<string>,
  /** Receives each piece before it is kept; null: nothing listens. */
  heard: ((chunk: Buffer) => void) | null = null
): BodyReader => {
  const body = makeCollector(call.codec.limits?.answerBytes ?? maxAnswerBytes)
  const client = work.exchange.codec
  let firstMs: number | null = null

  const completed = (
    form: "whole" | "replayed",
    bytes: Buffer | string,
    report: AnswerReport,
    lost: ReadonlyArray<string> = []
  ): Extract<AttemptResult, { _tag: "Completed" }> => ({
    _tag: "Completed",
    form,
    body: bytes,
    report,
    firstContentMs: firstMs,
    dropped: lost.length === 0 ? call.dropped : [...call.dropped, ...lost],
    mapped: call.mapped,
    passed
  })

  /** A 200 with an error or without an answer. */
  const noAnswer = (parsed: JsonObject, facts: AnswerFacts): AttemptFailure => {
    if ((parsed["error"] ?? null) === null) {
      // A finish reason may report a failure as well.
      const decoded = call.codec.decodeResponse(parsed)
      if (Either.isLeft(decoded) && decoded.left.type !== null)
        return failureInAnswer(decoded.left, "answer", call.wire)
      return facts.hasContent ? unfinished : noneAtAll
    }
    const text = JSON.stringify(parsed)
    return failureInAnswer(call.codec.readUpstreamError(502, text), "answer", call.wire, text)
  }

  const asStream = (response: Response): string => {
    const text = renderAnswer(client, response, context, true)
    watch.onSent?.(text)
    return text
  }

  const asAnswer = (response: Response): string => {
    const answer = client.encodeResponse(response, context)
    const text = JSON.stringify(answer)
    watch.onAnswer?.(answer, text)
    return text
  }

  const relayed = (parsed: JsonObject, bytes: Buffer, facts: AnswerFacts): AttemptResult => {
    watch.onAnswer?.(parsed, bytes)
    if (watch.onParts !== null)
      Either.map(call.codec.decodeResponse(parsed, call.dialect), ({ parts }) => watch.onParts?.(parts))
    return completed("whole", bytes, facts)
  }

  const reencoded = (parsed: JsonObject, facts: AnswerFacts): AttemptResult => {
    const decoded = call.codec.decodeResponse(parsed, call.dialect)
    if (Either.isLeft(decoded)) {
      const { message, status, type } = decoded.left
      // A finish reason may report a failure, too.
      return failed(
        type === null ? ownFailure(status, "bad_answer", message) : failureInAnswer(decoded.left, "answer", call.wire)
      )
    }
    const response = withJsonCalls(restoreTools(decoded.right, call), offersFreeForm(client.name, work.asked))
    if (call.isComplete?.(response) === false) return failed(notAll)
    watch.onParts?.(response.parts)
    // Of an endpoint of its own the opaque part is the answer.
    const lost =
      client.endpoint === undefined
        ? lostParts(response, client.name, client.carriesPicture, client.carriesSearch)
        : noneLost
    if (lost.nothingLeft !== null)
      return failed(failureInAnswer(nothingCarried(lost.nothingLeft, client.name), "answer", call.wire))
    if (work.envelope.stream) return completed("replayed", asStream(response), facts, lost.names)
    const text = client.encodeText?.(response, context) ?? null
    return text === null
      ? completed("whole", asAnswer(response), facts, lost.names)
      : { ...completed("whole", text.body, facts, lost.names), type: text.type }
  }

  const read = (bytes: Buffer): AttemptResult => {
    const parsed = parseJson(bytes.toString("utf8"))
    if (!isObject(parsed)) return failed(notJson)
    const facts = call.codec.readAnswer(parsed, call.dialect)
    if (call.sameWire && !work.envelope.stream && (client.underWay?.inAnswer(parsed) ?? null) !== null) {
      watch.onAnswer?.(parsed, bytes)
      // What was cancelled may have taken tokens.
      return completed("whole", bytes, facts.usage === null ? { ...noReport, isUnderWay: true } : facts)
    }
    if (facts.stop === null) return failed(noAnswer(parsed, facts))
    if (!facts.hasContent && !lastChance) return failed(empty)
    const isRelayed = call.sameWire && !work.envelope.stream && (client.isAsAsked?.(parsed, work.asked) ?? true)
    return isRelayed ? relayed(parsed, bytes, facts) : reencoded(parsed, facts)
  }

  return {
    data: (chunk) => {
      heard?.(chunk)
      firstMs ??= monotonicMs()
      body.add(chunk)
      return true
    },
    end: () => (body.isFull() ? failed(tooLarge) : read(body.all())),
    isTooLarge: body.isFull,
    broken: failed,
    report: () => noReport,
    release: () => {},
    firstContentMs: () => firstMs
  }
}
