/**
 * Reads answers that are not streams: relayed byte for byte on the same wire, re-encoded on another. When the client asked for a stream
 * and the upstream sent a whole answer, the answer is sent as a stream.
 */
import * as Either from "effect/Either"
import type { Mutable } from "effect/Types"
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
import type { AnswerWatch } from "../state/kept/AnswerWatch.ts"
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

/** Options of a reader. */
export interface AnswerInput {
  readonly work: Work
  readonly call: UpstreamCall
  readonly context: EncodeContext
  /** An empty answer is the answer. */
  readonly lastChance: boolean
  readonly monotonicMs: () => number
  readonly watch: AnswerWatch
  /** Headers of the upstream for a client of its own wire. */
  readonly passed: ReadonlyArray<string>
  /** Receives each piece before it is kept; absent: nothing listens. */
  readonly heard?: (chunk: Buffer) => void
}

type Completed = Extract<AttemptResult, { _tag: "Completed" }>

const completed = (
  { call: { dropped, mapped }, passed }: AnswerInput,
  form: "whole" | "replayed",
  body: Buffer | string,
  report: AnswerReport,
  lost: ReadonlyArray<string> = []
): Completed => ({
  _tag: "Completed",
  form,
  body,
  report,
  firstContentMs: null,
  dropped: lost.length === 0 ? dropped : [...dropped, ...lost],
  mapped,
  passed
})

/** A 200 with an error or without an answer. */
const noAnswer = ({ codec, wire }: UpstreamCall, parsed: JsonObject, facts: AnswerFacts): AttemptFailure => {
  if ((parsed["error"] ?? null) === null) {
    // A finish reason may report a failure as well.
    const decoded = codec.decodeResponse(parsed)
    if (Either.isLeft(decoded) && decoded.left.type !== null) return failureInAnswer(decoded.left, "answer", wire)
    return facts.hasContent ? unfinished : noneAtAll
  }
  const text = JSON.stringify(parsed)
  return failureInAnswer(codec.readUpstreamError(502, text), "answer", wire, text)
}

const asStream = ({ context, watch, work }: AnswerInput, response: Response): string => {
  const text = renderAnswer(work.exchange.codec, response, context, true)
  watch.onSent?.(text)
  return text
}

const asAnswer = ({ context, watch, work }: AnswerInput, response: Response): string => {
  const answer = work.exchange.codec.encodeResponse(response, context)
  const text = JSON.stringify(answer)
  watch.onAnswer?.(answer, text)
  return text
}

const relayed = (input: AnswerInput, parsed: JsonObject, bytes: Buffer, facts: AnswerFacts): AttemptResult => {
  const { call, watch } = input
  watch.onAnswer?.(parsed, bytes)
  if (watch.onParts !== null)
    Either.map(call.codec.decodeResponse(parsed, call.dialect), ({ parts }) => watch.onParts?.(parts))
  return completed(input, "whole", bytes, facts)
}

const reencoded = (input: AnswerInput, parsed: JsonObject, facts: AnswerFacts): AttemptResult => {
  const { call, context, watch, work } = input
  const client = work.exchange.codec
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
  if (work.envelope.stream) return completed(input, "replayed", asStream(input, response), facts, lost.names)
  const text = client.encodeText?.(response, context) ?? null
  return text === null
    ? completed(input, "whole", asAnswer(input, response), facts, lost.names)
    : { ...completed(input, "whole", text.body, facts, lost.names), type: text.type }
}

const read = (input: AnswerInput, bytes: Buffer): AttemptResult => {
  const { call, lastChance, watch, work } = input
  const client = work.exchange.codec
  const parsed = parseJson(bytes.toString("utf8"))
  if (!isObject(parsed)) return failed(notJson)
  const facts = call.codec.readAnswer(parsed, call.dialect)
  if (call.sameWire && !work.envelope.stream && (client.underWay?.inAnswer(parsed) ?? null) !== null) {
    watch.onAnswer?.(parsed, bytes)
    // What was cancelled may have taken tokens.
    return completed(input, "whole", bytes, facts.usage === null ? { ...noReport, isUnderWay: true } : facts)
  }
  if (facts.stop === null) return failed(noAnswer(call, parsed, facts))
  if (!facts.hasContent && !lastChance) return failed(empty)
  const isRelayed = call.sameWire && !work.envelope.stream && (client.isAsAsked?.(parsed, work.asked) ?? true)
  return isRelayed ? relayed(input, parsed, bytes, facts) : reencoded(input, parsed, facts)
}

export const answerReader = (input: AnswerInput): BodyReader => {
  const body = makeCollector(input.call.codec.limits?.answerBytes ?? maxAnswerBytes)
  let firstMs: number | null = null
  return {
    data: (chunk) => {
      input.heard?.(chunk)
      firstMs ??= input.monotonicMs()
      body.add(chunk)
      return true
    },
    end: () => {
      if (body.isFull()) return failed(tooLarge)
      const result: Mutable<AttemptResult> = read(input, body.all())
      if (result._tag === "Completed") result.firstContentMs = firstMs
      return result
    },
    isTooLarge: body.isFull,
    broken: failed,
    report: () => noReport,
    release: () => {},
    firstContentMs: () => firstMs
  }
}
