/**
 * Reads the chunks of a gemini stream for a tap.
 *
 * https://ai.google.dev/api/generate-content
 */
import { type MutableFacts, observeReasoning, observeText, observeToolArgs } from "../../canonical/Facts.ts"
import { isArray, isObject, type JsonObject, parseJson, stringOr } from "../../json/Json.ts"
import { makeSseTap, type TapReader, type Verdict } from "../../sse/SseTap.ts"
import { streamProblem } from "../../UpstreamError.ts"
import type { StreamTap } from "../../WireCodec.ts"
import { blockReasonOf, candidateFailure, candidatesOf, finishOf, firstCandidate, isError, partsOf } from "../Answer.ts"
import { callOf, opaqueOf } from "../Part.ts"
import { blockedStop, decodeStop } from "../Stop.ts"
import { makeUsageReader } from "../Usage.ts"

/** Complete arguments, or the strings among their pieces, which is enough for an estimate. */
const argsOf = (call: JsonObject): string => {
  const { args, partialArgs } = call
  if (!isArray(partialArgs)) return isObject(args) ? JSON.stringify(args) : ""
  return partialArgs.map((piece) => (isObject(piece) ? (stringOr(piece["stringValue"]) ?? "") : "")).join("")
}

/** The text of a chunk with one candidate that holds only text. */
const plainTextOf = (chunk: JsonObject): string | null => {
  const candidates = candidatesOf(chunk)
  const [candidate] = candidates
  const [part, ...others] = partsOf(candidate)
  if (candidate === undefined || part === undefined || candidates.length > 1 || others.length > 0) return null
  if (finishOf(candidate) !== "" || (candidate["index"] ?? 0) !== 0) return null
  if (chunk["usageMetadata"] !== undefined || chunk["promptFeedback"] !== undefined) return null
  const text = stringOr(part["text"]) ?? ""
  return text !== "" && Object.keys(part).length === 1 ? text : null
}

const makeReader = (): TapReader => {
  const readUsage = makeUsageReader()
  // Answers beyond the first that have begun and not finished.
  const open = new Set<number>()
  let calls = 0
  let finish = ""

  const readPart = (part: JsonObject, facts: MutableFacts): void => {
    const call = callOf(part)
    const text = stringOr(part["text"])
    if (call !== null) {
      if (call["name"] !== undefined) calls += 1
      observeToolArgs(facts, argsOf(call))
    } else if (text === null) facts.content ||= opaqueOf(part) !== null
    else if (part["thought"] === true) observeReasoning(facts, text)
    else observeText(facts, text)
  }

  const readCandidate = (candidate: JsonObject, facts: MutableFacts): void => {
    for (const part of partsOf(candidate)) readPart(part, facts)
    const { index } = candidate
    const reason = finishOf(candidate)
    if (typeof index === "number" && index !== 0) {
      if (reason === "") open.add(index)
      else open.delete(index)
    } else if (reason !== "") finish = reason
  }

  const readChunk = (chunk: JsonObject, facts: MutableFacts): Verdict => {
    if (isError(chunk)) {
      facts.problem = streamProblem(chunk)
      return "withhold"
    }
    // Clients of this wire handle a failed finish reason themselves, so the answer counts as one.
    if (candidateFailure(firstCandidate(chunk)) !== null) facts.content = true
    const plainText = plainTextOf(chunk)
    if (plainText !== null) return { plainText }
    for (const candidate of candidatesOf(chunk)) readCandidate(candidate, facts)
    facts.usage = readUsage(chunk) ?? facts.usage
    const blocked = blockReasonOf(chunk)
    if (finish !== "" && open.size === 0) facts.stop = decodeStop(finish, calls > 0)
    else if (blocked !== null) facts.stop = blockedStop(blocked)
    if (facts.stop !== null) facts.stopRead = true
    return "relay"
  }

  return {
    dataOnly: true,
    textMember: "text",
    read: ({ data }, facts) => {
      const chunk = parseJson(data)
      return isObject(chunk) ? readChunk(chunk, facts) : "unreadable"
    },
    // The end of the stream is the wire's only end mark.
    end: (facts) => {
      facts.terminated = facts.stop !== null && facts.problem === null
    }
  }
}

/** Makes the tap of a stream. Streams of this wire always have usage: there is nothing to hide. */
export const makeStreamTap = (): StreamTap => makeSseTap(makeReader())
