/**
 * Gemini answer → canonical response, and the facts for the usage row when it is relayed as it is.
 *
 * https://ai.google.dev/api/generate-content
 */
import * as Either from "effect/Either"
import type { UpstreamProblem } from "../canonical/Event.ts"
import type { AnswerPart, Response } from "../canonical/Response.ts"
import { argsText } from "../canonical/tools/ToolArgs.ts"
import { isObject, type JsonObject, stringOr } from "../json/Json.ts"
import { problemOfJson } from "../UpstreamError.ts"
import type { AnswerFacts } from "../WireCodec.ts"
import {
  blockReasonOf,
  candidateFailure,
  candidatesOf,
  createdMsOf,
  firstCandidate,
  isError,
  partsOf,
  stopOf
} from "./Answer.ts"
import { joinCalls } from "./stream/CallPieces.ts"
import { inventedId } from "./Calls.ts"
import { groundingOf, makeGrounded, searchPart } from "./Grounding.ts"
import { decodeLogprobs } from "./Logprobs.ts"
import { callOf, opaqueOf, stateOf } from "./Part.ts"
import { usageOf } from "./Usage.ts"

const problem = (message: string): UpstreamProblem => ({ status: 502, message, type: null, code: null })

const decodePart = (part: JsonObject, callId: () => string): AnswerPart | null => {
  const call = callOf(part)
  if (call !== null) {
    return {
      type: "tool_call",
      id: stringOr(call["id"]) || callId(),
      name: stringOr(call["name"]) ?? "",
      kind: "function",
      args: argsText(call["args"]),
      ...stateOf(part)
    }
  }
  const text = stringOr(part["text"])
  const state = stateOf(part)
  if (text !== null) return { type: part["thought"] === true ? "reasoning" : "text", text, ...state }
  return opaqueOf(part) ?? (state.state === undefined ? null : { type: "text", text: "", ...state })
}

const decodeParts = (candidate: JsonObject | undefined, responseId: string): ReadonlyArray<AnswerPart> => {
  let calls = 0
  const parts = partsOf(candidate)
  return (joinCalls(parts) ?? parts).flatMap((part) => decodePart(part, () => inventedId(responseId, calls++)) ?? [])
}

/** Texts with what they rest on, and the search before them. */
const grounded = (candidate: JsonObject | undefined, parts: ReadonlyArray<AnswerPart>): ReadonlyArray<AnswerPart> => {
  const metadata = groundingOf(candidate)
  if (metadata === null) return parts
  const first = parts.findIndex(({ type }) => type === "text")
  const groundedIn = makeGrounded(metadata)
  const isText = (index: number): boolean => parts[index]?.type === "text"
  const cited = parts.map((part, index): AnswerPart => {
    if (part.type !== "text") return part
    const citations = groundedIn(part.text, (at) => (isText(at) ? at === index : index === first))
    return citations.length === 0 ? part : { ...part, citations }
  })
  const search = searchPart(metadata)
  return search === null ? cited : [search, ...cited]
}

export const decodeResponse = (body: JsonObject): Either.Either<Response, UpstreamProblem> => {
  const candidate = firstCandidate(body)
  if (isError(body) || (candidate === undefined && blockReasonOf(body) === null)) {
    return Either.left(problemOfJson(502, body) ?? problem("The upstream's answer holds no candidates."))
  }
  const failure = candidateFailure(candidate)
  if (failure !== null) return Either.left(failure)
  const id = stringOr(body["responseId"])
  if (joinCalls(partsOf(candidate)) === null) {
    return Either.left(problem("The upstream sent pieces of arguments that cannot be put together."))
  }
  const parts = decodeParts(candidate, id ?? "")
  const hasToolCalls = parts.some((part) => part.type === "tool_call")
  const stop = stopOf(body, hasToolCalls)
  const logprobs = decodeLogprobs(candidate)
  if (stop === null) return Either.left(problem("The upstream's answer is incomplete: it has no finish reason."))
  return Either.right({
    id,
    model: stringOr(body["modelVersion"]),
    createdMs: createdMsOf(body),
    parts: grounded(candidate, parts),
    stop,
    usage: usageOf(body),
    logprobs: logprobs.length === 0 ? null : { content: logprobs }
  })
}

export const readAnswer = (body: JsonObject): AnswerFacts => {
  let textChars = 0
  let toolArgChars = 0
  let reasoningChars = 0
  let calls = 0
  let others = 0
  for (const candidate of candidatesOf(body)) {
    for (const part of decodeParts(candidate, "")) {
      if (part.type === "text") textChars += part.text.length
      else if (part.type === "reasoning") reasoningChars += part.text.length
      else if (part.type === "tool_call") {
        calls += 1
        toolArgChars += part.args.length
      } else others += 1
    }
  }
  // Clients of this wire handle a failed finish reason themselves, so the answer counts as one.
  const brokeOff = candidateFailure(firstCandidate(body)) !== null
  return {
    usage: usageOf(body),
    stop: isObject(body["error"]) ? null : stopOf(body, calls > 0),
    hasContent: brokeOff || textChars + reasoningChars + calls + others > 0,
    textChars,
    toolArgChars,
    reasoningChars
  }
}
